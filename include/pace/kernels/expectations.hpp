// Expectations of a KernelReport, as values that are matchers: CHECK_THAT(report, pace::AtMost(Count::spills, 0)).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/gate/judge.hpp"
#include "pace/gate/matcher.hpp"
#include "pace/kernels/report.hpp"
#include "pace/result/verdict.hpp"

namespace pace::kernel {

/// Condition on a KernelReport. It is a plain value, made by the functions below or from a Rule.
class Expectation : public Matcher<Expectation> {
 public:
  /// Description and judgement of a condition on a report.
  struct Rule {
    /// Description that completes "was expected to have", such as `at most 3 kernels`.
    std::string description = {};
    /// Returns a verdict and a message with the figures found; judge() sets the other members of Judgement. The result
    /// must depend on the report alone.
    std::function<Judgement(const KernelReport&)> judge = {};
  };

  /// Throws Error unless `rule` has a description and a function.
  explicit Expectation(Rule rule) : rule_(std::move(rule)) {
    if (rule_.description.empty() || !rule_.judge)
      throw Error("an expectation of a kernel report needs a description and a function that judges");
  }

  /// Returns the description of the rule.
  [[nodiscard]] const std::string& describe() const { return rule_.description; }
  /// Returns the verdict on `report`. Only `passed` is acceptable.
  [[nodiscard]] Judgement judge(const KernelReport& report) const {
    Judgement judgement = rule_.judge(report);
    judgement.expectation = rule_.description;
    judgement.acceptable = judgement.verdict == Verdict::passed;
    judgement.message = gate::message_of_rule(rule_.description, judgement, "the kernel report");
    return judgement;
  }
  /// Returns whether judge() passes; refuted if it fails.
  [[nodiscard]] MatchResult examine(const KernelReport& report) const {
    const Judgement judgement = judge(report);
    return {judgement.acceptable, judgement.verdict == Verdict::failed,
            "was expected to have " + describe() + '\n' + to_string(judgement.verdict) + ": " + judgement.message};
  }

