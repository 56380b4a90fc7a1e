// An older file of results, and the columns that compare a row with it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "benches/models/row.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/csv_text.hpp"

namespace pace::benches::models {

class BaselineFile {
 public:
  /// Throws InputError if the file is none, or has no column of names or speed-ups.
  explicit BaselineFile(const std::string& path) : BaselineFile(path, read_file(path, "a CSV file")) {}
  /// The same from the file's `text`.
  BaselineFile(const std::string& path, const std::string& text) : table_(report::parse_csv(text, path)) {
    for (const char* column : {"name", "speedup"}) (void)table_.require_column(column);
  }

  /// Whether it has results of a model, on any device.
  [[nodiscard]] bool has(const std::string& model) const {
    for (std::size_t i = 0; i < table_.rows.size(); ++i)
      if (table_.text(i, "name") == model) return true;
    return false;
  }

  /// The speed-up of a model on the same device and, where the file names back ends, with the same one.
  [[nodiscard]] std::optional<double> speedup(const Row& row) const {
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      if (table_.text(i, "name") != row.name) continue;
      if (table_.column("dev") && table_.text(i, "dev") != row.device) continue;
      if (table_.column("backend") && table_.text(i, "backend") != row.backend) continue;
      return table_.number(i, "speedup");
    }
    return std::nullopt;
  }

  /// Puts `baseline` and `speedup_vs_baseline` behind the row's own latency, and the three numbers into its message. A
  /// row without a speed-up, and one that the older file has not, stays as it is.
  void add_to(Row& row) const {
    const auto before = speedup(row);
    std::size_t at = 0, speedup_at = row.values.size();
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (row.values[i].first == "speedup") speedup_at = i;
      if (row.values[i].first == "speedup" || row.values[i].first == "abs_latency") at = i + 1;
    }
    if (!before || speedup_at == row.values.size()) return;
    const double now = std::get<double>(row.values[speedup_at].second);
    if (!(now > 0) || !(*before > 0)) return;
    using Value = std::pair<std::string, Cell>;
    row.values.insert(row.values.begin() + static_cast<std::ptrdiff_t>(at),
                      {Value{"baseline", *before}, Value{"speedup_vs_baseline", now / *before}});
    const std::string alone = format_fixed(now, 3) + 'x';
    const std::string all = format_fixed(*before, 3) + "x -> " + alone + " [" + format_fixed(now / *before, 3) + "x]";
    if (row.message.starts_with(alone))
      row.message.replace(0, alone.size(), all);
    else
      row.message += (row.message.empty() ? "" : " ") + all;
  }

 private:
  report::CsvTable table_;
};

}  // namespace pace::benches::models
