// Files of a command line registered as models, once nothing speaks against it: code that is not trusted, inputs that
// do not fit, options that cannot act.
#pragma once

#include <vector>

#include "benches/models/command_line.hpp"
#include "benches/models/driver/known_model.hpp"

namespace pace::benches::models {

/// Registers the files as models of this program, and returns what the driver has to know of them. Throws InputError
/// for a file of no known kind, for code that is not trusted, for inputs that cannot be read or that an exported
/// program does not take, for options that cannot act on a file, and in a dry run for files that do not load.
[[nodiscard]] std::vector<KnownModel> register_files(const std::vector<ModelFile>& files, const CommandLine& line);

}  // namespace pace::benches::models