 private:
  Rule rule_;
};

/// Quantities of a KernelReport, each with one entry in detail::count_entries.
enum class Count {
  kernels,    ///< kernels that the call runs
  copies,     ///< copies of memory; only for calls on a GPU
  fills,      ///< fills of memory; only for calls on a GPU
  registers,  ///< registers of each thread of each kernel
  spills,  ///< words of four bytes for each thread of each kernel that are no registers: spilled ones, and arrays that
           ///< have an index that is unknown when compiling
};

namespace detail {

/// One row of the table of counts: of a report, or of each kernel's launch.
struct CountEntry {
  Count count;
  const char *one, *many;
  std::int64_t (*of_report)(const KernelReport&);
  std::int64_t (*of_launch)(const Launch&);
};

/// The number of kernels that ran in one call.
[[nodiscard]] inline std::int64_t runs_of(const KernelReport& report) {
  double runs = 0;
  for (const Kernel& kernel : report.kernels) runs += std::ceil(kernel.runs);
  return std::llround(runs);
}

inline constexpr CountEntry count_entries[] = {
    // clang-format off
    {Count::kernels, "kernel", "kernels", runs_of, nullptr},
    {Count::copies, "copy", "copies",
     [](const KernelReport& report) { return static_cast<std::int64_t>(report.copies); }, nullptr},
    {Count::fills, "fill", "fills",
     [](const KernelReport& report) { return static_cast<std::int64_t>(report.fills); }, nullptr},
    {Count::registers, "register", "registers", nullptr,
     [](const Launch& launch) { return std::int64_t{launch.registers}; }},
    {Count::spills, "spill", "spills", nullptr, [](const Launch& launch) { return launch.spills(); }},
    // clang-format on
};

/// `3 kernels`.
[[nodiscard]] inline std::string amount(const CountEntry& entry, std::int64_t number) {
  return std::to_string(number) + ' ' + (number == 1 ? entry.one : entry.many);
}

[[nodiscard]] inline Judgement judgement(Verdict verdict, std::string message) {
  return {.verdict = verdict, .message = std::move(message)};
}

/// Judges all kernels that `report` lists. What holds of those is not known to hold of all that is in the bodies of
/// conditional nodes.
[[nodiscard]] inline Judgement judgement_of(const KernelReport& report, Verdict verdict, std::string message) {
  if (verdict == Verdict::passed && report.conditionals > 0)
    return judgement(Verdict::invalid,
                     "not all that is in the bodies of conditional nodes is known; of the rest: " + message);
  return judgement(verdict, std::move(message));
}

[[nodiscard]] inline bool holds(std::int64_t found, std::int64_t limit, bool exactly) {
  return exactly ? found == limit : found <= limit;
}

/// Judges the whole call by a number of its nodes.
[[nodiscard]] inline Judgement judge_whole(const CountEntry& entry, std::int64_t limit, bool exactly,
                                           const KernelReport& report) {
  const bool of_kernels = entry.count == Count::kernels;
  // On a CPU only those kernels are known that announce themselves.
  if (report.by_ranges && of_kernels && report.kernels.empty())
    return judgement(Verdict::invalid, "no kernel announced itself");
  if (report.by_ranges && !of_kernels)
    return judgement(Verdict::invalid, std::string("it runs on the CPU, where there are no ") + entry.many);
  const std::int64_t found = entry.of_report(report);
  std::string names;
  if (of_kernels)
    for (const Kernel& kernel : report.kernels) names += (names.empty() ? ": " : "; ") + kernel.name;
  const Verdict verdict = holds(found, limit, exactly) ? Verdict::passed : Verdict::failed;
  std::string message = "it has " + std::to_string(found) + (of_kernels ? names : std::string(" ") + entry.many);
  if (of_kernels && report.conditionals > 0 && report.bodies_profiled)
    return judgement(verdict, message + "; in the bodies of conditional nodes those count that ran in this run");
  return judgement_of(report, verdict, std::move(message));
}

/// Judges each kernel by a number that the driver gives, which has no noise.
[[nodiscard]] inline Judgement judge_each(const CountEntry& entry, std::int64_t limit, bool exactly,
                                          const KernelReport& report) {
  std::string offenders;
  for (const Kernel& kernel : report.kernels) {
    if (!kernel.launch)
      return judgement(Verdict::invalid, report.by_ranges
                                             ? kernel.name + " runs on the CPU, where launches have no " + entry.many
                                             : "the driver does not tell what " + kernel.name + " is");
    const std::int64_t found = entry.of_launch(*kernel.launch);
    if (!holds(found, limit, exactly))
      offenders += (offenders.empty() ? "" : "; ") + kernel.name + " has " + amount(entry, found);
  }
  if (report.kernels.empty()) return judgement(Verdict::invalid, "there is no kernel");
  if (!offenders.empty()) return judgement(Verdict::failed, offenders);
  return judgement_of(report, Verdict::passed, "all of " + std::to_string(report.kernels.size()) + " kernels have");
}

[[nodiscard]] inline Expectation expect_count(Count count, std::int64_t limit, bool exactly) {
  for (const CountEntry& entry : count_entries) {
    if (entry.count != count) continue;
    if (limit < 0) throw Error(std::string("a count of ") + entry.many + " must be at least 0");
    return Expectation({.description = (exactly ? "exactly " : "at most ") + amount(entry, limit) +
                                       (entry.of_launch != nullptr ? " a thread" : ""),
                        .judge = [&entry, limit, exactly](const KernelReport& report) {
                          return entry.of_launch != nullptr ? judge_each(entry, limit, exactly, report)
                                                            : judge_whole(entry, limit, exactly, report);
                        }});
  }
  throw Error("there is no count of the number " + std::to_string(static_cast<int>(count)));
}

/// Returns the judgement on the bandwidth of each kernel with known bytes, by all samples of its time.
[[nodiscard]] inline Judgement judge_bandwidth(double share, const KernelReport& report) {
  if (!(report.peak_bandwidth > 0)) return detail::judgement(Verdict::invalid, "the peak was not measured");
  std::size_t known = 0;
  std::string slow, unsure;
  for (const Kernel& kernel : report.kernels) {
    const auto time = kernel.memory_times();
    if (!kernel.bytes || !time) continue;
    ++known;
    const auto share_in = [&](Nanoseconds took) { return *kernel.bytes / took.count() * 1e9 / report.peak_bandwidth; };
    const std::string text = kernel.name + " reaches " + format_percent(share_in(time->median));
    if (share_in(time->least) < share)
      slow += (slow.empty() ? "" : "; ") + text;
    else if (share_in(time->most) < share)
      unsure += (unsure.empty() ? "" : "; ") + text;
  }
  if (known == 0) return detail::judgement(Verdict::invalid, "of no kernel the bytes are known and a time");
  if (!slow.empty()) return detail::judgement(Verdict::failed, slow);
  if (!unsure.empty()) return detail::judgement(Verdict::undecided, unsure);
  return detail::judgement_of(report, Verdict::passed,
                              "all of " + std::to_string(known) + " kernels whose bytes are known reach it");
}

}  // namespace detail

}  // namespace pace::kernel

namespace pace {

/// Returns the expectation that the count is at most `limit`, in the call or for each thread of each kernel. The
/// verdict is `invalid` if the count is unknown, such as one that the driver does not report. Throws Error if `limit`
/// is negative.
[[nodiscard]] inline kernel::Expectation AtMost(kernel::Count count, std::int64_t limit) {
  return kernel::detail::expect_count(count, limit, /*exactly=*/false);
}
/// Returns the expectation that the count is exactly `number`; otherwise as AtMost().
[[nodiscard]] inline kernel::Expectation Exactly(kernel::Count count, std::int64_t number) {
  return kernel::detail::expect_count(count, number, /*exactly=*/true);
}

/// Returns the expectation that each kernel with known bytes reaches at least `share` of the measured peak bandwidth of
/// the memory. The verdict is `passed` if all samples reach it, `failed` if no sample of some kernel does, and
/// `undecided` otherwise. Throws Error unless `share` is in (0, 1].
[[nodiscard]] inline kernel::Expectation BandwidthAtLeast(double share) {
  if (!(share > 0 && share <= 1)) throw Error("a share of the peak bandwidth lies between 0 and 1");
  return kernel::Expectation({.description = format_percent(share) + " of the peak bandwidth",
                              .judge = [share](const kernel::KernelReport& report) {
                                return kernel::detail::judge_bandwidth(share, report);
                              }});
}

}  // namespace pace
