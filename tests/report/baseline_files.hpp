// Results files with round figures, made up for tests.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "pace/report/environment.hpp"
#include "pace/report/json.hpp"
#include "pace/report/results_file.hpp"
#include "pace/report/stored_baseline.hpp"
#include "tests/report/lines.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/temporary_file.hpp"

namespace files {

using lines::Json;

/// Where the processes below ran; everything that is part of the identity is known.
inline pace::report::Environment environment(const std::string& date = "2026-11-01T00:00:00Z") {
  pace::report::Environment known;
  known.date_utc = date;
  known.hostname = "host";
  known.cores = 8;
  known.cpu_quota = 2;
  known.turbo = known.optimized = true;
  known.cpu = known.governor = known.kernel = known.compiler = known.build_flags = "as ever";
  for (const char* key : {"libtorch", "libtorch_cpu_capability", "libtorch_threads", "gpu", "gpu_driver"})
    known.extra[key] = "as ever";
  return known;
}

/// Makes the value of a key another one of its type.
inline void change(Json& object, const std::string& key) {
  auto& value = object.at(key);
  if (value.is_object())
    value = {{"OMP_NUM_THREADS", "2"}};
  else if (value.is_boolean())
    value = !value.get<bool>();
  else if (value.is_number_integer())
    value = value.get<int>() + 1;
  else if (value.is_number())
    value = value.get<double>() + 1;
  else
    value = "new";
}

/// One process, which found these median times of 'eager' (the baseline) and 'fused'.
inline Json process(double eager, double fused, const std::string& date = "2026-11-01T00:00:00Z") {
  auto result = sample::comparison("case");
  result.implementations = {sample::baseline("eager", eager), sample::candidate("fused", fused, eager / fused)};
  Json document = pace::report::to_json(pace::report::ResultsHeader{.environment = environment(date)});
  document["results"] = Json::array({pace::report::to_json(result)});
  return document;
}

/// The second of that number on a day, so that each process has a date of its own.
inline std::string second(std::size_t number) {
  return std::string("2026-11-01T00:00:") + (number < 10 ? "0" : "") + std::to_string(number) + "Z";
}

class Written {
 public:
  explicit Written(const Json& json) : Written(lines::text_of(json)) {}
  explicit Written(const char* text) : Written(std::string(text)) {}
  explicit Written(const std::string& text) { std::ofstream(file_.path(), std::ios::binary) << text; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] pace::report::ResultsFile read() const { return pace::report::read_results_file(path()); }

 private:
  TemporaryFile file_;
};

}  // namespace files
