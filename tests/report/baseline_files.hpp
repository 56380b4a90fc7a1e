// Results files with round figures, made up for tests.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "pace/report/identity.hpp"
#include "pace/report/json.hpp"
#include "pace/report/results_file.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/temporary_file.hpp"

namespace files {

using pace::report::Json;

/// One process, which found these median times of 'eager' (the baseline) and 'fused'.
inline Json process(double eager, double fused, const std::string& date = "2026-11-01T00:00:00Z") {
  auto result = sample::comparison("case");
  result.implementations = {sample::baseline("eager", eager), sample::candidate("fused", fused, eager / fused)};
  Json environment = {{"hostname", "host"}, {"date_utc", date}};
  for (const auto& key : pace::report::identity_keys()) environment[key] = "as ever";
  return {{"schema_version", 1},
          {"environment", std::move(environment)},
          {"results", Json::array({pace::report::to_json(result)})}};
}

/// The second of that number on a day, so that each process has a date of its own.
inline std::string second(std::size_t number) {
  return std::string("2026-11-01T00:00:") + (number < 10 ? "0" : "") + std::to_string(number) + "Z";
}

class Written {
 public:
  explicit Written(const Json& json) : Written(json.dump()) {}
  explicit Written(const char* text) : Written(std::string(text)) {}
  explicit Written(const std::string& text) { std::ofstream(file_.path(), std::ios::binary) << text; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] pace::report::ResultsFile read() const { return pace::report::read_results_file(path()); }

 private:
  TemporaryFile file_;
};

}  // namespace files
