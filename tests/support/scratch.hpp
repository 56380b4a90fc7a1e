// A folder of a test's own, which goes with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "pace/os/folders.hpp"

namespace pace::test {

[[nodiscard]] inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Empty at first. Names are within it, also those that begin with a slash.
struct Scratch {
  const std::filesystem::path path = pace::detail::make_folder_in(parent());

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { pace::detail::remove_tree(path); }

  [[nodiscard]] std::string operator/(const std::string& name) const { return path.string() + '/' + name; }
  /// Makes the folders that the file lies in. Returns where it is.
  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  [[nodiscard]] std::string read(const std::string& name) const { return read_file(*this / name); }
  [[nodiscard]] bool has(const std::string& name) const { return std::filesystem::exists(*this / name); }

 private:
  /// Bazel's is writable in its sandbox.
  static std::filesystem::path parent() {
    const char* const given = std::getenv("TEST_TMPDIR");
    return given == nullptr ? std::filesystem::temp_directory_path() : std::filesystem::path(given);
  }
};

/// Closes this process' descriptors of a file, so that the code that has it open gets an error when it closes it.
inline void close_behind(const std::string& path) {
  std::error_code ignored;
  const auto file = std::filesystem::canonical(path);
  for (int number = 3; number < 1024; ++number)
    if (std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), ignored) == file) ::close(number);
}

}  // namespace pace::test
