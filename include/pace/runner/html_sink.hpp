// HtmlSink: the page of a run's results, which the program of tools/report makes at its end.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/report_program.hpp"
#include "pace/report/json.hpp"
#include "pace/report/sink.hpp"
#include "pace/result/result.hpp"
#include "pace/runner/continuation.hpp"

namespace pace::runner {

/// Set to the name of the results file of a page. A process that continues where another one of the same run ended
/// writes to that file again, since nothing else removes it.
inline constexpr const char* page_results_variable = "PACE_PAGE_RESULTS";

/// Returns the name of the results file of `page`, an absolute path: the one of the process that this one continues, or
/// a fresh one, which the processes that continue this one get.
[[nodiscard]] inline std::string results_of_page(const std::string& page) {
  std::string handed_over = environment_variable(page_results_variable);
  if (names_this_process(continuing_variable) && handed_over.starts_with(page + '.')) return handed_over;
  std::string fresh = fresh_results_name(page);
  ::setenv(page_results_variable, fresh.c_str(), 1);
  return fresh;
}

/// Removes the results file `path` of a page if it has no result, such as one that a process has left which ended
/// before its first comparison.
inline void remove_if_empty(const std::string& path) {
  std::ifstream file(path);
  std::string header, result;
  if (!file.is_open() || (std::getline(file, header) && std::getline(file, result))) return;
  std::remove(path.c_str());
}

/// Makes a page of results when they are finished, of a file that another sink writes or of one of its own, which is
/// removed once the page is there.
class HtmlSink final : public report::Sink {
 public:
  /// Receives the reason why there is no page.
  using Warn = std::function<void(const std::string& message)>;

  /// Where results are taken from, and what becomes of a failure.
  struct Settings {
    std::string path;     ///< the page
    std::string program;  ///< result of pace::report_program()
    /// The results file that another sink has finished before this one is; empty: this sink writes one.
    std::string results = {};
    /// Whether that file could not be written, so that its content is not of this run.
    std::function<bool(const std::string& results)> lost = {};
    /// Called in place of throwing, for a page that was not asked for.
    Warn warn = {};
  };

  /// Writes a results file of its own if `settings` name none, which begins with `earlier`. Throws Error if there is no
  /// place for it or for the page.
  HtmlSink(Settings settings, const report::ResultsHeader& header, std::span<const Result> earlier)
      : settings_(std::move(settings)), count_(earlier.size()) {
    // The program may stand in another folder.
    settings_.path = std::filesystem::absolute(settings_.path).string();
    settings_.program = std::filesystem::absolute(settings_.program).string();
    require_place_of_page(settings_.path);
    if (!settings_.results.empty()) return;
    settings_.results = results_of_page(settings_.path);
    own_ = std::make_unique<report::JsonSink>(settings_.results, header, earlier);
  }
  HtmlSink(const HtmlSink&) = delete;
  HtmlSink& operator=(const HtmlSink&) = delete;
  /// Removes the results file if it has no result, such as one that an earlier process of the run has left.
  ~HtmlSink() override {
    if (own_ == nullptr || count_ > 0) return;
    own_.reset();
    std::remove(settings_.results.c_str());
  }

  using Sink::write;
  void write(const Result& result) override {
    if (own_) own_->write(result);
    ++count_;
  }

  /// Throws Error, which names the file with the results, if the page cannot be made. Without a result there is none.
  void finish() override {
    if (own_) own_->finish();
    if (count_ == 0) return;
    const std::string why = why_not_made();
    if (why.empty()) {
      if (own_) std::remove(settings_.results.c_str());
      return;
    }
    const std::string message = settings_.path + ": the page was not made, " + why;
    if (!settings_.warn) throw Error(message);
    settings_.warn(message);
  }

 private:
  /// Makes the page. Returns why there is none, and where the results are; empty if there is one.
  [[nodiscard]] std::string why_not_made() const {
    if (!own_ && settings_.lost && settings_.lost(settings_.results))
      return "since the results could not be written to " + settings_.results;
    const std::string problem =
        make_page(settings_.program, {std::filesystem::absolute(settings_.results).string()}, settings_.path);
    return problem.empty() ? "" : "and the results are in " + settings_.results + ": " + problem;
  }

  Settings settings_;
  std::size_t count_;
  std::unique_ptr<report::JsonSink> own_;
};

}  // namespace pace::runner
