// Pages: pages of a program's results, made at its end by the program of tools/report.
#pragma once

#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/report_program.hpp"

namespace pace {

/// Pages of one run: one for `--html`, and under `bazel test` one beside the results. If the first fails, the program
/// fails; the second is a convenience.
class Pages {
 public:
  /// Makes no pages.
  Pages() = default;
  /// `asked`: path for `--html`, or empty. `of_bazel`: path of the other page, or empty. `program`: result of
  /// report_program(), or empty, which means no page of Bazel. Throws InputError if `asked` needs a program and there
  /// is none, and Error if there is no place for that page.
  Pages(const std::string& asked, const std::string& of_bazel, const std::string& program) {
    if (asked.empty() && program.empty()) return;
    if (program.empty()) refuse_without_program();
    program_ = std::filesystem::absolute(program).string();
    if (!of_bazel.empty()) of_bazel_ = std::filesystem::absolute(of_bazel).string();
    if (asked.empty()) return;
    asked_ = std::filesystem::absolute(asked).string();
    require_place_of_page(asked_);
  }

  /// Returns the pages of this program: one at `asked`, unless empty, and Bazel's in the undeclared outputs, if the
  /// environment names them. Throws as the constructor and report_program() do.
  [[nodiscard]] static Pages at(const std::string& asked) {
    const std::string folder = undeclared_outputs();
    return {asked, folder.empty() ? "" : detail::inside(folder, "report.html"), report_program()};
  }

  /// Throws InputError for `--html` without a program that makes pages.
  [[noreturn]] static void refuse_without_program() {
    throw InputError({},
                     std::string("--html: this program has no program of tools/report beside it, which makes pages; "
                                 "expected ") +
                         report_variable + ", the path of one, or --json FILE and //tools/report for that file later");
  }

  /// Returns whether there is any page.
  [[nodiscard]] bool any() const { return !asked_.empty() || !of_bazel_.empty(); }

  /// Returns the file to write results to for the pages; empty: there is no page. That is `json`, the file of `--json`,
  /// or a temporary one if `json` is empty or cannot be read again. It is removed once the pages are made.
  [[nodiscard]] std::string results_file(const std::string& json) {
    struct stat info{};
    // A pipe's lines are gone once read.
    const bool is_stream = !json.empty() && ::stat(json.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
    if (!any()) return "";
    if (!json.empty() && !is_stream) return json;
    removes_ = true;
    return fresh_results_name(asked_.empty() ? of_bazel_ : asked_);
  }

  /// Adds a file of results to make the pages from.
  void add(const std::string& results) { results_.push_back(std::filesystem::absolute(results).string()); }

  /// Makes the pages, unless no file was added. Returns false if the page of `--html` failed. Prints failures to
  /// `errors`, after `program`, the name that messages begin with.
  [[nodiscard]] bool make(const std::string& program, std::ostream& errors) const {
    if (results_.empty()) return true;
    const auto made = [&](const std::string& page) {
      const std::string problem = make_page(program_, results_, page);
      if (problem.empty()) return true;
      errors << program << ": " << page << ": the page was not made, and the results are in " << joined(results_, ", ")
             << ": " << problem << '\n'
             << std::flush;
      return false;
    };
    const bool fine = asked_.empty() || made(asked_);
    const bool of_bazel_fine = of_bazel_.empty() || of_bazel_ == asked_ || made(of_bazel_);
    if (removes_ && fine && of_bazel_fine)
      for (const auto& path : results_) std::remove(path.c_str());
    return fine;
  }

 private:
  std::string program_, asked_, of_bazel_;
  std::vector<std::string> results_;
  bool removes_ = false;
};

}  // namespace pace
