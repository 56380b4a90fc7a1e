// Options of a measuring program, beside Catch2's own on one command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/core/config.hpp"
#include "pace/core/options.hpp"
#include "pace/core/units.hpp"
#include "pace/runner/baseline_options.hpp"
#include "pace/runner/threads.hpp"

namespace pace::runner {

inline constexpr Nanoseconds default_call_timeout = std::chrono::minutes(5);

struct SessionOptions {
  Options measuring;
  std::string csv, json, junit;  ///< files to write; empty for none
  /// For the whole program, from its start; infinite: none.
  Nanoseconds time_limit{std::numeric_limits<double>::infinity()};
  bool no_table = false;
  /// Exit code 0 all the same; see exit_code.hpp.
  bool allow_undecided = false, allow_unmeasured = false;
  /// Whether tests run in a process of their own.
  bool isolation = false;
  /// For a call, before its process is ended; none: default_call_timeout.
  std::optional<Nanoseconds> call_timeout;
  /// Options that were given and that only what runs on a GPU has a use for.
  std::vector<std::string> for_gpu;
  bool resume = false;
  /// Files that the program itself writes, under the names that own_path() makes of these.
  std::vector<std::string> more_files;
  std::size_t processes = 1;  ///< at most so many, one after another; see replicates.hpp
  BaselineOptions baseline;
  int threads = default_threads;
  /// What the command line held, pace's options and the program's own; filled in by the session.
  args::Arguments given;
};

/// pace's options. Their values go to `options`, which must outlive what is returned, and whose values are shown as defaults.
[[nodiscard]] args::Groups pace_options(SessionOptions& options);

/// Throws InputError for options that mean nothing on a CPU; `why` says why nothing runs on a GPU.
void refuse_options_for_gpu(const SessionOptions& options, const std::string& why);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/session_options-inl.hpp"
#endif
