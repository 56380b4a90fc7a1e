// background_work_goes_on: whether threads or child processes compute after a call has returned.
#pragma once

#include <dirent.h>
#include <strings.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace pace::detail {

/// State of a thread from its /proc file `path`: R is running, or ready to run. '?' if there is no such file.
[[nodiscard]] inline char state_in(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return '?';
  char line[256];
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  // "tid (name) state ...", where the name may hold parentheses.
  const char* const name_end = read ? std::strrchr(line, ')') : nullptr;
  return name_end != nullptr && name_end[1] == ' ' ? name_end[2] : '?';
}

/// Names of the threads in a folder such as /proc/self/task; none if there is no such folder.
[[nodiscard]] inline std::set<std::string> threads_in(const std::string& folder) {
  std::set<std::string> found;
  ::DIR* const threads = ::opendir(folder.c_str());
  if (threads == nullptr) return found;
  while (const auto* const entry = ::readdir(threads))
    if (entry->d_name[0] != '.') found.insert(entry->d_name);
  ::closedir(threads);
  return found;
}

/// Whether a thread of the process in the /proc folder `process`, other than `except`, computes. Includes the processes
/// that it started, at any depth.
[[nodiscard]] inline bool threads_run(const std::string& process, const std::string& except = {}) {
  const std::string folder = process + "/task/";
  for (const auto& thread : threads_in(folder)) {
    if (thread != except && state_in(folder + thread + "/stat") == 'R') return true;
    std::ifstream children(folder + thread + "/children");
    for (std::string child; children >> child;)
      if (threads_run("/proc/" + child)) return true;
  }
  return false;
}

/// Whether another thread of this process, or a process that it started, computes, or would if it got a CPU. So load on
/// the machine makes no difference. Sees processes only if the kernel lists children, and while their parent lives.
[[nodiscard]] inline bool other_threads_run() { return threads_run("/proc/self", std::to_string(::gettid())); }

/// Whether this program's initial environment makes OpenMP's threads spin for ever. OpenMP reads it at the start; later
/// changes have no effect.
[[nodiscard]] inline bool threads_spin_for_ever() {
  constexpr std::string_view name = "OMP_WAIT_POLICY=";
  std::ifstream file("/proc/self/environ");
  for (std::string variable; std::getline(file, variable, '\0');)
    if (variable.starts_with(name)) return ::strcasecmp(variable.c_str() + name.size(), "active") == 0;
  return false;
}

/// Whether other threads or processes compute for a second. Thread pools spin for less after their last task:
/// milliseconds, or 0.2 s in Intel's OpenMP, unless set to more. Waits for work that ends by itself. Takes some 20 us a
/// thread if nothing runs. False if OpenMP's threads spin for ever (OMP_WAIT_POLICY=active), since these look the same.
[[nodiscard]] inline bool background_work_goes_on() {
  if (!other_threads_run() || threads_spin_for_ever()) return false;
  constexpr int looks = 100;
  for (int i = 0; i < looks; ++i) {
    ::timespec pause{};
    pause.tv_nsec = 10'000'000;
    ::nanosleep(&pause, nullptr);
    if (!other_threads_run()) return false;
  }
  return true;
}

}  // namespace pace::detail
