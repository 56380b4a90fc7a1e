// Expectations of a KernelReport, as matchers: CHECK_THAT(report, pace::kernel::NoSpills()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "pace/core/error.hpp"
#include "pace/core/format.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/matcher.hpp"
#include "pace/kernels/report.hpp"

namespace pace::kernel {

namespace detail {

/// `Derived` has `Judgement judge(const KernelReport&) const`.
template <class Derived>
class ReportMatcher : public Matcher {
 public:
  bool match(const KernelReport& report) const { return holds(report); }
  [[nodiscard]] bool holds(const KernelReport& report) const {
    last_ = static_cast<const Derived&>(*this).judge(report);
    return last_.acceptable;
  }
  [[nodiscard]] bool fails(const KernelReport& report) const {
    static_cast<void>(holds(report));
    return last_.verdict == Verdict::failed;
  }
  [[nodiscard]] std::string toString() const {
    return "was expected to have " + last_.expectation + "\n" + pace::to_string(last_.verdict) + ": " + last_.message;
  }

 private:
  mutable Judgement last_;
};

[[nodiscard]] inline Judgement judgement(std::string expectation, Verdict verdict, std::string message) {
  return {.expectation = std::move(expectation),
          .verdict = verdict,
          .acceptable = verdict == Verdict::passed,
          .message = std::move(message)};
}

/// Judges all kernels that `report` lists. What holds of those is not known to hold of kernels that it does not list.
[[nodiscard]] inline Judgement judgement_of(const KernelReport& report, std::string expectation, Verdict verdict,
                                            std::string message) {
  if (verdict == Verdict::passed && report.conditionals > 0)
    return judgement(std::move(expectation), Verdict::invalid,
                     "kernels in the bodies of conditional nodes are not listed; of the others: " + message);
  return judgement(std::move(expectation), verdict, std::move(message));
}

/// Judges each kernel by a number that the driver gives, which has no noise.
template <class Number>
[[nodiscard]] Judgement judge_each(const KernelReport& report, std::string expectation, std::int64_t limit,
                                   const std::string& unit, Number number) {
  std::string offenders;
  std::size_t count = 0;
  for (const Kernel& kernel : report.kernels) {
    if (!kernel.launch)
      return judgement(std::move(expectation), Verdict::invalid,
                       report.by_ranges ? kernel.name + " runs on the CPU, where launches have no " + unit
                                        : "the driver does not tell what " + kernel.name + " is");
    const std::int64_t found = number(*kernel.launch);
    if (found <= limit) continue;
    offenders += (count++ == 0 ? "" : "; ") + kernel.name + " has " + std::to_string(found) + ' ' + unit;
  }
  if (report.kernels.empty()) return judgement(std::move(expectation), Verdict::invalid, "there is no kernel");
  if (count > 0) return judgement(std::move(expectation), Verdict::failed, offenders);
  return judgement_of(report, std::move(expectation), Verdict::passed,
                      "all of " + std::to_string(report.kernels.size()) + " kernels have");
}

}  // namespace detail

/// Runs at most so many kernels in one call.
class KernelsAtMost : public detail::ReportMatcher<KernelsAtMost> {
 public:
  explicit KernelsAtMost(std::size_t limit) : limit_(limit) {}
  [[nodiscard]] Judgement judge(const KernelReport& report) const {
    // On a CPU only those kernels are known that announce themselves.
    if (report.by_ranges && report.kernels.empty())
      return detail::judgement("at most " + std::to_string(limit_) + " kernels", Verdict::invalid,
                               "no kernel announced itself");
    std::string names;
    for (const Kernel& kernel : report.kernels) names += (names.empty() ? "" : "; ") + kernel.name;
    return detail::judgement_of(report, "at most " + std::to_string(limit_) + " kernels",
                                report.kernels.size() <= limit_ ? Verdict::passed : Verdict::failed,
                                "it has " + std::to_string(report.kernels.size()) + ": " + names);
  }

 private:
  std::size_t limit_;
};

/// At most so many words of four bytes for each thread that are no registers: spilled ones, and arrays that are indexed
/// by what is not known when compiling.
class SpillsAtMost : public detail::ReportMatcher<SpillsAtMost> {
 public:
  explicit SpillsAtMost(std::int64_t limit) : limit_(limit) {}
  [[nodiscard]] Judgement judge(const KernelReport& report) const {
    return detail::judge_each(report,
                              limit_ == 0 ? "no spills" : "at most " + std::to_string(limit_) + " spills a thread",
                              limit_, "spills", [](const Launch& launch) { return launch.spills(); });
  }

 private:
  std::int64_t limit_;
};

struct NoSpills : SpillsAtMost {
  NoSpills() : SpillsAtMost(0) {}
};

/// At most so many for each thread.
class RegistersAtMost : public detail::ReportMatcher<RegistersAtMost> {
 public:
  explicit RegistersAtMost(std::int64_t limit) : limit_(limit) {}
  [[nodiscard]] Judgement judge(const KernelReport& report) const {
    return detail::judge_each(report, "at most " + std::to_string(limit_) + " registers a thread", limit_, "registers",
                              [](const Launch& launch) { return std::int64_t{launch.registers}; });
  }

 private:
  std::int64_t limit_;
};

/// Each kernel whose bytes are known moves them at this share, between 0 and 1, of the memory's measured peak, or faster.
/// Passed if all samples say so, failed if all of one kernel's say the opposite, else undecided.
class BandwidthAtLeast : public detail::ReportMatcher<BandwidthAtLeast> {
 public:
  /// Throws Error for a share outside of (0, 1].
  explicit BandwidthAtLeast(double share) : share_(share) {
    if (!(share > 0 && share <= 1)) throw Error("a share of the peak bandwidth lies between 0 and 1");
  }
  [[nodiscard]] Judgement judge(const KernelReport& report) const {
    std::string expectation = format_percent(share_) + " of the peak bandwidth";
    if (!(report.peak_bandwidth > 0))
      return detail::judgement(std::move(expectation), Verdict::invalid, "the peak was not measured");
    std::size_t known = 0;
    std::string slow, unsure;
    for (const Kernel& kernel : report.kernels) {
      const auto time = kernel.memory_times();
      if (!kernel.bytes || !time) continue;
      ++known;
      const auto share_in = [&](Nanoseconds took) {
        return *kernel.bytes / took.count() * 1e9 / report.peak_bandwidth;
      };
      const std::string text = kernel.name + " reaches " + format_percent(share_in(time->median));
      if (share_in(time->least) < share_)
        slow += (slow.empty() ? "" : "; ") + text;
      else if (share_in(time->most) < share_)
        unsure += (unsure.empty() ? "" : "; ") + text;
    }
    if (known == 0)
      return detail::judgement(std::move(expectation), Verdict::invalid, "of no kernel the bytes are known and a time");
    if (!slow.empty()) return detail::judgement(std::move(expectation), Verdict::failed, slow);
    if (!unsure.empty()) return detail::judgement(std::move(expectation), Verdict::undecided, unsure);
    return detail::judgement_of(report, std::move(expectation), Verdict::passed,
                                "all of " + std::to_string(known) + " kernels whose bytes are known reach it");
  }

 private:
  double share_;
};

}  // namespace pace::kernel
