// The models' bench, whoever runs its models: from the words of a command line to an exit code.
#pragma once

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "benches/models/command_line.hpp"
#include "benches/models/plain_stream.hpp"
#include "benches/models/world.hpp"
#include "pace/core/error.hpp"
#include "pace/core/memory.hpp"
#include "pace/families/models/config_file.hpp"
#include "pace/families/models/driver/batch_sizes.hpp"
#include "pace/families/models/driver/digest.hpp"
#include "pace/families/models/driver/driver.hpp"
#include "pace/families/models/driver/hand_over.hpp"
#include "pace/families/models/driver/run_here.hpp"
#include "pace/families/models/driver/selection.hpp"
#include "pace/families/models/driver/summary.hpp"

namespace pace::benches::models {

namespace detail {

namespace models = families::models;

/// Paths from where a person stands to where they lead.
inline void resolve_paths(CommandLine& line, const World& world) {
  auto& output = line.output;
  auto& settings = line.settings;
  const auto read = [&](std::string& path) { path = path.empty() ? path : world.user_path(path); };
  const auto written = [&](std::string& path) { path = path.empty() ? path : world.output_path(path); };
  if (output.file.empty()) output.directory = world.output_path(output.directory.empty() ? "." : output.directory);
  for (auto* path : {&output.file, &settings.profiler_trace, &settings.memory_snapshot, &settings.log_operator_inputs,
                     &settings.save_outputs_to, &line.compile_to})
    written(*path);
  for (auto* path : {&output.baseline, &line.config_file, &line.batch_size_file, &settings.compare_outputs_with})
    read(*path);
  for (auto& path : settings.packages) read(path);
  if (line.config_file.empty()) line.config_file = world.config_file;
  if (line.devices.empty()) line.devices = world.default_devices();
}

/// One run of the program.
class Run {
 public:
  Run(CommandLine line, const World& world, std::string program, std::vector<std::string> words, std::ostream& out,
      std::ostream& errors)
      : line_(std::move(line)), world_(world), program_(std::move(program)), words_(std::move(words)), out_(out),
        errors_(errors), config_(read_config()), files_(line_.output, context(), world_.models) {}

  [[nodiscard]] int run() {
    for (const auto& each : line_.notes) note(each);
    if (!line_.only.empty()) (void)models::find_model(world_.models, line_.only);
    if (!line_.rows_to.empty()) return run_for_driver();
    if (line_.compile_only) return compile();
    if (!line_.only.empty() && line_.packages == models::Packages::kept) return run_only();
    return drive();
  }

 private:
  [[nodiscard]] models::RecordContext context() const {
    auto configuration = line_.configuration;
    configuration["--devices"] = joined(line_.devices, ",");
    // Processes of single models write no records.
    if (line_.rows_to.empty()) {
      for (const auto& [name, value] : world_.identity()) configuration[name] = value;
      // Names stay the same when what they name has changed.
      configuration["program"] = models::digest_of_file(program_, "the file of this program");
      const auto content = [&](const char* option, const std::string& path, const char* expected) {
        if (!path.empty()) configuration[std::string("content of ") + option] = models::digest_of_file(path, expected);
      };
      content("--config", line_.config_file, "a YAML file of models");
      content("--baseline", line_.output.baseline, "a CSV file");
      if (!line_.batch_size_file.empty())
        content("--batch-size-file", models::find_batch_size_file(line_.batch_size_file), "lines such as 'resnet18,64'");
    }
    return {line_.settings, configuration};
  }

  void note(const std::string& text) const {
    if (!line_.quiet && line_.rows_to.empty()) errors_ << "pace: " << text << '\n' << std::flush;
  }

  [[nodiscard]] models::Config read_config() const {
    if (line_.config_file.empty()) return {};
    return models::read_config(line_.config_file, models::names_of(world_.models),
                               [this](const std::string& text) { note(text); });
  }

