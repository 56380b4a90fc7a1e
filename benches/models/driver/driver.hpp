// Driver: each model in a process of its own, and a row for each even if that process fails.
#pragma once

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/driver/child.hpp"
#include "benches/models/driver/earlier_run.hpp"
#include "benches/models/driver/hand_over.hpp"
#include "benches/models/driver/result_files.hpp"
#include "benches/models/driver/run_here.hpp"
#include "benches/models/driver/status_row.hpp"
#include "pace/base/cut_text.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/os/folders.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::models {

/// Compiled packages of the processes: theirs or their user's; of no one before; of one run before.
enum class Packages { kept, cold, warm };

struct DriverOptions {
  /// Path and arguments of this program. `--only` and `--rows-to` are added.
  std::vector<std::string> program;
  ChildLimits limits = {};
  Packages packages = Packages::kept;
  bool progress = false;
  /// Whether the processes show which of how many models they run.
  bool shows_parts = false;
  /// Where the run makes a folder of its own. It holds the rows and comparisons of the processes, and fresh packages.
  std::string scratch = std::filesystem::temp_directory_path().string();
  /// Gets each model's rows and its process's comparisons. Without it, only rows are written.
  std::function<void(const std::vector<Row>& rows, std::vector<Result> comparisons)> take_comparisons = {};
};

struct DriverOutcome {
  /// The rows of this run and, for models that were run before, of the earlier one.
  RowCounts rows;
  /// Models that were run before.
  std::size_t resumed = 0;
  /// The signal that ended the run; 0: it came to its end.
  int interrupted = 0;
  /// Rows that could not be written.
  std::size_t lost = 0;
  /// Not all that the models' processes printed has arrived.
  bool output_lost = false;
  /// Names of the models with a row that failed, each once.
  std::vector<std::string> failed;
};

/// The arguments for the process of one model: this program's own, the model, and its devices. `first_of_two`: the run
/// that fills the packages of --warm-start-latency.
[[nodiscard]] inline std::vector<std::string> child_arguments(std::vector<std::string> program,
                                                              const ChosenModel& model, const std::string& rows_to,
                                                              bool first_of_two, const std::string& part = "") {
  program.push_back("--only=" + model.name);
  for (const auto& device : model.devices) program.push_back("--rows-of=" + device);
  program.push_back("--rows-to=" + rows_to);
  if (!part.empty()) program.push_back("--nth-model=" + part);
  // No option that others refuse: a process of one model writes no result files anyway.
  if (first_of_two) program.push_back("--repeat=1");
  return program;
}

class Driver {
 public:
  Driver(DriverOptions options, Settings settings, ResultFiles& files, std::ostream& out, std::ostream& errors)
      : options_(std::move(options)), settings_(std::move(settings)), files_(files), out_(out), errors_(errors) {}

  /// Runs all models but those that `earlier` has. Throws InputError where a model's process says that nothing can be
  /// run like that.
  [[nodiscard]] DriverOutcome run(const std::vector<ChosenModel>& models, const EarlierRun* earlier = nullptr) {
    const Interrupts interrupts;
    // Hidden: the next run removes folders of such names, and nobody should have one by chance.
    const pace::detail::RunFolder folder(options_.scratch, ".pace-models-");
    DriverOutcome outcome;
    earlier_ = earlier;
    const double start = options_.limits.now();
    std::size_t begun = 0;
    for (std::size_t i = 0; i < models.size() && outcome.interrupted == 0; ++i) {
      const ChosenModel& model = models[i];
      if (earlier != nullptr && earlier->has(model.name, model.devices)) {
        ++outcome.resumed;
        for (const auto result : earlier->results(model.name, model.devices)) outcome.rows.add(result);
        continue;
      }
      if (options_.progress) out_ << "Running model " << i + 1 << '/' << models.size() << '\n';
      out_ << std::flush;
      if (options_.shows_parts)
        part_ = std::to_string(i + 1) + '/' + std::to_string(models.size()) + '/' +
                format_fixed(options_.limits.now() - start, 1) + '/' + std::to_string(begun++);
      rows_.clear();
      comparisons_.clear();
      run(model, folder.path(), outcome);
      if (options_.take_comparisons) options_.take_comparisons(rows_, std::move(comparisons_));
    }
    return outcome;
  }

 private:
  /// A folder that goes with it, and that packages are kept in meanwhile.
  class Folder {
   public:
    Folder(const std::filesystem::path& parent, bool for_packages)
        : path(pace::detail::make_folder_in(parent)), for_packages_(for_packages) {
      if (!for_packages_) return;
      if (const char* const before = ::getenv(variable)) before_ = before;
      ::setenv(variable, (path / "packages").c_str(), 1);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
      if (for_packages_ && before_)
        ::setenv(variable, before_->c_str(), 1);
      else if (for_packages_)
        ::unsetenv(variable);
      pace::detail::remove_tree(path);
    }
    std::filesystem::path path;

