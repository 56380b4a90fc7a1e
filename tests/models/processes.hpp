// Processes that a test has started.
#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace pace::test {

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

}  // namespace pace::test
