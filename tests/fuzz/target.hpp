// Shared by the targets of this folder: the text of an input, a file that holds it, and the properties that must hold.
//
// A target is `LLVMFuzzerTestOneInput` over one parser. It catches the errors that the parser documents. Every other
// exception leaves it, which libFuzzer and seeds_test.cc take for a finding.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "pace/base/error.hpp"
#include "pace/os/file_descriptor.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace pace::fuzz {

/// Thrown where a property does not hold. It is none of pace's errors, so that no target catches it.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws Broken, with the property and `found`, unless it holds.
inline void require(bool holds, const std::string& property, const std::string& found = "") {
  if (!holds) throw Broken(property + (found.empty() ? "" : "; found: " + found));
}

/// Throws Broken unless the message of an error of the file begins with the file's name and says more than that.
inline void require_place(const InputError& error, const std::string& file) {
  const std::string message = error.what();
  require(error.where().file == file, "an error has the name of its file", message);
  require(message.starts_with(file + ':') && message.size() > file.size() + 3, "a message begins with its place",
          message);
}

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file in memory, which has a path like any other.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (!file_) throw std::system_error(errno, std::generic_category(), "memfd_create");
    for (std::size_t written = 0; written < content.size();) {
      const auto count = ::write(file_.get(), content.data() + written, content.size() - written);
      if (count < 0) throw std::system_error(errno, std::generic_category(), "write");
      written += static_cast<std::size_t>(count);
    }
  }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  FileDescriptor file_;
};

}  // namespace pace::fuzz
