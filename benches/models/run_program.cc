#include "benches/models/run_program.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "benches/files/file_digest.hpp"
#include "benches/models/command_line.hpp"
#include "benches/models/config_file.hpp"
#include "benches/models/dependencies.hpp"
#include "benches/models/driver/batch_sizes.hpp"
#include "benches/models/driver/comparisons.hpp"
#include "benches/models/driver/driver.hpp"
#include "benches/models/driver/hand_over.hpp"
#include "benches/models/driver/run_here.hpp"
#include "benches/models/driver/selection.hpp"
#include "benches/models/driver/summary.hpp"
#include "benches/models/paths.hpp"
#include "benches/models/printing.hpp"
#include "benches/models/resolve.hpp"
#include "benches/models/row.hpp"
#include "pace/base/digest.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/os/kept_pipes.hpp"
#include "pace/os/memory.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/json.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/progress.hpp"
#include "pace/run/run_context.hpp"

namespace pace::benches::models {

namespace detail {
namespace {

/// Hears the comparisons of this process while the object lives.
class ListensToResults {
 public:
  explicit ListensToResults(std::function<void(const Result&)> hear) : own_(run_context().on_result(std::move(hear))) {}
  ListensToResults(const ListensToResults&) = delete;
  ListensToResults& operator=(const ListensToResults&) = delete;
  ~ListensToResults() { run_context().remove_listener(own_); }

 private:
  RunContext::ListenerId own_;
};

/// One run of the program.
class Run {
 public:
  Run(CommandLine line, const Dependencies& dependencies, std::string program, std::vector<std::string> words,
      std::ostream& out, std::ostream& errors)
      : line_(std::move(line)),
        dependencies_(dependencies),
        program_(std::move(program)),
        words_(std::move(words)),
        out_(out),
        errors_(errors),
        context_{line_.settings, line_.configuration} {
    // The process of each model reads them, too.
    keep_pipes();
    // Reads each file once, so that the digest belongs to the text that is used.
    if (const auto text = read_input("--config", line_.config_file, "a YAML file of models"))
      config_ = parse_config(*text, line_.config_file, names_of(dependencies_.models),
                             [this](const std::string& what) { note(what); });
    line_.output.baseline_text = read_input("--baseline", line_.output.baseline, "a CSV file");
    const std::string sizes = line_.batch_size_file.empty() ? "" : find_batch_size_file(line_.batch_size_file);
    if (const auto text = read_input("--batch-size-file", sizes, BatchSizes::expected))
      batch_sizes_.emplace(sizes, *text);
    describe();
    files_.emplace(line_.output, context_, dependencies_.models);
  }

  [[nodiscard]] int run() {
    if (!line_.only.empty()) (void)find_model(dependencies_.models, line_.only);
    if (line_.dry_run) return plan();
    if (!line_.rows_to.empty()) return run_for_driver();
    if (line_.compile_only) return compile();
    if (!line_.only.empty() && line_.packages == Packages::kept) return run_only();
    return drive();
  }

 private:
  /// The content of a file; nothing for an empty path. A file may change under the same name, so the configuration
  /// holds its digest.
  [[nodiscard]] std::optional<std::string> read_input(const std::string& option, const std::string& path,
                                                      const char* expected) {
    if (path.empty()) return std::nullopt;
    std::string text = read_file(path, expected);
    Digest digest;
    digest.add(text);
    context_.configuration["content of " + option] = digest.text();
    return text;
  }

  void describe() {
    auto& configuration = context_.configuration;
    configuration["--devices"] = joined(line_.devices, ",");
    // Processes of single models write no records.
    if (!line_.rows_to.empty()) return;
    for (const auto& [name, value] : dependencies_.identity()) configuration[name] = value;
    for (const auto& file : line_.files) {
      configuration["content of " + file.name] = files::digest_of_file(file.path);
      if (!file.inputs.starts_with('('))
        configuration["content of the inputs of " + file.name] = files::digest_of_file(file.inputs);
    }
    configuration["program"] = files::digest_of_file(program_);
  }

