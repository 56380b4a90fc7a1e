// The program that makes pages of results: where it is, and how to run it.
#pragma once

#include <array>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "pace/base/error.hpp"
#include "pace/base/random.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/beside_program.hpp"
#include "pace/os/process.hpp"

namespace pace {

/// Names the program of tools/report, for programs without it among their runfiles.
inline constexpr const char* report_variable = "PACE_REPORT";

/// Returns the program that makes pages: the one that PACE_REPORT names, or else the one among the runfiles of a
/// pace_test, a pace_binary or a program of tools/. Empty if there is neither. Throws InputError if PACE_REPORT names
/// no program.
[[nodiscard]] inline std::string report_program() {
  if (const auto given = environment_variable(report_variable); !given.empty()) {
    const std::string path = user_path(given);
    if (std::filesystem::is_directory(path) || ::access(path.c_str(), X_OK) != 0)
      throw InputError({}, std::string(report_variable) + '=' + given +
                               ": is no program that can be run; expected the program of pace's tools/report");
    return path;
  }
  return beside_program("tools/report/report", X_OK);
}

/// Throws Error if no page can be put at `path`, an absolute one: its folder is missing or not writable, or the path is
/// a folder.
inline void require_place_of_page(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!std::filesystem::is_directory(folder) || ::access(folder.c_str(), W_OK) != 0)
    throw Error(path + ": there is no folder " + folder.string() + " that can be written to");
  if (std::filesystem::is_directory(path)) throw Error(path + ": is a folder; expected a file name");
}

/// Returns an unused name for results that are kept until the page is made: beside `page`, or among temporary files if
/// `page` is a device or a pipe. Its 64 random bits come from the operating system, so that nothing else takes the name
/// later. Throws Error if there are none.
[[nodiscard]] inline std::string fresh_results_name(const std::string& page) {
  const bool is_file = !std::filesystem::exists(page) || std::filesystem::is_regular_file(page);
  const std::string beside = is_file ? page : (std::filesystem::temp_directory_path() / "pace").string();
  for (;;) {
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%016" PRIx64, draw_seed());
    std::string name = beside + ".results-" + number.data() + ".json";
    if (::access(name.c_str(), F_OK) != 0) return name;
  }
}

/// Makes the page `page` from the results in `files` by `program`, the result of report_program(). Returns why there is
/// no page; empty if there is one.
[[nodiscard]] inline std::string make_page(const std::string& program, const std::vector<std::string>& files,
                                           const std::string& page) {
  std::string printed;
  try {
    std::vector<std::string> words{program};
    words.insert(words.end(), files.begin(), files.end());
    words.insert(words.end(), {"--output", page});
    const auto status = detail::run_process(
        words, [&](std::string_view line) { printed += (printed.empty() ? "" : " ") + std::string(line); });
    if (status.ok()) return "";
    return program + ' ' + status.to_string() + (printed.empty() ? "" : ": " + printed);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace pace
