// read_lines: the lines of an input file one by one, so that a file may be larger than the memory.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "pace/base/error.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/read_file.hpp"

namespace pace {

namespace detail {

/// Calls `use(line, number)` for each line of `text` that has an end, and returns the rest. Increases `number` before
/// each call.
template <class Use>
[[nodiscard]] std::string_view use_whole_lines(std::string_view text, std::size_t& number, const Use& use) {
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    use(text.substr(0, end), ++number);
  return text;
}

}  // namespace detail

/// Calls `use(line, number)` for each line that has an end, without that end, with numbers from 1. Returns the text
/// after the last end. Holds one line and a chunk of a regular file in memory, but all of a pipe. Throws InputError as
/// read_file() does, and for a line, or a pipe, of more than `longest` bytes.
template <class Use>
[[nodiscard]] std::string read_lines(const std::string& path, const std::string& expected, std::size_t longest,
                                     const Use& use) {
  std::size_t number = 0;
  // By name: opening a pipe and closing it would end its writer.
  if (struct stat info{}; ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    const std::string text = read_file(path, expected, {.most_bytes = longest});
    return std::string(detail::use_whole_lines(text, number, use));
  }
  const auto fail = [&](int reason) {
    throw InputError({path}, std::string("cannot be read: ") + std::strerror(reason) + "; expected " + expected);
  };
  const FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
  if (!descriptor) fail(errno);
  const auto require_short = [&](std::size_t size, std::size_t line) {
    if (size <= longest) return;
    struct stat info{};
    const bool known = ::fstat(descriptor.get(), &info) == 0;
    throw InputError({path, line}, "is longer than " + std::to_string(longest) + " bytes" +
                                       (known ? " (the file has " + std::to_string(info.st_size) + ')' : "") +
                                       "; expected " + expected);
  };
  const auto use_short = [&](std::string_view line, std::size_t at) {
    require_short(line.size(), at);
    use(line, at);
  };
  std::string text;
  for (constexpr std::size_t chunk = std::size_t{1} << 18;;) {
    const std::size_t size = text.size();
    text.resize(size + chunk);
    const ssize_t count = ::read(descriptor.get(), text.data() + size, chunk);
    const int reason = errno;
    text.resize(size + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count < 0 && reason == EINTR) continue;
    if (count < 0) fail(reason);
    if (count == 0) return text;
    if (text.find('\n', size) != std::string::npos) {
      const std::size_t left = detail::use_whole_lines(text, number, use_short).size();
      text.erase(0, text.size() - left);
    }
    require_short(text.size(), number + 1);
  }
}

}  // namespace pace
