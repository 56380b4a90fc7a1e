// A user's own implementations of operators, as a back end.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

namespace detail {

using Tensors = std::vector<at::Tensor>;

template <class F, class Indices>
struct takes_tensors;
template <class F, std::size_t... I>
struct takes_tensors<F, std::index_sequence<I...>>
    : std::is_invocable<F&, decltype((void)I, std::declval<const at::Tensor&>())...> {};

/// The number of tensors a callable takes, up to 16; 17 when none fits.
template <class F, std::size_t N = 0>
[[nodiscard]] constexpr std::size_t tensor_parameters() {
  if constexpr (N > 16) {
    return N;
  } else if constexpr (takes_tensors<F, std::make_index_sequence<N>>::value) {
    return N;
  } else {
    return tensor_parameters<F, N + 1>();
  }
}

template <class F, class... Arguments>
[[nodiscard]] c10::IValue call_to_value(F& function, const Arguments&... arguments) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, const Arguments&...>>) {
    function(arguments...);
    return {};
  } else {
    return c10::IValue(function(arguments...));
  }
}

template <class F, std::size_t... I>
[[nodiscard]] c10::IValue call_with(F& function, const Tensors& tensors, std::index_sequence<I...>) {
  return call_to_value(function, tensors[I]...);
}

}  // namespace detail

/// Own implementations under a name, by operator:
///
///     auto mine = std::make_unique<FunctorBackend>("mine");
///     mine->implement("aten.add.Tensor", [](const at::Tensor& a, const at::Tensor& b) { return my_add(a, b); });
///     registry.add(std::move(mine));
///
/// A callable takes the tensors of the call one by one, or all as `const std::vector<at::Tensor>&`. If it needs the
/// constants, too, it takes `(const OperatorCall&, const std::vector<at::Tensor>&)`. It returns the same as the
/// operator: a tensor, a `std::tuple`, a list of tensors, a `c10::IValue`.
class FunctorBackend final : public Backend {
 public:
  explicit FunctorBackend(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] std::string name() const override { return name_; }

  /// Registers, or replaces, the implementation of an operator such as `aten.add.Tensor`.
  template <class F>
  FunctorBackend& implement(const std::string& operator_name, F function) {
    Implementation implementation;
    if constexpr (std::is_invocable_v<F&, const OperatorCall&, const detail::Tensors&>) {
      implementation.run = [function](const OperatorCall& call, const detail::Tensors& tensors) mutable {
        return detail::call_to_value(function, call, tensors);
      };
    } else if constexpr (std::is_invocable_v<F&, const detail::Tensors&>) {
      implementation.run = [function](const OperatorCall&, const detail::Tensors& tensors) mutable {
        return detail::call_to_value(function, tensors);
      };
    } else {
      constexpr std::size_t count = detail::tensor_parameters<F>();
      static_assert(count <= 16, "expected a callable that takes tensors, a vector of them, or a call and a vector");
      implementation.tensors = static_cast<int>(count);
      implementation.run = [function](const OperatorCall&, const detail::Tensors& tensors) mutable {
        return detail::call_with(function, tensors, std::make_index_sequence<count>());
      };
    }
    implementations_[operator_name] = std::move(implementation);
    return *this;
  }

  [[nodiscard]] std::unique_ptr<Executable> prepare(const OperatorCall& call) override {
    const auto found = implementations_.find(call.name());
    if (found == implementations_.end()) throw Unsupported(name_ + " does not implement " + call.name());
    const Implementation& implementation = found->second;
    if (implementation.tensors != any && static_cast<std::size_t>(implementation.tensors) != call.tensors().size()) {
      throw Unsupported(name_ + " implements " + call.name() + " for " + std::to_string(implementation.tensors) +
                        " tensors, this call has " + std::to_string(call.tensors().size()));
    }
    return std::make_unique<Bound>(call, implementation.run);
  }

 private:
  using Run = std::function<c10::IValue(const OperatorCall&, const detail::Tensors&)>;
  static constexpr int any = -1;
  struct Implementation {
    int tensors = any;
    Run run;
  };

  class Bound final : public Executable {
   public:
    Bound(OperatorCall call, Run run) : call_(std::move(call)), run_(std::move(run)) {}
    [[nodiscard]] c10::IValue run(const detail::Tensors& tensors) override { return run_(call_, tensors); }

   private:
    OperatorCall call_;
    Run run_;
  };

  std::string name_;
  std::map<std::string, Implementation> implementations_;
};

}  // namespace pace::benches::operators
