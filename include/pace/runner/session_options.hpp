// Options of a measuring program, beside Catch2's own on one command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/result/options.hpp"
#include "pace/runner/baseline_options.hpp"
#include "pace/runner/threads.hpp"

namespace pace::runner {

/// Time of a call in an isolated process after which it counts as hung.
inline constexpr Nanoseconds default_call_timeout = std::chrono::minutes(5);

/// Values of pace's options.
struct SessionOptions {
  Options measuring;  ///< defaults of every comparison
  std::string csv;    ///< file to write; empty: none
  std::string json;   ///< file to write; empty: none
  std::string junit;  ///< file to write; empty: none
  std::string html;   ///< page to write; empty: none
  /// Limit on the time of the whole program, from its start; infinite: none.
  Nanoseconds time_limit{std::numeric_limits<double>::infinity()};
  bool no_table = false;           ///< whether the table is left out
  bool verbose = false;            ///< whether the table has a block for each case
  bool no_progress = false;        ///< whether no progress is shown
  bool list = false;               ///< whether names are printed and nothing is measured
  bool dry_run = false;            ///< whether what would be measured is printed and nothing is measured
  std::vector<std::string> cases;  ///< names of the comparisons that are measured; empty: all
  bool allow_undecided = false;    ///< exit code 0 in place of exit_undecided; see exit_code.hpp
  bool allow_unmeasured = false;   ///< exit code 0 in place of exit_unmeasured; see exit_code.hpp
  /// Whether tests run in a process of their own.
  bool isolation = false;
  /// Time of a call after which its process is ended; none: default_call_timeout.
  std::optional<Nanoseconds> call_timeout;
  bool resume = false;  ///< whether the run continues from the `json` file of an interrupted run
  /// Files that the program itself writes, under the paths that own_path() returns for these.
  std::vector<std::string> more_files;
  /// Error rate of all gates of the run together; none: each comparison has Options::alpha.
  std::optional<double> suite_alpha;
  std::size_t processes = 1;  ///< most processes, one after another; see replicates.hpp
  BaselineOptions baseline;   ///< stored baselines
  /// Clock that the GPUs keep for the run: `base`, `max` or a number of MHz; empty: they choose.
  std::string lock_gpu_clocks;
  int threads = default_threads;  ///< threads of one operator; 0: LibTorch's choice
  bool measures = true;           ///< false: the program prints a list and ends; the session sets it
  /// Options of the command line, pace's and the program's own; the session sets it.
  args::Arguments given;
};

/// Returns pace's options. Their targets are in `options`, which must outlive the returned groups; its present values
/// are the defaults that the help shows.
[[nodiscard]] args::Groups pace_options(SessionOptions& options);

/// Whether an option is given that has no meaning on a CPU, unless nothing is measured.
[[nodiscard]] bool has_options_for_gpu(const SessionOptions& options);

/// Throws InputError if an option is given that has no meaning on a CPU, unless nothing is measured. `why`, for the
/// message, is the reason that nothing runs on a GPU.
void refuse_options_for_gpu(const SessionOptions& options, const std::string& why);

/// Throws InputError for a file of results that is one of `read`, the paths of files that the program reads.
void refuse_to_overwrite(const SessionOptions& options, const std::vector<std::string>& read);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/session_options-inl.hpp"
#endif
