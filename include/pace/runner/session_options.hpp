// Options of a measuring program, beside Catch2's own on one command line.
#pragma once

#include <catch2/internal/catch_clara.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "pace/core/bazel.hpp"
#include "pace/core/error.hpp"
#include "pace/core/format.hpp"
#include "pace/core/most_threads.hpp"
#include "pace/core/options.hpp"
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
  /// Whether tests run in a process of their own; none: as the program has it.
  std::optional<bool> isolation;
  /// For a call, before its process is ended; none: default_call_timeout.
  std::optional<Nanoseconds> call_timeout;
  /// Options that were given and that only what runs on a GPU has a use for.
  std::vector<std::string> for_gpu;
  bool resume = false;
  /// Files that the program itself writes, under the names that own_path() makes of these.
  std::vector<std::string> more_files;
  std::size_t processes = 1;  ///< at most so many, one after another; see replicates.hpp
  BaselineOptions baseline;

  /// Descriptions with defaults in them, which Catch2's parser only refers to.
  int threads = default_threads;
  std::string budget_help, confidence_help, stop_help, threads_expected;
};

/// All of `text` as a number; whole numbers may be hexadecimal with 0x.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  std::from_chars_result end{};
  if constexpr (std::integral<Number>) {
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    end = std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  } else {
    end = std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

/// The same, from `least` to `most`.
template <class Number>
[[nodiscard]] bool read_between(std::string_view text, Number& number, Number least, Number most) {
  return read_number(text, number) && number >= least && number <= most;
}

/// A limit or a margin, as a factor. Beyond, no two times that can be told apart differ.
inline constexpr const char* a_factor = "a number from 0.001 to 1000000, such as 1.05";
[[nodiscard]] inline bool read_factor(std::string_view text, double& factor) {
  return read_between(text, factor, 1e-3, 1e6);
}

namespace detail {

using ParserResult = Catch::Clara::ParserResult;

[[nodiscard]] inline ParserResult bad_value(const char* option, const std::string& text, const char* expected) {
  return ParserResult::runtimeError(std::string(option) + ": invalid value '" + text + "'; expected " + expected);
}

/// A clock counts nanoseconds; the most is eleven days.
inline constexpr const char* some_seconds = "a number of seconds from 0.000000001 to 1000000, such as 0.5";
inline constexpr const char* seconds_or_none = "a number of seconds from 0.000000001 to 1000000, such as 0.1, or 0";

[[nodiscard]] inline bool read_seconds(const std::string& text, Nanoseconds& time, bool zero_allowed) {
  double seconds = 0;
  if (!read_between(text, seconds, 0.0, 1e6)) return false;
  if (seconds < 1e-9 && !(seconds == 0 && zero_allowed)) return false;
  time = std::chrono::duration<double>(seconds);
  return true;
}

[[nodiscard]] inline bool read_operands(const std::string& text, OperandPolicy& policy) {
  if (text == "crossover") return policy = OperandPolicy::crossover, true;
  if (text == "fixed") return policy = OperandPolicy::fixed, true;
  if (text == "shared") return policy = OperandPolicy::shared, true;
  return false;
}

[[nodiscard]] inline bool read_clock(const std::string& text, ClockChoice& clock) {
  if (text == "event") return clock = ClockChoice::hot, true;
  for (const auto choice : {ClockChoice::automatic, ClockChoice::cold, ClockChoice::hot, ClockChoice::graph,
                            ClockChoice::host, ClockChoice::profiler, ClockChoice::wall})
    if (text == to_string(choice)) return clock = choice, true;
  return false;
}

[[nodiscard]] inline bool read_stop(const std::string& text, StopPolicy& policy) {
  if (text == "decided") return policy = StopPolicy::decided, true;
  if (text == "budget") return policy = StopPolicy::budget, true;
  return false;
}

/// An option whose text `read` takes in, or does not. Given again, the last text counts, since a target's own arguments
/// come before those of the command line; where `read` collects, there is one more each time.
template <class Read>
[[nodiscard]] Catch::Clara::Opt option(const char* name, const char* hint, const char* description,
                                       const char* expected, Read read) {
  return Catch::Clara::Opt(
      Catch::Clara::accept_many,
      [name, expected, read](const std::string& text) {
        return read(text) ? ParserResult::ok(Catch::Clara::ParseResultType::Matched) : bad_value(name, text, expected);
      },
      hint)[name](description);
}

}  // namespace detail

/// Throws InputError for options that mean nothing on a CPU; `why` says why nothing runs on a GPU.
inline void refuse_options_for_gpu(const SessionOptions& options, const std::string& why) {
  if (!options.for_gpu.empty()) throw InputError({}, options.for_gpu.front() + " has no meaning on a CPU: " + why);
}

/// `parser` with pace's options added; what they are given goes to `options`, which must outlive the parser.
[[nodiscard]] inline Catch::Clara::Parser with_pace_options(Catch::Clara::Parser parser, SessionOptions& options) {
  using detail::option, detail::read_seconds;
  using Text = const std::string&;
  Options& measuring = options.measuring;

  parser |= option("--csv", "file", "pace: write one row per case and implementation", "a file name",
                   [&options](Text text) { return options.csv = text, !text.empty(); });
  parser |= option("--json", "file", "pace: write everything, raw samples and environment included", "a file name",
                   [&options](Text text) { return options.json = text, !text.empty(); });
  parser |= option("--junit", "file", "pace: write one test case per gate, with its figures, as JUnit's XML",
                   "a file name", [&options](Text text) { return options.junit = text, !text.empty(); });
  parser |= option("--save-baseline", "file", "pace: write what was measured, for --baseline", "a file name",
                   [&save = options.baseline.save](Text text) { return save = text, !text.empty(); });
  parser |= option("--baseline", "file",
                   "pace: compare with what --save-baseline wrote on this machine; several for several processes",
                   "a file name", [&files = options.baseline.compare_with](Text text) {
                     files.push_back(text);
                     return !text.empty();
                   });
  parser |=
      option("--baseline-margin", "factor",
             "pace: fail what is proven to take more than this times its stored time (defaults to 1.05)", a_factor,
             [&margin = options.baseline.margin](Text text) { return read_factor(text, margin.emplace()); });
  parser |= option("--baseline-expires", "days", "pace: for how long what is saved may be used (defaults to 30)",
                   "a number of days from 0.001 to 100000, such as 30", [&days = options.baseline.days](Text text) {
                     return read_between(text, days.emplace(), 1e-3, 1e5);
                   });
  parser |= option("--process-spread", "share",
                   "pace: standard deviation of times between processes, if you know it (assumed: 0.05)",
                   "a number from 0.000001 to 10, such as 0.01", [&spread = options.baseline.spread](Text text) {
                     return read_between(text, spread.emplace(), 1e-6, 10.0);
                   });
  parser |= option("--processes", "number",
                   "pace: run everything in at most so many processes, one after another, and judge the gates by them",
                   "a whole number from 1 to 1000", [&processes = options.processes](Text text) {
                     return read_between(text, processes, std::size_t{1}, std::size_t{1000});
                   });
  parser |=
      option("--isolation", "on|off",
             "pace: run the tests in a process of its own, so that an implementation that crashes or hangs becomes "
             "a row and the others are measured",
             "on or off", [&isolation = options.isolation](Text text) {
               isolation = text == "on";
               return text == "on" || text == "off";
             });
  const auto on_or_off = [](bool& value) {
    return [&value](Text text) {
      value = text == "on";
      return text == "on" || text == "off";
    };
  };
  parser |=
      option("--allow-undecided", "on|off",
             "pace: exit code 0, not 43, if guards were let through of which nothing could be proven (defaults to "
             "off)",
             "on or off", on_or_off(options.allow_undecided));
  parser |= option("--allow-unmeasured", "on|off",
                   "pace: exit code 0, not 4, if every test was skipped or nothing could be measured (defaults to off)",
                   "on or off", on_or_off(options.allow_unmeasured));
  parser |=
      option("--call-timeout", "seconds",
             "pace: in a process of its own, a call that takes longer has hung (defaults to 300)", detail::some_seconds,
             [&options](Text text) { return read_seconds(text, options.call_timeout.emplace(), false); });
  parser |= Catch::Clara::Opt(options.resume)["--resume"](
      "pace: go on from the --json file of an interrupted run with the same options");
  parser |= Catch::Clara::Opt(options.no_table)["--no-table"]("pace: print no table of results");

  const auto set_budget = [&measuring, least_limit = measuring.hard_limit](Text text) {
    if (!read_seconds(text, measuring.budget, false)) return false;
    measuring.hard_limit = std::max(least_limit, measuring.budget);
    return true;
  };
  options.budget_help = "pace: timed rounds of one comparison last this long (defaults to " +
                        format_significant(std::chrono::duration<double>(measuring.budget).count()) + ")";
  parser |= option("--budget", "seconds", options.budget_help.c_str(), detail::some_seconds, set_budget);
  parser |=
      option("--warm-up", "seconds", "pace: the warm-up of one implementation ends at the latest after this",
             detail::seconds_or_none, [&measuring](Text text) { return read_seconds(text, measuring.warm_up, true); });
  parser |=
      option("--time-limit", "seconds",
             "pace: nothing more is measured when the program has run this long (under bazel test: at the latest "
             "after 80 % of the test's timeout)",
             detail::some_seconds, [&options](Text text) { return read_seconds(text, options.time_limit, false); });
  parser |= option(
      "--max-rounds", "number", "pace: rounds of one comparison at most", "a whole number from 1 to 10000000",
      [&rounds = measuring.max_rounds](Text text) { return read_between(text, rounds, std::size_t{1}, most_rounds); });

  options.confidence_help = "pace: confidence of all intervals of a comparison together (defaults to " +
                            format_significant(measuring.confidence) + ")";
  parser |=
      option("--confidence", "share", options.confidence_help.c_str(), "a number from 0.01 to 0.999999, such as 0.95",
             [&share = measuring.confidence](Text text) { return read_between(text, share, 0.01, 0.999999); });
  const auto set_rate = [](Text text, double& rate) { return read_between(text, rate, 1e-9, 0.49); };
  const char* const a_rate = "a number from 0.000000001 to 0.49, such as 0.001";
  parser |=
      option("--alpha", "rate",
             "pace: how often a comparison's gates may pass a false claim or fail a guard that holds (defaults to "
             "0.001)",
             a_rate, [&measuring, set_rate](Text text) { return set_rate(text, measuring.alpha); });
  parser |=
      option("--beta", "rate", "pace: how often they may fail a true claim or pass a broken guard (defaults to 0.01)",
             a_rate, [&measuring, set_rate](Text text) { return set_rate(text, measuring.beta); });
  options.stop_help = std::string("pace: when rounds end: once all expectations are decided, or with the budget (") +
                      "defaults to " + (measuring.stop == StopPolicy::decided ? "decided)" : "budget)");
  parser |= option("--stop", "decided|budget", options.stop_help.c_str(), "decided or budget",
                   [&measuring](Text text) { return detail::read_stop(text, measuring.stop); });
  parser |=
      option("--max-interference", "share",
             "pace: no verdict if other work on the machine takes more than this share of the rounds; 1: verdicts "
             "whatever the load (defaults to 0.2)",
             "a number from 0.001 to 1, such as 0.2",
             [&share = measuring.max_interference](Text text) { return read_between(text, share, 1e-3, 1.0); });
  parser |=
      option("--clock", "event|graph|cold|host|profiler|wall",
             "pace: what the gate's times on a GPU are (defaults to graph, or event where calls cannot be captured)",
             "event (or hot), graph, cold, host, profiler, wall or automatic", [&options](Text text) {
               auto& clock = options.measuring.clock;
               if (!detail::read_clock(text, clock)) return false;
               if (is_for_gpu(clock)) options.for_gpu.push_back("--clock " + text);
               return true;
             });
  parser |= option("--figures", "share",
                   "pace: time for each further figure on a GPU, as a share of the budget; 0: none (defaults to 0.25)",
                   "a number from 0.001 to 10, or 0", [&options](Text text) {
                     auto& share = options.measuring.figures;
                     options.measuring.asks_for_figures = true;
                     options.for_gpu.emplace_back("--figures");
                     return read_between(text, share, 0.0, 10.0) && (share == 0 || share >= 1e-3);
                   });
  parser |= Catch::Clara::Opt(measuring.controls)["--controls"](
      "pace: also time the baseline against itself and against itself slowed by 5 %, for a tenth of the time");
  parser |=
      option("--seed", "number", "pace: seed of inputs and of the order of implementations",
             "a whole number from 0 to 2^64-1", [&measuring](Text text) { return read_number(text, measuring.seed); });
  options.threads_expected = expected_threads(0);
  parser |= option("--threads", "number", "pace: threads of one operator; 0: LibTorch's choice (defaults to 1)",
                   options.threads_expected.c_str(),
                   [&threads = options.threads](Text text) { return read_between(text, threads, 0, most_threads()); });
  parser |= option("--operands", "crossover|fixed|shared",
                   "pace: which buffers an implementation sees from round to round", "crossover, fixed or shared",
                   [&measuring](Text text) { return detail::read_operands(text, measuring.operands); });
  return parser;
}

/// Bazel's --runs_per_test gives every run a seed of its own; throws InputError if it is no number.
inline void seed_from_bazel(Options& options) {
  const std::string text = environment_variable("TEST_RANDOM_SEED");
  if (!text.empty() && !read_number(text, options.seed))
    throw InputError({}, "TEST_RANDOM_SEED: invalid value '" + text + "'; expected a whole number from 0 to 2^64-1");
}

}  // namespace pace::runner
