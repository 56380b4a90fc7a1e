// The common parts of programs that work on files of results.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::models {

/// The path of a file that the command line names.
using UserPath = std::function<std::string(const std::string&)>;

namespace detail {

/// The part of a tool that throws: it takes the arguments, and returns the exit code.
using Tool = int(const std::vector<std::string>& arguments, std::ostream& out, const UserPath& path);

/// Returns the exit code of `tool`. If it throws, returns 1 and prints the message on `errors`.
[[nodiscard]] inline int run_tool(const char* name, Tool& tool, int argc, char** argv, std::ostream& out,
                                  std::ostream& errors, const UserPath& path) {
  try {
    const int code = tool({argv + std::min(argc, 1), argv + argc}, out, path);
    if (!out.flush()) throw Error("the output cannot be written");
    return code;
  } catch (const std::exception& error) {
    errors << name << ": " << report::printable_lines(error.what()) << '\n';
    return 1;
  }
}

}  // namespace detail
}  // namespace pace::benches::models
