// A folder of a test's own, which goes with it.
#pragma once

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "pace/subject/files.hpp"

namespace pace::tests {

/// Whether a process is gone, or waits for somebody to ask how it ended; it has ten seconds for that.
[[nodiscard]] inline bool ends(const std::string& pid) {
  for (int i = 0; i < 1000; ++i) {
    std::ifstream file("/proc/" + pid.substr(0, pid.find('\n')) + "/stat");
    std::string line;
    if (!std::getline(file, line) || line.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

struct Scratch {
  std::filesystem::path path;
  Scratch() {
    const char* folder = std::getenv("TEST_TMPDIR");
    std::string name = std::string(folder == nullptr ? "/tmp" : folder) + "/pace-models-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() { subject::detail::remove_tree(path); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return *this / name;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] bool has(const std::string& name) const { return std::filesystem::exists(path / name); }
};

}  // namespace pace::tests
