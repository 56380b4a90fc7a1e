// Options of a measuring program, beside Catch2's own on one command line.
#pragma once

#include <catch2/internal/catch_clara.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "pace/core/error.hpp"
#include "pace/core/format.hpp"
#include "pace/core/options.hpp"
#include "pace/harness/bazel.hpp"
#include "pace/harness/threads.hpp"

namespace pace::harness {

struct SessionOptions {
  Options measuring;
  std::string csv, json;  ///< files to write; empty for none
  bool no_table = false;

  /// Descriptions with defaults in them, which Catch2's parser only refers to.
  int threads = default_threads;
  std::string budget_help, confidence_help, stop_help;
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

namespace detail {

using ParserResult = Catch::Clara::ParserResult;

[[nodiscard]] inline ParserResult bad_value(const char* option, const std::string& text, const char* expected) {
  return ParserResult::runtimeError(std::string(option) + ": '" + text + "' does not do; expected " + expected);
}

[[nodiscard]] inline bool read_seconds(const std::string& text, Nanoseconds& time, bool zero_allowed) {
  double seconds = 0;
  if (!read_number(text, seconds) || !std::isfinite(seconds) || seconds < 0) return false;
  if (seconds == 0 && !zero_allowed) return false;
  time = std::chrono::duration<double>(seconds);
  return true;
}

[[nodiscard]] inline bool read_operands(const std::string& text, OperandPolicy& policy) {
  if (text == "crossover") return policy = OperandPolicy::crossover, true;
  if (text == "fixed") return policy = OperandPolicy::fixed, true;
  if (text == "shared") return policy = OperandPolicy::shared, true;
  return false;
}

[[nodiscard]] inline bool read_stop(const std::string& text, StopPolicy& policy) {
  if (text == "decided") return policy = StopPolicy::decided, true;
  if (text == "budget") return policy = StopPolicy::budget, true;
  return false;
}

/// An option whose text `read` takes in, or does not.
template <class Read>
[[nodiscard]] Catch::Clara::Opt option(const char* name, const char* hint, const char* description,
                                       const char* expected, Read read) {
  return Catch::Clara::Opt(
      [name, expected, read](const std::string& text) {
        return read(text) ? ParserResult::ok(Catch::Clara::ParseResultType::Matched) : bad_value(name, text, expected);
      },
      hint)[name](description);
}

}  // namespace detail

/// `parser` with pace's options added; what they are given goes to `options`, which must outlive the parser.
[[nodiscard]] inline Catch::Clara::Parser with_pace_options(Catch::Clara::Parser parser, SessionOptions& options) {
  using detail::option, detail::read_seconds;
  using Text = const std::string&;
  Options& measuring = options.measuring;

  parser |= option("--csv", "file", "pace: write one row per case and implementation", "a file name",
                   [&options](Text text) { return options.csv = text, !text.empty(); });
  parser |= option("--json", "file", "pace: write everything, raw samples and environment included", "a file name",
                   [&options](Text text) { return options.json = text, !text.empty(); });
  parser |= Catch::Clara::Opt(options.no_table)["--no-table"]("pace: print no table of results");

  const auto set_budget = [&measuring](Text text) {
    if (!read_seconds(text, measuring.budget, false)) return false;
    measuring.hard_limit = std::max(measuring.hard_limit, measuring.budget);
    return true;
  };
  options.budget_help = "pace: timed rounds of one comparison last this long (defaults to " +
                        format_significant(std::chrono::duration<double>(measuring.budget).count()) + ")";
  parser |= option("--budget", "seconds", options.budget_help.c_str(), "a number of seconds above 0, such as 0.5",
                   set_budget);
  parser |= option("--warm-up", "seconds", "pace: the warm-up of one implementation ends at the latest after this",
                   "a number of seconds, such as 0.1",
                   [&measuring](Text text) { return read_seconds(text, measuring.warm_up, true); });
  parser |= option("--max-rounds", "number", "pace: rounds of one comparison at most", "a whole number above 0",
                   [&rounds = measuring.max_rounds](Text text) { return read_number(text, rounds) && rounds > 0; });

  options.confidence_help = "pace: confidence of all intervals of a comparison together (defaults to " +
                            format_significant(measuring.confidence) + ")";
  parser |= option("--confidence", "share", options.confidence_help.c_str(), "a number between 0 and 1, such as 0.95",
                   [&share = measuring.confidence](Text text) {
                     return read_number(text, share) && share > 0 && share < 1;
                   });
  const auto set_rate = [](Text text, double& rate) { return read_number(text, rate) && rate > 0 && rate < 0.5; };
  parser |= option("--alpha", "rate",
                   "pace: how often a comparison's gates may pass a false claim or fail a guard that holds (defaults to "
                   "0.001)", "a number between 0 and 0.5, such as 0.001",
                   [&measuring, set_rate](Text text) { return set_rate(text, measuring.alpha); });
  parser |= option("--beta", "rate",
                   "pace: how often they may fail a true claim or pass a broken guard (defaults to 0.01)",
                   "a number between 0 and 0.5, such as 0.01",
                   [&measuring, set_rate](Text text) { return set_rate(text, measuring.beta); });
  options.stop_help = std::string("pace: when rounds end: once all expectations are decided, or with the budget (") +
                      "defaults to " + (measuring.stop == StopPolicy::decided ? "decided)" : "budget)");
  parser |= option("--stop", "decided|budget", options.stop_help.c_str(), "decided or budget",
                   [&measuring](Text text) { return detail::read_stop(text, measuring.stop); });
  parser |= option("--seed", "number", "pace: seed of inputs and of the order of implementations",
                   "a whole number from 0 to 2^64-1",
                   [&measuring](Text text) { return read_number(text, measuring.seed); });
  parser |= option("--threads", "number", "pace: threads of one operator; 0: LibTorch's choice (defaults to 1)",
                   "a whole number from 0 on",
                   [&threads = options.threads](Text text) { return read_number(text, threads) && threads >= 0; });
  parser |= option("--operands", "crossover|fixed|shared",
                   "pace: which buffers an implementation sees from round to round", "crossover, fixed or shared",
                   [&measuring](Text text) { return detail::read_operands(text, measuring.operands); });
  return parser;
}

/// Bazel's --runs_per_test gives every run a seed of its own; throws InputError if it is no number.
inline void seed_from_bazel(Options& options) {
  const std::string text = environment_variable("TEST_RANDOM_SEED");
  if (!text.empty() && !read_number(text, options.seed))
    throw InputError({}, "TEST_RANDOM_SEED: '" + text + "' does not do; expected a whole number from 0 to 2^64-1");
}

}  // namespace pace::harness
