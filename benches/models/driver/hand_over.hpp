// The file that hands rows and comparisons of one model's process to its parent.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "benches/models/driver/json_record.hpp"
#include "benches/models/driver/text_files.hpp"
#include "benches/models/row.hpp"
#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/report/json.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::models {

struct HandedOver {
  std::vector<Row> rows;
  std::vector<Result> comparisons;
  /// The message of an InputError: no model can be run like that.
  std::optional<std::string> bad_input;
  /// Not all that the process printed has arrived.
  bool output_lost = false;
};

/// Each at once, so that it stays if the next row ends the process. They throw Error if it cannot be written.
inline void hand_over(const std::string& path, const Row& row) { append_text(path, to_line(row)); }

inline void hand_over(const std::string& path, const Result& comparison) {
  append_text(path, "{\"comparison\":" + report::text_of(report::to_json(comparison)) + "}\n");
}

inline void hand_over_bad_input(const std::string& path, const std::string& message) {
  append_text(path, detail::dump({{"bad_input", message}}) + '\n');
}

inline void hand_over_output_lost(const std::string& path) {
  append_text(path, detail::dump({{"output_lost", true}}) + '\n');
}

/// Reads the file of the process. Leaves out a last line without an end.
[[nodiscard]] inline HandedOver read_handed_over(const std::string& path) {
  HandedOver found;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    constexpr const char* bad_input = "{\"bad_input\":";
    if (line.starts_with(bad_input))
      found.bad_input = parse_json<Json>(line).at("bad_input").get<std::string>();
    else if (line.starts_with("{\"output_lost\":"))
      found.output_lost = true;
    else if (line.starts_with("{\"comparison\":"))
      found.comparisons.push_back(report::result_from(parse_json<Json>(line).at("comparison")));
    else
      found.rows.push_back(row_from(line));
  }
  return found;
}

}  // namespace pace::benches::models