  /// The model of --only, in this process.
  void run_model(const std::function<void(models::Row&)>& take) {
    if (!line_.batch_size_file.empty()) {
      line_.settings.batch_size =
          models::batch_size_in(models::find_batch_size_file(line_.batch_size_file), line_.only);
      if (!line_.settings.batch_size)
        errors_ << "pace: " << line_.batch_size_file << ": no batch size for " << line_.only << "; its own is taken\n";
    }
    world_.prepare(line_);
    std::ofstream nowhere;
    models::run_here(line_.only, line_.devices, line_.settings, config_, world_.run,
                     {line_.print_memory, line_.print_compilation_time, line_.output.tag},
                     [&](models::Row& row) {
                       row = files_.compared(row);
                       take(row);
                     },
                     out_, line_.quiet ? static_cast<std::ostream&>(nowhere) : errors_);
  }

  [[nodiscard]] int run_for_driver() {
    try {
      run_model([&](models::Row& row) { models::hand_over(line_.rows_to, row); });
    } catch (const InputError& error) {
      models::hand_over_bad_input(line_.rows_to, error.what());
      return exit_bad_input;
    }
    return 0;
  }

  [[nodiscard]] int run_only() {
    files_.claim(models::EarlierResults::kept);
    std::size_t rows = 0, failed = 0;
    run_model([&](models::Row& row) {
      ++rows;
      failed += row.passed ? 0 : 1;
      files_.add(row);
    });
    return judge(rows, failed);
  }

  [[nodiscard]] int judge(std::size_t rows, std::size_t failed) const {
    const auto& settings = line_.settings;
    const bool gate = line_.gate || world_.is_test || settings.no_slower_than.has_value() ||
                      (models::has_statuses(settings.mode) && !settings.compat);
    // torchbench ends with 0 whatever its models did.
    const bool nothing = rows > 0 && failed == rows && !settings.compat;
    if (failed == 0 || !(gate || nothing)) return 0;
    errors_ << "pace: " << (nothing && !gate ? "nothing was measured: " : "") << failed
            << (failed == 1 ? " row" : " rows") << " failed\n" << std::flush;
    return exit_gate_failed;
  }

  [[nodiscard]] std::vector<models::KnownModel> selected() const {
    if (!line_.only.empty()) return {models::find_model(world_.models, line_.only)};
    const auto chosen = models::select_models(world_.models, line_.selection, config_, line_.settings, line_.devices);
    for (const auto& [model, reason] : chosen.skipped)
      if (line_.verbose) note(model + " is skipped by " + reason);
    if (!line_.verbose && !chosen.skipped.empty())
      note(std::to_string(chosen.skipped.size()) + (chosen.skipped.size() == 1 ? " model is" : " models are") +
           " skipped by " + line_.config_file + "; --verbose tells which, --no-skip runs them");
    if (chosen.models.empty()) note("this partition holds none of the models that are asked for");
    return chosen.models;
  }

  [[nodiscard]] int compile() {
    if (!world_.compile) throw InputError({}, "--compile-only: this program compiles nothing");
    std::vector<std::string> names;
    for (const auto& model : selected()) names.push_back(model.name);
    world_.prepare(line_);
    const auto failed = world_.compile(names, line_.devices, line_.settings, config_, line_.compile_to, errors_);
    return failed == 0 ? 0 : exit_gate_failed;
  }

  [[nodiscard]] models::DriverOptions driver_options() const {
    models::DriverOptions options{.program = words_};
    options.program.insert(options.program.begin(), program_);
    options.devices = line_.devices;
    options.limits = world_.limits;
    options.limits.timeout = line_.timeout;
    options.packages = line_.packages;
    options.progress = line_.progress;
    const bool on_gpu =
        std::ranges::any_of(line_.devices, [](const auto& device) { return device.starts_with("cuda"); });
    // CUDA reserves what it never touches.
    if (line_.memory_limit && *line_.memory_limit > 0)
      options.limits.memory = static_cast<std::int64_t>(*line_.memory_limit * 1e9);
    else if (!line_.memory_limit && !on_gpu) options.limits.memory = available_memory();
    return options;
  }

