// ResultsFile: results of one process, read back from the lines that it wrote.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/report/json.hpp"
#include "pace/result/result.hpp"

namespace pace::report {

/// Days for which a stored baseline may be used: a machine changes (updates, dust, other virtual machines on its host)
/// without a change of any of its names.
inline constexpr double default_days = 30;

/// Returns the seconds since 1970 of a time such as `2026-11-21T10:00:00Z`; none if the text is not such a time.
[[nodiscard]] std::optional<std::time_t> parse_utc(const std::string& text);

/// Returns a time as `2026-11-21T10:00:00Z`; empty if it has no such form.
[[nodiscard]] std::string format_utc(std::time_t time);

/// Returns `time` and as many days of 86400 seconds.
[[nodiscard]] std::time_t after_days(std::time_t time, double days);

/// A results file that was read.
struct ResultsFile {
  std::string path;             ///< name of the file, for messages
  ResultsHeader header;         ///< its first line
  std::vector<Result> results;  ///< its other lines, in order
  bool cut_off = false;         ///< whether a last line without its end was left out
  /// When the process began, seconds since 1970; 0 if read_whole_lines() read the file.
  std::time_t date = 0;
  /// Until when the file may be used as a baseline, seconds since 1970. None if it was not saved as one, or if
  /// read_whole_lines() read it.
  std::optional<std::time_t> expires;
};

/// Longest line of a results file in bytes, about 14 million samples: a program that reads it takes four times as much
/// memory.
inline constexpr std::size_t longest_line = std::size_t{1} << 28;

/// What a reader keeps of each result.
enum class Keep {
  all,        ///< everything that the file has
  summaries,  ///< everything but single samples and log ratios, so that a file may be larger than the memory
};

/// Reads all whole lines of a file that JsonSink has written. Leaves out a last line without its end, which was cut
/// off. Returns none if the file has no other line, or is empty. Throws InputError, which names the file and the line,
/// if the file cannot be read, is no results file, or has another schema_version. Throws it for a line that is no
/// result or is longer than `longest` bytes, and for impossible figures. Those are times or speed-ups below 0, and a
/// median outside of its quantiles.
[[nodiscard]] std::optional<ResultsFile> read_whole_lines(const std::string& path, std::size_t longest = longest_line);

/// Reads a file whose results are to be compared with others. Throws InputError as read_whole_lines() does, and if the
/// file has no whole line or no date, or holds a time, a sample or a speed-up of 0.
[[nodiscard]] ResultsFile read_results_file(const std::string& path, Keep keep = Keep::all,
                                            std::size_t longest = longest_line);

/// Returns why the file may not be used as a baseline at the time `now`; empty if it may be.
[[nodiscard]] std::string expired(const ResultsFile& file, std::time_t now);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/results_file-inl.hpp"
#endif
