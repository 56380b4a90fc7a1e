// OutputFile: an output file that is complete after every write, or reports an error.
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

#include "pace/base/error.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/same_file.hpp"
#include "pace/os/unfinished.hpp"

namespace pace {

/// An output file through a file descriptor, not a stream: each change is one system call. So a killed process leaves
/// the old content or the next one, and that call reports a full disk. A new file takes the place of old content,
/// unless none can be made beside it, or moved there: then the content is overwritten, which a kill may leave half
/// done.
///
/// While open, the file is locked (flock): a second writer is refused, by any name and in any process. If only a head
/// was written and close() was not called, the destructor restores the earlier state: no file, an empty one, or the old
/// content. So does a signal that ends the process after take_back_when_ended().
class OutputFile {
 public:
  /// Function with the parameters and results of flock(2); tests pass one that fails.
  using Lock = int (*)(int, int);
  /// Function with the parameters and results of pread(2).
  using Read = ssize_t (*)(int, void*, std::size_t, off_t);

  /// Opens or creates the file. Its content stays until the first change or, with `replaces`, until replace(). Throws
  /// Error with the path and the reason: the system's, or another writer, or files cannot be locked there, or the
  /// standard output goes there, or nothing reads from a pipe.
  explicit OutputFile(std::string path, bool replaces = false, Lock lock = &::flock)
      : OutputFile(std::move(path), lock) {
    if (replaces && !is_no_file(path_))
      open_beside();
    else
      open_itself();
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (!under_name_)
      ::unlink(name_beside().c_str());
    else if (!changed_ && descriptor_)
      pace::take_back(undo_, target_.c_str(), descriptor_.get());
  }

  /// Returns the path passed to the constructor.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Atomically replaces the file of that name by the written one. Must not follow close(), which releases the lock:
  /// another run could take the name. Throws Error, also for errors that closing reports.
  void replace() {
    if (under_name_) return;
    // Closing a copy writes pending data (on network file systems), and the lock stays.
    if (FileDescriptor copy(::dup(descriptor_.get())); !copy || !copy.close()) fail("cannot write", errno);
    if (std::rename(name_beside().c_str(), target_.c_str()) != 0) fail("cannot replace", errno);
    under_name_ = true;
    set_changed();
    guard_ = FileDescriptor();
  }

  /// Keeps the old content, so that append() writes behind it. Call it before anything is written.
  void keep() {
    holds_old_ = false;
    // A pipe has no position, so seeking fails.
    if (const off_t end = ::lseek(descriptor_.get(), 0, SEEK_END); end > 0) size_ = end;
  }

  /// As keep(), but without a last line that has no line end: an addition that was cut off. Throws Error if the file
  /// cannot be read or shortened.
  void keep_lines(Read read = &::pread) {
    keep();
    if (size_ == 0) return;
    const FileDescriptor reader(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!reader) fail("cannot read", errno);
    off_t end = size_;
    for (char last = '\0'; end > 0;) {
      const ssize_t count = read(reader.get(), &last, 1, end - 1);
      if (count < 0 && errno == EINTR) continue;
      if (count != 1) fail("cannot read", count < 0 ? errno : EIO);
      if (last == '\n') break;
      --end;
    }
    keep_first(end);
  }

  /// After keep(), removes all behind the first `bytes` of the file at once. Throws Error.
  void keep_first(off_t bytes) {
    if (bytes == size_) return;
    if (::ftruncate(descriptor_.get(), bytes) != 0 || ::lseek(descriptor_.get(), bytes, SEEK_SET) < 0)
      fail("cannot shorten", errno);
    set_changed();
    size_ = bytes;
  }

  /// Removes the old content now, not at the first change. Throws Error.
  void clear() { start(); }

  /// Sets the head of the file. Writes it now to an empty file, else with the first change or close(), so that a failed
  /// run without a result keeps the old content. `rewritten` announces calls of replace_tail(), which a pipe does not
  /// allow. Throws Error.
  void begin_with(std::string_view head, bool rewritten = false) {
    if (holds_old_)
      head_ = head;
    else if (rewritten)
      write_over("", head);
    else
      write_behind(head);
  }

  /// Appends `text`. On an error, removes the addition and throws Error. The first addition, with the head before it,
  /// replaces the old content, except after keep().
  void append(std::string_view text) {
    change([&] {
      if (holds_old_)
        take_place_of_old(head_ + std::string(text));
      else
        write_behind(text);
    });
  }

  /// Replaces the last `old_tail.size()` bytes, which must be `old_tail`, by `text`. On an error, restores them and
  /// throws Error. The file must allow seeking, unlike a pipe or a terminal.
  void replace_tail(std::string_view old_tail, std::string_view text) {
    change([&] {
      if (holds_old_)
        take_place_of_old(head_.substr(0, head_.size() - old_tail.size()) + std::string(text));
      else
        write_over(old_tail, text);
    });
  }

  /// Closes the file, which then stays. Throws Error if closing reports an error, as network file systems do, or if the
  /// name no longer leads to the written file.
  void close() {
    if (!head_.empty()) start();
    require_name();
    changed_ = true;
    unfinished_.finish();
    if (!descriptor_.close()) fail("cannot close", errno);
  }