   private:
    static constexpr const char* variable = "PACE_PACKAGE_CACHE";
    bool for_packages_;
    std::optional<std::string> before_;
  };

  void run(const ChosenModel& model, const std::filesystem::path& scratch, DriverOutcome& outcome) {
    const Folder folder(scratch, options_.packages != Packages::kept);
    const std::string rows_to = (folder.path / "rows").string();
    ChildEnd end;
    if (options_.packages == Packages::warm) {
      end = run_child(child_arguments(options_.program, model, (folder.path / "first").string(), true, part_),
                      options_.limits);
      (void)take_handed_over(folder.path / "first", outcome);
      // Another run would be measured cold.
      if (end.interrupted == 0 && (end.timed_out || !end.status.ok()))
        return write_missing(model, end, {}, outcome, "the first of its two processes ");
    }
    if (end.interrupted == 0)
      end = run_child(child_arguments(options_.program, model, rows_to, false, part_), options_.limits);
    HandedOver handed = take_handed_over(rows_to, outcome);
    comparisons_ = std::move(handed.comparisons);
    for (const auto& row : handed.rows) write(row, outcome);
    if ((outcome.interrupted = end.interrupted) == 0) write_missing(model, end, handed.rows, outcome);
  }

  [[nodiscard]] static HandedOver take_handed_over(const std::string& path, DriverOutcome& outcome) {
    HandedOver handed = read_handed_over(path);
    if (handed.bad_input) throw InputError({}, *handed.bad_input);
    outcome.output_lost = outcome.output_lost || handed.output_lost;
    return handed;
  }

  /// Rows for the work that the process did not reach.
  void write_missing(const ChosenModel& model, const ChildEnd& end, const std::vector<Row>& rows,
                     DriverOutcome& outcome, const std::string& which = "its process ") {
    std::set<std::string> there;
    for (const auto& row : rows) there.insert(row.device + ' ' + row.backend);
    std::vector<std::pair<std::string, std::string>> missing;
    for (const auto& device : model.devices)
      for (const auto& backend : candidates(settings_))
        if (!there.contains(device + ' ' + backend)) missing.emplace_back(device, backend);
    if (missing.empty() && end.status.ok() && !end.timed_out) return;

    std::string status = "fail_to_run", why = which + end.status.to_string();
    if (end.timed_out) {
      status = "timeout";
      why = "timed out after " + format_significant(options_.limits.timeout) + " s";
    } else if (end.status.signal == SIGKILL) {
      // Nothing else sends this one unasked.
      status = "OOM";
      why += ", as the system does when memory runs out";
    } else if (end.status.ok()) {
      why = "its process ended without a result";
    }
    // The process has not come to the end of the model's line.
    if (!missing.empty()) out_ << status << '\n' << std::flush;
    errors_ << "pace: " << report::printable(model.name + ": " + why) << '\n' << std::flush;
    // torchbench writes none for a process that failed.
    if (settings_.compat && !end.timed_out) {
      if (!missing.empty()) {
        outcome.rows.add(RowResult::failed);
        add_failed(model.name, outcome);
      }
    } else {
      for (const auto& [device, backend] : missing) {
        Row row = status_row(settings_, device, model.name, backend, status, why);
        row.of_ended_process = true;
        write(row, outcome);
      }
    }
  }

  static void add_failed(const std::string& model, DriverOutcome& outcome) {
    if (std::ranges::find(outcome.failed, model) == outcome.failed.end()) outcome.failed.push_back(model);
  }

  void write(Row row, DriverOutcome& outcome) {
    // A run that was killed between two rows of a model has the first one.
    const auto kept = earlier_ == nullptr ? std::nullopt : earlier_->result(row.name, row.device, row.backend);
    if (kept) row.result = *kept;
    outcome.rows.add(row.result);
    rows_.push_back(row);
    if (row.result == RowResult::failed) add_failed(row.name, outcome);
    if (kept) return;
    try {
      files_.add(row);
    } catch (const Error& error) {
      ++outcome.lost;
      errors_ << "pace: " << report::printable(row.name + ": " + cut_text(error.what())) << '\n' << std::flush;
    }
  }

  DriverOptions options_;
  Settings settings_;
  ResultFiles& files_;
  std::ostream& out_;
  std::ostream& errors_;
  const EarlierRun* earlier_ = nullptr;
  /// Which part of the run the process of the present model is.
  std::string part_;
  /// The results of the present model so far.
  std::vector<Row> rows_;
  std::vector<Result> comparisons_;
};

}  // namespace pace::benches::models
