// The beginning of a user's text, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pace::benches {

/// The beginning of a text for a message, which may be as long as a file.
[[nodiscard]] inline std::string beginning(std::string_view text) {
  constexpr std::size_t most = 200;
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, most)) + "... (" + std::to_string(text.size()) + " characters)";
}

}  // namespace pace::benches
