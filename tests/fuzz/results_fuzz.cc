// Results files: the results read, written again, are read as the same results.
#include <optional>
#include <string>

#include "pace/report/csv.hpp"
#include "pace/report/csv_text.hpp"
#include "pace/report/json.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/report/results_file.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace pace;

[[nodiscard]] std::string written(const report::ResultsFile& file) {
  std::string text = report::text_of(report::to_json(file.header)) + '\n';
  for (const auto& result : file.results) text += report::text_of(report::to_json(result)) + '\n';
  return text;
}

void require_rows_of_csv(const report::ResultsFile& file) {
  const std::string header(report::CsvSink::header());
  for (const auto& result : file.results)
    for (const auto& each : result.implementations) {
      const auto table = report::parse_csv(header + report::CsvSink::row(result, each), "results.csv");
      fuzz::require(table.rows.size() == 1 && table.rows[0].size() == table.header.size(),
                    "a row of CSV has a field for each column");
    }
}

void require_times(const report::ResultsFile& file) {
  for (const auto time : {file.date, file.expires.value_or(file.date)})
    fuzz::require(report::parse_utc(report::format_utc(time)) == time, "a time that was written is read as itself",
                  report::format_utc(time));
  static_cast<void>(report::expired(file, 0));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile input(fuzz::text_of(data, size));
  const auto read_to_compare = [&](report::Keep keep) -> std::optional<report::ResultsFile> {
    try {
      return report::read_results_file(input.path(), keep);
    } catch (const InputError& error) {
      fuzz::require_place(error, input.path());
      return std::nullopt;
    }
  };
  const auto all = read_to_compare(report::Keep::all), summaries = read_to_compare(report::Keep::summaries);
  fuzz::require(all.has_value() == summaries.has_value(), "the kept parts do not decide whether a file is read");
  std::optional<report::ResultsFile> file;
  try {
    file = report::read_whole_lines(input.path());
  } catch (const InputError& error) {
    fuzz::require_place(error, input.path());
    fuzz::require(!all, "a file that can be compared can be read");
    return 0;
  }
  if (!file) return 0;
  require_rows_of_csv(*file);
  const std::string text = written(*file);
  const fuzz::MemoryFile output(text);
  const auto again = report::read_whole_lines(output.path());
  fuzz::require(again && !again->cut_off && written(*again) == text, "results that were written are read as the same",
                text);
  if (all) {
    require_times(*all);
    fuzz::require(written(*all) == text, "both readers read the same results", text);
  }
  return 0;
}
