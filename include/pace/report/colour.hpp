// Colours for a terminal, and whether to use them.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace pace::report {

enum class Colour { none, red, green, yellow, dim, bold };

/// Whether what is written to `descriptor` may hold colours: it is a terminal that knows them, and the user has not
/// asked for none (https://no-color.org).
[[nodiscard]] inline bool wants_colour(int descriptor) {
  const auto value_of = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (!value_of("NO_COLOR").empty()) return false;
  const auto terminal = value_of("TERM");
  return !terminal.empty() && terminal != "dumb" && ::isatty(descriptor) == 1;
}

/// `text` between the escape sequences of `colour`.
[[nodiscard]] inline std::string coloured(std::string_view text, Colour colour) {
  const char* code = "";
  switch (colour) {
    case Colour::none:
      return std::string(text);
    case Colour::red:
      code = "31";
      break;
    case Colour::green:
      code = "32";
      break;
    case Colour::yellow:
      code = "33";
      break;
    case Colour::dim:
      code = "2";
      break;
    case Colour::bold:
      code = "1";
      break;
  }
  return std::string("\033[") + code + 'm' + std::string(text) + "\033[0m";
}

}  // namespace pace::report
