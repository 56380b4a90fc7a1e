// Files of a command line registered as models, once nothing speaks against it: code that is not trusted, inputs that
// do not fit, options that cannot act.
#pragma once

#include <vector>

#include "benches/models/command_line.hpp"
#include "benches/models/driver/known_model.hpp"

namespace pace::benches::models {

/// Registers the files as models of this program, and returns the facts that the driver needs. Throws InputError for a
/// file of no known kind, for code that is not trusted, and for options that cannot act on a file. Throws it for inputs
/// that cannot be read or that an exported program does not take. In a dry run, throws it also for files that do not
/// load.
[[nodiscard]] std::vector<KnownModel> register_files(const std::vector<ModelFile>& files, const CommandLine& line);

}  // namespace pace::benches::models
