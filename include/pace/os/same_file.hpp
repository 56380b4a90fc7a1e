// same_file, same_path: whether two names or descriptions are of one file.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace pace {

/// Returns whether both describe the same file. Async-signal-safe.
[[nodiscard]] inline bool same_file(const struct stat& one, const struct stat& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Returns whether both paths lead to one existing file, however they are spelt. Uses stat, since LibTorch's wheels
/// export functions of std::filesystem that crash.
[[nodiscard]] inline bool same_file(const std::string& one, const std::string& other) {
  struct stat first{}, second{};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && same_file(first, second);
}

/// Returns whether a file that is written under one path would be that of the other, whether it exists yet or not.
/// Throws std::filesystem::filesystem_error, such as for a path through a loop of links.
[[nodiscard]] inline bool same_path(const std::string& one, const std::string& other) {
  const auto place = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  };
  return same_file(one, other) || place(one) == place(other);
}

}  // namespace pace
