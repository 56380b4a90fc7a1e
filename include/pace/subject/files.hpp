// Folders that come and go.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <ftw.h>
#include <unistd.h>

#include "pace/core/error.hpp"

namespace pace::subject::detail {

/// Removes a folder with all that is in it; what cannot be removed stays. Not std::filesystem::remove_all: libtorch.so
/// exports a copy of that function which calls a null pointer (LibTorch 2.11's wheel), and a program that links it gets
/// that copy.
inline void remove_tree(const std::filesystem::path& path) {
  constexpr int open_folders = 16;
  ::nftw(
      path.c_str(), [](const char* name, const struct stat*, int, struct FTW*) { return (void)std::remove(name), 0; },
      open_folders, FTW_DEPTH | FTW_PHYS);
}

/// A new, empty folder in `parent`. Throws `Refused` when none can be made.
[[nodiscard]] inline std::filesystem::path make_folder_in(const std::filesystem::path& parent) {
  std::string name = (parent / "pace-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw Refused("cannot write to " + parent.string());
  return name;
}

/// Writes a file such that a reader sees it whole or not at all. Throws `Refused` when it cannot be written.
inline void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::string partial = path.string() + '.' + std::to_string(::getpid()) + ".tmp";
  bool written = false;
  {
    std::ofstream file(partial, std::ios::binary);
    file << text;
    written = static_cast<bool>(file.flush());
  }
  if (written && std::rename(partial.c_str(), path.c_str()) == 0) return;
  std::remove(partial.c_str());
  throw Refused("cannot write " + path.string());
}

}  // namespace pace::subject::detail
