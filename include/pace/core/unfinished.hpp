// Unfinished: files and folders without a result, which go again where a signal ends the process.
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

namespace pace {

/// How a path is made what it was. A file that will take the name of another one is removed only under its first name
/// (`remove_beside`): once it has the other name, it holds results.
enum class TakeBack : int { nothing, remove_file, empty_file, remove_folder, remove_beside };

namespace detail {

/// The destructors of what a signal ends do not run, so that a handler, which may take no lock and no memory, does their
/// work from here.
struct UnfinishedPath {
  std::atomic<bool> is_taken{false};
  std::atomic<TakeBack> how{TakeBack::nothing};
  /// A process that was forked since has its own.
  pid_t owner = 0;
  int descriptor = 0;
  char path[PATH_MAX] = {};
};

/// More than one run has open; what does not fit in stays where a signal ends the process.
inline constexpr std::size_t most_unfinished = 64;
inline std::array<UnfinishedPath, most_unfinished> unfinished_paths;

/// A process of the same run that makes files of its own; 0: none.
inline std::atomic<pid_t> process_that_ends_first{0};

}  // namespace detail

/// Undoes the making of a file, open by `descriptor`, or of a folder. A file that another one has taken the name of is
/// emptied; one that has no name there any more was removed or has another name, and stays as it is. Does nothing that a handler of signals may not do. Returns whether something was removed.
inline bool take_back(TakeBack how, const char* path, int descriptor) noexcept {
  if (how == TakeBack::nothing) return false;
  if (how == TakeBack::remove_folder) return ::rmdir(path) == 0;
  struct stat own{}, there{};
  if (::fstat(descriptor, &own) != 0 || ::stat(path, &there) != 0) return false;
  const bool under_its_name = own.st_dev == there.st_dev && own.st_ino == there.st_ino;
  if (how != TakeBack::empty_file && under_its_name) return ::unlink(path) == 0;
  if (how == TakeBack::remove_beside) return false;
  [[maybe_unused]] const int emptied = ::ftruncate(descriptor, 0);
  return false;
}

/// Takes back all that this process has begun and not finished. May be called by a handler of signals.
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
  // In any order, and one may lie in another.
  while (each(/*folders=*/true)) {
  }
}

/// One file or folder that holds no result yet.
class Unfinished {
 public:
  Unfinished() = default;
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
  Unfinished(Unfinished&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  Unfinished& operator=(Unfinished&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~Unfinished() { finish(); }

  /// From now on it stays, or its owner takes it back.
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

/// From now on, signals by which a user or the system ends a run take back what is unfinished before they end this process,
/// as by default they end it. Those that are ignored, or have another handler, are left as they are.
inline void take_back_when_ended() {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = &detail::take_back_and_end;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace pace
