// A file of a test's own that goes with it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

class TemporaryFile {
 public:
  TemporaryFile() {
    const char* folder = std::getenv("TEST_TMPDIR");  // Bazel's, writable in its sandbox
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/pace-test-XXXXXX";
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error("cannot make a temporary file");
    ::close(descriptor);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};
