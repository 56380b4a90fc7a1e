// CSV: a table that was written is read as the same table, and so is each number.
#include <cstring>
#include <limits>
#include <string>

#include "pace/base/utf8.hpp"
#include "pace/report/csv_text.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pace;
  const auto text = fuzz::text_of(data, size);
  report::CsvTable table;
  try {
    table = report::parse_csv(text, "table.csv");
  } catch (const InputError& error) {
    fuzz::require_place(error, "table.csv");
    return 0;
  }
  for (const auto& row : table.rows) fuzz::require(!row.empty(), "a row has a field");
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (const auto& name : table.header) {
      const bool is_number = table.number(row, name).has_value();
      try {
        static_cast<void>(table.require_number(row, name));
        fuzz::require(is_number, "both readers of numbers agree", table.text(row, name));
      } catch (const InputError& error) {
        fuzz::require_place(error, "table.csv");
        fuzz::require(!is_number, "both readers of numbers agree", table.text(row, name));
      }
    }
  const std::string written = report::to_csv(table);
  const auto again = report::parse_csv(written, "table.csv");
  // Bytes that are no UTF-8 are replaced when they are written.
  if (valid_utf8(text) == text)
    fuzz::require(again.header == table.header && again.rows == table.rows,
                  "a table that was written is read as the same table", written);
  fuzz::require(report::to_csv(again) == written, "a table that was written is written the same again", written);

  if (double number = 0; size >= sizeof number) {
    std::memcpy(&number, data, sizeof number);
    const auto row = report::parse_csv("x\n" + report::CsvRow().number(number).line(), "table.csv");
    const double read = row.require_number(0, "x");
    fuzz::require(read == number || (read != read && number != number), "a number that was written is read as itself",
                  row.text(0, "x"));
  }
  return 0;
}
