// Options of a measuring program: each is one entry here.
#pragma once

#include "pace/runner/session_options.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/most_threads.hpp"
#include "pace/os/same_file.hpp"
#include "pace/result/counters.hpp"

namespace pace::runner {

namespace detail {

/// The value of `--budget`; it raises a hard limit that is below the budget.
[[nodiscard]] inline args::Value budget_value(Options& measuring) {
  args::Value value = args::seconds(measuring.budget);
  value.read = [&measuring, read = value.read, least_limit = measuring.hard_limit](const std::string& text) {
    if (!read(text)) return false;
    measuring.hard_limit = std::max(least_limit, measuring.budget);
    return true;
  };
  return value;
}

/// One of `all`, by the names that to_string() returns, which results files have as well.
template <class Enum>
[[nodiscard]] args::Value choice_of(Enum& to, std::initializer_list<Enum> all) {
  std::vector<std::pair<std::string, Enum>> words;
  for (const auto each : all) words.emplace_back(to_string(each), each);
  return args::choice(to, std::move(words));
}

[[nodiscard]] inline args::Value clock_value(SessionOptions& options) {
  auto value =
      choice_of(options.measuring.clock, {ClockChoice::graph, ClockChoice::hot, ClockChoice::cold, ClockChoice::host,
                                          ClockChoice::profiler, ClockChoice::wall, ClockChoice::automatic});
  value.shown_default = "graph, or hot where calls cannot be captured";
  return value;
}

[[nodiscard]] inline args::Value clock_to_lock(std::string& to) {
  return {"clock", "base, max, or a whole number of MHz from 100 to 10000",
          [&to](const std::string& text) {
            int megahertz = 0;
            to = text;
            return text == "base" || text == "max" || args::read_between(text, megahertz, 100, 10000);
          },
          ""};
}

/// Names of counters, separated by commas.
[[nodiscard]] inline args::Value counters_value(std::vector<std::string>& to) {
  return {"name,...", "names of counters: " + names_of_counters(),
          [&to](const std::string& text) {
            const auto names = args::read_names(text);
            to = names.value_or(std::vector<std::string>());
            return names && std::ranges::all_of(to, [](const auto& each) { return counter_entry(each) != nullptr; });
          },
          ""};
}

[[nodiscard]] inline args::Value mode_share_value(SessionOptions& options) {
  return {"share", "a number from 0.001 to 10, or 0",
          [&options](const std::string& text) {
            auto& share = options.measuring.mode_share;
            options.measuring.asks_for_mode_share = true;
            return args::read_between(text, share, 0.0, 10.0) && (share == 0 || share >= 1e-3);
          },
          args::detail::shortest(options.measuring.mode_share)};
}

}  // namespace detail

PACE_INLINE args::Groups pace_options(SessionOptions& options) {
  using args::Option;
  auto& measuring = options.measuring;
  auto& baseline = options.baseline;
  constexpr auto any_seed = std::numeric_limits<std::uint64_t>::max();
  return {
      {"What is measured",
       {{"--case", "measure the comparison of this name alone; again for another",
         args::each(options.cases, "name", "the name of a comparison")},
        Option("--list", "print the names of what would be measured, and end", args::flag(options.list))
            .excludes({"--dry-run"}, "each of them prints and ends"),
        {"--dry-run", "run the tests without measuring, and print what would be measured, how long and to which files",
         args::flag(options.dry_run)}}},
      {"How much is measured",
       {{"--budget", "timed rounds of one comparison last this long", detail::budget_value(measuring)},
        {"--least-duration", "a verdict needs rounds of at least this time; 0: a dozen cycles will do",
         args::seconds(measuring.least_duration, /*zero_allowed=*/true)},
        {"--warm-up", "the warm-up of one implementation ends at the latest after this",
         args::seconds(measuring.warm_up, /*zero_allowed=*/true)},
        Option(
            "--time-limit",
            "nothing more is measured when the program has run this long; under bazel test at the latest after 80 % of "
            "the test's timeout",
            args::seconds(options.time_limit))
            .by_default("none"),
        {"--max-rounds", "rounds of one comparison at most", args::whole(measuring.max_rounds, 1, most_rounds)},
        {"--stop", "when rounds end: once all expectations are decided, or with the budget",
         detail::choice_of(measuring.stop, {StopPolicy::decided, StopPolicy::budget})},
        Option("--seed", "seed of inputs and of the order of implementations",
               args::whole(measuring.seed, 0, any_seed, "a whole number from 0 to 2^64-1"))
            // Bazel's --runs_per_test gives every run a seed of its own.
            .from_environment("TEST_RANDOM_SEED"),
        {"--check-seed", "seed of the values and moments of checks; 0: another one for each comparison, in its result",
         args::whole(measuring.check_seed, 0, any_seed, "a whole number from 0 to 2^64-1")},
        {"--threads", "threads of one operator; 0: LibTorch's choice",
         args::whole(options.threads, 0, most_threads(), expected_threads(0))},
        {"--audit",
         "how much a comparison distrusts its candidates; strict: for code that a model wrote or that nobody has "
         "reviewed, at about twice the time",
         detail::choice_of(measuring.audit, {Audit::off, Audit::standard, Audit::strict})},
        {"--operands", "which buffers an implementation sees from round to round",
         detail::choice_of(measuring.operands,
                           {OperandPolicy::crossover, OperandPolicy::fixed, OperandPolicy::shared})}}},
      {"What is shown",
       {{"--verbose", "print a block for each case, with all implementations, timing modes and notes",
         args::flag(options.verbose)},
        Option("--no-table", "print no table of results", args::flag(options.no_table))
            .excludes({"--verbose"}, "that one asks for a longer table"),
        {"--no-progress", "do not show what runs now and how long it still takes", args::flag(options.no_progress)}}},
      {"Files",
       {{"--csv", "write one row per case and implementation", args::file(options.csv)},
        {"--json", "write everything, raw samples and environment included", args::file(options.json)},
        {"--junit", "write one test case per gate, with its figures, as JUnit's XML", args::file(options.junit)},
        {"--html", "write a page of the results, for a browser", args::file(options.html)},
        {"--resume",
         "go on from the --json file of an interrupted run with the same options; of //benches/operators and of "
         "//benches/files",
         args::flag(options.resume)}}},
      {"Judging",
       {{"--alpha", "how often a comparison's gates may pass a false claim or fail a guard that holds",
         args::number(measuring.alpha, 1e-9, 0.49, "0.001", "rate")},
        Option("--suite-alpha",
               "how often all gates of the run together may do so, in place of --alpha; a shard has its part",
               args::number(options.suite_alpha, 1e-9, 0.49, "0.01", "rate"))
            .by_default("none"),
        {"--beta", "how often they may fail a true claim or pass a broken guard",
         args::number(measuring.beta, 1e-9, 0.49, "0.001", "rate")},
        {"--confidence", "confidence of all intervals of a comparison together",
         args::number(measuring.confidence, 0.01, 0.999999, "0.95", "share")},
        Option("--max-interference",
               "no verdict if other work on the machine takes more than this share of the rounds; 1: verdicts whatever "
               "the load",
               args::number(measuring.max_interference, 1e-3, 1, "0.9", "share"))
            .by_default("0.9; 0.2 with several threads"),
        {"--controls",
         "also time the baseline against itself and against itself slowed by 5 %, for a tenth of the time",
         args::flag(measuring.controls)},
        Option("--counters", "also read these counters over calls after the rounds, such as branch_misses,dram_bytes",
               detail::counters_value(measuring.counters))
            .by_default("none"),
        {"--processes", "run everything in at most so many processes, one after another, and judge the gates by them",
         args::whole(options.processes, 1, 1000)},
        {"--allow-undecided", "exit code 0, not 43, if guards were let through undecided",
         args::on_or_off(options.allow_undecided)},
        {"--allow-unmeasured", "exit code 0, not 4, if every test was skipped or nothing could be measured",
         args::on_or_off(options.allow_unmeasured)}}},
      {"Stored baselines",
       {{"--save-baseline", "write what was measured, for --baseline", args::file(baseline.save)},
        {"--baseline", "compare with what --save-baseline wrote on this machine; several for several processes",
         args::each(baseline.compare_with, "file", "a file name")},
        Option("--baseline-margin", "fail cases proven to take more than this times their stored time",
               args::factor(baseline.margin))
            .by_default("1.05"),
        Option("--baseline-expires", "how long the saved file may be used",
               args::number(baseline.days, 1e-3, 1e5, "30", "days"))
            .by_default("30 days"),
        Option("--process-spread", "standard deviation of times between processes, where it is known",
               args::number(baseline.spread, 1e-6, 10, "0.01", "share"))
            .by_default("0.05 is assumed")}},
      {"Isolation",
       {{"--isolation",
         "run the tests in a process of its own, so that an implementation that crashes or hangs becomes a row and the "
         "others are measured",
         args::on_or_off(options.isolation)},
        Option("--call-timeout", "in a process of its own, a call that takes longer has hung",
               args::seconds(options.call_timeout))
            .by_default("300 s"),
        {"--isolate",
         "sides: time each implementation of a comparison in a process of its own, so that none can slow or help "
         "another; on the CPU with one thread",
         detail::choice_of(measuring.isolate, {Isolate::none, Isolate::sides})}}},
      {"GPU",
       {{"--clock", "what the gate's times on a GPU are", detail::clock_value(options)},
        {"--mode-share", "time for each further timing mode on a GPU, as a share of the budget; 0: none",
         detail::mode_share_value(options)},
        {"--energy", "also measure the energy of a call on a GPU, which takes four seconds an implementation",
         args::flag(measuring.energy)},
        Option("--lock-gpu-clocks",
               "the GPUs keep this clock for the run: base (the highest that their power allows under any load), max, "
               "or a number of MHz; for root",
               detail::clock_to_lock(options.lock_gpu_clocks))
            .by_default("they choose")}},
  };
}

namespace detail {

[[nodiscard]] inline std::vector<std::string> names_of_options_for_gpu(const SessionOptions& options) {
  auto found = options_for_gpu(options.measuring);
  if (!options.lock_gpu_clocks.empty()) found.emplace_back("--lock-gpu-clocks");
  return found;
}

}  // namespace detail

PACE_INLINE bool has_options_for_gpu(const SessionOptions& options) {
  return options.measures && !detail::names_of_options_for_gpu(options).empty();
}

PACE_INLINE void refuse_options_for_gpu(const SessionOptions& options, const std::string& why) {
  if (has_options_for_gpu(options))
    throw InputError({}, detail::names_of_options_for_gpu(options).front() + " has no meaning on a CPU: " + why);
}

PACE_INLINE void refuse_to_overwrite(const SessionOptions& options, const std::vector<std::string>& read) {
  for (const auto& [option, path] : {std::pair{"--csv", options.csv}, std::pair{"--json", options.json},
                                     std::pair{"--junit", options.junit}, std::pair{"--html", options.html}})
    for (const auto& each : read)
      if (!path.empty() && same_file(output_path(path), each))
        throw InputError({path}, std::string(option) + ": this file is read; expected another name");
}

}  // namespace pace::runner
