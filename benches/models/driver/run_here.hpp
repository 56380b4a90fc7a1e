// One model run in this process, on each device, with torchbench's line for each row.
#pragma once

#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "benches/models/config.hpp"
#include "benches/models/driver/names.hpp"
#include "benches/models/driver/result_csv.hpp"
#include "benches/models/driver/status_row.hpp"
#include "benches/models/driver/summary.hpp"
#include "benches/models/row.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/cut_text.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::models {

/// A row for each back end of a model on the device that the settings name. A failure is a status of a row; it throws
/// InputError for settings that make no sense.
using RunModel =
    std::function<std::vector<Row>(const std::string& model, const Settings&, const Config&, std::ostream& log)>;

struct Printing {
  bool memory = false, compilation_time = false;
  /// Behind the name.
  std::string tag = {};
};

/// `cpu  eval  resnet18                           `.
[[nodiscard]] inline std::string model_line(const std::string& device, bool training, const std::string& model,
                                            const std::string& tag = {}) {
  return detail::padded(device, 4) + ' ' + detail::padded(training ? "train" : "eval", 5) + ' ' +
         detail::padded(model, 34) + ' ' + (tag.empty() ? "" : detail::padded(tag, 26) + ' ');
}

namespace detail {

[[nodiscard]] inline std::optional<double> number_of(const Row& row, const std::string& column) {
  for (const auto& [name, cell] : row.values)
    if (name == column)
      if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::nullopt;
}

inline void print_extras(const Row& row, const Printing& printing, std::ostream& out) {
  const auto eager = number_of(row, "eager_peak_mem"), compiled = number_of(row, "dynamo_peak_mem"),
             ratio = number_of(row, "compression_ratio"), latency = number_of(row, "compilation_latency");
  if (printing.memory && eager && compiled && ratio)
    out << "memory: eager: " << format_fixed(*eager, 2) << " GB, dynamo: " << format_fixed(*compiled, 2)
        << " GB, ratio: " << format_fixed(*ratio, 2) << '\n';
  if (printing.compilation_time && latency) out << "Compilation time: " << format_fixed(*latency, 2) << '\n';
}

[[nodiscard]] inline bool tells_of_memory(const std::string& text) {
  for (const char* words : {"out of memory", "can't allocate memory", "bad_alloc", "OutOfMemory"})
    if (text.find(words) != std::string::npos) return true;
  return false;
}

/// Rows for an exception that got out of the run.
[[nodiscard]] inline std::vector<Row> rows_of_failure(const Settings& settings, const std::string& model,
                                                      const std::string& message, bool memory) {
  std::vector<Row> rows;
  for (const auto& backend : candidates(settings))
    rows.push_back(status_row(settings, settings.device, model, backend, memory ? "OOM" : "fail_to_run", message));
  return rows;
}

/// `undecided: ` and the like; nothing for a row that passed.
[[nodiscard]] inline std::string result_before(const Row& row) {
  return row.result == RowResult::passed ? "" : std::string(to_string(row.result)) + ": ";
}

/// The text behind the model's name.
[[nodiscard]] inline std::string status_of(const Row& row) {
  std::string figures;
  for (const auto& [name, cell] : row.values) {
    const auto* text = std::get_if<std::string>(&cell);
    if (text != nullptr && (name == "accuracy" || (name == "status" && row.message.empty())))
      return *text + (row.message.empty() ? "" : " (" + cut_text(row.message) + ')');
    figures += (figures.empty() ? "" : ", ") + name + '=' + to_text(cell);
  }
  return row.message.empty() ? figures : cut_text(row.message);
}

}  // namespace detail

/// Each row goes to `take`, which may change it, before it is printed. Throws InputError.
inline void run_here(const std::string& model, const std::vector<std::string>& devices, Settings settings,
                     const Config& config, const RunModel& run, const Printing& printing,
                     const std::function<void(Row&)>& take, std::ostream& out, std::ostream& log) {
  for (const auto& device : devices) {
    settings.device = device;
    const std::string line = model_line(device, settings.training, model, printing.tag);
    out << line << std::flush;
    std::vector<Row> rows;
    try {
      rows = run(model, settings, config, log);
    } catch (const InputError&) {
      out << '\n' << std::flush;
      throw;
    } catch (const std::bad_alloc&) {
      rows = detail::rows_of_failure(settings, model, "no memory was left", true);
    } catch (const std::exception& error) {
      rows = detail::rows_of_failure(settings, model, cut_text(error.what(), longest_kept),
                                     detail::tells_of_memory(error.what()));
    }
    for (auto& row : rows) {
      take(row);
      if (&row != rows.data()) out << line;
      out << (rows.size() > 1 ? row.backend + ": " : "") << (settings.compat ? "" : detail::result_before(row))
          << report::printable(detail::status_of(row)) << '\n';
      detail::print_extras(row, printing, out);
    }
    if (rows.empty()) out << '\n';
    out << std::flush;
  }
}

}  // namespace pace::benches::models
