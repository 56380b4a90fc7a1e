// read_file: all of an input file, without waiting for what never comes.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "pace/core/error.hpp"

namespace pace {

/// The content of a regular file, or of a pipe that another program writes to (a shell's `<(...)`) up to its end. Throws
/// InputError, which names the file and what was `expected`, for a folder, a device, a socket, a pipe that no program
/// writes to, and for whatever cannot be opened or read.
[[nodiscard]] inline std::string read_file(const std::string& path, const std::string& expected) {
  const auto fail = [&](const std::string& what) { throw InputError({path}, what + "; expected " + expected); };
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  struct Close {
    int descriptor;
    ~Close() { ::close(descriptor); }
  } const close{descriptor};
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(info.st_mode)) fail("is a folder");
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode)) fail("is neither a regular file nor a pipe");
  constexpr std::size_t chunk = std::size_t{1} << 18;
  std::string text;
  if (S_ISREG(info.st_mode)) text.reserve(static_cast<std::size_t>(info.st_size) + chunk);
  for (;;) {
    const std::size_t size = text.size();
    text.resize(size + chunk);
    const ssize_t count = ::read(descriptor, text.data() + size, chunk);
    const int reason = errno;
    text.resize(size + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count > 0 || (count < 0 && reason == EINTR)) continue;
    if (count == 0) break;
    if (reason != EAGAIN) fail(std::string("cannot be read: ") + std::strerror(reason));
    pollfd waiting{descriptor, POLLIN, 0};
    ::poll(&waiting, 1, -1);
  }
  if (S_ISFIFO(info.st_mode) && text.empty()) fail("is a pipe that no program writes to");
  return text;
}

}  // namespace pace
