// AfterPauses: whether a single call after a pause takes as long as one in a sample.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include "pace/audit/context.hpp"
#include "pace/base/format.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/unseen/check.hpp"

namespace pace::detail {

/// Finds candidates that are fast only in calls in a row.
class AfterPauses final : public Check {
 public:
  /// `context` must outlive it.
  explicit AfterPauses(AuditContext& context) : context_(context) {}
  [[nodiscard]] std::string find_fault(Implementation& implementation) override;

 private:
  AuditContext& context_;
};

/// Caches, clocks and sleeping threads cost less than a millisecond after a pause. Skips a device's clock, the user's
/// values, whose times differ, and long calls, which lie apart anyway.
inline std::string AfterPauses::find_fault(Implementation& implementation) {
  // Not measured: a lower factor would reject honest calls after a pause, a higher one lets slower calls through.
  constexpr double most_times = 10, millisecond = 1e6;
  constexpr std::size_t shortest_pause = 10, more = 8;
  constexpr Nanoseconds slack = std::chrono::milliseconds(1);
  constexpr int tries = 5;
  const Nanoseconds usual = context_.shortest_of(implementation.index),
                    of_baseline = context_.shortest_of(context_.baseline_index);
  const bool is_long = 4 * (usual + of_baseline) > AuditContext::audit_share * context_.options.budget;
  if (context_.clock.modes() != nullptr || context_.prepared.renew || is_long) return {};
  const auto time_alone = [&](Implementation& which) {
    context_.clock.pause(Nanoseconds(millisecond * static_cast<double>(shortest_pause + context_.random.below(more))));
    which.prepare(0);
    return context_.clock.time_prepared(which, 0, 1);
  };
  Nanoseconds own{}, norm{};
  for (int i = 0; i < tries; ++i) {
    if (time_left(context_.clock).count() <= 0) return {};
    own = time_alone(implementation);
    if (own <= most_times * std::max<Nanoseconds>(usual, of_baseline) + slack) return {};
    norm = std::max(norm, time_alone(context_.baseline()));
    if (own <= most_times * norm + slack) return {};
  }
  return "a call takes " + format_time(own) + " after a pause, and took " + format_time(usual) +
         " in the rounds; the baseline's takes " + format_time(norm) + ": it is fast only in calls in a row";
}
}  // namespace pace::detail
