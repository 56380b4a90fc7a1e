// MessageParts: a message to a user in three parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "pace/base/error.hpp"

namespace pace {

/// Stands between a reason and a remedy where both are one line.
inline constexpr std::string_view before_remedy = "; try: ";

/// A message in parts. The last two may be empty.
struct MessageParts {
  std::string what = {};    ///< the case, with its figure
  std::string why = {};     ///< the reason, as a clause
  std::string remedy = {};  ///< what to try, as a clause

  /// Returns the parts of a message whose reason may have remedies, each behind before_remedy. A remedy ends with its
  /// line, or where the next one begins.
  [[nodiscard]] static MessageParts of(std::string what, std::string_view reason) {
    MessageParts parts{std::move(what)};
    while (true) {
      const auto begin = reason.find(before_remedy);
      parts.why += reason.substr(0, begin);
      if (begin == std::string_view::npos) return parts;
      reason.remove_prefix(begin + before_remedy.size());
      const auto end = std::min(reason.find(before_remedy), reason.find('\n'));
      parts.add_remedy(reason.substr(0, end));
      reason.remove_prefix(std::min(end, reason.size()));
    }
  }

  /// Adds a reason to those before it. An empty text adds nothing.
  void add_why(std::string_view text) { join(why, text); }
  /// Adds a remedy likewise.
  void add_remedy(std::string_view text) { join(remedy, text); }

  /// Returns `what`, and on lines of their own `why: ...` and `try: ...`.
  [[nodiscard]] std::string text() const {
    std::string all = what;
    if (!why.empty()) all += "\nwhy: " + why;
    if (!remedy.empty()) all += "\ntry: " + remedy;
    return all;
  }

 private:
  static void join(std::string& all, std::string_view text) {
    if (!all.empty() && !text.empty()) all += "; ";
    all += text;
  }
};

/// Returns `message` with `text` behind its reason, and before its remedies if it has any.
[[nodiscard]] inline std::string add_to_reason(std::string message, std::string_view text) {
  message.insert(std::min(message.find(before_remedy), message.size()), text);
  return message;
}

/// Returns a text that pace has not written, such as a user's exception has, as a reason. MessageParts::of() finds no
/// remedy in it: the blank behind each of its "; try:" becomes a no-break one, which looks the same.
[[nodiscard]] inline std::string as_reason(std::string text) {
  constexpr std::string_view no_break = "\u00A0";
  const std::size_t blank = before_remedy.size() - 1;
  for (std::size_t at = 0; (at = text.find(before_remedy, at)) != std::string::npos; at += blank)
    text.replace(at + blank, 1, no_break);
  return text;
}

/// Returns the message of `error` as a reason. Only pace's own errors may have a remedy in it.
[[nodiscard]] inline std::string message_of(const std::exception& error) {
  return dynamic_cast<const Error*>(&error) != nullptr ? error.what() : as_reason(error.what());
}

/// Returns a message of several lines as one line, such as for a warning.
[[nodiscard]] inline std::string in_one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "; ");
  return text;
}

}  // namespace pace
