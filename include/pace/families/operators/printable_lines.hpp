// Messages of several lines for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pace/report/text.hpp"

namespace pace::families::operators {

/// `text` without control characters but for line ends: recorded inputs, names of files and compilers' messages may hold
/// escape sequences.
[[nodiscard]] inline std::string printable_lines(std::string_view text) {
  std::string lines;
  for (;;) {
    const std::size_t end = text.find('\n');
    lines += report::printable(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace pace::families::operators
