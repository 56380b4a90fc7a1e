// Unfinished: files and folders without results, removed if a signal ends the process.
#pragma once

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "pace/os/same_file.hpp"

namespace pace {

/// How to undo the creation of a file or folder. A file that will replace another is only removed under its first name
/// (`remove_beside`): under the other name it holds results.
enum class TakeBack : int { nothing, remove_file, empty_file, remove_folder, remove_beside };

namespace detail {

/// Entry of a static table for a signal handler, where no destructors run and nothing may lock or allocate.
struct UnfinishedPath {
  std::atomic<bool> is_taken{false};
  std::atomic<TakeBack> how{TakeBack::nothing};
  /// Process that made the entry; processes forked later ignore it.
  pid_t owner = 0;
  int descriptor = 0;
  char path[PATH_MAX] = {};
};

/// More entries than one run has open. A signal does not remove paths beyond them.
inline constexpr std::size_t most_unfinished = 64;
inline std::array<UnfinishedPath, most_unfinished> unfinished_paths;

/// Process of the same run that makes its own files and is ended first; 0: none.
inline std::atomic<pid_t> process_that_ends_first{0};

}  // namespace detail

/// Undoes the creation of the file `path`, open as `descriptor`, or of the folder `path`. If another file now has the
/// name of a file to remove, empties the file instead. If nothing has that name, leaves it. Async-signal-safe. Returns
/// whether it removed something.
inline bool take_back(TakeBack how, const char* path, int descriptor) noexcept {
  if (how == TakeBack::nothing) return false;
  if (how == TakeBack::remove_folder) return ::rmdir(path) == 0;
  struct stat own{}, there{};
  if (::fstat(descriptor, &own) != 0 || ::stat(path, &there) != 0) return false;
  const bool under_its_name = same_file(own, there);
  if (how != TakeBack::empty_file && under_its_name) return ::unlink(path) == 0;
  if (how == TakeBack::remove_beside) return false;
  [[maybe_unused]] const int emptied = ::ftruncate(descriptor, 0);
  return false;
}

/// Undoes the creation of all unfinished files and folders of this process. Async-signal-safe.
inline void take_back_unfinished() noexcept {
  const auto each = [](bool folders) {
    bool any = false;
    for (auto& entry : detail::unfinished_paths) {
      const TakeBack how = entry.how;
      if (entry.owner == ::getpid() && (how == TakeBack::remove_folder) == folders)
        any = take_back(how, entry.path, entry.descriptor) || any;
    }
    return any;
  };
  each(/*folders=*/false);
  // Folders have no order and may be nested: a pass may empty a folder for the next one.
  while (each(/*folders=*/true)) {
  }
}

/// Registers one file or folder that holds no result yet.
class Unfinished {
 public:
  Unfinished() = default;
  /// Registers `path`, to be undone as `how` says; `descriptor` is an open file's. Has no effect if the path is too
  /// long or the table is full.
  Unfinished(TakeBack how, const std::string& path, int descriptor = -1) noexcept {
    if (path.size() >= sizeof(detail::UnfinishedPath::path)) return;
    for (auto& entry : detail::unfinished_paths) {
      if (entry.is_taken.exchange(true)) continue;
      entry.owner = ::getpid();
      entry.descriptor = descriptor;
      path.copy(entry.path, path.size());
      entry.path[path.size()] = '\0';
      entry.how = how;
      entry_ = &entry;
      return;
    }
  }
  /// Takes over the registration of `other`.
  Unfinished(Unfinished&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  /// Swaps the registrations of both objects.
  Unfinished& operator=(Unfinished&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~Unfinished() { finish(); }

  /// Ends the registration: the path stays if a signal ends the process.
  void finish() noexcept {
    if (entry_ == nullptr) return;
    entry_->how = TakeBack::nothing;
    entry_->is_taken = false;
    entry_ = nullptr;
  }

 private:
  detail::UnfinishedPath* entry_ = nullptr;
};

namespace detail {

inline void take_back_and_end(int number) {
  if (const pid_t other = process_that_ends_first; other > 0) {
    ::kill(other, number);
    while (::waitpid(other, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  take_back_unfinished();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

}  // namespace detail

/// Installs a handler of SIGHUP, SIGINT and SIGTERM that calls take_back_unfinished() before the signal ends the
/// process. Leaves signals that are ignored or have another handler unchanged.
inline void take_back_when_ended() {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = &detail::take_back_and_end;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace pace
