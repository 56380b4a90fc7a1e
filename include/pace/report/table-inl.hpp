// Definitions of table.hpp; see base/config.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/report/table.hpp"
#include "pace/report/text.hpp"

namespace pace::report {

PACE_INLINE void StreamingTable::rename(std::size_t column, std::string header) {
  if (columns_[column].header == header) return;
  columns_[column].header = std::move(header);
  header_due_ = true;
}

PACE_INLINE void StreamingTable::need_columns(std::size_t count, const std::vector<Column>& all) {
  for (; columns_.size() < count; header_due_ = true) columns_.push_back(all[columns_.size()]);
}

PACE_INLINE void StreamingTable::fit(const std::vector<std::vector<Cell>>& rows) {
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size() && i < columns_.size(); ++i)
      if (const auto width = display_width(row[i].text); width > width_of(i)) {
        columns_[i].width = width;
        header_due_ = true;
      }
}

PACE_INLINE std::string StreamingTable::header_if_due(std::size_t lines) {
  constexpr std::size_t screen = 40;  // lines that a common terminal shows
  const bool due = header_due_ || lines_since_header_ + lines > screen;
  lines_since_header_ = due ? lines : lines_since_header_ + lines;
  header_due_ = false;
  if (!due) return "";
  std::vector<Cell> names;
  for (const auto& column : columns_) names.push_back({column.header, Colour::bold});
  return line(names);
}

PACE_INLINE std::string StreamingTable::line(const std::vector<Cell>& row) const {
  std::string text;
  std::string blanks(indent_, ' ');  // held back, so that no line ends in blanks
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Cell cell = i < row.size() ? row[i] : Cell{};
    std::string padded = pad(cell.text, width_of(i), columns_[i].align);
    const auto first = padded.find_first_not_of(' ');
    if (first == std::string::npos) {
      blanks += padded + "  ";
      continue;
    }
    const auto last = padded.find_last_not_of(' ');
    text += blanks + padded.substr(0, first) + paint(padded.substr(first, last + 1 - first), cell.colour);
    blanks = padded.substr(last + 1) + "  ";
  }
  return text + '\n';
}

PACE_INLINE std::string StreamingTable::paint(const std::string& text, Colour colour) const {
  return use_colour_ ? coloured(text, colour) : text;
}

PACE_INLINE std::size_t StreamingTable::width_of(std::size_t column) const {
  return std::max(columns_[column].width, display_width(columns_[column].header));
}

}  // namespace pace::report