  void note(const std::string& text) const {
    if (!line_.quiet && line_.rows_to.empty()) errors_ << "pace: " << text << '\n' << std::flush;
  }

  /// Prints the plan of a run and its result files. Finds the same errors in them as a run.
  [[nodiscard]] int plan() {
    const auto chosen = selected();
    // Nothing is written before the first row, so that earlier results stay.
    if (!line_.compile_only) files_->claim(EarlierResults::replaced);
    open_comparisons();
    print_plan(line_, chosen, files_->paths(), out_);
    return 0;
  }

  /// Shows the progress of the model of --only; null if nothing is shown.
  [[nodiscard]] std::unique_ptr<report::ShownProgress> show_progress() const {
    if (line_.no_progress || line_.quiet) return nullptr;
    auto shown = std::make_unique<report::ShownProgress>("models");
    std::size_t number = 0, total = 0, before = 0;
    double seconds = 0;
    if (std::sscanf(line_.part.c_str(), "%zu/%zu/%lf/%zu", &number, &total, &seconds, &before) == 4)
      shown->go_on(number, total, before, Nanoseconds(1e9 * seconds));
    progress()->subject(line_.only);
    return shown;
  }

  /// Opens the file of comparisons and finds the place of the page, before anything is measured.
  void open_comparisons() {
    const auto& settings = line_.settings;
    const bool compares = (settings.mode == Mode::performance && !settings.compat) || has_statuses(settings.mode);
    if (!compares || line_.resume || line_.retain || line_.compile_only) return;
    std::vector<std::string> command_line = words_;
    command_line.insert(command_line.begin(), program_);
    const report::ResultsHeader header{.environment = dependencies_.environment(command_line),
                                       .options = line_.measuring};
    const std::string json = line_.json.empty() ? dependencies_.json_of_test : line_.json;
    comparisons_ = std::make_unique<ComparisonFile>(json, dependencies_.pages(line_.html), header);
  }

  void add_comparisons(const std::vector<Row>& rows, std::vector<Result> found) {
    if (!comparisons_) return;
    comparisons_->add(results_of(rows, std::move(found), line_.settings, line_.several_devices), errors_);
  }

  /// Returns `code`. If it is 0 and the comparisons or their page could not be written, returns the code for lost rows.
  [[nodiscard]] int finish_comparisons(int code) {
    const bool fine = !comparisons_ || comparisons_->finish(errors_);
    return fine || code != 0 ? code : exit_bad_input;
  }

  /// The model of --only, in this process. `hear` gets each comparison.
  void run_model(const std::function<void(Row&)>& take, const std::function<void(const Result&)>& hear) {
    const auto shown = show_progress();
    if (batch_sizes_) {
      line_.settings.batch_size = batch_sizes_->of(line_.only);
      if (!line_.settings.batch_size)
        errors_ << "pace: " << batch_sizes_->path() << ": no batch size for " << line_.only << "; its own is taken\n";
    }
    dependencies_.prepare(line_);
    std::ofstream nowhere;
    std::string device;
    const ListensToResults listens([&](const Result& result) {
      Result named = result;
      named.name = comparison_name(result.name, device, line_.several_devices);
      for (auto& row : named.implementations) row.context.comparison = named.name;
      hear(named);
    });
    const RunModel run_on = [&](const std::string& model, const Settings& settings, const Config& config,
                                std::ostream& log) {
      device = settings.device;
      return dependencies_.run(model, settings, config, log);
    };
    run_here(
        line_.only, line_.devices, line_.settings, config_, run_on,
        {line_.print_memory, line_.print_compilation_time, line_.output.tag},
        [&](Row& row) {
          row = files_->compared(row);
          take(row);
        },
        out_, line_.quiet ? static_cast<std::ostream&>(nowhere) : errors_);
  }

  [[nodiscard]] int run_for_driver() {
    try {
      run_model([&](Row& row) { hand_over(line_.rows_to, row); },
                [&](const Result& result) { hand_over(line_.rows_to, result); });
      if (!out_.flush()) hand_over_output_lost(line_.rows_to);
    } catch (const InputError& error) {
      hand_over_bad_input(line_.rows_to, error.what());
      return exit_bad_input;
    }
    return 0;
  }

