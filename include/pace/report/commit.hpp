// The git commit of a checkout, without git.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

#include "pace/report/machine.hpp"

namespace pace::report {

namespace detail {

[[nodiscard]] inline bool is_commit(std::string_view text) {
  constexpr std::size_t sha1 = 40, sha256 = 64;
  return (text.size() == sha1 || text.size() == sha256) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// What follows `prefix` in `text`; empty if it does not start so.
[[nodiscard]] inline std::string after(std::string_view prefix, const std::string& text) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : "";
}

/// `path`, seen from `folder`.
[[nodiscard]] inline std::string seen_from(const std::string& folder, const std::string& path) {
  return path.starts_with('/') ? path : folder + '/' + path;
}

[[nodiscard]] inline std::string packed_reference(const std::string& git, const std::string& reference) {
  std::ifstream file(git + "/packed-refs");
  for (std::string line; std::getline(file, line);) {
    const auto space = line.find(' ');
    if (space != std::string::npos && std::string_view(line).substr(space + 1) == reference)
      return line.substr(0, space);
  }
  return "";
}

/// The nearest of `folder` and those around it that has a `.git`; `folder` itself if none has.
[[nodiscard]] inline std::string checkout_around(const std::string& folder) {
  for (std::string around = folder; around.starts_with('/'); around.resize(around.rfind('/')))
    if (::access((around + "/.git").c_str(), F_OK) == 0) return around;
  return folder;
}

}  // namespace detail

/// The commit that is checked out in `folder`: in it, or the nearest folder around it, lies a `.git` folder or (worktree,
/// submodule) a `.git` file. Says nothing of uncommitted changes. Empty if it cannot be found out.
[[nodiscard]] inline std::string commit_of(const std::string& folder) {
  const std::string checkout = detail::checkout_around(folder);
  std::string git = checkout + "/.git";
  if (const auto pointer = machine::first_line(git))
    if (const auto elsewhere = detail::after("gitdir: ", *pointer); !elsewhere.empty())
      git = detail::seen_from(checkout, elsewhere);
  const std::string head = machine::first_line(git + "/HEAD").value_or("");
  if (detail::is_commit(head)) return head;
  const std::string reference = detail::after("ref: ", head);
  if (reference.empty()) return "";
  // A worktree keeps its own HEAD; its branches are with the main checkout.
  std::string common = git;
  if (const auto other = machine::first_line(git + "/commondir")) common = detail::seen_from(git, *other);
  auto commit = machine::first_line(common + '/' + reference).value_or("");
  if (!detail::is_commit(commit)) commit = detail::packed_reference(common, reference);
  return detail::is_commit(commit) ? commit : "";
}

}  // namespace pace::report
