// --resume: a run continues from the results file of an interrupted run.
#pragma once

#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/report/configuration.hpp"
#include "pace/result/result.hpp"

namespace pace::runner {

/// Options and facts of the machine that must be equal.
using report::Configuration;

/// Returns the results in a file that JsonSink has written, without those that the time limit prevented or cut short,
/// and without a last line that was cut off. There are none if the file does not exist, or has no whole line. Throws
/// InputError if it is not a results file (see report::read_whole_lines), or has another configuration.
[[nodiscard]] std::vector<Result> results_to_resume(const std::string& path, const Configuration& configuration);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/resume-inl.hpp"
#endif
