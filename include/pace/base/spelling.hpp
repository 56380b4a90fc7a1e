// How messages write pace's options and declarations: as the user of this process does.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace pace {

/// The language in which a user states options: command lines and C++, or the Python package.
enum class Spelling { cpp, python };

/// Returns the spelling of this process, to read or to set.
[[nodiscard]] inline Spelling& spelling() {
  static Spelling current = Spelling::cpp;
  return current;
}

/// Returns one of two texts, by the spelling.
[[nodiscard]] inline std::string spelled(std::string_view cpp, std::string_view python) {
  return std::string(spelling() == Spelling::python ? python : cpp);
}

/// Returns the name of a function of pace, such as `NoSlowerThan` or `no_slower_than`.
[[nodiscard]] inline std::string function_text(std::string_view cpp) {
  if (spelling() == Spelling::cpp) return std::string(cpp);
  std::string python;
  for (const char letter : cpp) {
    const bool is_capital = letter >= 'A' && letter <= 'Z';
    if (is_capital && !python.empty()) python += '_';
    python += is_capital ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return python;
}

/// Returns an option that C++ and Python have, such as `--budget 2` or `options(budget=2)`. `name`: as on a command
/// line, without dashes before it. Without a value: `--budget` or `options(budget=...)`.
[[nodiscard]] inline std::string option_text(std::string name, std::string_view value = "") {
  if (spelling() == Spelling::cpp) return "--" + name + (value.empty() ? "" : ' ' + std::string(value));
  std::ranges::replace(name, '-', '_');
  const bool is_number = value.find_first_not_of("0123456789.e+-") == std::string_view::npos;
  const std::string quote = value.empty() || is_number ? "" : "\"";
  return "options(" + name + '=' + quote + (value.empty() ? "..." : std::string(value)) + quote + ')';
}

/// Returns an option that Python lacks, since it is of a whole program.
[[nodiscard]] inline std::string program_option_text(std::string_view option) {
  return std::string(option) + (spelling() == Spelling::python ? " of //benches/files" : "");
}

/// Returns a declaration, such as `.constant(operand) (//benches/files: --constant OPERAND)`; in Python the call alone.
[[nodiscard]] inline std::string declaration_text(std::string_view call, std::string_view of_files) {
  return std::string(call) +
         (spelling() == Spelling::python ? "" : " (//benches/files: " + std::string(of_files) + ')');
}

/// Returns how code runs without gradients.
[[nodiscard]] inline std::string no_grad_text() {
  return spelled("c10::NoGradGuard, in Python torch.no_grad()", "torch.no_grad()");
}

/// Returns a setting of the check, such as `check::CheckOptions::rtol in C++` or `check(rtol=...)`.
[[nodiscard]] inline std::string check_text(std::string_view name, std::string_view python) {
  return spelled("check::CheckOptions::" + std::string(name) + " in C++", "check(" + std::string(python) + ')');
}

}  // namespace pace
