// A run's output beside rows: models, plans, why its exit code is not 0, commands that repeat failures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "benches/models/command_line.hpp"
#include "benches/models/dependencies.hpp"
#include "benches/models/driver/names.hpp"
#include "benches/models/driver/selection.hpp"
#include "benches/models/driver/summary.hpp"
#include "benches/models/row.hpp"
#include "pace/base/format.hpp"
#include "pace/os/repeat_command.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "pace/run/exit_code.hpp"

namespace pace::benches::models::detail {

inline void list_models(const Dependencies& dependencies, const Selection& selection, std::ostream& out) {
  report::CsvTable table{.header = {"model", "suite", "family", "training batch", "inference batch"}};
  for (const auto& model : matching_models(dependencies.models, selection))
    table.rows.push_back({model.name, to_string(model.suite), model.family, std::to_string(model.training_batch),
                          std::to_string(model.inference_batch)});
  std::ranges::sort(table.rows);
  print_rows(table, out);
}

/// `results`: the CSV files of the run.
inline void print_plan(const CommandLine& line, const std::vector<ChosenModel>& chosen,
                       const std::vector<std::string>& results, std::ostream& out) {
  const auto& settings = line.settings;
  std::string what = std::string(line.compile_only ? "compile" : to_string(settings.mode)) + ", " +
                     (settings.training ? "training" : "inference");
  // Nothing else is audited.
  if (!line.compile_only && settings.mode == Mode::performance && !settings.compat)
    what += std::string(", audit ") + to_string(line.measuring.audit);
  for (const auto& model : chosen)
    out << report::printable(model.name) << "  " << joined(model.devices, ", ") << "  " << what << "  "
        << report::printable(joined(candidates(settings), ", ")) << '\n';
  out << chosen.size() << (chosen.size() == 1 ? " model" : " models") << " would be "
      << (line.compile_only ? "compiled" : "run");
  if (!line.compile_only && line.only.empty())
    out << ", each for " << format_significant(line.timeout) << " s at most, "
        << report::rough_duration(Nanoseconds(1e9 * line.timeout * static_cast<double>(chosen.size()))) << " together";
  out << '\n';
  std::vector<std::string> written = line.compile_only ? std::vector<std::string>{} : results;
  written.insert(written.end(), {line.json, line.html});
  for (const auto& path : written)
    if (!path.empty()) out << "would write " << report::printable(path) << '\n';
  out << "dry run: nothing was measured\n" << std::flush;
}

/// Returns the exit code of a run with these rows, and tells `errors` why it is not 0.
[[nodiscard]] inline int exit_code_of(const RowCounts& rows, const CommandLine& line, bool is_test,
                                      std::ostream& errors) {
  const auto& settings = line.settings;
  const bool gate = line.gate || is_test || settings.no_slower_than || settings.peak_memory_at_most ||
                    ((has_statuses(settings.mode) || !line.models.empty()) && !settings.compat);
  using enum RowResult;
  const auto bad = rows.of(failed) + rows.of(unmeasured);
  const bool none_good = bad > 0 && bad == rows.all();
  // torchbench ends with 0 even if its models failed.
  const bool fails = bad > 0 && (gate || (none_good && !settings.compat));
  if (fails && rows.of(unmeasured) < rows.all()) {
    errors << "pace: " << (none_good && !gate ? "nothing was measured: " : "") << bad << (bad == 1 ? " row" : " rows")
           << " failed";
    if (rows.of(unmeasured) > 0) errors << ", " << rows.of(unmeasured) << " of them since the model does not run here";
    errors << '\n' << std::flush;
    return exit_failed;
  }
  RunAccount account;
  const auto add = [&](std::size_t count, bool measured, bool unresolved) {
    for (; count > 0; --count) account.add_row(measured, unresolved);
  };
  add(rows.of(passed), true, false);
  add(rows.of(undecided), true, true);
  if (fails) add(rows.of(unmeasured), false, false);
  return account.exit_code(0, line.allow_undecided, line.allow_unmeasured, errors);
}

/// Returns the words of a command line that runs `model` alone as `line` does.
[[nodiscard]] inline std::vector<std::string> words_to_repeat(const CommandLine& line, const std::string& model) {
  static const auto left_out = words_in(
      "--filter --exclude --exclude-exact --suite --only --partition-id --total-partitions --fast --no-skip --output "
      "--retain-output --output-directory --resume --json --html --dump-raw-metrics --progress --timeout "
      "--memory-limit --print-dataframe-summary --disable-output --quiet");
  std::vector<std::string> words{"--only", model};
  for (const auto& name : line.given.given) {
    if (std::ranges::find(left_out, name) != left_out.end()) continue;
    const auto values = line.given.values.find(name);
    if (values == line.given.values.end() || values->second.empty()) words.push_back(name);
    if (values != line.given.values.end())
      for (const auto& value : values->second) words.push_back(name + '=' + value);
  }
  // One row more would stand in the results of the run.
  if (!line.compile_only && line.settings.mode != Mode::operator_inputs) words.emplace_back("--disable-output");
  return words;
}

/// Prints the command that repeats each of `models` alone, of the first ten.
inline void print_repeat_commands(const std::string& program, const CommandLine& line,
                                  const std::vector<std::string>& models, std::ostream& errors) {
  constexpr std::size_t most = 10;
  for (std::size_t i = 0; i < models.size() && i < most; ++i)
    errors << (i == 0 ? "pace: to repeat what failed:\n" : "") << "  "
           << report::printable(command_again(program, words_to_repeat(line, models[i]))) << '\n';
  if (models.size() > most) errors << "  and " << models.size() - most << " more, with other names\n";
  errors << std::flush;
}

}  // namespace pace::benches::models::detail
