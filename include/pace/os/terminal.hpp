// The terminal: whether a stream may have colours, how wide its lines are, and whether a line may be rewritten.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include "pace/os/bazel.hpp"

namespace pace {

/// The environment's wish for colours.
enum class ColourWish {
  automatic,  ///< colours on a terminal that supports them
  never,      ///< NO_COLOR
  always,     ///< FORCE_COLOR or CLICOLOR_FORCE
};

/// Returns the wish of the environment. A non-empty NO_COLOR (https://no-color.org) outweighs FORCE_COLOR, which
/// outweighs CLICOLOR_FORCE. These two ask for colours unless they are empty or 0.
[[nodiscard]] inline ColourWish colour_wish() {
  if (!environment_variable("NO_COLOR").empty()) return ColourWish::never;
  for (const char* name : {"FORCE_COLOR", "CLICOLOR_FORCE"})
    if (const auto value = environment_variable(name); !value.empty() && value != "0") return ColourWish::always;
  return ColourWish::automatic;
}

/// Returns whether `descriptor` is a terminal that understands escape sequences.
[[nodiscard]] inline bool understands_escapes(int descriptor) {
  const auto terminal = environment_variable("TERM");
  return !terminal.empty() && terminal != "dumb" && ::isatty(descriptor) == 1;
}

/// Returns whether text for `descriptor` may have colours: by colour_wish() or, if automatic, by the terminal.
[[nodiscard]] inline bool wants_colour(int descriptor) {
  const auto wish = colour_wish();
  return wish == ColourWish::automatic ? understands_escapes(descriptor) : wish == ColourWish::always;
}

/// Width of lines for anything but a terminal, such as a file or the log of a CI system.
inline constexpr std::size_t width_without_terminal = 120;

/// Returns the columns of a line on `descriptor`: COLUMNS, else the terminal's, else `width_without_terminal`. At least
/// 40, which a table needs.
[[nodiscard]] inline std::size_t columns_of(int descriptor) {
  constexpr std::size_t least = 40, most = 1000;
  const auto within = [](std::size_t columns) { return columns < least ? least : columns > most ? most : columns; };
  const auto wanted = environment_variable("COLUMNS");
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), columns);
  if (error == std::errc() && end == wanted.data() + wanted.size() && columns > 0) return within(columns);
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return within(size.ws_col);
  return width_without_terminal;
}

/// Returns whether a line on `descriptor` may be rewritten in place, because a person looks at that terminal. `bazel
/// test` and CI systems, which set CI, keep the text instead.
[[nodiscard]] inline bool may_rewrite_lines(int descriptor) {
  return understands_escapes(descriptor) && !under_bazel() && environment_variable("CI").empty();
}

}  // namespace pace
