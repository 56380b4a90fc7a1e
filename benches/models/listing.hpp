// What --list and --dry-run print: the models, and what a run would do with them.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "benches/models/command_line.hpp"
#include "benches/models/dependencies.hpp"
#include "benches/models/driver/names.hpp"
#include "benches/models/driver/selection.hpp"
#include "benches/models/driver/summary.hpp"
#include "pace/base/format.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"

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

}  // namespace pace::benches::models::detail
