// CallableImplementation: a user's callable, prepared for checking and for the timed loop.
#pragma once

#include <algorithm>
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

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/ivalue.hpp"
#include "pace/check/poison.hpp"
#include "pace/compare/captured_output.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/output_copy.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/core/activity.hpp"
#include "pace/timing/do_not_optimize.hpp"

namespace pace::detail {

template <class F, class... Operands>
class CallableImplementation final : public Implementation {
  using Returned = decltype(std::apply(std::declval<F&>(), std::declval<std::tuple<Operands...>&>()));
  static constexpr bool returns_nothing = std::is_void_v<Returned>;
  // A returned reference (in-place operators return their argument) is kept as a handle, not as a reference.
  using Kept = std::conditional_t<returns_nothing, std::monostate, std::decay_t<Returned>>;

 public:
  CallableImplementation(F function, const OperandSets& operands)
      : function_(std::move(function)), operands_(operands) {}

  c10::IValue call(std::size_t set, const std::function<void()>& returned) override {
    auto& operands = values(operands_.sets[set]);
    activity()->running(static_cast<std::int64_t>(index));
    if constexpr (returns_nothing) {
      std::apply(function_, operands);
      if (returned) returned();
      return {};
    } else {
      Kept result(std::apply(function_, operands));
      if (returned) returned();
      return check::to_ivalue(std::move(result));
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

  void expect_outputs_like(const c10::IValue& output) override {
    // An output that is an operand's own memory is restored with the operand; poison is for memory fresh from the
    // allocator.
    fresh_outputs_.clear();
    for (const auto& tensor : check::tensors_of(output)) {
      if (tensor.layout() != at::kStrided || !tensor.has_storage()) continue;
      if (operands_.aliases(tensor)) continue;
      fresh_outputs_.push_back({static_cast<std::int64_t>(tensor.nbytes()), tensor.device()});
    }
  }

  void run(std::size_t set, std::int64_t iterations) override {
    auto& operands = values(operands_.sets[set]);
    try {
      if (operands_.spares.empty()) {
        repeat(iterations, [&]() -> auto& { return operands; });
        return;
      }
      auto& spares = operands_.spares[set];
      repeat(iterations, [&]() -> auto& {
        const std::size_t turn = calls_since_prepared_++ % (spares.size() + 1);
        return turn == 0 ? operands : values(spares[turn - 1]);
      });
    } catch (...) {
      failed();
    }
  }

  void prepare(std::size_t set) override {
    activity()->running(static_cast<std::int64_t>(index));
    last_.reset();
    copied_ = {};
    replayed_ = {};
    calls_since_prepared_ = 0;
    operands_.restore(set);
    if (operands_.random) reset_random_state(operands_.seed);
    check::poison_free_memory(fresh_outputs_);
  }

  std::shared_ptr<void> keep_output() override {
    if (!last_) return nullptr;
    if constexpr (returns_nothing) {
      return nullptr;
    } else {
      c10::IValue output = check::to_ivalue(std::move(*last_));
      last_.reset();
      return std::make_shared<CapturedOutput>(std::move(output));
    }
  }

  void put_back_output(const std::shared_ptr<void>& output) override {
    if (!output) return;
    auto& captured = *static_cast<CapturedOutput*>(output.get());
    replayed_ = captured.value();
    captured.poison();
  }

  void finish() override {
    if constexpr (!returns_nothing) {
      if (!last_ && replayed_.isNone()) return;
      try {
        const c10::IValue output = last_ ? check::to_ivalue(std::move(*last_)) : std::exchange(replayed_, {});
        last_.reset();
        copied_ = copy_.copy(output, [&](const auto& tensor) { return operands_.aliases(tensor); });
      } catch (...) {
        failed();
      }
    }
  }

  void failed() override { throw ImplementationThrew{index, current_failure()}; }

 private:
  [[nodiscard]] static std::tuple<Operands...>& values(const std::unique_ptr<OperandSet>& set) {
    return static_cast<TypedOperands<Operands...>&>(*set).values;
  }

  /// `next()` gives the operands of each call.
  template <class Next>
  void repeat(std::int64_t iterations, const Next& next) {
    if constexpr (returns_nothing) {
      for (std::int64_t i = 0; i < iterations; ++i) {
        std::apply(function_, next());
        clobber_memory();
      }
    } else {
      // Each output dies before the next call, as a caller's would; only the last one stays, to be checked.
      for (std::int64_t i = 1; i < iterations; ++i) {
        const Kept output = std::apply(function_, next());
        do_not_optimize(output);
      }
      last_.emplace(std::apply(function_, next()));
      do_not_optimize(*last_);
    }
  }

  F function_;
  const OperandSets& operands_;
  /// What the last call returned, until its sample is finished; from then on a copy of it.
  std::optional<Kept> last_;
  c10::IValue copied_;
  OutputCopy copy_;
  /// What a replayed call returned, in memory of its graph.
  c10::IValue replayed_;
  /// One for each output tensor whose memory the allocator provides.
  std::vector<check::FreeBlock> fresh_outputs_;
  std::size_t calls_since_prepared_ = 0;
};

/// What an implementation is made of a user's `F`. Specialise it for a type that is more than a callable; one that has
/// `phases()` returns their names, which all implementations of a comparison must share.
template <class F, class... Operands>
struct ImplementationOf {
  static_assert(std::is_invocable_v<F&, Operands&...>,
                "pace: an implementation must be callable with the operands of pace::compare, as lvalues");
  [[nodiscard]] static std::unique_ptr<Implementation> make(const F& function, const OperandSets& operands) {
    return std::make_unique<CallableImplementation<F, Operands...>>(function, operands);
  }
};

template <class F, class... Operands>
[[nodiscard]] std::vector<std::string> phases_of_implementation() {
  if constexpr (requires { ImplementationOf<F, Operands...>::phases(); }) return ImplementationOf<F, Operands...>::phases();
  else return {};
}

}  // namespace pace::detail
