// HtmlSink: the page of a run's results, which the program of tools/report makes at its end.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "pace/core/error.hpp"
#include "pace/core/process.hpp"
#include "pace/core/report_program.hpp"
#include "pace/core/result.hpp"
#include "pace/report/json.hpp"
#include "pace/report/sink.hpp"

namespace pace::runner {

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
    /// Whether that file could not be written, so that what it holds is not of this run.
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
    const auto folder = std::filesystem::path(settings_.path).parent_path();
    if (!std::filesystem::is_directory(folder) || ::access(folder.c_str(), W_OK) != 0)
      throw Error(settings_.path + ": there is no folder " + folder.string() + " that can be written to");
    if (std::filesystem::is_directory(settings_.path))
      throw Error(settings_.path + ": is a folder; expected a file name");
    if (!settings_.results.empty()) return;
    settings_.results = settings_.path + ".results.json";
    own_ = std::make_unique<report::JsonSink>(settings_.results, header, earlier);
  }

  using Sink::write;
  void write(const Result& result) override {
    if (own_) own_->write(result);
    ++count_;
  }

  /// Throws Error, which names the file with the results, if the page cannot be made. Without a result there is none.
  void finish() override {
    if (own_) own_->finish();
    if (count_ > 0 && !own_ && settings_.lost && settings_.lost(settings_.results)) {
      const std::string message =
          settings_.path + ": the page was not made, since the results could not be written to " + settings_.results;
      if (!settings_.warn) throw Error(message);
      settings_.warn(message);
      return;
    }
    if (count_ > 0) {
      if (const auto problem = make_page(); !problem.empty()) {
        const std::string message =
            settings_.path + ": the page was not made, and the results are in " + settings_.results + ": " + problem;
        if (!settings_.warn) throw Error(message);
        settings_.warn(message);
        return;
      }
    }
    if (own_) std::remove(settings_.results.c_str());
  }

 private:
  /// Returns why there is no page; empty if there is one.
  [[nodiscard]] std::string make_page() const {
    std::string words;
    try {
      const auto status = pace::detail::run_process(
          {settings_.program, std::filesystem::absolute(settings_.results).string(), "--output", settings_.path},
          [&](std::string_view line) { words += (words.empty() ? "" : " ") + std::string(line); });
      if (status.ok()) return "";
      return settings_.program + ' ' + status.to_string() + (words.empty() ? "" : ": " + words);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  Settings settings_;
  std::size_t count_;
  std::unique_ptr<report::JsonSink> own_;
};

}  // namespace pace::runner
