// Effects of the options --baseline and --save-baseline on a run.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/cut_text.hpp"
#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/same_file.hpp"
#include "pace/report/json.hpp"
#include "pace/report/stored_baseline.hpp"
#include "pace/result/options.hpp"
#include "pace/runner/baseline_options.hpp"

namespace pace::runner {

/// Throws InputError for an option on the use of a stored baseline without --baseline or --save-baseline.
inline void validate(const BaselineOptions& options) {
  const auto refuse = [](const std::string& option, const std::string& of) {
    throw InputError({}, option + ": has no meaning without " + of + "; expected both or neither");
  };
  if (options.compare_with.empty() && options.margin) refuse("--baseline-margin", "--baseline FILE");
  if (options.compare_with.empty() && options.spread) refuse("--process-spread", "--baseline FILE");
  if (options.save.empty() && options.days) refuse("--baseline-expires", "--save-baseline FILE");
}

/// Judges results against stored ones, and collects why gates close.
class BaselineGate {
 public:
  /// Reads the stored results; `environment` describes this process. Throws InputError if a file cannot be read.
  BaselineGate(const BaselineOptions& options, const Options& measuring, const report::Environment& environment) {
    if (options.compare_with.empty()) return;
    std::vector<report::ResultsFile> files;
    for (const auto& path : options.compare_with) files.push_back(report::read_results_file(user_path(path)));
    report::Settings settings{.expectation = NoSlowerThan(options.margin.value_or(1.05)),
                              .family = {measuring.alpha, measuring.beta},
                              .spread = options.spread};
    stored_.emplace(std::move(files), std::move(settings), environment, std::time(nullptr));
  }

  /// Returns `result` with a judgement for each implementation, or as it is if there is no stored baseline, or if it is
  /// about the host's time beside a GPU's: that differs between two runs by more than a margin.
  [[nodiscard]] Result judged(Result result) {
    if (!stored_ || result.phase == host_phase) return result;
    for (const auto& message : stored_->judge_all(result))
      closed_.push_back(case_name(result) + ": " + cut_text(message));
    any_ = true;
    return result;
  }

  /// Returns why the stored baseline could not be used; empty if it could, or there is none.
  [[nodiscard]] std::string complaint() const {
    if (!stored_) return "";
    if (!stored_->refusal().empty()) return "cannot compare with the stored baseline: " + stored_->refusal();
    if (!any_) return "nothing was measured that could be compared with the stored baseline";
    return "";
  }
  /// Returns a message with the reason for each of its gates that closed, and a last one with their number. None if no
  /// gate closed, or the baseline could not be used.
  [[nodiscard]] std::vector<std::string> closed_gates() const {
    if (closed_.empty() || !complaint().empty()) return {};
    auto messages = closed_;
    messages.push_back(std::to_string(closed_.size()) +
                       (closed_.size() == 1 ? " implementation does" : " implementations do") +
                       " not meet the expectation against the stored baseline");
    return messages;
  }

 private:
  std::optional<report::StoredBaseline> stored_;
  std::vector<std::string> closed_;
  bool any_ = false;
};

/// Throws Error if an option that writes a file names one that is compared with: the new figures would replace it
/// before they are judged. `outputs` are pairs of an option and its file; an empty file stands for none.
inline void refuse_overwriting(const BaselineOptions& options,
                               const std::vector<std::pair<std::string, std::string>>& outputs) {
  for (const auto& [option, path] : outputs)
    for (const auto& each : options.compare_with)
      if (!path.empty() && same_file(user_path(each), output_path(path)))
        throw Error("--baseline and " + option + " name the same file, '" + output_path(path) +
                    "'; save to another one");
}

/// Writes the file of --save-baseline. --baseline finds stored figures by the names of comparison and implementation,
/// and refuses names that a file has twice. You can still correct them in the run that saves them.
class BaselineSink final : public report::Sink {
 public:
  /// Opens the file. Throws Error if that fails.
  BaselineSink(const std::string& path, const report::ResultsHeader& header) : path_(path), file_(path, header) {}

  /// Throws Error for an implementation that the file has already, and if the file cannot be written.
  void write(const Result& result) override {
    for (const auto& row : result.implementations)
      if (!saved_.emplace(result.name, row.name).second)
        throw Error("--save-baseline: '" + path_ + "' has '" + row.name + "' in '" + result.name +
                    "' already, and --baseline could not choose between the two; expected a name of its own for each "
                    "comparison");
    file_.write(result);
  }
  void finish() override { file_.finish(); }

 private:
  std::string path_;
  report::JsonSink file_;
  /// Comparisons and implementations.
  std::set<std::pair<std::string, std::string>> saved_;
};

/// Returns the sink that writes the file of --save-baseline; null if that option is not given.
[[nodiscard]] inline std::unique_ptr<report::Sink> baseline_sink(const BaselineOptions& options,
                                                                 report::ResultsHeader header) {
  if (options.save.empty()) return nullptr;
  const auto expires = report::after_days(std::time(nullptr), options.days.value_or(report::default_days));
  header.expires_utc = report::format_utc(expires);
  return std::make_unique<BaselineSink>(output_path(options.save), header);
}

}  // namespace pace::runner