  [[nodiscard]] int drive() {
    const auto chosen = selected();
    const bool keeps = line_.resume || line_.retain || !line_.only.empty();
    files_.claim(keeps ? models::EarlierResults::kept : models::EarlierResults::replaced);
    std::optional<models::EarlierRun> earlier;
    if (line_.resume) earlier.emplace(files_, line_.settings, context().configuration);
    models::Driver driver(driver_options(), line_.settings, files_, out_, errors_);
    const auto outcome = driver.run(chosen, earlier ? &*earlier : nullptr);
    if (outcome.resumed > 0)
      note(std::to_string(outcome.resumed) + (outcome.resumed == 1 ? " model" : " models") +
           " of the earlier run kept");
    if (outcome.interrupted != 0) {
      if (outcome.rows == 0) {
        errors_ << "pace: interrupted before the first row; results of earlier runs are as they were\n";
        return exit_signal + outcome.interrupted;
      }
      summarise();
      errors_ << "pace: interrupted; the rows so far are in " << joined(files_.paths(), ", ")
              << ", and --resume goes on\n";
      return exit_signal + outcome.interrupted;
    }
    if (outcome.lost == 0) files_.end();
    summarise();
    return outcome.lost > 0 ? exit_bad_input : judge(outcome.rows, outcome.failed);
  }

  void summarise() const {
    if (line_.settings.mode == models::Mode::find_batch_size) return;
    const auto paths = files_.paths();
    for (const auto& path : paths) {
      std::error_code ignored;
      // Nothing can be read from /dev/null again.
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      if (paths.size() > 1) out_ << '\n' << path << '\n';
      models::print_summary(report::read_csv(path), world_.models,
                            {.compat = line_.settings.compat, .rows = line_.print_rows}, out_);
    }
    out_ << std::flush;
  }

  CommandLine line_;
  const World& world_;
  std::string program_;
  std::vector<std::string> words_;
  std::ostream& out_;
  std::ostream& errors_;
  models::Config config_;
  models::ResultFiles files_;
};

inline void list_models(const World& world, std::ostream& out) {
  report::CsvTable table{.header = {"model", "suite", "family", "training batch", "inference batch"}};
  for (const auto& model : world.models)
    table.rows.push_back({model.name, to_string(model.suite), model.family, std::to_string(model.training_batch),
                          std::to_string(model.inference_batch)});
  std::ranges::sort(table.rows);
  families::models::detail::print_rows(table, out);
}

}  // namespace detail

/// `program`: the path of this program, which is run for each model. `words`: its arguments. Returns the exit code: 0
/// unless something was wrong with them, a gate did not pass, rows got lost, or somebody ended the run.
[[nodiscard]] inline int run_program(const std::string& program, const std::vector<std::string>& words,
                                     const World& world, std::ostream& to_out, std::ostream& to_errors) {
  // What cannot be written is an error of that write, and rows of models go on; a signal would end the run, or look like
  // a crash of the model whose process it hits.
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
  PlainStream out(to_out), errors(to_errors);
  try {
    CommandLine line = parse_command_line(words);
    if (line.help) return out << help_of_models(), 0;
    if (line.list) return detail::list_models(world, out), 0;
    if (!line.device_index.empty()) ::setenv("CUDA_VISIBLE_DEVICES", line.device_index.c_str(), 1);
    detail::resolve_paths(line, world);
    return detail::Run(std::move(line), world, program, words, out, errors).run();
  } catch (const families::models::InvalidPartition& error) {
    errors << "pace: " << error.what() << '\n' << std::flush;
    return exit_invalid_partition;
  } catch (const std::exception& error) {
    errors << "pace: " << error.what() << '\n' << std::flush;
    return exit_bad_input;
  }
}

}  // namespace pace::benches::models
