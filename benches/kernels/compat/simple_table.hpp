// Tables as Python's `tabulate` writes them in its style "simple".
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "benches/kernels/compat/info_line.hpp"

namespace pace::benches::kernels::compat {

/// A number is written with six digits. An empty text leaves a column of numbers one.
using TableCell = std::variant<std::string, double>;

namespace detail {

/// How many characters stand behind the point, or behind the letter of an exponent without one; -1: neither.
[[nodiscard]] inline int after_point(const std::string& number) {
  std::size_t at = number.rfind('.');
  if (at == std::string::npos) at = number.find('e');
  return at == std::string::npos ? -1 : static_cast<int>(number.size() - at - 1);
}

/// One column, header first: numbers stand under each other by their points, at the right; texts at the left.
[[nodiscard]] inline std::vector<std::string> align_column(const std::string& header,
                                                           const std::vector<TableCell>& cells) {
  const bool numbers =
      std::ranges::any_of(cells, [](const auto& cell) { return std::holds_alternative<double>(cell); });
  std::vector<std::string> texts;
  int most_behind = -1;
  for (const auto& cell : cells) {
    const auto* number = std::get_if<double>(&cell);
    texts.push_back(number != nullptr ? print("%g", *number) : std::get<std::string>(cell));
    if (number != nullptr) most_behind = std::max(most_behind, after_point(texts.back()));
  }
  std::size_t width = header.size() + 2;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool number = std::holds_alternative<double>(cells[i]);
    if (numbers) texts[i].append(static_cast<std::size_t>(most_behind - (number ? after_point(texts[i]) : -1)), ' ');
    width = std::max(width, texts[i].size());
  }
  texts.insert(texts.begin(), {header, std::string(width, '-')});
  for (auto& text : texts) {
    const std::string padding(width - text.size(), ' ');
    text = numbers ? padding + text : text + padding;
  }
  return texts;
}

}  // namespace detail

/// Lines without a newline behind the last. Each row has as many cells as there are headers.
[[nodiscard]] inline std::string simple_table(const std::vector<std::string>& headers,
                                              const std::vector<std::vector<TableCell>>& rows) {
  std::vector<std::string> lines(rows.size() + 2);
  for (std::size_t column = 0; column < headers.size(); ++column) {
    std::vector<TableCell> cells;
    for (const auto& row : rows) cells.push_back(row.at(column));
    const auto texts = detail::align_column(headers[column], cells);
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += (column == 0 ? "" : "  ") + texts[i];
  }
  std::string table;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // No blanks at the end, but for the line of dashes, which has none.
    lines[i].erase(lines[i].find_last_not_of(' ') + 1);
    table += (i == 0 ? "" : "\n") + lines[i];
  }
  return table;
}

}  // namespace pace::benches::kernels::compat
