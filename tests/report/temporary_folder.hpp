// A folder of a test's own that goes with it. Not for programs that link LibTorch, which exports a remove_all that
// crashes.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/report/temporary_file.hpp"

/// Empty at first.
class TemporaryFolder {
 public:
  TemporaryFolder() { std::filesystem::create_directory(path()); }
  ~TemporaryFolder() { std::filesystem::remove_all(path()); }
  [[nodiscard]] std::string path() const { return placeholder_.path() + ".d"; }
  /// Writes a file; makes the folders that it lies in.
  void put(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path() + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(path() + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  TemporaryFile placeholder_;
};
