// Compares files of results: bazel run //tools/compare_results -- OLD.json NEW.json
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/process.hpp"
#include "pace/os/report_program.hpp"
#include "pace/os/terminal.hpp"
#include "pace/report/program_output.hpp"
#include "tools/compare_results/compare_program.hpp"

namespace {

void make_page(const std::vector<std::string>& words) {
  const std::string program = pace::report_program();
  if (program.empty())
    throw pace::Error(std::string("--html: the program of tools/report is not beside this one; set ") +
                      pace::report_variable + " to it");
  std::vector<std::string> arguments{std::filesystem::absolute(program).string()};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const auto status = pace::detail::run_process(arguments, [](std::string_view line) { std::cerr << line << '\n'; });
  if (!status.ok()) throw pace::Error("--html: the program that makes the page " + status.to_string());
}

}  // namespace

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  const int code = pace::tools::compare_results::compare_program({argv + 1, argv + argc}, std::cout, std::cerr,
                                                                 pace::wants_colour(STDOUT_FILENO), pace::user_path,
                                                                 make_page, pace::columns_of(STDOUT_FILENO));
  return output.exit_code(code, "compare_results", pace::tools::compare_results::not_compared);
}
