// StreamingTable: aligned rows that are printed as they come.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/config.hpp"
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
  void rename(std::size_t column, std::string header);

  /// Appends columns for good, if they are not there yet.
  void need_columns(std::size_t count, const std::vector<Column>& all);

  /// Widens the columns for rows that are about to be printed.
  void fit(const std::vector<std::vector<Cell>>& rows);

  /// The header line if it is due, else nothing. `lines` is how many lines will follow at once.
  [[nodiscard]] std::string header_if_due(std::size_t lines);

  [[nodiscard]] std::string line(const std::vector<Cell>& row) const;

  [[nodiscard]] std::string paint(const std::string& text, Colour colour) const;

 private:
  [[nodiscard]] std::size_t width_of(std::size_t column) const;

  std::vector<Column> columns_;
  bool use_colour_;
  bool header_due_ = true;
  std::size_t lines_since_header_ = 0;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/table-inl.hpp"
#endif
