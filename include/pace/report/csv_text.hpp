// CSV as text (RFC 4180): a field, a row that is written field by field, a table that is read.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/text.hpp"

namespace pace::report {

/// Returns `text` as a field of RFC 4180: in quotes if it has a comma, a quote or a line end. What is no UTF-8 is
/// replaced as in JSON.
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  std::string valid = valid_utf8(text);
  if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
  std::string quoted = "\"";
  for (const char c : valid) quoted.append(c == '"' ? 2 : 1, c);
  return quoted += '"';
}

/// One line of RFC 4180, to which each call adds a field; the line end is `\n`. A value that does not exist leaves its
/// field empty; a number that is not finite is `nan`, `inf` or `-inf`; durations are nanoseconds.
class CsvRow {
 public:
  /// Adds a text, in quotes where it needs them.
  CsvRow& text(std::string_view value) { return field(csv_field(value)); }
  /// Adds `true` or `false`; a field without a value is empty.
  CsvRow& flag(std::optional<bool> value) { return field(!value ? "" : *value ? "true" : "false"); }
  /// Adds as many empty fields.
  CsvRow& blank(int fields = 1) {
    for (int i = 0; i < fields; ++i) field("");
    return *this;
  }

  /// Adds the shortest decimal text that reads back as the same number.
  template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
  CsvRow& number(Number value) {
    if constexpr (std::floating_point<Number>)
      if (std::isnan(value)) return field("nan");  // to_chars would show the sign of a NaN
    // to_chars: shortest text that reads back as the same number, whatever the locale.
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return field({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  /// Adds a duration in nanoseconds.
  CsvRow& number(Nanoseconds value) { return number(value.count()); }
  /// Adds a number, or an empty field where there is none.
  template <class Number>
  CsvRow& number(const std::optional<Number>& value) {
    return value ? number(*value) : blank();
  }

  /// Adds a member of a summary, or an empty field where there is no summary.
  template <class Summary, class Member>
  CsvRow& member(const std::optional<Summary>& summary, Member Summary::* which) {
    return summary ? number((*summary).*which) : blank();
  }
  /// Adds `low` and `high` of a summary's `interval`, or two empty fields where there is none.
  template <class Summary>
  CsvRow& bounds(const std::optional<Summary>& summary) {
    if (!summary || !summary->interval) return blank(2);
    return number(summary->interval->low).number(summary->interval->high);
  }

  /// Returns the line, with its line end.
  [[nodiscard]] std::string line() const { return (line_.empty() && !first_ ? "\"\"" : line_) + '\n'; }

 private:
  CsvRow& field(std::string_view value) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += value;
    return *this;
  }

  std::string line_;
  bool first_ = true;
};

/// A CSV file as it was read: names of columns, and rows of texts. Rows count from 0.
struct CsvTable {
  std::string file = {};                 ///< name of the file, for messages
  std::vector<std::string> header = {};  ///< names of the columns
  /// Rows without the header. A row may be shorter than the header.
  std::vector<std::vector<std::string>> rows = {};

  /// Returns the index of the column, or none if there is no such column.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::ranges::find(header, name);
    if (found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
  }
  /// Returns the index of the column. Throws InputError, which names the file and its columns, if there is none.
  [[nodiscard]] std::size_t require_column(std::string_view name) const {
    if (const auto found = column(name)) return *found;
    std::string there;
    for (const auto& each : header) there += (there.empty() ? "" : ", ") + each;
    throw InputError({file}, "expected a column '" + std::string(name) +
                                 (there.empty() ? "'; there is none" : "'; there are " + there));
  }
  /// Returns a field by the indices of its row and column; empty where the row is too short.
  [[nodiscard]] std::string text(std::size_t row, std::size_t column) const {
    return column < rows[row].size() ? rows[row][column] : std::string();
  }
  /// Returns a field by the name of its column; empty where there is no such column, or the row is too short.
  [[nodiscard]] std::string text(std::size_t row, std::string_view name) const {
    const auto found = column(name);
    return found ? text(row, *found) : std::string();
  }
  /// Returns a field as a number, or none where it is not one.
  [[nodiscard]] std::optional<double> number(std::size_t row, std::string_view name) const {
    const std::string value = text(row, name);
    char* end = nullptr;
    const CNumbers c_numbers;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') return std::nullopt;
    return number;
  }
  /// Returns a field as a number. Throws InputError, which names the file, the row and the text, where it is not one,
  /// and where there is no such column.
  [[nodiscard]] double require_number(std::size_t row, std::string_view name) const {
    (void)require_column(name);
    if (const auto found = number(row, name)) return *found;
    throw InputError({file}, "row " + std::to_string(row + 1) + ", column '" + std::string(name) +
                                 "': expected a number, found '" + text(row, name) + '\'');
  }
};

/// Reads CSV by RFC 4180; empty lines are left out, and the first line is the header. `file` is the name in messages.
/// Throws InputError, which names the line, for a quote that is not closed.
[[nodiscard]] inline CsvTable parse_csv(std::string_view text, const std::string& file) {
  CsvTable table{.file = file};
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false, any = false;
  std::size_t line = 1, quote_line = 0;
  const auto end_line = [&] {
    if (any || !field.empty()) {
      fields.push_back(std::move(field));
      lines.push_back(std::move(fields));
    }
    fields.clear(), field.clear(), any = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\n') ++line;
      if (c != '"')
        field += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        field += text[++i];
      else
        quoted = false;
    } else if (c == '"' && field.empty()) {
      quoted = any = true, quote_line = line;
    } else if (c == ',') {
      fields.push_back(std::move(field));
      field.clear(), any = true;
    } else if (c == '\n') {
      end_line(), ++line;
    } else if (c != '\r' || (i + 1 < text.size() && text[i + 1] != '\n')) {
      field += c;
    }
  }
  if (quoted) throw InputError({file, quote_line}, "expected CSV: a quote begins here and never ends");
  end_line();
  if (lines.empty()) return table;
  table.header = std::move(lines.front());
  table.rows.assign(std::make_move_iterator(lines.begin() + 1), std::make_move_iterator(lines.end()));
  return table;
}

/// Reads the CSV file at `path`. Throws InputError if it cannot be read or a quote is not closed.
[[nodiscard]] inline CsvTable read_csv(const std::string& path) {
  return parse_csv(read_file(path, "a CSV file"), path);
}

/// Returns the fields as one line of RFC 4180, with its line end.
[[nodiscard]] inline std::string to_csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(fields[i]);
  // Without quotes, a line with one empty field would be an empty line, which readers leave out.
  if (line.empty() && !fields.empty()) line = "\"\"";
  return line + '\n';
}

/// Returns the header and the rows as CSV.
[[nodiscard]] inline std::string to_csv(const CsvTable& table) {
  std::string text = to_csv_line(table.header);
  for (const auto& row : table.rows) text += to_csv_line(row);
  return text;
}

}  // namespace pace::report
