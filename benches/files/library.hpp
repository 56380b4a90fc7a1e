// Shared libraries that register operators.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "benches/files/loaders/content.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::files {

/// Throws InputError, which names it, for a library of `--library` that is none.
inline void require_library(const std::string& path) {
  if (!std::filesystem::exists(path)) throw InputError({path}, "--library: no such file; expected a shared library");
  if (const loaders::Content content(path); !content.is_elf() || content.is_kernel_image())
    throw InputError({path},
                     "--library: it does not load: this is " + content.describe() + "; expected a shared library");
}

/// Loads a library of `--library`, for the life of the process. Throws InputError, which names it.
inline void load_library(const std::string& path) {
  require_library(path);
  // A bare name would be looked for in the system's folders.
  if (::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw InputError({path}, std::string("--library: it does not load: ") + ::dlerror());
}

}  // namespace pace::benches::files
