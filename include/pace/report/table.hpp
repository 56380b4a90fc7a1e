// StreamingTable: aligned rows that are printed as they come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/report/colour.hpp"
#include "pace/report/text.hpp"

namespace pace::report {

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

struct Column {
  std::string header;
  /// At least; a column grows when it must, and does not shrink again.
  std::size_t width = 0;
  Align align = Align::right;
};

/// Knows the widths, and when the header is due: in the beginning, when it changed, and when it has scrolled away.
class StreamingTable {
 public:
  StreamingTable(std::vector<Column> columns, bool use_colour)
      : columns_(std::move(columns)), use_colour_(use_colour) {}

  /// Sets a header, so that the next one printed has it.
  void rename(std::size_t column, std::string header) {
    if (columns_[column].header == header) return;
    columns_[column].header = std::move(header);
    header_due_ = true;
  }

  /// Appends columns for good, if they are not there yet.
  void need_columns(std::size_t count, const std::vector<Column>& all) {
    for (; columns_.size() < count; header_due_ = true) columns_.push_back(all[columns_.size()]);
  }

  /// Widens the columns for rows that are about to be printed.
  void fit(const std::vector<std::vector<Cell>>& rows) {
    for (const auto& row : rows)
      for (std::size_t i = 0; i < row.size() && i < columns_.size(); ++i)
        if (const auto width = display_width(row[i].text); width > width_of(i)) {
          columns_[i].width = width;
          header_due_ = true;
        }
  }

  /// The header line if it is due, else nothing. `lines` is how many lines will follow at once.
  [[nodiscard]] std::string header_if_due(std::size_t lines) {
    constexpr std::size_t screen = 40;  // lines that a common terminal shows
    const bool due = header_due_ || lines_since_header_ + lines > screen;
    lines_since_header_ = due ? lines : lines_since_header_ + lines;
    header_due_ = false;
    if (!due) return "";
    std::vector<Cell> names;
    for (const auto& column : columns_) names.push_back({column.header, Colour::bold});
    return line(names);
  }

  [[nodiscard]] std::string line(const std::vector<Cell>& row) const {
    std::string text;
    std::string blanks = "  ";  // held back, so that no line ends in blanks
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

  [[nodiscard]] std::string paint(const std::string& text, Colour colour) const {
    return use_colour_ ? coloured(text, colour) : text;
  }

 private:
  [[nodiscard]] std::size_t width_of(std::size_t column) const {
    return std::max(columns_[column].width, display_width(columns_[column].header));
  }

  std::vector<Column> columns_;
  bool use_colour_;
  bool header_due_ = true;
  std::size_t lines_since_header_ = 0;
};

}  // namespace pace::report
