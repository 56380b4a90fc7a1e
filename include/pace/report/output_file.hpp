// OutputFile: a file that is whole after every write, or says why not.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "pace/core/error.hpp"

namespace pace::report {

/// A file descriptor rather than a stream: each change is one system call, so that a killed process leaves either the
/// old content or the new, and a full disk is seen in that call rather than in a destructor.
class OutputFile {
 public:
  /// Creates or empties the file. Throws Error naming the path and the system's reason. If `replaces`, what is there
  /// under that name stays until replace() is called.
  explicit OutputFile(std::string path, bool replaces = false)
      : path_(std::move(path)), under_name_(!replaces || is_no_file(path_)),
        descriptor_(::open(name().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail("cannot open", errno);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// What was written takes the place of what was there under the name, at once. Throws Error.
  void replace() {
    if (under_name_) return;
    if (std::rename(name().c_str(), path_.c_str()) != 0) fail("cannot replace", errno);
    under_name_ = true;
  }

  /// Adds `text` at the end. On an error the file is cut back to what it was, and Error is thrown.
  void append(std::string_view text) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
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
    const off_t start = size_ - static_cast<off_t>(old_tail.size());
    if (const int reason = write_at(start, text); reason != 0) {
      cut_back_to(start);
      write_at(start, old_tail);
      fail("cannot write", reason);
    }
    size_ = start + static_cast<off_t>(text.size());
  }

  /// Throws Error if closing reports what writing did not (network file systems do that).
  void close() {
    if (const int descriptor = std::exchange(descriptor_, -1); descriptor >= 0 && ::close(descriptor) != 0)
      fail("cannot close", errno);
  }

 private:
  /// 0, or the errno of what went wrong.
  int write_at(off_t offset, std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::pwrite(descriptor_, text.data(), text.size(), offset);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      offset += written;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
  }

  void cut_back_to(off_t size) const {
    // A device cannot be cut; the error that led here is the one to report.
    if (::ftruncate(descriptor_, size) != 0) return;
    ::lseek(descriptor_, size, SEEK_SET);
  }

  [[noreturn]] void fail(const char* what, int reason) const {
    const char* hint = reason == ESPIPE ? "; a regular file was expected, not a pipe or a terminal" : "";
    throw Error(std::string(what) + " '" + path_ + "': " + std::strerror(reason) + hint);
  }

  [[nodiscard]] std::string name() const { return under_name_ ? path_ : path_ + ".new"; }
  /// Such as /dev/null, which must not be replaced.
  [[nodiscard]] static bool is_no_file(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  }

  std::string path_;
  bool under_name_;
  int descriptor_;
  off_t size_ = 0;
};

}  // namespace pace::report
