// The comparisons behind the rows of a run: for a results file as other programs write it, and for the page of it.
#pragma once

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "benches/models/driver/names.hpp"
#include "benches/models/row.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/error.hpp"
#include "pace/os/pages.hpp"
#include "pace/report/json.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::models {

namespace detail {

/// The status of a row: `pass`, `fail_accuracy`, `OOM` and so on.
[[nodiscard]] inline std::string status_in(const Row& row) {
  for (const auto& [name, cell] : row.values)
    if (const auto* const text = std::get_if<std::string>(&cell);
        text != nullptr && (name == "accuracy" || name == "status"))
      return *text;
  return row.result == RowResult::failed ? "fail_to_run" : "pass";
}

[[nodiscard]] inline Outcome outcome_of(const Row& row) {
  if (row.result == RowResult::unmeasured) return Outcome::refused;
  if (row.result != RowResult::failed) return Outcome::measured;
  const std::string status = status_in(row);
  if (status == "timeout") return Outcome::timed_out;
  if (status.ends_with("OOM")) return Outcome::out_of_memory;
  if (row.of_ended_process) return Outcome::crashed;
  if (status == "model_fail_to_load") return Outcome::refused;
  // `eager_fail_to_run`, `fail_to_run_at_batch_4`, `eager_1st_run_fail`
  const bool threw =
      status.find("fail_to_run") != std::string::npos || status.ends_with("_run_fail") || status == "warmup_failed";
  return threw ? Outcome::threw : Outcome::wrong;
}

/// Whether a status says that the model does not load, or that eager, which back ends are compared with, broke down.
[[nodiscard]] inline bool is_about_eager(const std::string& status) {
  return status == "model_fail_to_load" || (status.starts_with("eager_") && status != "eager_two_runs_differ");
}

/// A row that has no figures of a comparison, as an implementation of one.
[[nodiscard]] inline ImplementationResult implementation_of(const Row& row, const Settings& settings) {
  ImplementationResult made;
  made.name = row.backend;
  made.outcome = outcome_of(row);
  made.context.comparison = row.name;
  made.checked = made.outcome == Outcome::measured && has_statuses(settings.mode);
  if (made.outcome != Outcome::measured) made.message = row.message.empty() ? status_in(row) : row.message;
  // torchbench's word for a failure that the configuration expects is another than `pass`.
  if (has_statuses(settings.mode) && row.result != RowResult::unmeasured) {
    const bool passes = row.result != RowResult::failed;
    made.judgements.push_back({.expectation = std::string(to_string(settings.mode)) + " as torchbench checks it",
                               .verdict = !passes                              ? Verdict::failed
                                          : row.result == RowResult::undecided ? Verdict::undecided
                                                                               : Verdict::passed,
                               .acceptable = passes,
                               .message = status_in(row) + (row.message.empty() ? "" : ": " + row.message),
                               .unresolved = row.result == RowResult::undecided});
  }
  return made;
}

}  // namespace detail

/// Name of the comparison of a model on a device, which names it where the model runs on several.
[[nodiscard]] inline std::string comparison_name(const std::string& model, const std::string& device,
                                                 bool several_devices) {
  return several_devices ? model + '/' + device : model;
}

/// All that is known of one model: the `comparisons` from its process. Adds an implementation for each of `rows` that
/// is in none of them: its back end could not be made, or its process crashed.
[[nodiscard]] inline std::vector<Result> results_of(const std::vector<Row>& rows, std::vector<Result> comparisons,
                                                    const Settings& settings, bool several_devices) {
  for (const auto& row : rows) {
    const std::string name = comparison_name(row.name, row.device, several_devices);
    auto found = std::ranges::find(comparisons, name, &Result::name);
    if (found == comparisons.end()) {
      Result made;
      made.name = name;
      made.device = row.device;
      made.seed = settings.seed;
      if (row.backend != "eager") {
        // Nothing says of eager more than that it ran, or that it did not.
        ImplementationResult eager;
        eager.name = "eager";
        eager.is_baseline = true;
        const bool ran = row.result != RowResult::unmeasured && !detail::is_about_eager(detail::status_in(row));
        eager.outcome = ran ? Outcome::measured : detail::outcome_of(row);
        if (!ran) eager.message = row.message;
        eager.context.comparison = name;
        made.implementations.push_back(std::move(eager));
      }
      comparisons.push_back(std::move(made));
      found = comparisons.end() - 1;
    }
    if (std::ranges::find(found->implementations, row.backend, &ImplementationResult::name) !=
        found->implementations.end())
      continue;
    auto made = detail::implementation_of(row, settings);
    made.context.comparison = name;
    made.is_baseline = row.backend == "eager";
    found->implementations.push_back(std::move(made));
  }
  return comparisons;
}

/// The results file of a run and its pages.
class ComparisonFile {
 public:
  /// `json`: the file that is kept; empty: there is one as long as `pages` need it, if there are any. Throws Error if
  /// it cannot be written.
  ComparisonFile(const std::string& json, Pages pages, const report::ResultsHeader& header) : pages_(std::move(pages)) {
    const std::string of_pages = pages_.results_file(json);
    if (!json.empty()) add_file(json, header);
    if (!of_pages.empty() && of_pages != json) add_file(of_pages, header);
    path_ = of_pages.empty() ? json : of_pages;
  }

  /// Writes comparisons as they come. A file that cannot be written any more is reported once, to `errors`.
  void add(const std::vector<Result>& comparisons, std::ostream& errors) {
    for (const auto& result : comparisons) {
      each([&](report::JsonSink& sink) { sink.write(result); }, "; no further results go there", errors);
      has_results_ = true;
    }
  }

  /// Closes the files and makes the pages, if there is a result. Returns whether all was written. Reports failures to
  /// `errors`.
  [[nodiscard]] bool finish(std::ostream& errors) {
    if (!has_results_ || path_.empty()) return !failed_;
    close(errors);
    if (failed_) {
      if (pages_.any())
        errors << "pace: no page was made, since the results could not be written to " << report::printable(path_)
               << '\n';
      return false;
    }
    if (pages_.any()) pages_.add(path_);
    return pages_.make("pace", errors);
  }

  /// As finish(), of a run that was interrupted: no page is made, and `errors` get the name of the file that has the
  /// results so far.
  void interrupt(std::ostream& errors) {
    if (!has_results_ || path_.empty()) return;
    close(errors);
    errors << "pace: the comparisons so far are in " << report::printable(path_) << '\n';
  }

 private:
  void add_file(const std::string& path, const report::ResultsHeader& header) {
    sinks_.push_back(std::make_unique<report::JsonSink>(path, header));
  }
  void close(std::ostream& errors) {
    each([](report::JsonSink& sink) { sink.finish(); }, "", errors);
  }

  template <class Action>
  void each(const Action& action, const char* consequence, std::ostream& errors) {
    for (auto& sink : sinks_) {
      if (!sink) continue;
      try {
        action(*sink);
      } catch (const Error& error) {
        errors << "pace: " << error.what() << consequence << '\n' << std::flush;
        sink.reset();
        failed_ = true;
      }
    }
  }

  Pages pages_;
  std::vector<std::unique_ptr<report::JsonSink>> sinks_;
  /// The file of the pages' results, or without pages the file `json`; empty: there is no file.
  std::string path_;
  bool has_results_ = false, failed_ = false;
};

}  // namespace pace::benches::models
