// ResultsFile: what one process found, read back from the JSON that it wrote.
#pragma once

#include <cmath>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/baseline/expiry.hpp"
#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/report/json.hpp"

namespace pace::baseline {

struct ResultsFile {
  std::string path;
  report::Json environment;
  std::string hostname;
  std::time_t date = 0;
  /// Absent in a file that was not saved as a baseline.
  std::optional<std::time_t> expires;
  /// Of each implementation: name, outcome, median time, speed-up, context.disturbance; no samples.
  std::vector<Result> results;
};

namespace detail {

[[nodiscard]] inline Outcome outcome_of(const std::string& text) {
  for (const auto outcome :
       {Outcome::measured, Outcome::wrong, Outcome::threw, Outcome::refused, Outcome::unreached})
    if (text == to_string(outcome)) return outcome;
  throw Error("unknown outcome '" + text + "'");
}

/// A time or a ratio, which must be above 0.
[[nodiscard]] inline double positive(const report::Json& json, const char* key) {
  const double value = json.at(key).get<double>();
  if (!(value > 0 && std::isfinite(value))) throw Error(std::string(key) + " must be above 0");
  return value;
}

[[nodiscard]] inline ImplementationResult row_of(const report::Json& json) {
  ImplementationResult row;
  row.name = json.at("name").get<std::string>();
  row.is_baseline = json.at("baseline").get<bool>();
  row.outcome = outcome_of(json.at("outcome").get<std::string>());
  row.message = json.at("message").get<std::string>();
  row.checked = json.at("checked").get<bool>();
  if (const auto& time = json.at("time"); !time.is_null())
    row.time.emplace().median = Nanoseconds(positive(time, "median_ns"));
  if (const auto& speedup = json.at("speedup"); !speedup.is_null())
    row.speedup.emplace().median = positive(speedup, "median");
  if (row.outcome == Outcome::measured && !row.time) throw Error("'" + row.name + "' was measured, but has no time");
  return row;
}

[[nodiscard]] inline Result result_of(const report::Json& json) {
  Result result;
  result.name = json.at("name").get<std::string>();
  std::string disturbance;
  // Files of earlier versions know no conditions.
  if (json.contains("conditions"))
    for (const auto& sentence : json.at("conditions").at("disturbances"))
      disturbance += (disturbance.empty() ? "" : " ") + sentence.get<std::string>();
  for (const auto& each : json.at("implementations")) {
    auto row = row_of(each);
    row.context.comparison = result.name;
    row.context.disturbance = disturbance;
    for (const auto& known : result.implementations)
      if (known.name == row.name) throw Error("'" + row.name + "' twice in '" + result.name + "'");
    result.implementations.push_back(std::move(row));
  }
  return result;
}

[[nodiscard]] inline ResultsFile parse(const std::string& path, const std::string& text) {
  const auto json = report::Json::parse(text);
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
  for (const auto& each : json.at("results")) file.results.push_back(result_of(each));
  return file;
}

}  // namespace detail

/// Throws InputError, naming the file, if it cannot be read, is cut off or is no results file of this version.
[[nodiscard]] inline ResultsFile read_results_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError({path}, "cannot be opened; expected a file that --json or --save-baseline wrote");
  try {
    // Throws for a folder.
    const std::string text{std::istreambuf_iterator<char>(file), {}};
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

}  // namespace pace::baseline