  [[nodiscard]] int run_only() {
    files_->claim(EarlierResults::kept);
    open_comparisons();
    RowCounts rows;
    std::vector<Row> all;
    std::vector<Result> found;
    run_model(
        [&](Row& row) {
          rows.add(row.result);
          files_->add(row);
          all.push_back(row);
        },
        [&](const Result& result) { found.push_back(result); });
    files_->end();
    add_comparisons(all, std::move(found));
    const int code = finish_comparisons(exit_code_of(rows, line_, dependencies_.is_test, errors_));
    if (code != 0 && rows.of(RowResult::failed) > 0) print_repeat_commands(program_, line_, {line_.only}, errors_);
    return code;
  }

  [[nodiscard]] std::vector<ChosenModel> selected() const {
    if (!line_.only.empty()) return {{find_model(dependencies_.models, line_.only), line_.devices}};
    const auto chosen = select_models(dependencies_.models, line_.selection, config_, line_.settings, line_.devices);
    std::set<std::string> skipped;
    for (const auto& [model, device, reason] : chosen.skipped) {
      skipped.insert(model);
      if (line_.verbose) note(model + (device.empty() ? "" : " on " + device) + " is skipped by " + reason);
    }
    if (!line_.verbose && !skipped.empty())
      note(std::to_string(skipped.size()) + (skipped.size() == 1 ? " model is" : " models are") + " skipped by " +
           line_.config_file + "; --verbose lists them, --no-skip runs them");
    if (chosen.models.empty()) note("this partition holds none of the models that are asked for");
    if (line_.settings.mode == Mode::performance) files_->require_baseline_of(chosen.models);
    if (batch_sizes_)
      for (const auto& model : chosen.models) (void)batch_sizes_->of(model.name);
    return chosen.models;
  }

  [[nodiscard]] int compile() {
    if (!dependencies_.compile) throw InputError({}, "--compile-only: this program compiles nothing");
    const auto chosen = selected();
    if (line_.compilation_metrics) files_->claim(EarlierResults::kept);
    dependencies_.prepare(line_);
    const auto take = [this](const Row& row) {
      if (line_.compilation_metrics) files_->add_compilation(row);
    };
    const auto failed = dependencies_.compile(chosen, line_.settings, config_, line_.compile_to, take, errors_);
    return failed == 0 ? 0 : pace::exit_failed;
  }

  [[nodiscard]] DriverOptions driver_options() const {
    DriverOptions options{.program = words_};
    options.program.insert(options.program.begin(), program_);
    options.limits = dependencies_.limits;
    options.limits.timeout = line_.timeout;
    options.packages = line_.packages;
    options.progress = line_.progress;
    options.shows_parts = !line_.no_progress && !line_.quiet;
    // CUDA reserves memory that it never touches.
    if (line_.memory_limit && *line_.memory_limit > 0)
      options.limits.memory = static_cast<std::int64_t>(*line_.memory_limit * 1e9);
    else if (!line_.memory_limit && !any_gpu(line_.devices))
      options.limits.memory = limit_on_data();
    return options;
  }

