// Contents of pipes, kept for later processes of the same run, since a pipe can be read only once.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace pace {

/// Holds the number of the open file with the contents. Processes started by this one inherit both.
inline constexpr const char* kept_pipes_variable = "PACE_PIPES_FILE";

namespace detail {

/// Header of each content.
struct KeptPipe {
  std::uint64_t device = 0, inode = 0, size = 0;
};

/// Below 0: nothing is kept.
[[nodiscard]] inline int kept_pipes_file() {
  const char* const number = std::getenv(kept_pipes_variable);
  if (number == nullptr) return -1;
  // A program in between may have closed it, and another file may have its number.
  constexpr std::string_view name = "/memfd:pace-pipes";
  char target[name.size()] = {};
  const int file = std::atoi(number);
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  return size > 0 && std::string_view(target, static_cast<std::size_t>(size)) == name ? file : -1;
}

/// Returns whether all of it was read.
[[nodiscard]] inline bool read_kept(int file, void* to, std::size_t size, off_t offset) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::pread(file, static_cast<char*>(to) + done, size - done, offset + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

[[nodiscard]] inline bool write_kept(int file, std::string_view bytes, off_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += count;
  }
  return true;
}

/// Returns the content that this or an earlier process read from the pipe; nothing if there is none.
[[nodiscard]] inline std::optional<std::string> kept_content(const struct stat& pipe) {
  const int file = kept_pipes_file();
  if (file < 0) return std::nullopt;
  KeptPipe kept;
  for (off_t at = 0; read_kept(file, &kept, sizeof kept, at); at += static_cast<off_t>(kept.size)) {
    at += static_cast<off_t>(sizeof kept);
    if (kept.device != pipe.st_dev || kept.inode != pipe.st_ino) continue;
    std::string text(kept.size, '\0');
    if (read_kept(file, text.data(), text.size(), at)) return text;
    return std::nullopt;
  }
  return std::nullopt;
}

/// Keeps nothing without memory; a later process then reports an empty pipe.
inline void keep_content(const struct stat& pipe, std::string_view text) {
  const int file = kept_pipes_file();
  struct stat info{};
  if (file < 0 || ::fstat(file, &info) != 0) return;
  const KeptPipe kept{pipe.st_dev, pipe.st_ino, text.size()};
  const std::string_view head(reinterpret_cast<const char*>(&kept), sizeof kept);
  if (write_kept(file, head, info.st_size) && write_kept(file, text, info.st_size + static_cast<off_t>(head.size())))
    return;
  [[maybe_unused]] const int cut = ::ftruncate(file, info.st_size);
}

}  // namespace detail

/// Keeps the content that read_file() reads from pipes from now on. read_file() returns it when this process, or one
/// that it executes or starts, reads the same pipe again. Has no effect after an earlier process called it.
inline void keep_pipes() {
  if (detail::kept_pipes_file() >= 0) return;
  if (const int file = ::memfd_create("pace-pipes", 0); file >= 0)
    ::setenv(kept_pipes_variable, std::to_string(file).c_str(), 1);
}

}  // namespace pace
