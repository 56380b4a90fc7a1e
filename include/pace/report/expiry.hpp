// Expiry: until when a stored baseline may be used.
#pragma once

#include <time.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

namespace pace::report {

/// A machine changes (updates, dust, a new neighbour) without any of its names changing.
inline constexpr double default_days = 30;

/// Seconds since 1970 of `2026-11-21T10:00:00Z`; none if the text is no such time.
[[nodiscard]] inline std::optional<std::time_t> parse_utc(const std::string& text) {
  std::tm fields{};
  char zone = 0, more = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%c%c", &fields.tm_year, &fields.tm_mon, &fields.tm_mday,
                  &fields.tm_hour, &fields.tm_min, &fields.tm_sec, &zone, &more) != 7 ||
      zone != 'Z')
    return std::nullopt;
  fields.tm_year -= 1900;
  fields.tm_mon -= 1;
  std::tm normalised = fields;
  const std::time_t time = ::timegm(&normalised);
  // timegm would take the 31st of February for a day in March.
  if (normalised.tm_mday != fields.tm_mday || normalised.tm_mon != fields.tm_mon ||
      normalised.tm_hour != fields.tm_hour)
    return std::nullopt;
  return time;
}

[[nodiscard]] inline std::string format_utc(std::time_t time) {
  std::tm fields{};
  std::array<char, 32> text;
  if (::gmtime_r(&time, &fields) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

[[nodiscard]] inline std::time_t after_days(std::time_t time, double days) {
  return time + static_cast<std::time_t>(days * 86400);
}

}  // namespace pace::report
