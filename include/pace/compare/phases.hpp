// The phases of a comparison: results of their own, about parts of each iteration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pace/compare/implementation.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"

namespace pace::detail {

/// What an implementation is made of a user's `F`. Specialise it for a type that is more than a callable; one that has
/// `phases()` returns their names, which all implementations of a comparison must share.
template <class F, class... Operands>
struct ImplementationOf {
  static_assert(std::is_invocable_v<F&, Operands&...>,
                "pace: an implementation must be callable with the operands of pace::compare, as lvalues");
  using type = CallableImplementation<F, Operands...>;
};

template <class F, class... Operands>
[[nodiscard]] std::vector<std::string> phases_of_implementation() {
  if constexpr (requires { ImplementationOf<F, Operands...>::phases(); }) return ImplementationOf<F, Operands...>::phases();
  else return {};
}

/// What one phase took, for each implementation that is running, in their order.
struct PhaseSamples {
  std::string name;
  std::vector<std::vector<Nanoseconds>> samples = {};
};

/// A result about one phase: all that is known of the whole, without its figures.
[[nodiscard]] Result result_of_phase(const auto& whole, const std::string& phase) {
  Result result = whole;
  result.phases.clear();
  result.phase = phase;
  result.name += '/' + phase;
  // These belong to the whole, and stand there.
  result.notes.clear();
  result.controls.clear();
  for (auto& row : result.implementations) {
    row.context.comparison = result.name;
    row.samples.clear();
    row.figures.clear();
    row.device_memory.reset();
    row.counts.reset();
  }
  return result;
}

/// `visit(result, number)`: of the whole, 0, and of each phase, in the order of their samples.
template <class Visit>
void for_each_part(auto& whole, Visit&& visit) {
  visit(whole, std::size_t{0});
  for (std::size_t i = 0; i < whole.phases.size(); ++i) visit(whole.phases[i], i + 1);
}

}  // namespace pace::detail
