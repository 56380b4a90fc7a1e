// Unseen baseline: how long the baseline takes on unseen values where no candidate was called.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/audit/baseline_limit.hpp"
#include "pace/audit/context.hpp"
#include "pace/audit/unseen_pairs.hpp"
#include "pace/audit/unseen_samples.hpp"
#include "pace/base/error.hpp"
#include "pace/base/random.hpp"
#include "pace/result/options.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/subject/operands.hpp"
#include "pace/timing/clock.hpp"
#include "pace/values/unseen_values.hpp"

namespace pace::detail {

/// Calls of a sample on unseen values, if one call of each side takes `usual` together.
[[nodiscard]] inline std::size_t calls_of_unseen_sample(const AuditContext& context, Nanoseconds usual) {
  // Samples of a side in a pair, and pairs for an interval.
  constexpr double samples = 3, pairs = 11, most_calls = 16, most_bytes = 1 << 20;
  // A training step has no spare operands.
  if (context.baseline().phases() != nullptr) return 1;
  const double affordable = AuditContext::audit_share * context.options.budget / (samples * pairs * usual);
  const double fitting = most_bytes / std::max(1.0, bytes_of(context.operands.given));
  return static_cast<std::size_t>(std::max(1.0, std::min({affordable, fitting, most_calls})));
}

/// Learns how much longer the baseline's calls take on unseen values than repeated ones. Call it after
/// AuditContext::learn() and before any candidate.
///
/// Takes a hundredth of the budget, or one sample. If calls are too long, those on unseen values count as repeated
/// ones. Does not call the user's function, which may have only as many values as there are rounds.
inline void learn_baseline_limit(AuditContext& context, BaselineLimit& baseline_limit) {
  constexpr double share = 0.01, most_iterations = 1 << 10;
  constexpr int most_samples = 5;
  if (context.clock.modes() != nullptr || context.prepared.renew) return;
  if (!context.answers || !context.answers->checks() || !context.answers->takes_unseen()) return;
  // The time decides how many samples there are, but must not decide what --check-seed repeats.
  const Options& options = context.options;
  SplitMix64 random(~options.check_seed);
  UnseenValues source = context.source->with_seed(random());
  try {
    (void)timing::take_sample(context.clock, context.baseline(), 0, 1);
    const Nanoseconds took = timing::take_sample(context.clock, context.baseline(), 0, 1),
                      most = share * options.budget;
    if (took.count() <= 0) return;
    const double limit = options.max_iterations > 0 ? static_cast<double>(options.max_iterations) : most_iterations;
    const Nanoseconds wanted =
        std::max<Nanoseconds>(options.min_sample, options.resolutions_per_sample * context.clock.resolution());
    const double repeated = std::clamp(wanted / took, 1.0, std::min(limit, most_iterations));
    const double calls = std::min(static_cast<double>(calls_of_unseen_sample(context, 2 * took)), limit);
    if ((3 * calls + repeated) * took > most) return;
    // Other work on the machine only adds to times.
    Nanoseconds on_unseen = BaselineLimit::none, on_known = BaselineLimit::none;
    int samples = 0;
    {
      UnseenSamples taken(context.clock, context.operands, *context.answers->unseen().operands,
                          static_cast<std::size_t>(calls), /*repeated=*/1, random());
      const UnseenValuesInUse in_use = context.unseen_in_use();
      for (const Nanoseconds start = context.clock.now();
           samples < most_samples && (samples == 0 || context.clock.now() - start < most); ++samples) {
        taken.draw_unseen(context.operands.constant, [&](OperandSet&, const std::vector<at::Tensor>& tensors) {
          source.draw(context.answers->unseen().kind, tensors, context.operands.constant);
        });
        on_unseen = std::min(on_unseen, taken.take_unseen(context.baseline(), context.operands.constant).on_unseen);
      }
    }
    context.repair(0);
    // Last, so that the baseline keeps what the values given leave.
    const auto iterations = static_cast<std::int64_t>(repeated);
    for (int i = 0; i < samples; ++i)
      on_known = std::min<Nanoseconds>(on_known, timing::take_sample(context.clock, context.baseline(), 0, iterations) /
                                                     static_cast<double>(iterations));
    baseline_limit.learn(on_unseen, on_known);
  } catch (...) {
    // It does not take these values, or memory ran out, which checks after the rounds handle. Until then, calls on
    // unseen values count as repeated ones.
    context.repair(0);
  }
}

/// In a process without candidates: returns the median time of a call of the baseline in some samples, after one that
/// warms code and memory. Throws Error if it takes no unseen values.
[[nodiscard]] inline Nanoseconds time_unseen_baseline(AuditContext& context, const UnseenRequest& request) {
  constexpr int samples = 3;
  if (!context.answers->takes_unseen()) throw Error("the baseline takes no unseen values");
  const auto kept = request.kept_operands();
  UnseenSamples taken(context.clock, context.operands, *context.answers->unseen().operands, request.calls,
                      /*repeated=*/1, context.random());
  const auto take = [&] {
    draw_unseen(context, taken, kept);
    return taken.take_unseen(context.baseline(), kept).on_unseen.count();
  };
  (void)take();
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) times.push_back(take());
  return Nanoseconds(stats::median(stats::sorted(std::move(times))));
}

}  // namespace pace::detail
