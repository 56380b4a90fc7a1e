// Background work: threads and child processes that go on computing after a call has returned.
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

/// State of a thread as the file `path` in /proc reports it: R is running, or ready to. '?' where there is no such
/// file.
[[nodiscard]] inline char state_in(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return '?';
  char line[256];
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  // "tid (name) state ...", and the name may hold parentheses.
  const char* const name_end = read ? std::strrchr(line, ')') : nullptr;
  return name_end != nullptr && name_end[1] == ' ' ? name_end[2] : '?';
}

/// Returns the names of the threads in a folder such as /proc/self/task; none where there is no such folder.
[[nodiscard]] inline std::set<std::string> threads_in(const std::string& folder) {
  std::set<std::string> found;
  ::DIR* const threads = ::opendir(folder.c_str());
  if (threads == nullptr) return found;
  while (const auto* const entry = ::readdir(threads))
    if (entry->d_name[0] != '.') found.insert(entry->d_name);
  ::closedir(threads);
  return found;
}

/// Whether a thread other than `except` of the process that has the folder `process` in /proc computes, or one of a
/// process that it has started, at any depth.
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

/// Whether a thread of this process other than the calling one computes, or one of a process that this one has started,
/// or would if it got a CPU: so that load on the machine makes no difference. Processes count where the kernel lists
/// children, and as long as their parent lives.
[[nodiscard]] inline bool other_threads_run() { return threads_run("/proc/self", std::to_string(::gettid())); }

/// Whether the environment with which this program was started sets OpenMP's threads to spin for ever. OpenMP reads it
/// then; what the program sets later has no effect on the threads.
[[nodiscard]] inline bool threads_spin_for_ever() {
  constexpr std::string_view name = "OMP_WAIT_POLICY=";
  std::ifstream file("/proc/self/environ");
  for (std::string variable; std::getline(file, variable, '\0');)
    if (variable.starts_with(name)) return ::strcasecmp(variable.c_str() + name.size(), "active") == 0;
  return false;
}

/// Whether other threads or processes compute, and go on for longer than a thread pool spins after its last task
/// (milliseconds; 0.2 s in Intel's OpenMP, more where it is set): for a second. Work that ends by itself is waited for.
/// Takes some 20 us for each thread where nothing runs. Returns false if OpenMP's threads are set to spin for ever
/// (OMP_WAIT_POLICY=active), since that cannot be distinguished.
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
