// Ends a program that is started in a directory which was removed, with a message. For the file of a main function
// alone: a shared library cannot have what this header defines.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

namespace pace::runner::detail {

/// Ends the process with exit code 1 if the current directory does not exist. It runs before the constructors of shared
/// libraries: in one of these, MKL ends a process that has no current directory, with a message about another file.
inline void require_current_directory(int /*argc*/, char** /*argv*/, char** /*environment*/) {
  std::array<char, PATH_MAX> place;
  if (::getcwd(place.data(), place.size()) != nullptr || errno != ENOENT) return;
  constexpr std::string_view message =
      "pace: the current directory was removed while a shell or a program stood in it; expected a start from one that "
      "exists\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(1);
}

/// The dynamic linker calls it first.
[[gnu::section(".preinit_array"), gnu::used]] static void (*before_libraries)(int, char**,
                                                                              char**) = &require_current_directory;

}  // namespace pace::runner::detail
