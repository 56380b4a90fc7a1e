// All kinds of files that can be run.
#pragma once

#include <array>
#include <string>

#include "benches/files/loaders/exported.hpp"
#include "benches/files/loaders/kernel.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/package.hpp"
#include "benches/files/loaders/python.hpp"
#include "benches/files/loaders/torchscript.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::loaders {

/// The kind of the file. Throws InputError with the kind of the file and the expected ones.
[[nodiscard]] inline const Loader& loader_of(const Content& content) {
  static const TorchScriptLoader torchscript;
  static const ExportedLoader exported;
  static const PackageLoader package;
  static const KernelLoader kernel;
  static const PythonLoader python;
  static const std::array<const Loader*, 5> all = {&torchscript, &exported, &package, &kernel, &python};
  std::string names;
  for (const Loader* loader : all) {
    if (loader->recognises(content)) return *loader;
    names += (names.empty() ? "" : ", ") + loader->name();
  }
  throw InputError({content.path()},
                   "this is " + content.describe() + "; expected a file of one of these kinds: " + names);
}

}  // namespace pace::benches::loaders
