// Pages: the pages of a program's results, which the program of tools/report makes at its end.
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

/// The pages of one run: that of `--html`, and under `bazel test` one beside the results. The first one was asked for,
/// so that its failure is one of the program; the second one is a convenience.
class Pages {
 public:
  /// There are no pages.
  Pages() = default;
  /// `asked`: path of the page of `--html`, or empty; `of_bazel`: path of the other one, or empty; `program`: result of
  /// report_program(). Without a program there is no page of Bazel. Throws InputError if a page is asked for and there
  /// is no program; Error if there is no place for that page.
  Pages(const std::string& asked, const std::string& of_bazel, const std::string& program) {
    if (asked.empty() && program.empty()) return;
    if (program.empty()) refuse_without_program();
    program_ = std::filesystem::absolute(program).string();
    if (!of_bazel.empty()) of_bazel_ = std::filesystem::absolute(of_bazel).string();
    if (asked.empty()) return;
    asked_ = std::filesystem::absolute(asked).string();
    require_place_of_page(asked_);
  }

  /// Returns the pages of this program: one at `asked`, unless that is empty, and that of Bazel in the undeclared
  /// outputs, if the environment names them. Throws as the constructor does, and as report_program() does.
  [[nodiscard]] static Pages at(const std::string& asked) {
    const std::string folder = undeclared_outputs();
    return {asked, folder.empty() ? "" : detail::inside(folder, "report.html"), report_program()};
  }

  /// Throws InputError for a page that is asked for in a program without one that makes pages.
  [[noreturn]] static void refuse_without_program() {
    throw InputError({},
                     std::string("--html: this program has no program of tools/report beside it, which makes pages; "
                                 "expected ") +
                         report_variable + ", the path of one, or --json FILE and //tools/report for that file later");
  }

  /// Returns whether there is any page.
  [[nodiscard]] bool any() const { return !asked_.empty() || !of_bazel_.empty(); }
  /// Returns the path of the page of `--html`; empty if there is none.
  [[nodiscard]] const std::string& asked() const { return asked_; }

  /// Returns the file that results are written to for the pages: `json`, the file of `--json`, or if there is none that
  /// can be read again, a fresh one, which is removed once the page that was asked for is there. Empty: there is no
  /// page.
  [[nodiscard]] std::string results_file(const std::string& json) {
    struct stat info{};
    // The lines of a pipe are gone once they are read.
    const bool is_stream = !json.empty() && ::stat(json.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
    if (!any()) return "";
    if (!json.empty() && !is_stream) return json;
    removes_ = true;
    return fresh_results_name(asked_.empty() ? of_bazel_ : asked_);
  }

  /// Adds a file with results, of which the pages are made.
  void add(const std::string& results) { results_.push_back(std::filesystem::absolute(results).string()); }

  /// Makes the pages, unless no file was added. Returns whether the page that was asked for, if one was, could be made.
  /// The reason for a page that could not be goes to `errors`, after `program`, the name by which messages begin.
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
