// The models' bench, for any way to run its models: from the words of a command line to an exit code.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "benches/models/dependencies.hpp"

namespace pace::benches::models {

/// `program`: the path of this program, which is run for each model. `words`: its arguments. Returns the exit code. It
/// is 0 unless the arguments had an error, a gate did not pass, rows or printed text got lost, or a signal ended the
/// run. The main function must have a report::ProgramOutput. Without it, output that cannot be written raises a signal.
/// That would end the run, or look like a crash of the model in that process.
[[nodiscard]] int run_program(const std::string& program, const std::vector<std::string>& words,
                              const Dependencies& dependencies, std::ostream& out, std::ostream& errors);

}  // namespace pace::benches::models
