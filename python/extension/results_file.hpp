// Results files of Python programs, and how their results were measured.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/options.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/json.hpp"
#include "pace/result.hpp"
#include "pace/runner/torch_environment.hpp"

namespace pace::python {

/// How a result was measured.
struct Settings {
  Options options;
  int threads = 1;  ///< threads of an operator
};

/// A result, and how it was measured.
using Measured = std::pair<const Result*, Settings>;

/// Returns the first line of a file of these results. It has options if they are the same for all.
[[nodiscard]] inline report::ResultsHeader header_of(const std::vector<Measured>& results,
                                                     const std::vector<std::string>& command_line,
                                                     const std::string& python) {
  report::ResultsHeader header{.environment = report::read_environment(command_line)};
  auto& extra = header.environment.extra;
  extra["python"] = python;
  runner::describe_torch(extra);
  if (results.empty()) return header;

  // By now operators have the threads of the user's program again.
  std::set<int> threads;
  for (const auto& [result, settings] : results) threads.insert(settings.threads);
  auto& text = extra["libtorch_threads"] = "";
  for (const int each : threads) text += (text.empty() ? "" : "; ") + std::to_string(each);

  const auto written = [](const Measured& of) {
    return report::to_json(report::ResultsHeader{.options = of.second.options})["options"];
  };
  const auto first = written(results.front());
  if (std::ranges::all_of(results, [&](const Measured& each) { return written(each) == first; }))
    header.options = results.front().second.options;
  return header;
}

/// Writes results as a file that all of pace's tools read. Throws Error if it cannot be written.
inline void write_results(const std::string& path, const std::vector<Measured>& results,
                          const std::vector<std::string>& command_line, const std::string& python) {
  report::JsonSink sink(path, header_of(results, command_line, python));
  for (const auto& [result, settings] : results) {
    sink.write(*result);
    for (const auto& phase : result->phases) sink.write(phase);
  }
  sink.finish();
}

}  // namespace pace::python
