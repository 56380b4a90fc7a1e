// Definitions of results_file.hpp; see base/config.hpp.
#pragma once

#include <time.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/os/read_lines.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/report/results_file.hpp"

namespace pace::report {

PACE_INLINE std::optional<std::time_t> parse_utc(const std::string& text) {
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

PACE_INLINE std::string format_utc(std::time_t time) {
  std::tm fields{};
  std::array<char, 32> text;
  if (::gmtime_r(&time, &fields) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

PACE_INLINE std::time_t after_days(std::time_t time, double days) {
  return time + static_cast<std::time_t>(days * 86400);
}

namespace detail {

inline constexpr const char* expected_results = "; expected a file that --json or --save-baseline wrote";

/// Throws Error unless the numbers are at least 0 and in ascending order. `names` are those of the numbers.
inline void require_ascending(const char* names, std::initializer_list<double> numbers) {
  // The interpolation of quantiles rounds.
  constexpr double slack = 1 + 1e-9;
  double last = 0;
  for (const double number : numbers) {
    // NaN stands for a number that was not finite when it was written.
    if (std::isnan(number)) continue;
    if (!(number >= 0 && number * slack >= last))
      throw Error(std::string(names) + ": expected numbers from 0 on in ascending order");
    last = number;
  }
}

/// Throws Error if the row has a figure that no measurement has.
inline void require_figures(const ImplementationResult& row) {
  if (const auto& time = row.time) {
    require_ascending(
        "min_ns, q20_ns, median_ns, q80_ns, max_ns",
        {time->min.count(), time->q20.count(), time->median.count(), time->q80.count(), time->max.count()});
    require_ascending("spread", {time->spread});
    if (time->interval)
      require_ascending("low_ns, high_ns", {time->interval->low.count(), time->interval->high.count()});
  }
  if (const auto& speedup = row.speedup) {
    require_ascending("q20, median, q80", {speedup->q20, speedup->median, speedup->q80});
    if (speedup->interval) require_ascending("low, high", {speedup->interval->low, speedup->interval->high});
  }
  for (const auto sample : row.samples)
    if (sample.count() < 0) throw Error("samples_ns: expected times from 0 on");
}

/// Throws Error if the row has a figure that cannot be compared with another one.
inline void require_comparable(const ImplementationResult& row) {
  const auto positive = [](double value, const char* what) {
    if (!(value > 0 && std::isfinite(value))) throw Error(std::string(what) + ": expected a number above 0");
  };
  if (row.time) positive(row.time->median.count(), "median_ns");
  if (row.speedup) positive(row.speedup->median, "median");
  if (row.outcome == Outcome::measured && !row.time) throw Error("was measured, but has no time");
  for (std::size_t i = 0; i < row.samples.size(); ++i)
    if (row.samples[i].count() == 0)
      throw Error("samples_ns: expected times above 0, found 0 as element " + std::to_string(i + 1));
}

/// Whether the text is the beginning of a results file that was cut off in its first line. Some file systems leave
/// zeros in the place of what was not written when the machine went down.
[[nodiscard]] inline bool is_torn_header(std::string_view text) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  constexpr std::string_view beginning = "{\"schema_version\":";
  return text.starts_with(beginning) || beginning.starts_with(text);
}

template <class Check>
void check_rows(const ResultsFile& file, std::size_t index, const Check& check) {
  const Result& result = file.results[index];
  for (const auto& row : result.implementations) {
    try {
      check(row);
    } catch (const Error& error) {
      throw InputError({file.path, index + 2}, "'" + row.name + "' in '" + result.name + "': " + error.what());
    }
  }
}

[[nodiscard]] inline std::time_t time_at(const ResultsFile& file, const char* key, const std::string& text) {
  const auto time = parse_utc(text);
  if (!time)
    throw InputError({file.path, 1},
                     std::string(key) + ": expected a time such as 2026-11-21T10:00:00Z, found '" + text + '\'');
  return *time;
}

}  // namespace detail

namespace detail {

/// Reads all whole lines and calls `each(file)` after each result, which is the last one of the file so far.
template <class Each>
[[nodiscard]] std::optional<ResultsFile> read_each(const std::string& path, std::size_t longest, const Each& each) {
  ResultsFile file;
  file.path = path;
  bool begun = false;
  // Line by line: a suite's file as one value would take several times its size.
  const auto read = [&](std::string_view line, std::size_t number) {
    try {
      const auto json = parse_json<Json>(line);
      if (number == 1)
        file.header = header_from(json);
      else
        file.results.push_back(result_from(json));
    } catch (const OtherVersion& error) {
      throw InputError({path, number}, error.what());
    } catch (const std::exception& error) {
      throw InputError({path, number}, std::string(number == 1 ? "is no results file: " : "is no result: ") +
                                           error.what() + expected_results);
    }
    begun = true;
    if (number == 1) return;
    check_rows(file, number - 2, require_figures);
    each(file);
  };
  const std::string rest = read_lines(path, "a file that --json or --save-baseline wrote", longest, read);
  file.cut_off = !rest.empty();
  if (begun) return file;
  if (!is_torn_header(rest))
    throw InputError({path, 1}, std::string("is no results file: its first line is not one of JSON that has a "
                                            "\"schema_version\"") +
                                    expected_results);
  return std::nullopt;
}

}  // namespace detail

PACE_INLINE std::optional<ResultsFile> read_whole_lines(const std::string& path, std::size_t longest) {
  return detail::read_each(path, longest, [](const ResultsFile&) {});
}

PACE_INLINE ResultsFile read_results_file(const std::string& path, Keep keep, std::size_t longest) {
  auto read = detail::read_each(path, longest, [keep](ResultsFile& file) {
    detail::check_rows(file, file.results.size() - 1, detail::require_comparable);
    if (keep == Keep::all) return;
    for (auto& row : file.results.back().implementations) {
      row.samples = {};
      row.log_ratios = {};
    }
  });
  if (!read)
    throw InputError({path}, std::string("holds no results: it is empty, or was cut off in its first line") +
                                 detail::expected_results);
  ResultsFile file = *std::move(read);
  file.date = detail::time_at(file, "date_utc", file.header.environment.date_utc);
  if (const auto& expires = file.header.expires_utc) file.expires = detail::time_at(file, "expires_utc", *expires);
  return file;
}

PACE_INLINE std::string expired(const ResultsFile& file, std::time_t now) {
  const std::time_t expires = file.expires.value_or(after_days(file.date, default_days));
  if (now <= expires) return "";
  return file.path + " expired at " + format_utc(expires) + "; save it again (--save-baseline)";
}

}  // namespace pace::report
