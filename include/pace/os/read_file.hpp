// read_file: all of an input file, without waiting forever.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/kept_pipes.hpp"

namespace pace {

/// Longest silence of a pipe: until a program opens it to write, and between two writes.
inline constexpr std::chrono::milliseconds longest_silence_of_pipe = std::chrono::seconds(30);
/// Replaces that limit, in seconds.
inline constexpr const char* pipe_timeout_variable = "PACE_PIPE_TIMEOUT";

/// Waits at most `most` for something to read from the descriptor, or for the end of a pipe; returns false if neither
/// came.
using WaitForPipe = std::function<bool(int descriptor, std::chrono::milliseconds most)>;

namespace detail {

[[nodiscard]] inline bool poll_pipe(int descriptor, std::chrono::milliseconds most) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + most;
  for (auto left = most; left.count() >= 0; left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now())) {
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready >= 0 || errno != EINTR) return ready != 0;
  }
  return false;
}

/// Throws InputError if the variable does not hold a number of seconds.
[[nodiscard]] inline std::chrono::milliseconds pipe_timeout() {
  const char* const given = std::getenv(pipe_timeout_variable);
  if (given == nullptr || *given == '\0') return longest_silence_of_pipe;
  const std::string_view text = given;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  constexpr double most_seconds = 1e6;
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0 && seconds <= most_seconds))
    throw InputError({}, std::string(pipe_timeout_variable) + ": invalid value '" + given +
                             "'; expected a number of seconds from 0 to 1000000");
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

/// Whether the pipe has no name, as a shell's `<(...)`: no other program can open it.
[[nodiscard]] inline bool is_unnamed_pipe(int descriptor) {
  char target[8] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  return size > 0 && std::string_view(target, static_cast<std::size_t>(size)).starts_with("pipe:");
}

}  // namespace detail

/// Limits of read_file().
struct ReadOptions {
  /// Largest size in bytes. Refuses a longer file without reading it to its end.
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  /// Whether to refuse a file with a NUL byte, without reading it to its end.
  bool text_only = false;
  /// Whether to read pipes like files; false for all files of a folder, since each pipe would be waited for.
  bool pipes = true;
  /// Waits until a pipe can be read or the time is over; tests pass another function.
  WaitForPipe wait = &detail::poll_pipe;
};

/// Returns the content of a regular file or a pipe (a named one, or a shell's `<(...)`) up to its end, or the kept
/// content of a pipe (see keep_pipes()). Throws InputError, with the file and the `expected` content, for a folder, a
/// device, a socket, and a file that is beyond the limits of `options` or cannot be read. Also for a pipe that no
/// program writes to, or whose writer is silent for longer than `longest_silence_of_pipe`.
[[nodiscard]] inline std::string read_file(const std::string& path, const std::string& expected,
                                           const ReadOptions& options = {}) {
  const auto fail = [&](const std::string& what) { throw InputError({path}, what + "; expected " + expected); };
  // Without O_NONBLOCK, opening a named pipe waits for a writer, without a limit.
  const FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!descriptor) fail(std::string("cannot be read: ") + std::strerror(errno));
  struct stat info{};
  if (::fstat(descriptor.get(), &info) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(info.st_mode)) fail("is a folder");
  if (S_ISFIFO(info.st_mode) && !options.pipes) fail("is a pipe, not a regular file");
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode)) fail("is neither a regular file nor a pipe");
  std::string text;
  const auto check = [&](std::size_t from) {
    if (options.text_only && text.find('\0', from) != std::string::npos) fail("is binary");
    if (text.size() > options.most_bytes) fail("has more than " + std::to_string(options.most_bytes) + " bytes");
  };
  if (S_ISFIFO(info.st_mode)) {
    // An earlier reader of it may have had no limits.
    if (auto kept = detail::kept_content(info)) {
      text = *std::move(kept);
      check(0);
      return text;
    }
  }
  constexpr std::size_t chunk = std::size_t{1} << 18;
  if (S_ISREG(info.st_mode) && static_cast<std::size_t>(info.st_size) <= options.most_bytes)
    text.reserve(static_cast<std::size_t>(info.st_size) + chunk);
  // Before a program opens it to write, a named pipe looks as if it had ended.
  bool may_begin = S_ISFIFO(info.st_mode) && !detail::is_unnamed_pipe(descriptor.get());
  for (;;) {
    const std::size_t size = text.size();
    text.resize(size + chunk);
    const ssize_t count = ::read(descriptor.get(), text.data() + size, chunk);
    const int reason = errno;
    text.resize(size + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count < 0 && reason == EINTR) continue;
    if (count > 0) {
      check(size);
      continue;
    }
    if (count < 0 && reason != EAGAIN) fail(std::string("cannot be read: ") + std::strerror(reason));
    if (count == 0 && !(may_begin && text.empty())) break;
    const auto most = detail::pipe_timeout();
    if (options.wait(descriptor.get(), most)) {
      may_begin = may_begin && count < 0;
    } else if (count < 0) {
      fail("is a pipe whose writer has sent nothing for " + std::to_string(most.count()) + " ms (" +
           pipe_timeout_variable + "=SECONDS changes that)");
    } else {
      // A program may have opened it without writing yet.
      may_begin = false;
    }
  }
  if (S_ISFIFO(info.st_mode) && text.empty()) fail("is a pipe that no program writes to");
  if (S_ISFIFO(info.st_mode)) detail::keep_content(info, text);
  return text;
}

}  // namespace pace
