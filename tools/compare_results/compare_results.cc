// Compares files of results: bazel run //tools/compare_results -- OLD.json NEW.json
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "pace/core/bazel.hpp"
#include "pace/core/error.hpp"
#include "pace/core/process.hpp"
#include "pace/report/program_output.hpp"
#include "pace/report/text.hpp"
#include "tools/compare_results/compare_program.hpp"

namespace {

/// Returns tools/report as `bazel run` places it beside this program, or as it stands in the runfiles of a program that
/// is started by its path.
std::string report_program() {
  const std::string name = "tools/report/report", here = pace::shipped_file(name);
  if (std::filesystem::exists(here)) return std::filesystem::absolute(here).string();
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return self.string() + ".runfiles/pace/" + name;
}

void make_page(const std::vector<std::string>& words) {
  std::vector<std::string> arguments{report_program()};
  if (!std::filesystem::exists(arguments[0]))
    throw pace::Error("--html: " + arguments[0] + " is not there; expected that //tools/compare_results was built");
  arguments.insert(arguments.end(), words.begin(), words.end());
  const auto status = pace::detail::run_process(arguments, [](std::string_view line) { std::cerr << line << '\n'; });
  if (!status.ok()) throw pace::Error("--html: the program that makes the page " + status.to_string());
}

}  // namespace

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  const int code = pace::tools::compare_results::compare_program({argv + 1, argv + argc}, std::cout, std::cerr,
                                                                 pace::report::wants_colour(STDOUT_FILENO),
                                                                 pace::user_path, make_page);
  return output.exit_code(code, "compare_results", pace::tools::compare_results::not_compared);
}
