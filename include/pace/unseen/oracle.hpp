// Oracle: the baseline as the norm for calls on unseen values.
#pragma once

#include <cstdint>

#include "pace/check/check_options.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/expected.hpp"

namespace pace::detail {

/// The baseline, and its outputs on the values given. All must outlive it. Calls run on set 0 of `operands`.
struct Oracle {
  Implementation& baseline;
  OperandSets& operands;
  const OperandSet& given;  ///< operands with the values given, which no implementation can reach
  const Expected& expected;
  const check::CheckOptions& check;

  /// A source of unseen values for these operands.
  [[nodiscard]] UnseenValues unseen_values(std::uint64_t seed) const {
    return {operands.given, seed, KnownSizes(operands.given, expected.output, given.numbers())};
  }
};

}  // namespace pace::detail