 private:
  /// Sets the members. This completes the object, so the destructor runs if the delegating constructor throws.
  OutputFile(std::string path, Lock lock) : path_(std::move(path)), target_(path_), lock_(lock) {}

  struct Opened {
    FileDescriptor descriptor{};
    bool is_regular = false, is_empty = false;
    /// Whether the file did not exist before.
    bool is_new = false;
  };

  /// Calls `write`, after which the file stays. If nothing could be written, the file counts as one with a head alone.
  template <class Write>
  void change(const Write& write) {
    const bool was_changed = changed_;
    // Before the write: a signal must not remove a result.
    set_changed();
    try {
      write();
    } catch (...) {
      changed_ = was_changed;
      throw;
    }
  }

  /// Returns false if the file was removed, moved or replaced since it was opened.
  [[nodiscard]] bool has_name() const {
    struct stat own{}, named{};
    if (::fstat(descriptor_.get(), &own) != 0 || !S_ISREG(own.st_mode)) return true;
    return ::stat(target_.c_str(), &named) == 0 && same_file(own, named);
  }

  /// Throws Error if the written content is not under the file's name.
  void require_name() const {
    if (!under_name_ || has_name()) return;
    throw Error(
        "cannot write '" + path_ +
        "': the file was removed, moved or replaced while it was written, so that what was written is not there");
  }

  void take_place_of_old(const std::string& text) {
    if (!replace_old(text)) overwrite_old(text);
    holds_old_ = false;
    head_.clear();
    size_ = static_cast<off_t>(text.size());
  }

  /// Replaces the file by a new one with `text`. Returns false, and leaves the file as it was, if that cannot be done.
  [[nodiscard]] bool replace_old(const std::string& text) {
    if (!has_name()) return false;  // what is there now is another's
    FileDescriptor old = std::move(descriptor_);
    try {
      make_beside(old.get());
      if (write_at(0, text) == 0 && ::lseek(descriptor_.get(), 0, SEEK_END) >= 0 &&
          std::rename(name_beside().c_str(), target_.c_str()) == 0) {
        unfinished_.finish();
        return true;
      }
      take_back(TakeBack::remove_beside, name_beside().c_str(), descriptor_.get());
    } catch (const Error&) {  // no file can be made there
    }
    unfinished_.finish();
    descriptor_ = std::move(old);
    return false;
  }

  /// Overwrites the old content and cuts off the rest. On an error, puts the overwritten bytes back. Emptying the file
  /// first could lose both the old results and the next one on a full disk.
  void overwrite_old(const std::string& text) {
    struct stat info{};
    const bool has_size = ::fstat(descriptor_.get(), &info) == 0;
    const std::string old = beginning(text.size());
    if (const int reason = write_at(0, text); reason != 0) {
      write_at(0, old);
      if (has_size) cut_back_to(info.st_size);
      fail("cannot write", reason);
    }
    const auto end = static_cast<off_t>(text.size());
    if (::ftruncate(descriptor_.get(), end) != 0 || ::lseek(descriptor_.get(), end, SEEK_SET) < 0)
      fail("cannot shorten", errno);
  }

