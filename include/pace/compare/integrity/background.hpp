// Background work: threads that go on computing after a call has returned.
#pragma once

#include <dirent.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace pace::detail {

/// State of a thread of this process as /proc reports it: R is running, or ready to. '?' where there is no /proc.
[[nodiscard]] inline char state_of_thread(const char* thread) {
  std::FILE* const file = std::fopen((std::string("/proc/self/task/") + thread + "/stat").c_str(), "r");
  if (file == nullptr) return '?';
  char line[256];
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  // "tid (name) state ...", and the name may hold parentheses.
  const char* const name_end = read ? std::strrchr(line, ')') : nullptr;
  return name_end != nullptr && name_end[1] == ' ' ? name_end[2] : '?';
}

/// Whether a thread of this process other than the calling one computes, or would if it got a CPU: so that load on
/// the machine makes no difference.
[[nodiscard]] inline bool other_threads_run() {
  ::DIR* const threads = ::opendir("/proc/self/task");
  if (threads == nullptr) return false;
  const std::string own = std::to_string(::gettid());
  bool found = false;
  while (const auto* const entry = ::readdir(threads))
    found = found || (entry->d_name[0] != '.' && own != entry->d_name && state_of_thread(entry->d_name) == 'R');
  ::closedir(threads);
  return found;
}

/// Whether other threads compute, and go on for longer than a thread pool spins after its last task (milliseconds;
/// 0.2 s in Intel's OpenMP, more where it is set): for a second. Work that ends by itself is waited for. Takes some 20 us
/// where nothing runs. Returns false if OpenMP's threads are set to spin for ever (OMP_WAIT_POLICY=active), since that
/// cannot be distinguished.
[[nodiscard]] inline bool background_work_goes_on() {
  if (!other_threads_run()) return false;
  const char* const policy = std::getenv("OMP_WAIT_POLICY");
  if (policy != nullptr && ::strcasecmp(policy, "active") == 0) return false;
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
