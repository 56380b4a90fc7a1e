// OutputFile: a file that is whole after every write, or says why not.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "pace/core/error.hpp"

namespace pace::report {

namespace detail {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { static_cast<void>(close()); }

  /// Below 0: none.
  [[nodiscard]] int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Whether the system closes it without an error; it does so at most once.
  [[nodiscard]] bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

}  // namespace detail

/// A file descriptor rather than a stream: each change is one system call, so that a killed process leaves either the
/// old content or the new, and a full disk is seen in that call rather than in a destructor. The file is locked (flock)
/// as long as it is open: a second writer under any name of it, in this process or another, is refused.
class OutputFile {
 public:
  /// Opens the file, and creates it if there is none. What it held stays until the first change. Throws Error with the
  /// path and the reason: the system's; that something else writes to the file; that the standard output goes there; that
  /// nothing reads from a pipe. If `replaces`, what is there under that name stays until replace() is called.
  explicit OutputFile(std::string path, bool replaces = false) : path_(std::move(path)), target_(path_) {
    if (replaces && !is_no_file(path_)) {
      open_beside();
    } else {
      descriptor_ = open_locked(path_, O_WRONLY | O_CREAT);
      if (!descriptor_) fail("cannot open", errno);
    }
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (!under_name_) ::unlink(name_beside().c_str());
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// What was written takes the place of what was there under the name, at once. Throws Error.
  void replace() {
    if (under_name_) return;
    if (std::rename(name_beside().c_str(), target_.c_str()) != 0) fail("cannot replace", errno);
    under_name_ = true;
    guard_ = detail::Descriptor();
  }

  /// What the file holds stays for good; append() writes behind it. To be called before anything is written.
  void keep() {
    holds_old_ = false;
    // A pipe has no end to go to.
    if (const off_t end = ::lseek(descriptor_.get(), 0, SEEK_END); end > 0) size_ = end;
  }

  /// What the file begins with. It is written now if the file is empty, otherwise with the first change or by close(): a
  /// run that fails before it has a result leaves what an earlier one wrote. `rewritten`: replace_tail() will be called,
  /// for which a pipe does not do. Throws Error.
  void begin_with(std::string_view head, bool rewritten = false) {
    if (holds_old_) head_ = head;
    else if (rewritten) replace_tail("", head);
    else append(head);
  }

  /// Adds `text` at the end. On an error the file is cut back to what it was, and Error is thrown.
  void append(std::string_view text) {
    start();
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t written = ::write(descriptor_.get(), rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const int reason = errno;
        cut_back_to(size_);
        fail("cannot write", reason);
      }
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    size_ += static_cast<off_t>(text.size());
  }

  /// Replaces the last `old_tail.size()` bytes, which must be `old_tail`, by `text`. On an error they are put back and
  /// Error is thrown. Needs a file that can be written at any place: not a pipe, not a terminal.
  void replace_tail(std::string_view old_tail, std::string_view text) {
    start();
    const off_t begin = size_ - static_cast<off_t>(old_tail.size());
    if (const int reason = write_at(begin, text); reason != 0) {
      // In this order: on a full disk, blocks that were given back might not be had again.
      write_at(begin, old_tail);
      cut_back_to(size_);
      fail("cannot write", reason);
    }
    size_ = begin + static_cast<off_t>(text.size());
  }

  /// Throws Error if closing reports what writing did not (network file systems do that).
  void close() {
    if (!head_.empty()) start();
    if (!descriptor_.close()) fail("cannot close", errno);
  }

 private:
  /// 0, or the errno of what went wrong.
  int write_at(off_t offset, std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::pwrite(descriptor_.get(), text.data(), text.size(), offset);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      offset += written;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
  }

  void cut_back_to(off_t size) const {
    // A device cannot be cut; the error that led here is the one to report.
    if (::ftruncate(descriptor_.get(), size) != 0) return;
    ::lseek(descriptor_.get(), size, SEEK_SET);
  }

  /// What the file held goes.
  void start() {
    if (!std::exchange(holds_old_, false)) return;
    if (::ftruncate(descriptor_.get(), 0) != 0) fail("cannot empty", errno);
    if (const std::string head = std::exchange(head_, ""); !head.empty()) append(head);
  }

  /// A file beside the one that it will replace; both are locked.
  void open_beside() {
    guard_ = open_locked(path_, O_RDONLY);
    if (!guard_ && errno != ENOENT) fail("cannot open", errno);
    // The file that a link leads to is replaced, not the link.
    if (char* const real = guard_ ? ::realpath(path_.c_str(), nullptr) : nullptr; real != nullptr) {
      target_ = real;
      std::free(real);
    }
    descriptor_ = open_locked(name_beside(), O_WRONLY | O_CREAT | O_NOFOLLOW);
    if (!descriptor_) throw Error("cannot open '" + name_beside() + "': " + std::strerror(errno));
    under_name_ = false;
    holds_old_ = false;
    if (::ftruncate(descriptor_.get(), 0) != 0) fail("cannot empty", errno);
    if (struct stat old {}; guard_ && ::fstat(guard_.get(), &old) == 0)
      static_cast<void>(::fchmod(descriptor_.get(), old.st_mode & 0777));
  }

  /// Returns none, with errno set, where the system does not open it.
  [[nodiscard]] detail::Descriptor open_locked(const std::string& name, int flags) {
    const auto refuse = [&](const char* why) { throw Error("cannot write '" + path_ + "': " + why); };
    for (;;) {
      // O_NONBLOCK: opening a pipe would wait for a reader.
      detail::Descriptor opened(::open(name.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
      if (!opened) return opened;
      ::fcntl(opened.get(), F_SETFL, ::fcntl(opened.get(), F_GETFL) & ~O_NONBLOCK);
      struct stat info {};
      if (::fstat(opened.get(), &info) != 0) return opened;
      constexpr unsigned memory_devices = 1;  // /dev/null, /dev/full
      if (S_ISCHR(info.st_mode) && major(info.st_rdev) == memory_devices) return opened;
      if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        refuse("another run, or another option of this one, writes to it; expected a file of its own for each");
      if (!S_ISREG(info.st_mode)) return opened;
      for (const int standard : {STDOUT_FILENO, STDERR_FILENO})
        if (struct stat other {}; ::fstat(standard, &other) == 0 && same_file(info, other))
          refuse("the standard output or the standard error goes there; expected a file of its own");
      holds_old_ = info.st_size > 0;
      // Between opening and locking, another run may have replaced the file.
      if (struct stat now {}; ::stat(name.c_str(), &now) == 0 && same_file(info, now)) return opened;
    }
  }

  [[nodiscard]] static bool same_file(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  }

  [[noreturn]] void fail(const char* what, int reason) const {
    const char* hint = "";
    if (reason == ESPIPE) hint = "; a regular file was expected, not a pipe or a terminal";
    if (reason == ENXIO) hint = "; no program reads from this pipe";
    throw Error(std::string(what) + " '" + path_ + "': " + std::strerror(reason) + hint);
  }

  [[nodiscard]] std::string name_beside() const { return target_ + ".new"; }
  /// Such as /dev/null, which must not be replaced.
  [[nodiscard]] static bool is_no_file(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  }

  std::string path_;
  /// What replace() replaces: `path_`, or where that leads to.
  std::string target_;
  bool under_name_ = true;
  detail::Descriptor descriptor_;
  /// Holds the lock on the file that will be replaced, if there is one.
  detail::Descriptor guard_;
  off_t size_ = 0;
  /// What the file held when it was opened is in it still.
  bool holds_old_ = false;
  std::string head_;
};

}  // namespace pace::report
