// ResultsFile: what one process found, read back from the lines that it wrote.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/report/json.hpp"

namespace pace::report {

/// A machine changes (updates, dust, a new neighbour) without any of its names changing.
inline constexpr double default_days = 30;

/// Seconds since 1970 of `2026-11-21T10:00:00Z`; none if the text is no such time.
[[nodiscard]] std::optional<std::time_t> parse_utc(const std::string& text);

[[nodiscard]] std::string format_utc(std::time_t time);

[[nodiscard]] std::time_t after_days(std::time_t time, double days);

struct ResultsFile {
  std::string path;
  ResultsHeader header;
  std::vector<Result> results;
  /// When the process began; 0 where it is not asked for.
  std::time_t date = 0;
  /// Absent in a file that was not saved as a baseline.
  std::optional<std::time_t> expires;
};

/// All whole lines of a file that JsonSink has written. A last line without its end was cut off, and is left out; if it is
/// the first one, or the file is empty, there is no result. Throws InputError, which names the file and the line, if the
/// file cannot be read, is no results file or of another schema_version, has a line that is no result, or holds figures
/// that no measurement has: times or speed-ups below 0, or a median outside of its quantiles.
[[nodiscard]] std::optional<ResultsFile> read_whole_lines(const std::string& path);

/// The same for a file whose results are to be compared with others. Throws InputError also if the file has no whole line or
/// no date, or holds a time, a sample or a speed-up of 0.
[[nodiscard]] ResultsFile read_results_file(const std::string& path);

/// Why the file may not be used as a baseline now; empty: it may.
[[nodiscard]] std::string expired(const ResultsFile& file, std::time_t now);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/results_file-inl.hpp"
#endif
