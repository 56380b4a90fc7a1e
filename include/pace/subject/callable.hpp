// CallableImplementation: a user's callable, ready for checks and for the timed loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/ivalue.h>

#include "pace/check/ivalue.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/timing/do_not_optimize.hpp"

namespace pace::detail {

template <class F, class... Operands>
class CallableImplementation final : public Implementation {
  using Returned = decltype(std::apply(std::declval<F&>(), std::declval<std::tuple<Operands...>&>()));
  static constexpr bool returns_nothing = std::is_void_v<Returned>;
  using Output = std::decay_t<Returned>;
  /// Whether pace only wraps the result. A user's types may compute when moved or converted; then both belong to the
  /// call.
  static constexpr bool only_wrapped = !returns_nothing && check::detail::only_wraps<Output>;
  // A returned reference, as from in-place operators, is kept as a handle.
  using Kept =
      std::conditional_t<returns_nothing, std::monostate, std::conditional_t<only_wrapped, Output, c10::IValue>>;

 public:
  CallableImplementation(F function, const OperandSets& operands)
      : Implementation(operands), function_(std::move(function)) {}

  c10::IValue call(std::size_t set) override {
    auto& operands = values(this->operands().sets[set]);
    announce();
    if constexpr (returns_nothing) {
      std::apply(function_, operands);
      return {};
    } else {
      return check::to_ivalue(invoke(operands));
    }
  }

  c10::IValue take_output() override {
    if constexpr (returns_nothing) {
      return {};
    } else {
      if (!last_) return std::exchange(copied_, {});
      c10::IValue output = check::to_ivalue(std::move(*last_));
      last_.reset();
      return output;
    }
  }

  [[nodiscard]] const c10::IValue* kept_output() const override {
    return last_ || copied_.isNone() ? nullptr : &copied_;
  }

  void run(std::size_t set, std::int64_t iterations) override {
    auto& operands = values(this->operands().sets[set]);
    try {
      if (this->operands().spares.empty()) {
        repeat(iterations, [&]() -> auto& { return operands; });
        return;
      }
      auto& spares = this->operands().spares[set];
      repeat(iterations, [&]() -> auto& {
        const std::size_t turn = calls_since_prepared_++ % (spares.size() + 1);
        return turn == 0 ? operands : values(spares[turn - 1]);
      });
    } catch (...) {
      failed();
    }
  }

  void prepare(std::size_t set) override {
    last_.reset();
    copied_ = {};
    replayed_ = {};
    calls_since_prepared_ = 0;
    start(set);
  }

  std::shared_ptr<void> keep_output() override {
    if constexpr (returns_nothing) {
      return nullptr;
    } else {
      if (!last_) return nullptr;
      c10::IValue output = check::to_ivalue(std::move(*last_));
      last_.reset();
      return captured(std::move(output));
    }
  }

  void put_back_output(const std::shared_ptr<void>& output) override {
    if (output) replayed_ = replayed(output);
  }

  void finish() override {
    if constexpr (!returns_nothing) {
      if (!last_ && replayed_.isNone()) return;
      try {
        const c10::IValue output = last_ ? check::to_ivalue(std::move(*last_)) : std::exchange(replayed_, {});
        last_.reset();
        copied_ = copy_of(output);
      } catch (...) {
        failed();
      }
    }
  }

 private:
  [[nodiscard]] static std::tuple<Operands...>& values(const std::unique_ptr<OperandSet>& set) {
    return static_cast<TypedOperands<Operands...>&>(*set).values;
  }

  [[nodiscard]] decltype(auto) invoke(std::tuple<Operands...>& operands) {
    if constexpr (only_wrapped)
      return std::apply(function_, operands);
    else
      return check::to_ivalue(std::apply(function_, operands));
  }

  /// `next()` returns the operands of each call.
  template <class Next>
  void repeat(std::int64_t iterations, const Next& next) {
    if constexpr (returns_nothing) {
      for (std::int64_t i = 0; i < iterations; ++i) {
        std::apply(function_, next());
        clobber_memory();
      }
    } else {
      // Destroys each output before the next call, as ordinary code does, and keeps one to check. All calls come from
      // one place, so that code cannot tell which.
      const std::int64_t kept = kept_call(iterations);
      for (std::int64_t i = 0; i < iterations; ++i) {
        Kept output(invoke(next()));
        do_not_optimize(output);
        if (i == kept) [[unlikely]]
          last_.emplace(std::move(output));
      }
    }
  }

  F function_;
  /// Output of one call; a copy of it once the sample has finished.
  std::optional<Kept> last_;
  c10::IValue copied_;
  /// Output of a replayed call, in the memory of its graph.
  c10::IValue replayed_;
  std::size_t calls_since_prepared_ = 0;
};

/// Whether `function` is null, as pointers and std::function may be.
template <class F>
[[nodiscard]] bool is_null(const F& function) {
  if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F>)
    return function == nullptr;
  else
    return false;
}
template <class Signature>
[[nodiscard]] bool is_null(const std::function<Signature>& function) {
  return function == nullptr;
}

/// How to make an implementation of a user's `F`. Specialise it for a type that is more than a callable. `phases()`, if
/// any, returns their names, which all implementations of a comparison share. `has_no_function()` tells whether the
/// callable is null.
template <class F, class... Operands>
struct ImplementationOf {
  static_assert(std::is_invocable_v<F&, Operands&...>,
                "pace: an implementation must be callable with the operands of pace::compare, as lvalues");
  [[nodiscard]] static std::unique_ptr<Implementation> make(const F& function, const OperandSets& operands) {
    return std::make_unique<CallableImplementation<F, Operands...>>(function, operands);
  }
  [[nodiscard]] static bool has_no_function(const F& function) { return is_null(function); }
};

template <class F, class... Operands>
[[nodiscard]] std::vector<std::string> phases_of_implementation() {
  if constexpr (requires { ImplementationOf<F, Operands...>::phases(); })
    return ImplementationOf<F, Operands...>::phases();
  else
    return {};
}

}  // namespace pace::detail
