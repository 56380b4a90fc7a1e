// ModelFile: a file that a command line names as a model, before anything of it is opened.
#pragma once

#include <string>

namespace pace::benches::models {

struct ModelFile {
  /// In rows and files: the file's name, with the program's behind it.
  std::string name;
  std::string path;
  /// The program of an archive that holds several; empty: the only one, or the one that is called `model`.
  std::string program = {};
  /// A file of inputs, or text that begins with `(`.
  std::string inputs = {};
};

}  // namespace pace::benches::models
