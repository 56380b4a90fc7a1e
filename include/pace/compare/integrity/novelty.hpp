// Novelty: whether a call takes longer on new values than on repeated ones, which shows that it keeps earlier results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/format.hpp"
#include "pace/core/units.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// How many pairs of calls fit into `time`, where one call with what belongs to it takes `each`; 0 if too few do.
[[nodiscard]] inline std::size_t affordable_pairs(Nanoseconds time, Nanoseconds each) {
  constexpr double fewest = 3, most = 8, attempts = 2, calls = 2;
  const double affordable = each.count() > 0 ? time / (attempts * calls * each) : most;
  return affordable < fewest ? 0 : static_cast<std::size_t>(std::min(affordable, most));
}

/// `renew()` makes other values and writes them into the operands, `again()` prepares another call on the same ones, and
/// `timed_call()` times one call. Compares calls on new values with calls on the same ones again, everything else being
/// equal. Speaks only if nearly all of the former take more than three times as long as nearly all of the latter, and do so
/// again: branches that depend on values, as of a sort, are predicted on known ones, which made an honest top-k twice as
/// fast. For calls that do not differ, eight pairs out of order have a probability below 0.5 % each time even if half
/// of the calls are interrupted.
[[nodiscard]] inline std::string find_novelty_effect(timing::Clock& clock, std::size_t pairs,
                                                     FunctionRef<Nanoseconds()> timed_call, FunctionRef<void()> renew,
                                                     FunctionRef<void()> again) {
  // One of them may be hit by an interrupt.
  const std::size_t spare = pairs >= 6 ? 1 : 0;
  const Nanoseconds least = 100 * clock.resolution();
  Nanoseconds on_new{}, on_known{};
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::vector<double> fresh, known;
    for (std::size_t i = 0; i < pairs; ++i) {
      renew();
      fresh.push_back(timed_call().count());
      again();
      known.push_back(timed_call().count());
    }
    on_new = Nanoseconds(stats::sorted(std::move(fresh))[spare]);
    on_known = Nanoseconds(stats::sorted(std::move(known))[pairs - 1 - spare]);
    if (on_new <= 3 * on_known || on_new < least) return {};
  }
  return "its calls take more than three times as long on values that it has not seen before (at least " +
         format_time(on_new) + ", and at most " + format_time(on_known) +
         " on the same values again): it keeps answers";
}

/// `usual` and `of_baseline` are the times of a call in timed samples, which repeat calls on the same values;
/// `single_call()` and `single_of_baseline()` each time one call on new values. Single calls cost more than repeated
/// ones, by what the baseline shows. Speaks only if nearly all single calls take more than three times as long as repeated
/// ones and that, and do so again: single calls of larger code lose more to what is not in the caches.
[[nodiscard]] inline std::string find_repetition_effect(timing::Clock& clock, std::size_t pairs, Nanoseconds usual,
                                                        Nanoseconds of_baseline, FunctionRef<Nanoseconds()> single_call,
                                                        FunctionRef<Nanoseconds()> single_of_baseline) {
  const std::size_t spare = pairs >= 6 ? 1 : 0;
  Nanoseconds on_new{};
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::vector<double> own, norm;
    for (std::size_t i = 0; i < pairs; ++i) {
      own.push_back(single_call().count());
      norm.push_back(single_of_baseline().count());
    }
    on_new = Nanoseconds(stats::sorted(std::move(own))[spare]);
    const Nanoseconds slowest(stats::sorted(std::move(norm))[pairs - 1 - spare]);
    const Nanoseconds single = std::max(slowest - of_baseline, Nanoseconds(0));
    if (on_new <= 3 * (usual + single) + 200 * clock.resolution()) return {};
  }
  return "its calls take more than three times as long on new values as when they are repeated on the same ones (at "
         "least " +
         format_time(on_new) + ", and " + format_time(usual) + " in the samples): it keeps answers";
}

}  // namespace pace::detail
