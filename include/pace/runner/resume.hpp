// --resume: a run goes on from the result file that an interrupted one has left.
#pragma once

#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/report/configuration.hpp"

namespace pace::runner {

using report::Configuration;

/// The results in a file that JsonSink has written, less those that the time did not suffice for or that it cut short, and
/// less a last line that was cut off. Nothing if there is no such file, or no whole line in it. Throws InputError if it is no
/// such file (see report::read_whole_lines), or of another configuration.
[[nodiscard]] std::vector<Result> results_to_resume(const std::string& path, const Configuration& configuration);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/resume-inl.hpp"
#endif
