// The summary of a file of results: torchbench's line for each column, and speed-ups and pass rates by family.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "benches/models/driver/known_model.hpp"
#include "benches/models/driver/names.hpp"
#include "pace/base/format.hpp"
#include "pace/report/csv_text.hpp"
#include "pace/stats/mean.hpp"

namespace pace::benches::models {

struct SummaryOptions {
  /// As torchbench has it: a run that failed counts as a speed-up of 0, and there is nothing by family.
  bool compat = false;
  /// The rows themselves, too.
  bool rows = false;
};

namespace detail {

inline constexpr std::array<std::string_view, 5> columns_of_keys{"dev", "name", "batch_size", "tag", "backend"};
[[nodiscard]] inline bool is_one_of(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

[[nodiscard]] inline std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

/// pace's columns that say nothing on average, or are said otherwise.
inline constexpr std::array<std::string_view, 6> columns_without_mean{"interval_low", "interval_high", "spread",
                                                                      "p_value",      "tolerance",     "cosine"};

/// The unit of a number; empty: it is a ratio.
[[nodiscard]] inline std::string unit_of(std::string_view column) {
  if (column.ends_with("_latency") || column.ends_with("_ms")) return " ms";
  if (column.ends_with("_mem")) return " GB";
  if (column.ends_with("_seconds")) return " seconds";
  return column.ends_with("_per_second") || column == "callers" || column == "iterations" ? " " : "";
}

/// A model that did not run has no speed-up.
[[nodiscard]] inline bool did_not_run(const report::CsvTable& table, std::size_t row) {
  return table.column("speedup") && table.number(row, "speedup").value_or(0) == 0;
}

/// "2.00x [1.90x, 2.10x]" of those that ran, or "2.00x" unless each of them has an interval; "none" if none ran.
[[nodiscard]] inline std::string mean_speedup(const report::CsvTable& table) {
  std::vector<double> speedups;
  std::vector<stats::RatioInterval> intervals;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (did_not_run(table, i)) continue;
    const stats::RatioInterval each{table.number(i, "speedup").value_or(0), table.number(i, "interval_low").value_or(0),
                                    table.number(i, "interval_high").value_or(0)};
    speedups.push_back(each.ratio);
    if (each.ratio > 0 && each.low > 0 && each.high > 0) intervals.push_back(each);
  }
  if (speedups.empty()) return "none";
  const std::string text = format_fixed(stats::geometric_mean_of(speedups), 2) + 'x';
  if (intervals.size() < speedups.size()) return text;
  const auto mean = *stats::geometric_mean_of(intervals);
  return text + " [" + format_fixed(mean.low, 2) + "x, " + format_fixed(mean.high, 2) + "x]";
}

/// The text after a column's name; empty where there is nothing to say of it.
[[nodiscard]] inline std::string summary_of(const report::CsvTable& table, const std::string& column, bool compat) {
  if (is_one_of(columns_of_keys, column) || table.rows.empty()) return {};
  if (!compat && is_one_of(columns_without_mean, column)) return {};
  std::vector<double> values;
  std::size_t passed = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (column == "accuracy") {
      passed += table.text(i, column) == "pass" ? 1 : 0;
      continue;
    }
    if (!compat && did_not_run(table, i)) continue;
    const auto value = table.number(i, column);
    if (!value) return {};
    values.push_back(*value);
  }
  const auto share = [&] { return 100 * static_cast<double>(passed) / static_cast<double>(table.rows.size()); };
  if (column == "accuracy") return "pass_rate=" + format_fixed(share(), 2) + '%';
  if (values.empty()) return {};
  const double mean = stats::mean_of(values);
  if (column.starts_with("pct_")) return format_fixed(100 * mean, 3) + '%';
  static const auto counts = words_in(
      "graphs graph_calls captured_ops total_ops calls_captured unique_graphs graph_breaks unique_graph_breaks "
      "fallbacks_to_eager autograd_captures autograd_compiles cudagraph_skips");
  if (is_one_of(counts, column)) return format_fixed(mean, 3);
  if (column == "compilation_latency") return "mean=" + format_fixed(mean, 3) + " seconds";
  if (column == "compression_ratio") return "mean=" + format_fixed(mean, 3) + 'x';
  const bool nothing = std::ranges::all_of(values, [](double value) { return value == 0; });
  // Parts of a step that were not timed.
  if (!compat && nothing && column.ends_with("_speedup")) return {};
  std::string unit = compat ? "x" : unit_of(column);
  if (unit.empty()) unit = "x";
  if (unit == " ") unit.clear();
  const std::string geometric =
      !compat && column == "speedup" ? mean_speedup(table) : format_fixed(stats::geometric_mean_of(values), 2) + unit;
  std::string text = "gmean=" + geometric + " mean=" + format_fixed(mean, 3) + unit;
  if (values.size() < table.rows.size())
    text += " (" + std::to_string(values.size()) + " of " + std::to_string(table.rows.size()) + " ran)";
  return text;
}

/// The rows that have `value` in `column`.
[[nodiscard]] inline report::CsvTable rows_with(const report::CsvTable& table, std::string_view column,
                                                const std::string& value) {
  report::CsvTable part{.file = table.file, .header = table.header};
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (table.text(i, column) == value) part.rows.push_back(table.rows[i]);
  return part;
}

[[nodiscard]] inline report::CsvTable without(report::CsvTable table, std::string_view column) {
  const auto at = static_cast<std::ptrdiff_t>(table.require_column(column));
  table.header.erase(table.header.begin() + at);
  for (auto& row : table.rows)
    if (static_cast<std::ptrdiff_t>(row.size()) > at) row.erase(row.begin() + at);
  return table;
}

inline void print_by_family(const report::CsvTable& table, const std::vector<KnownModel>& models, std::ostream& out) {
  const bool accuracy = table.column("accuracy").has_value();
  if (!accuracy && !table.column("speedup")) return;
  std::map<std::string, report::CsvTable> families;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (const auto& model : models)
      if (model.name == table.text(i, "name"))
        families.try_emplace(model.family, report::CsvTable{.file = table.file, .header = table.header})
            .first->second.rows.push_back(table.rows[i]);
  if (families.empty()) return;
  std::vector<std::array<std::string, 3>> lines;
  std::array<std::size_t, 2> widths{0, 8};
  for (const auto& [family, part] : families) {
    std::size_t good = 0;
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      good += accuracy ? part.text(i, "accuracy") == "pass" : !did_not_run(part, i);
    const double share = 100 * static_cast<double>(good) / static_cast<double>(part.rows.size());
    lines.push_back({family, accuracy ? format_fixed(share, 2) + '%' : mean_speedup(part),
                     std::to_string(good) + " of " + std::to_string(part.rows.size()) + (accuracy ? " pass" : " ran")});
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], lines.back()[i].size());
  }
  out << (accuracy ? "pass rate by family\n" : "geometric mean of speed-ups by family\n");
  for (const auto& [family, figure, of] : lines)
    out << "  " << padded(family, widths[0]) << "  " << padded(figure, widths[1]) << ' ' << of << '\n';
}

