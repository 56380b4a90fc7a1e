// Definitions of resume.hpp; see core/config.hpp.
#pragma once

#include "pace/runner/resume.hpp"

#include <unistd.h>

#include <utility>

#include "pace/core/error.hpp"
#include "pace/report/results_file.hpp"

namespace pace::runner {

PACE_INLINE std::vector<Result> results_to_resume(const std::string& path, const Configuration& configuration) {
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
