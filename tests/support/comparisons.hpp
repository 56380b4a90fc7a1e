// Shared by tests of whole comparisons on a FakeClock.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>

#include "pace/compare/comparison.hpp"
#include "tests/support/fake_clock.hpp"

namespace pace::test {

/// 24 rounds of samples of 1 us or more.
inline Options few_rounds() {
  Options options;
  options.budget = Nanoseconds(1e6);
  options.least_duration = {};
  options.warm_up = Nanoseconds(1e4);
  options.min_sample = Nanoseconds(1000);
  options.resolutions_per_sample = 1;
  options.max_rounds = 24;
  // The same outputs are kept in every run of a test.
  options.check_seed = 1;
  options.audit = Audit::strict;
  return options;
}

/// Compares no outputs, for timed functions such as those that return nothing.
inline check::CheckOptions not_compared() {
  check::CheckOptions options;
  options.method = check::CheckOptions::Method::none;
  return options;
}

/// `function`, which moves the clock by `nanoseconds` whenever it is called.
template <class F>
auto costing(FakeClock& clock, double nanoseconds, F function) {
  // GCC 12 does not find a captured lambda callable in a type that stands behind the arrow.
  return
      [&clock, nanoseconds, function](auto&&... operands) mutable -> std::invoke_result_t<F&, decltype(operands)&...> {
        clock.advance(Nanoseconds(nanoseconds));
        return function(operands...);
      };
}

/// Where the outputs of one implementation lie, call by call. Copies share their records.
class OutputPlaces {
 public:
  void add(const at::Tensor& output) const { addresses_->push_back(output.const_data_ptr()); }
  /// The outputs of the second half of all calls, when every shape has been seen.
  [[nodiscard]] std::set<const void*> later() const {
    return {addresses_->begin() + static_cast<std::ptrdiff_t>(addresses_->size() / 2), addresses_->end()};
  }

 private:
  std::shared_ptr<std::vector<const void*>> addresses_ = std::make_shared<std::vector<const void*>>();
};

/// Compares `one` with `other` on a [64, 256] tensor, without checks, so that only the rounds call them.
template <class Implementation>
Result compare_twins(FakeClock& clock, Implementation one, Implementation other) {
  check::CheckOptions unchecked;
  unchecked.method = check::CheckOptions::Method::none;
  return pace::compare("twins", at::randn({64, 256}))
      .options(few_rounds())
      .check(unchecked)
      .baseline("one", std::move(one))
      .candidate("other", std::move(other))
      .run(clock);
}

}  // namespace pace::test