inline void print_table(const report::CsvTable& table, const std::vector<KnownModel>& models,
                        const SummaryOptions& options, std::ostream& out) {
  std::size_t width = 0;
  for (const auto& column : table.header) width = std::max(width, column.size());
  for (const auto& column : table.header)
    if (const auto text = summary_of(table, column, options.compat); !text.empty())
      out << padded(column, width) << ' ' << text << '\n';
  if (!options.compat) print_by_family(table, models, out);
}

inline void print_rows(const report::CsvTable& table, std::ostream& out) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    widths.push_back(table.header[column].size());
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      widths[column] = std::max(widths[column], table.text(i, column).size());
  }
  const auto line = [&](const auto& field) {
    std::string text;
    for (std::size_t column = 0; column < widths.size(); ++column) text += padded(field(column), widths[column]) + "  ";
    out << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
  };
  line([&](std::size_t column) { return table.header[column]; });
  for (std::size_t i = 0; i < table.rows.size(); ++i) line([&](std::size_t column) { return table.text(i, column); });
}

}  // namespace detail

/// A line for each column that has something to summarise; of each tag, or each back end, on its own where there is a
/// column for it. By default runs that failed are left out of means, and counted.
inline void print_summary(const report::CsvTable& table, const std::vector<KnownModel>& models,
                          const SummaryOptions& options, std::ostream& out) {
  if (options.rows) detail::print_rows(table, out);
  for (const char* column : {"tag", "backend"}) {
    if (!table.column(column)) continue;
    std::vector<std::string> values;
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      if (const auto value = table.text(i, column); !detail::is_one_of(values, value)) values.push_back(value);
    for (const auto& value : values) {
      const auto part = detail::rows_with(table, column, value);
      out << "\nSummary for " << column << '=' << value << ":\n";
      // Within a tag back ends are told apart, too.
      const bool again = column == std::string_view("tag") && table.column("backend");
      if (!again) {
        detail::print_table(part, models, options, out);
        continue;
      }
      print_summary(detail::without(part, column), models, {.compat = options.compat}, out);
    }
    return;
  }
  detail::print_table(table, models, options, out);
}

}  // namespace pace::benches::models
