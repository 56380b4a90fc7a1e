// --resume: a run goes on from the result file that an interrupted one has left.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/report/configuration.hpp"
#include "pace/report/results_file.hpp"

namespace pace::runner {

using report::Configuration;

/// The results in a file that JsonSink has written, less those that the time did not suffice for or that it cut short, and
/// less a last line that was cut off. Nothing if there is no such file, or no whole line in it. Throws InputError if it is no
/// such file (see report::read_whole_lines), or of another configuration.
[[nodiscard]] inline std::vector<Result> results_to_resume(const std::string& path,
                                                           const Configuration& configuration) {
  if (::access(path.c_str(), F_OK) != 0) return {};
  auto file = report::read_whole_lines(path);
  if (!file) return {};
  const auto& there = file->header.configuration;
  if (there.empty())
    throw InputError({path, 1},
                     "--resume: it does not say what was measured with which options (\"configuration\"); "
                     "write to another file");
  if (const auto found = report::differences(there, configuration); !found.empty())
    throw InputError({path}, "--resume: holds results of another configuration (" + found +
                                 "); give the options of that run, or write to another file");
  std::erase_if(file->results, [](const Result& result) {
    bool whole = result.stop_reason != StopReason::deadline;
    for (const auto& each : result.implementations) whole = whole && each.outcome != Outcome::unreached;
    return !whole;
  });
  return std::move(file->results);
}

}  // namespace pace::runner
