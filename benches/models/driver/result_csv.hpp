// A file of results as torchbench writes it: its header grows with new columns, and each row is there at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "benches/models/driver/text_files.hpp"
#include "benches/models/row.hpp"
#include "pace/base/format.hpp"
#include "pace/report/csv_text.hpp"

namespace pace::benches::models {

using Columns = std::vector<std::pair<std::string, Cell>>;

/// Real numbers with six digits behind the point.
[[nodiscard]] inline std::string to_text(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return format_fixed(*number, 6);
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  return std::get<std::string>(cell);
}

namespace detail {

/// A header that has the columns of both. It is the longer one if it has all of the other; else the first, followed by
/// the columns that only the second has.
[[nodiscard]] inline std::vector<std::string> merge_headers(std::vector<std::string> first,
                                                            const std::vector<std::string>& second) {
  const auto has = [](const auto& header, const auto& name) { return std::ranges::find(header, name) != header.end(); };
  if (std::ranges::all_of(first, [&](const auto& name) { return has(second, name); })) return second;
  for (const auto& name : second)
    if (!has(first, name)) first.push_back(name);
  return first;
}

/// Every row in the order of `header`; nothing where it has no such column.
inline void reorder(report::CsvTable& table, const std::vector<std::string>& header) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<std::string> row;
    for (const auto& name : header) row.push_back(table.text(i, name));
    table.rows[i] = std::move(row);
  }
  table.header = header;
}

}  // namespace detail

/// Adds a row to a file, which is made if it is not there. If the row has columns that the file lacks, the header
/// grows, and values stand below their names. `by_position`: as torchbench has it. Then values stand in their own
/// order, below the longer of the two headers. Missing values are `0`. The file is replaced as a whole, so that it is
/// never half there. Throws InputError and Error.
inline void add_row(const std::string& path, const Columns& columns, bool by_position = false) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const bool exists = !ignored && size > 0;
  report::CsvTable table = exists ? report::read_csv(path) : report::CsvTable{.file = path};
  std::vector<std::string> header, row;
  for (const auto& [name, cell] : columns) {
    header.push_back(name);
    row.push_back(to_text(cell));
  }
  if (by_position) {
    if (header.size() > table.header.size()) table.header = header;
    table.rows.push_back(row);
  } else {
    const auto merged = table.header.empty() ? header : detail::merge_headers(table.header, header);
    detail::reorder(table, merged);
    report::CsvTable own{.header = header, .rows = {row}};
    detail::reorder(own, merged);
    table.rows.push_back(own.rows.front());
  }
  for (auto& each : table.rows) {
    for (auto& field : each)
      if (field.empty() && !by_position) field = "0";
    if (each.size() < table.header.size()) each.resize(table.header.size(), "0");
  }
  write_text(path, report::to_csv(table));
}

}  // namespace pace::benches::models
