// ResultsFile: what one process found, read back from the JSON that it wrote.
#pragma once

#include <cmath>
#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/parse_json.hpp"
#include "pace/core/read_file.hpp"
#include "pace/core/result.hpp"
#include "pace/report/expiry.hpp"
#include "pace/report/json.hpp"
#include "pace/report/read_result.hpp"

namespace pace::report {

struct ResultsFile {
  std::string path;
  report::Json environment;
  std::string hostname;
  std::time_t date = 0;
  /// Absent in a file that was not saved as a baseline.
  std::optional<std::time_t> expires;
  std::vector<Result> results;
};

namespace detail {

/// Times and ratios to compare with must be above 0.
[[nodiscard]] inline Result checked(Result result) {
  const auto positive = [](double value, const char* what) {
    if (!(value > 0 && std::isfinite(value))) throw Error(std::string(what) + " must be above 0");
  };
  for (const auto& row : result.implementations) {
    if (row.time) positive(row.time->median.count(), "median_ns");
    if (row.speedup) positive(row.speedup->median, "median");
    if (row.outcome == Outcome::measured && !row.time) throw Error("'" + row.name + "' was measured, but has no time");
  }
  return result;
}

[[nodiscard]] inline ResultsFile parse(const std::string& path, const std::string& text) {
  const auto json = parse_json<report::Json>(text);
  if (!json.is_object() || !json.contains("schema_version")) throw Error("no \"schema_version\" in it");
  if (json.at("schema_version") != report::json_schema_version)
    throw Error("its schema_version is " + json.at("schema_version").dump() + "; this program reads version " +
                std::to_string(report::json_schema_version));
  ResultsFile file;
  file.path = path;
  file.environment = json.at("environment");
  file.hostname = file.environment.at("hostname").get<std::string>();
  const auto date = parse_utc(file.environment.at("date_utc").get<std::string>());
  if (!date) throw Error("its date_utc is no time such as 2026-11-21T10:00:00Z");
  file.date = *date;
  if (json.contains("expires_utc")) {
    file.expires = parse_utc(json.at("expires_utc").get<std::string>());
    if (!file.expires) throw Error("its expires_utc is no time such as 2026-11-21T10:00:00Z");
  }
  for (const auto& each : json.at("results")) file.results.push_back(checked(report::result_from(each)));
  return file;
}

}  // namespace detail

/// Throws InputError, naming the file, if it cannot be read, is cut off or is no results file of this version.
[[nodiscard]] inline ResultsFile read_results_file(const std::string& path) {
  const std::string text = read_file(path, "a file that --json or --save-baseline wrote");
  try {
    return detail::parse(path, text);
  } catch (const std::exception& error) {
    throw InputError({path}, std::string("is no results file: ") + error.what() +
                                 "; expected a whole file that --json or --save-baseline wrote");
  }
}

/// Why the file may not be used as a baseline now; empty: it may.
[[nodiscard]] inline std::string expired(const ResultsFile& file, std::time_t now) {
  const std::time_t expires = file.expires.value_or(after_days(file.date, default_days));
  if (now <= expires) return "";
  return file.path + " expired at " + format_utc(expires) + "; save it again (--save-baseline)";
}

}  // namespace pace::report