  [[nodiscard]] int drive() {
    const auto chosen = selected();
    const bool keeps = line_.resume || line_.retain || !line_.only.empty();
    files_->claim(keeps ? EarlierResults::kept : EarlierResults::replaced);
    std::optional<EarlierRun> earlier;
    if (line_.resume) earlier.emplace(*files_, line_.settings, context_.configuration);
    open_comparisons();
    DriverOptions options = driver_options();
    options.take_comparisons = [this](const std::vector<Row>& rows, std::vector<Result> found) {
      add_comparisons(rows, std::move(found));
    };
    // A process that died may have left its line of progress on the terminal.
    const report::ClearsLeftLine clears(options.shows_parts);
    Driver driver(options, line_.settings, *files_, out_, errors_);
    const auto outcome = run_with(driver, chosen, earlier ? &*earlier : nullptr);
    if (outcome.output_lost) out_.setstate(std::ios::badbit);
    if (outcome.resumed > 0)
      note(std::to_string(outcome.resumed) + (outcome.resumed == 1 ? " model" : " models") +
           " of the earlier run kept");
    if (outcome.interrupted != 0) {
      if (outcome.rows.all() == 0) {
        errors_ << "pace: interrupted before the first row; results of earlier runs are as they were\n";
        return exit_signal + outcome.interrupted;
      }
      summarise();
      if (comparisons_) comparisons_->interrupt(errors_);
      errors_ << "pace: interrupted; the rows so far are in " << report::printable(joined(files_->paths(), ", "))
              << ", and --resume goes on\n";
      return exit_signal + outcome.interrupted;
    }
    if (outcome.lost == 0) files_->end();
    summarise();
    if (outcome.lost > 0) return finish_comparisons(exit_bad_input);
    const int code = finish_comparisons(exit_code_of(outcome.rows, line_, dependencies_.is_test, errors_));
    if (code != 0) print_repeat_commands(program_, line_, outcome.failed, errors_);
    return code;
  }

  /// Runs the models. If bad input ends the run, the earlier comparisons stay, and their file is named.
  [[nodiscard]] DriverOutcome run_with(Driver& driver, const std::vector<ChosenModel>& chosen,
                                       const EarlierRun* earlier) {
    try {
      return driver.run(chosen, earlier);
    } catch (const InputError&) {
      if (comparisons_) comparisons_->interrupt(errors_);
      throw;
    }
  }

  void summarise() const {
    if (line_.settings.mode == Mode::find_batch_size) return;
    const auto paths = files_->paths();
    for (const auto& path : paths) {
      std::error_code ignored;
      // Nothing can be read from /dev/null again.
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      if (paths.size() > 1) out_ << '\n' << report::printable(path) << '\n';
      print_summary(report::read_csv(path), dependencies_.models,
                    {.compat = line_.settings.compat, .rows = line_.print_rows}, out_);
    }
    out_ << std::flush;
  }

  CommandLine line_;
  const Dependencies& dependencies_;
  std::string program_;
  std::vector<std::string> words_;
  std::ostream& out_;
  std::ostream& errors_;
  RecordContext context_;
  Config config_ = {};
  std::optional<ResultFiles> files_;
  std::optional<BatchSizes> batch_sizes_;
  /// Null: this run has no file of comparisons, and no page.
  std::unique_ptr<ComparisonFile> comparisons_;
};

}  // namespace
}  // namespace detail

int run_program(const std::string& program, const std::vector<std::string>& words, const Dependencies& dependencies,
                std::ostream& out, std::ostream& errors) {
  try {
    CommandLine line = parse_command_line(words);
    if (!line.help && !line.list) {
      if (!line.device_index.empty()) ::setenv("CUDA_VISIBLE_DEVICES", line.device_index.c_str(), 1);
      detail::resolve_paths(line, dependencies);
      if (line.rows_to.empty()) detail::require_usable(line, dependencies.backends);
    }
    const Dependencies all = line.help ? dependencies : detail::with_files(line, dependencies);
    if (line.help) out << help_of_models();
    if (line.list) detail::list_models(all, line.selection, out);
    if (line.help || line.list) {
      if (!out.flush()) throw Error("the output cannot be written");
      return 0;
    }
    // The process that has started this one says it, if it has one for this model alone.
    const bool for_driver = !line.rows_to.empty();
    const int code = detail::Run(std::move(line), all, program, words, out, errors).run();
    if (for_driver || out.flush()) return code;
    errors << "pace: not all that was printed could be written: the standard output is closed or full\n" << std::flush;
    return code == 0 ? exit_bad_input : code;
  } catch (const std::exception& error) {
    errors << "pace: " << report::printable_lines(error.what()) << '\n' << std::flush;
    return exit_bad_input;
  }
}

}  // namespace pace::benches::models
