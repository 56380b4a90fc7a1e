// Table of counts, and how a count is judged.
#pragma once

#include "pace/gate/counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/result/counters.hpp"

namespace pace {

namespace gate {

/// Such as `3 kernels`.
[[nodiscard]] inline std::string amount(const CountEntry& entry, std::int64_t number) {
  return std::to_string(number) + ' ' + (number == 1 ? entry.one : entry.many);
}

[[nodiscard]] inline Judgement judge_count(const CountEntry& entry, std::int64_t limit, bool exactly,
                                           const std::string& limit_text, const ImplementationResult& row) {
  const std::string own = '\'' + row.name + '\'';
  const auto found = entry.read(row);
  if (!found) {
    const std::string why = entry.on_device
                                ? "its calls do not run on a GPU, differ from each other, or cannot be captured, or "
                                  "counters of the GPU were read before (--counters)"
                                : row.why_uncounted;
    return {.verdict = Verdict::invalid,
            .message =
                MessageParts{own + " has no count of " + entry.many, why.empty() ? "it was not counted" : why}.text()};
  }
  const bool holds = exactly ? *found == limit : *found <= limit;
  std::string message = own + ' ' + entry.verb + ' ' + amount(entry, *found) + " in one call";
  if (!holds)
    message += ", " + std::to_string(*found > limit ? *found - limit : limit - *found) +
               (*found > limit ? " more" : " fewer") + " than expected";
  return {.verdict = holds ? Verdict::passed : Verdict::failed, .message = message + " (" + limit_text + ')'};
}

[[nodiscard]] inline Expectation expect_count(Count count, std::int64_t limit, bool exactly) {
  for (const CountEntry& entry : count_entries) {
    if (entry.count != count) continue;
    if (limit < 0) throw Error(std::string("a count of ") + entry.many + " must be at least 0");
    const std::string text = (exactly ? "exactly " : "at most ") + amount(entry, limit);
    return Expectation(Expectation::Rule{
        .description = "count of " + text,
        .judge = [&entry, limit, exactly,
                  text](const ImplementationResult& row) { return judge_count(entry, limit, exactly, text, row); },
        .needs_device_counts = entry.on_device,
        .of_whole_iterations = true});
  }
  throw Error("there is no count of the number " + std::to_string(static_cast<int>(count)));
}

[[nodiscard]] inline Judgement judge_instructions(double ratio, const ImplementationResult& row) {
  const std::string own = '\'' + row.name + '\'';
  const auto& found = row.instructions;
  if (!found)
    return {.verdict = Verdict::invalid,
            .message = MessageParts{own + " has no count of instructions", "this run does not count them",
                                    "--count-instructions (//benches/operators)"}
                           .text()};
  if (!found->ratio_low || !found->ratio_high)
    return {.verdict = Verdict::invalid,
            .message = MessageParts{own + " has no ratio of instructions",
                                    "it is the baseline itself, or the baseline has no count",
                                    "a candidate beside a baseline that is counted"}
                           .text()};
  const auto text = [](double factor) { return format_significant(factor, 6) + 'x'; };
  const bool agree = *found->ratio_low == *found->ratio_high;
  const std::string figures =
      own + " executes " +
      (agree ? text(*found->ratio_low) : text(*found->ratio_low) + " to " + text(*found->ratio_high)) +
      " the instructions of '" + row.context.baseline + "' in one call";
  const std::string limit = text(ratio);
  if (*found->ratio_high <= ratio)
    return {.verdict = Verdict::passed, .message = figures + " (at most " + limit + " allowed)"};
  if (*found->ratio_low > ratio)
    return {.verdict = Verdict::failed,
            .message =
                MessageParts{figures + ", more than " + limit, "", "find what made it longer, or allow more"}.text()};
  return {.verdict = Verdict::undecided,
          .message = MessageParts{figures, "the counts lie on both sides of " + limit}.text()};
}

/// A number of bytes in full, since a gate may be about one of them: `4096 bytes`.
[[nodiscard]] inline std::string bytes_text(std::int64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

[[nodiscard]] inline Judgement judge_peak(double ratio, const ImplementationResult& row) {
  const std::string own = '\'' + row.name + '\'', reference = '\'' + row.context.baseline + '\'';
  const auto invalid = [](const std::string& what, const std::string& why, const std::string& remedy = "") {
    return Judgement{.verdict = Verdict::invalid, .message = MessageParts{what, why, remedy}.text()};
  };
  const auto found = peak_of_call(row);
  if (!found)
    return invalid(own + " has no count of peak bytes",
                   row.why_uncounted.empty() ? "it was not counted" : row.why_uncounted);
  if (row.is_baseline)
    return invalid(own + " has no ratio of peak memory", "it is the baseline itself", "state it of a candidate");
  if (!row.context.baseline_peak_bytes)
    return invalid(own + " has no ratio of peak memory", "the peak of " + reference + " was not counted");
  const std::int64_t baseline = *row.context.baseline_peak_bytes;
  const std::string limit = format_significant(ratio, 6) + 'x';
  const std::string figures = own + " takes at most " + bytes_text(*found) + " at once in one call, and " + reference +
                              ' ' + bytes_text(baseline);
  if (static_cast<double>(*found) <= ratio * static_cast<double>(baseline))
    return {.verdict = Verdict::passed, .message = figures + " (at most " + limit + " of that allowed)"};
  return {.verdict = Verdict::failed,
          .message = MessageParts{figures + ", more than " + limit + " of that", "",
                                  "free what it no longer needs, or allow more"}
                         .text()};
}

/// Events of one call by several samples: the fewest and the most.
struct CounterEnds {
  double low, high;

  /// `50 to 52.5`.
  [[nodiscard]] std::string text() const {
    return format_number(low, 6) + (low == high ? "" : " to " + format_number(high, 6));
  }
  /// Whether samples of `calls` calls lie further apart than exact counts do.
  [[nodiscard]] bool vary(std::int64_t calls) const {
    return high - low > counter_tolerance * low && (high - low) * static_cast<double>(calls) > counter_slack;
  }
};

[[nodiscard]] inline Judgement judge_counter(const CounterEntry& counter, double ratio,
                                             const ImplementationResult& row) {
  const std::string own = '\'' + row.name + '\'', reference = '\'' + row.context.baseline + '\'', what = counter.what;
  const auto invalid = [&](const std::string& why, const std::string& remedy = "") {
    return Judgement{
        .verdict = Verdict::invalid,
        .message = MessageParts{own + " has no count of " + what + " beside the baseline's", why, remedy}.text()};
  };
  const auto found = std::ranges::find(row.counters, std::string_view(counter.name), &CounterSummary::name);
  if (found == row.counters.end())
    return invalid("this run did not count them", "--counters " + std::string(counter.name));
  if (!found->missing.empty()) return invalid(found->missing);
  if (row.is_baseline) return invalid("it is the baseline itself", "state it of a candidate");
  if (!found->baseline_low || !found->baseline_high) return invalid("the baseline's could not be counted");
  const CounterEnds mine{found->low, found->high}, theirs{*found->baseline_low, *found->baseline_high};
  const std::string limit = format_significant(ratio, 6) + 'x';
  const std::string figures =
      what + " in one call: " + mine.text() + " of " + own + ", " + theirs.text() + " of " + reference;
  const auto undecided = [&](const std::string& why, const std::string& remedy) {
    return Judgement{.verdict = Verdict::undecided, .message = MessageParts{figures, why, remedy}.text()};
  };
  if (mine.vary(found->calls) || theirs.vary(found->calls))
    return undecided("counts of the same calls lie more than " + format_percent(counter_tolerance) +
                         " apart, such as by threads that wait for work",
                     "--threads 1");
  const double most = ratio * (1 + counter_tolerance);
  const double slack = counter_slack / static_cast<double>(found->calls);
  if (mine.high <= most * theirs.low + slack)
    return {.verdict = Verdict::passed, .message = figures + " (at most " + limit + " of that allowed)"};
  if (mine.low > most * theirs.high + slack)
    return {.verdict = Verdict::failed,
            .message = MessageParts{figures + ", more than " + limit + " of that", "",
                                    "find what made them more, or allow more"}
                           .text()};
  return undecided("the counts lie on both sides of " + limit, "allow more");
}

}  // namespace gate

PACE_INLINE Expectation CounterAtMost(const std::string& name, double ratio) {
  const CounterEntry* const counter = counter_entry(name);
  if (counter == nullptr || !counter->is_exact)
    throw Error("there is no gate on a counter '" + name + "'; expected one of: " + names_of_counters(true));
  if (!(ratio > 0) || !std::isfinite(ratio))
    throw Error("a ratio of " + name + " must be a positive number; found " + format_significant(ratio, 6));
  return Expectation(Expectation::Rule{
      .description = "ratio of " + std::string(counter->what) + " of at most " + format_significant(ratio, 6) + 'x',
      .judge = [counter, ratio](const ImplementationResult& row) { return gate::judge_counter(*counter, ratio, row); },
      .needs_counter = name,
      .of_whole_iterations = true});
}

PACE_INLINE Expectation PeakMemoryAtMost(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio))
    throw Error("a ratio of peak memory must be a positive number; found " + format_significant(ratio, 6));
  return Expectation(
      Expectation::Rule{.description = "peak memory of at most " + format_significant(ratio, 6) + "x the baseline's",
                        .judge = [ratio](const ImplementationResult& row) { return gate::judge_peak(ratio, row); },
                        .of_whole_iterations = true});
}

PACE_INLINE Expectation InstructionsAtMost(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio))
    throw Error("a ratio of instructions must be a positive number; found " + format_significant(ratio, 6));
  return Expectation(Expectation::Rule{
      .description = "ratio of instructions of at most " + format_significant(ratio, 6) + 'x',
      .judge = [ratio](const ImplementationResult& row) { return gate::judge_instructions(ratio, row); },
      .of_whole_iterations = true});
}

PACE_INLINE Expectation AtMost(Count count, std::int64_t limit) {
  return gate::expect_count(count, limit, /*exactly=*/false);
}

PACE_INLINE Expectation Exactly(Count count, std::int64_t number) {
  return gate::expect_count(count, number, /*exactly=*/true);
}

}  // namespace pace
