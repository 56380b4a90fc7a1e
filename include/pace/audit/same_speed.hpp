// SameSpeed: whether a candidate is as fast after the rounds as in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "pace/audit/context.hpp"
#include "pace/audit/persistence.hpp"
#include "pace/base/format.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/unseen/check.hpp"

namespace pace::detail {

/// Finds candidates that are fast only while they are timed.
class SameSpeed final : public Check {
 public:
  /// `context` must outlive it.
  explicit SameSpeed(AuditContext& context) : context_(context) {}
  [[nodiscard]] std::string find_fault(Implementation& implementation) override;

 private:
  AuditContext& context_;
};

/// The baseline is the norm for the machine.
inline std::string SameSpeed::find_fault(Implementation& implementation) {
  // If each round has values of its own, samples on unseen values show a slow-down instead.
  if (context_.clock.modes() != nullptr || context_.prepared.renew) return {};
  constexpr double most_times = 2, slack_in_resolutions = 20;
  const Nanoseconds usual = context_.shortest_of(implementation.index) + context_.shortest_of(context_.baseline_index);
  // A clock that has been set back in a sample gives no norm.
  if (context_.shortest_of(implementation.index).count() <= 0 ||
      context_.shortest_of(context_.baseline_index).count() <= 0)
    return {};
  // Long samples are interrupted as often as a few short ones together.
  const Nanoseconds of_samples = tries_at_once * static_cast<double>(context_.iterations) * usual;
  const int samples = 4 * of_samples > context_.most_time_of_check() ? 1 : 4;
  if (samples * of_samples > context_.most_time_of_short_check()) {
    context_.leave_out_too_long(implementation.index, "whether it is as fast after the rounds", samples * of_samples);
    return {};
  }
  Nanoseconds own{};
  std::size_t tries = 0;
  const auto is_slow = [&] {
    const std::size_t set = tries++ % context_.operands.sets.size();
    const auto shortest_now = [&](Implementation& which) {
      Nanoseconds shortest(std::numeric_limits<double>::infinity());
      for (int sample = 0; sample < samples; ++sample)
        shortest =
            std::min<Nanoseconds>(shortest, timing::take_sample(context_.clock, which, set, context_.iterations));
      return shortest / static_cast<double>(context_.iterations);
    };
    own = shortest_now(implementation);
    const Nanoseconds before = context_.shortest_of(context_.baseline_index);
    const double norm = std::max(1.0, shortest_now(context_.baseline()) / before);
    const Nanoseconds slack =
        slack_in_resolutions * context_.clock.resolution() / static_cast<double>(context_.iterations);
    return own > most_times * norm * context_.shortest_of(implementation.index) + slack;
  };
  const auto persistence = persistence_of(context_.clock, is_slow, [&] { return time_left(context_.clock); });
  if (persistence == Persistence::unknown) {
    context_.slow_for_now = implementation.index;
    context_.leave_out(implementation.index,
                       "whether it stays as slow as it was for a moment after the rounds, since too "
                       "little time was left for that",
                       AuditContext::more_time());
  }
  if (persistence != Persistence::persists) return {};
  return "its calls take " + format_time(own) + " after the rounds, and took " +
         format_time(context_.shortest_of(implementation.index)) + " in them: it is fast only while it is timed";
}
}  // namespace pace::detail
