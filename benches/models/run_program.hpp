// The models' bench, whatever runs its models: from the words of a command line to an exit code.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "benches/models/dependencies.hpp"

namespace pace::benches::models {

/// `program`: the path of this program, which is run for each model. `words`: its arguments. Returns the exit code: 0
/// unless something was wrong with them, a gate did not pass, rows or what is printed got lost, or a signal ended the
/// run. The main function must have a report::ProgramOutput: without it, output that cannot be written is a signal,
/// which would end the run, or look like a crash of the model whose process it hits.
[[nodiscard]] int run_program(const std::string& program, const std::vector<std::string>& words,
                              const Dependencies& dependencies, std::ostream& out, std::ostream& errors);

}  // namespace pace::benches::models
