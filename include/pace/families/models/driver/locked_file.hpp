// LockedFile: a file that one process at a time adds to, and that is whole after every addition.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "pace/core/error.hpp"

namespace pace::families::models {

namespace detail {

/// Adds `text` to a file that was opened with O_APPEND. On an error the file is cut back to what it was, and Error is
/// thrown that names `path`.
inline void append_whole(int descriptor, const std::string& path, std::string_view text) {
  struct stat before {};
  const bool known = ::fstat(descriptor, &before) == 0;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      // The error that led here is the one to report.
      if (known && ::ftruncate(descriptor, before.st_size) != 0) errno = reason;
      throw Error("cannot write to '" + path + "': " + std::strerror(reason));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace detail

/// The lock is advisory (flock) and ends with the process, however that ends.
class LockedFile {
 public:
  /// Creates the file if it is not there. Throws InputError that names the file if it cannot be opened, is no regular
  /// file, or another process has it locked.
  explicit LockedFile(std::string path) : path_(std::move(path)) {
    // A process that held the lock may have removed the file meanwhile.
    while (!open()) ::close(std::exchange(descriptor_, -1));
  }
  LockedFile(LockedFile&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  LockedFile& operator=(LockedFile&&) = delete;
  /// A file that holds nothing is removed.
  ~LockedFile() {
    if (descriptor_ < 0) return;
    if (is_empty()) ::unlink(path_.c_str());
    ::close(descriptor_);
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool is_empty() const {
    struct stat info {};
    return ::fstat(descriptor_, &info) == 0 && info.st_size == 0;
  }

  /// At once, or not at all. Throws Error.
  void append(std::string_view text) { detail::append_whole(descriptor_, path_, text); }

  /// Removes the last line if it has no end: an addition that was cut off, with which what follows would be lost.
  /// Throws Error.
  void cut_torn_line() {
    struct stat info {};
    if (::fstat(descriptor_, &info) != 0) return;
    off_t end = info.st_size;
    for (char last = '\0'; end > 0; --end)
      if (::pread(descriptor_, &last, 1, end - 1) != 1 || last == '\n') break;
    cut_to(end);
  }

  /// Throws Error.
  void clear() { cut_to(0); }

 private:
  void cut_to(off_t size) {
    if (::ftruncate(descriptor_, size) != 0) throw Error("cannot shorten '" + path_ + "': " + std::strerror(errno));
  }

  /// False: the file that was opened is not the one of that name any more.
  [[nodiscard]] bool open() {
    const auto fail = [&](const std::string& what) {
      if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
      throw InputError({path_}, what);
    };
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(std::string("cannot be opened: ") + std::strerror(errno));
    struct stat own {}, there {};
    if (::fstat(descriptor_, &own) != 0 || !S_ISREG(own.st_mode))
      fail("is no regular file; expected a name under which results can be written");
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK)
        fail("another run writes its results there; give another --output, or wait until that run has ended");
      fail(std::string("cannot be locked: ") + std::strerror(errno));
    }
    return ::stat(path_.c_str(), &there) == 0 && there.st_ino == own.st_ino && there.st_dev == own.st_dev;
  }

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace pace::families::models
