// One timed call from the first state, which stands in for the last one of the rounds.
#pragma once

#include <cstdint>

#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/expected.hpp"

namespace pace::detail {

/// Whether each call changes what the next one returns: it writes to operands or draws random numbers.
[[nodiscard]] inline bool calls_add_up(const OperandSets& operands, const Expected& expected) {
  return !operands.mutated.empty() || expected.random;
}

/// Makes one timed call on set 0 from the first values and `seed`, whose output take_output() then returns. Calls that
/// draw random numbers go without the clock, which may make calls of its own.
inline void make_one_timed_call(timing::Clock& clock, Implementation& implementation, const OperandSets& operands,
                                const Expected& expected, std::uint64_t seed) {
  operands.restore_all(0);
  reset_random_state(seed);
  if (expected.random) {
    implementation.prepare(0);
    implementation.run(0, 1);
  } else {
    (void)timing::take_sample(clock, implementation, 0, 1);
  }
}

}  // namespace pace::detail
