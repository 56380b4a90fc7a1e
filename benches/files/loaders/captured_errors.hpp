// What code writes to the standard error: compiled packages say there why they refuse their inputs.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace pace::benches::files {

/// Keeps what this process writes to the standard error while the object lives; where that cannot be done, nothing
/// changes.
class CapturedErrors {
 public:
  CapturedErrors() : kept_(::dup(STDERR_FILENO)), file_(::memfd_create("errors", MFD_CLOEXEC)) {
    std::fflush(stderr);
    if (kept_ >= 0 && file_ >= 0) ::dup2(file_, STDERR_FILENO);
  }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  ~CapturedErrors() {
    std::fflush(stderr);
    if (kept_ >= 0) {
      ::dup2(kept_, STDERR_FILENO);
      ::close(kept_);
    }
    if (file_ >= 0) ::close(file_);
  }

  /// What was written so far, at most 64 KiB of it.
  [[nodiscard]] std::string text() const {
    std::fflush(stderr);
    std::string text(std::size_t{1} << 16, '\0');
    const auto size = file_ >= 0 ? ::pread(file_, text.data(), text.size(), 0) : 0;
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

 private:
  int kept_, file_;
};

}  // namespace pace::benches::files
