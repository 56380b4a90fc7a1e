// StreamingTable: aligned rows that are printed as they come.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/report/text.hpp"

namespace pace::report {

/// A field of a table.
struct Cell {
  std::string text;              ///< content, without padding
  Colour colour = Colour::none;  ///< colour of `text`
};

/// A column of a table.
struct Column {
  std::string header;  ///< name in the header line
  /// Least width in characters. A column grows with its content, and does not shrink again.
  std::size_t width = 0;
  Align align = Align::right;  ///< side on which content stands
};

/// Lays out rows one after another. The header line is due at first, when it changed, and when it has scrolled away.
class StreamingTable {
 public:
  /// Without `use_colour` the text has no escape sequences. Lines begin with `indent` blanks.
  StreamingTable(std::vector<Column> columns, bool use_colour, std::size_t indent = 2)
      : columns_(std::move(columns)), use_colour_(use_colour), indent_(indent) {}

  /// Sets the header of a column, counted from 0; the header line is then due if it changed.
  void rename(std::size_t column, std::string header);

  /// Appends columns from `all` until there are `count`.
  void need_columns(std::size_t count, const std::vector<Column>& all);

  /// Widens the columns for rows that are about to be printed.
  void fit(const std::vector<std::vector<Cell>>& rows);

  /// Returns the header line if it is due, else an empty text. `lines` is how many lines will follow at once.
  [[nodiscard]] std::string header_if_due(std::size_t lines);

  /// Returns a row as one line, padded and coloured, with its line end. Missing cells are blank.
  [[nodiscard]] std::string line(const std::vector<Cell>& row) const;

  /// Returns `text` in `colour`, or as it is if the table has no colours.
  [[nodiscard]] std::string paint(const std::string& text, Colour colour) const;

 private:
  [[nodiscard]] std::size_t width_of(std::size_t column) const;

  std::vector<Column> columns_;
  bool use_colour_;
  std::size_t indent_;
  bool header_due_ = true;
  std::size_t lines_since_header_ = 0;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/table-inl.hpp"
#endif
