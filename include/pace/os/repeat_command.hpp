// The command line that starts this program again, as text for a shell.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pace/os/bazel.hpp"

namespace pace {

/// Returns `word` as a shell reads it back: unchanged if no character has a meaning to a shell, else in single quotes.
/// With control characters or bytes outside of ASCII it has the form $'...' of Bash and zsh, which stays on one line.
[[nodiscard]] inline std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  constexpr std::string_view hex = "0123456789abcdef";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  bool controls = false;
  for (const char c : word) controls = controls || static_cast<unsigned char>(c) < 0x20 || c == '\x7f' || (c & '\x80');
  std::string text = controls ? "$'" : "'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (controls && (byte < 0x20 || byte >= 0x7f)) {
      text += std::string("\\x") + hex[byte >> 4U] + hex[byte & 15U];
    } else if (c == '\'') {
      text += controls ? "\\'" : "'\\''";
    } else {
      if (controls && c == '\\') text += c;
      text += c;
    }
  }
  return text + '\'';
}

namespace detail {

/// Returns the label of the target whose program is at `path` in Bazel's output folder; empty if it is not there.
[[nodiscard]] inline std::string label_of(const std::string& path) {
  const auto out = path.rfind("/bazel-out/");
  const auto bin = out == std::string::npos ? out : path.find("/bin/", out);
  if (bin == std::string::npos) return "";
  const std::string inside = path.substr(bin + 5);
  const auto slash = inside.rfind('/');
  if (slash == std::string::npos) return "//:" + inside;
  const std::string package = inside.substr(0, slash);
  std::string name = inside.substr(slash + 1);
  // The rules pace_test and pace_binary link NAME to the program NAME_program, which is what runs.
  if (constexpr std::string_view end = "_program"; name.ends_with(end)) name.resize(name.size() - end.size());
  const bool is_default = package == name || package.ends_with('/' + name);
  return "//" + package + (is_default ? "" : ':' + name);
}

/// Returns the name that Bazel was called by: the wrapper's, if that started it.
[[nodiscard]] inline std::string name_of_bazel() {
  if (auto wrapper = environment_variable("PACE_BAZEL_WRAPPER"); !wrapper.empty()) return shell_word(wrapper);
  return environment_variable("TEST_WORKSPACE") == "pace" ? "third_party/bazel" : "bazel";
}

/// Returns the option of Bazel for the CUDA build, if this is one. Other options, such as -c, are unknown.
[[nodiscard]] inline std::string build_options() {
#ifdef PACE_CUDA
  return " --config=cuda";
#else
  return "";
#endif
}

}  // namespace detail

/// Returns the command that runs this program with `words` as arguments: `bazel run` or `bazel test` if one of these
/// started it, else the file at `program`, its path.
[[nodiscard]] inline std::string command_again(const std::string& program, const std::vector<std::string>& words) {
  std::string command;
  if (const auto target = environment_variable("TEST_TARGET"); under_bazel() && !target.empty()) {
    command = detail::name_of_bazel() + " test" + detail::build_options() + " --test_output=all " + shell_word(target);
    for (const auto& word : words) command += ' ' + shell_word("--test_arg=" + word);
    return command;
  }
  const std::string label = detail::label_of(program);
  if (!environment_variable("BUILD_WORKSPACE_DIRECTORY").empty() && !label.empty())
    command = detail::name_of_bazel() + " run" + detail::build_options() + ' ' + shell_word(label) +
              (words.empty() ? "" : " --");
  else
    command = shell_word(program);
  for (const auto& word : words) command += ' ' + shell_word(word);
  return command;
}

}  // namespace pace
