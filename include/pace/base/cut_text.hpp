// cut_text: the beginning and the end of a text that is too long, and how long it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace pace {

/// Bytes that results and their files keep of the message of a failure. Messages of compilers have up to a few thousand
/// lines; each is in a file as often as the row has expectations.
inline constexpr std::size_t longest_kept = std::size_t{1} << 16;

/// Bytes of a message on a terminal and in assertions: 25 lines of 120 columns.
inline constexpr std::size_t longest_shown = 3000;

namespace detail {

/// Numbers of the note that an earlier cut_text() has left in `text`, and the bytes that the note takes.
struct EarlierCut {
  std::size_t left_out = 0, note = 0;
};

inline constexpr std::string_view cut_begin = " ... (", cut_end = " bytes are left out here) ... ";

[[nodiscard]] inline EarlierCut earlier_cut(std::string_view text) {
  const std::size_t end = text.find(cut_end);
  const std::size_t begin = end == std::string_view::npos ? end : text.rfind(cut_begin, end);
  if (begin == std::string_view::npos) return {};
  EarlierCut cut{.note = end + cut_end.size() - begin};
  for (const char c : text.substr(begin + cut_begin.size())) {
    if (c < '0' || c > '9') break;
    cut.left_out = 10 * cut.left_out + static_cast<std::size_t>(c - '0');
  }
  return cut.left_out > 0 ? cut : EarlierCut{};
}

}  // namespace detail

/// Returns `text`, or if it has more than `most` bytes about as many of them: most from its beginning and a fifth from
/// its end, where a message says what to do. Between them stands how many bytes are left out, and of how many; those
/// that an earlier call has left out count. A character of UTF-8 stays whole.
[[nodiscard]] inline std::string cut_text(std::string_view text, std::size_t most = longest_shown) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U; };
  std::size_t head = most - most / 5, tail = text.size() - most / 5;
  // Three bytes at most continue a character; more of them are no UTF-8.
  for (int i = 0; i < 3 && head > 0 && continues(head); ++i) --head;
  for (int i = 0; i < 3 && tail < text.size() && continues(tail); ++i) ++tail;
  // A note that lies across either end is taken as a whole.
  const auto before = detail::earlier_cut(text);
  const std::size_t note = before.note > 0 ? text.rfind(detail::cut_begin, text.find(detail::cut_end)) : 0;
  if (before.note > 0) {
    head = std::min(head, note);
    tail = std::max(tail, note + before.note);
  }
  return std::string(text.substr(0, head)) + std::string(detail::cut_begin) +
         std::to_string(tail - head - before.note + before.left_out) + " of " +
         std::to_string(text.size() - before.note + before.left_out) + std::string(detail::cut_end) +
         std::string(text.substr(tail));
}

}  // namespace pace
