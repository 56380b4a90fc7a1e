// Processes that a test has started.
#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace pace::test {

/// Returns once a process is gone, or waits for its parent to ask how it ended. How long that takes is the machine's
/// business: where it never happens, Bazel ends the test.
inline void wait_for_end_of(const std::string& pid) {
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    std::ifstream file("/proc/" + pid.substr(0, pid.find('\n')) + "/stat");
    std::string line;
    if (!std::getline(file, line) || line.find(") Z ") != std::string::npos) return;
  }
}

}  // namespace pace::test
