// One comparison of twins: two implementations that do the same work.
#pragma once

#include <chrono>
#include <string>

#include <ATen/core/Tensor.h>

#include "benches/selftest/fresh_options.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::selftest {

/// Options of one comparison of twins, with a new order. Twins are rarely decided at 1.00, so nearly each comparison
/// takes the whole budget; a tenth of a second lets ten thousand of them end in half an hour.
[[nodiscard]] inline Options twin_options() {
  Options options = fresh_options();
  options.budget = std::chrono::milliseconds(100);
  options.mode_share = 0;
  // The verdict of the test itself, also where pace would withhold it.
  options.max_interference = 1;
  return options;
}

/// Compares "one" with "other" on `operand`, as the gates of TwinGates. Each gate has the whole error rate of the
/// options, as if it stood alone: two that share it would raise fewer alarms.
template <class One, class Other>
[[nodiscard]] Result compare_twins(const std::string& name, const at::Tensor& operand, const Options& options,
                                   const One& one, const Other& other) {
  return compare(name, operand)
      .options(options)
      .baseline("one", one)
      .candidate("other", other)
      .expect(NoSlowerThan(1.00).alpha(options.alpha))
      .expect(NoSlowerThan(1.01).alpha(options.alpha))
      .run();
}

}  // namespace pace::benches::selftest
