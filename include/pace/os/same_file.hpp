// same_file, same_path: whether two names or descriptions are of one file.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <memory>
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

namespace detail {

/// Returns the one spelling of a path, of which the end need not exist yet.
[[nodiscard]] inline std::string place_of(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real) return real.get();
  const auto slash = path.rfind('/');
  if (slash == 0 || path == ".") return path;
  if (slash == std::string::npos) return place_of(".") + '/' + path;
  return place_of(path.substr(0, slash)) + path.substr(slash);
}

}  // namespace detail

/// Returns whether a file that is written under one path would be that of the other, whether it exists yet or not. A
/// link to nothing counts as a file of its own.
[[nodiscard]] inline bool same_path(const std::string& one, const std::string& other) {
  return same_file(one, other) || detail::place_of(one) == detail::place_of(other);
}

}  // namespace pace
