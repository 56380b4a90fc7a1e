// Definitions of resume.hpp; see base/config.hpp.
#pragma once

#include "pace/runner/resume.hpp"

#include <unistd.h>

#include <utility>

#include "pace/base/error.hpp"
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
  const auto is_whole = [](const Result& result) {
    bool whole = result.stop_reason != StopReason::deadline;
    for (const auto& each : result.implementations) whole = whole && each.outcome != Outcome::unreached;
    return whole;
  };
  // A comparison and its gates on the host's time are measured again together.
  std::vector<std::string> without_host;
  for (const auto& result : file->results)
    if (const std::string end = std::string("/") + host_phase; !is_whole(result) && result.name.ends_with(end))
      without_host.push_back(result.name.substr(0, result.name.size() - end.size()));
  std::erase_if(file->results, [&](const Result& result) {
    return !is_whole(result) || std::ranges::find(without_host, result.name) != without_host.end();
  });
  return std::move(file->results);
}

}  // namespace pace::runner