  /// Up to `most` bytes from the beginning of the file; none if it cannot be read.
  [[nodiscard]] std::string beginning(std::size_t most) const {
    const FileDescriptor reader(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    std::string text(reader ? most : 0, '\0');
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = ::pread(reader.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    text.resize(done);
    return text;
  }

  void write_behind(std::string_view text) {
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

  void write_over(std::string_view old_tail, std::string_view text) {
    const off_t begin = size_ - static_cast<off_t>(old_tail.size());
    if (const int reason = write_at(begin, text); reason != 0) {
      // In this order: a full disk might not give released blocks back.
      write_at(begin, old_tail);
      cut_back_to(size_);
      fail("cannot write", reason);
    }
    size_ = begin + static_cast<off_t>(text.size());
  }

  /// Returns 0, or the errno of the failure.
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
    // A device cannot be cut. Report the error that led here.
    if (::ftruncate(descriptor_.get(), size) != 0) return;
    ::lseek(descriptor_.get(), size, SEEK_SET);
  }

  /// Replaces the old content by the head.
  void start() {
    if (!holds_old_) return;
    set_changed();
    take_place_of_old(head_);
  }

  void set_changed() {
    changed_ = true;
    // A file beside another one is unfinished until it has taken its place.
    if (under_name_) unfinished_.finish();
  }

  void open_itself() {
    auto opened = open_locked(path_, O_WRONLY | O_CREAT | O_EXCL);
    if (!opened.descriptor && errno == EEXIST) opened = open_locked(path_, O_WRONLY | O_CREAT);
    if (!opened.descriptor) fail("cannot open", errno);
    descriptor_ = std::move(opened.descriptor);
    target_ = real_path(path_);
    if (opened.is_regular && opened.is_empty) undo_ = opened.is_new ? TakeBack::remove_file : TakeBack::empty_file;
    if (undo_ != TakeBack::nothing) unfinished_ = Unfinished(undo_, target_, descriptor_.get());
    holds_old_ = opened.is_regular && !opened.is_empty;
  }

  /// Opens a file beside the one it will replace; locks both.
  void open_beside() {
    // For writing, since NFS gives no exclusive lock otherwise.
    guard_ = open_locked(path_, O_WRONLY).descriptor;
    if (!guard_ && errno != ENOENT) fail("cannot open", errno);
    if (guard_) target_ = real_path(path_);
    make_beside(guard_.get());
    under_name_ = false;
  }

  /// Opens a new, locked file beside the one of that name, with the mode of `old` (below 0: of a new file). Throws
  /// Error.
  void make_beside(int old) {
    const auto fail_beside = [&](const std::string& why) {
      throw Error("cannot open '" + name_beside() + "': " + why);
    };
    for (;;) {
      auto opened = open_locked(name_beside(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
      if (opened.descriptor) {
        descriptor_ = std::move(opened.descriptor);
        break;
      }
      if (errno != EEXIST) fail_beside(std::strerror(errno));
      // Without another run's lock, a killed run left it.
      const auto left = open_locked(name_beside(), O_WRONLY | O_NOFOLLOW);
      if (!left.descriptor && errno == ENOENT) continue;
      if (!left.descriptor) fail_beside(std::strerror(errno));
      if (!left.is_regular) fail_beside("is no regular file");
      if (::unlink(name_beside().c_str()) != 0) fail_beside(std::strerror(errno));
    }
    unfinished_ = Unfinished(TakeBack::remove_beside, name_beside(), descriptor_.get());
    if (struct stat info{}; old >= 0 && ::fstat(old, &info) == 0)
      static_cast<void>(::fchmod(descriptor_.get(), info.st_mode & 0777));
  }

  /// Where links lead: the file behind them is replaced or removed, and they stay.
  [[nodiscard]] static std::string real_path(const std::string& name) {
    char* const real = ::realpath(name.c_str(), nullptr);
    if (real == nullptr) return name;
    std::string path = real;
    std::free(real);
    return path;
  }

  /// Returns none, with errno set, if the system does not open it. Throws Error if something else writes to the file,
  /// or may do so: without a lock, two runs could overwrite each other's results.
  [[nodiscard]] Opened open_locked(const std::string& name, int flags) const {
    for (;;) {
      // O_NONBLOCK: opening a pipe would wait for a reader.
      Opened opened{FileDescriptor(::open(name.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666))};
      if (!opened.descriptor) return opened;
      const int number = opened.descriptor.get();
      ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) & ~O_NONBLOCK);
      struct stat info{};
      if (::fstat(number, &info) != 0) return opened;
      constexpr unsigned memory_devices = 1;  // /dev/null, /dev/full
      if (S_ISCHR(info.st_mode) && major(info.st_rdev) == memory_devices) return opened;
      opened.is_regular = S_ISREG(info.st_mode);
      opened.is_new = (flags & O_EXCL) != 0;
      const auto refuse = [&](const std::string& why) { throw Error("cannot write '" + path_ + "': " + why); };
      const int problem = locking_problem(number);
      if (problem == EWOULDBLOCK)
        refuse("another run, or another option of this one, writes to it; expected a file of its own for each");
      // A pipe or a terminal keeps nothing that could be overwritten.
      if (!opened.is_regular) return opened;
      if (problem != 0) {
        if (opened.is_new) ::unlink(name.c_str());
        refuse(std::string("it cannot be locked (") + std::strerror(problem) +
               "), and two runs could write to it at once; expected a file where files can be locked, such as on a "
               "local disk");
      }
      for (const int standard : {STDOUT_FILENO, STDERR_FILENO})
        if (struct stat other{}; ::fstat(standard, &other) == 0 && same_file(info, other))
          refuse("the standard output or the standard error goes there; expected a file of its own");
      // Between opening and locking, another run may have written to the file, replaced or removed it.
      opened.is_empty = ::fstat(number, &info) == 0 && info.st_size == 0;
      if (struct stat now{}; ::stat(name.c_str(), &now) == 0 && same_file(info, now)) return opened;
    }
  }

  /// Returns 0, or the errno of locking.
  [[nodiscard]] int locking_problem(int number) const {
    while (lock_(number, LOCK_EX | LOCK_NB) != 0)
      if (errno != EINTR) return errno;
    return 0;
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
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  }

  std::string path_;
  /// Path without links; replace() replaces this file.
  std::string target_;
  Lock lock_;
  bool under_name_ = true;
  FileDescriptor descriptor_;
  /// Locks the file to be replaced, if there is one.
  FileDescriptor guard_;
  off_t size_ = 0;
  /// The file still has its old content.
  bool holds_old_ = false;
  /// How to restore the earlier state. Old content stays until the first change.
  TakeBack undo_ = TakeBack::nothing;
  Unfinished unfinished_;
  /// Set once more than a head is to be written, or the file is closed.
  bool changed_ = false;
  std::string head_;
};

}  // namespace pace
