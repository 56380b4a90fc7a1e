// Results of an interrupted run, read back line by line.
#pragma once

#include "pace/runner/resume.hpp"

#include <unistd.h>

#include <cstddef>
#include <exception>
#include <string_view>
#include <utility>

#include "pace/core/error.hpp"
#include "pace/core/parse_json.hpp"
#include "pace/core/read_file.hpp"
#include "pace/report/json.hpp"
#include "pace/report/read_result.hpp"

namespace pace::runner {

PACE_INLINE std::vector<Result> results_to_resume(const std::string& path, const Configuration& configuration) {
  std::vector<Result> results;
  if (::access(path.c_str(), F_OK) != 0) return results;
  const std::string expected = "a result file as --json writes it", text = read_file(path, expected);
  constexpr std::string_view begins_configuration = "\"configuration\": ", begins_results = "\"results\": [";
  const auto complain = [&](std::size_t line, const std::string& what) {
    throw InputError({path, line}, "--resume: expected " + expected + ": " + what);
  };
  // Line by line: a suite's file as one document would take several times its size.
  std::size_t number = 0;
  bool in_results = false, configured = false;
  for (std::string_view rest = text; !rest.empty();) {
    ++number;
    const auto end = rest.find('\n');
    const bool cut_off = end == std::string_view::npos;
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(cut_off ? rest.size() : end + 1);
    if (in_results && line == "]") {
      // Less what was cut off.
      if (!std::string_view("}\n").starts_with(rest)) complain(number + 1, "text follows the end of the results");
      return results;
    }
    while (line.ends_with(',')) line.remove_suffix(1);
    try {
      if (in_results) {
        const auto json = parse_json<report::Json>(line);
        report::require_figures(json);
        auto result = report::result_from(json);
        bool whole = result.stop_reason != StopReason::deadline;
        for (const auto& each : result.implementations) whole = whole && each.outcome != Outcome::unreached;
        if (whole) results.push_back(std::move(result));
      } else if (line.starts_with(begins_configuration)) {
        const auto there = parse_json<report::Json>(line.substr(begins_configuration.size()));
        if (const auto found = report::differences(there, configuration); !found.empty())
          throw InputError({path}, "--resume: holds results of another configuration (" + found +
                                       "); give the options of that run, or write to another file");
        configured = true;
      } else if (line.starts_with(begins_results)) {
        if (!configured) complain(number, "it does not say what was measured with which options");
        in_results = true;
      }
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      // The disk was full, or the machine went down, while that result was written.
      if (in_results && cut_off) return results;
      complain(number, error.what());
    }
  }
  if (!in_results && number > 0) complain(number, "it ends too early");
  return results;
}

}  // namespace pace::runner
