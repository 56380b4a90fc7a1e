// Implementation: a user's callable, prepared for checking and for the timed loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
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
#include "pace/check/out_of_memory.hpp"
#include "pace/check/poison.hpp"
#include "pace/check/restore.hpp"
#include "pace/compare/captured_output.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/output_copy.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/core/activity.hpp"
#include "pace/core/error.hpp"
#include "pace/core/view.hpp"
#include "pace/timing/do_not_optimize.hpp"
#include "pace/timing/operation.hpp"

namespace pace::detail {

/// What all implementations of one comparison share. `sets` are the operand buffers; `pristine` their first values.
template <class... Operands>
struct OperandSets {
  std::vector<std::tuple<Operands...>> sets;
  /// Per set, the tensors inside; `tensors[set][i]` corresponds to `pristine[i]`.
  std::vector<std::vector<at::Tensor>> tensors;
  std::vector<at::Tensor> pristine;
  /// What they hold in this round, where each has values of its own (see RoundValues); empty: the first values.
  std::vector<at::Tensor> renewed;
  /// Which tensors the baseline writes to: they are outputs too, and get their values back before each run.
  std::vector<std::size_t> mutated;
  /// Where the baseline writes to operands: further copies of each set and the tensors inside, one for every further
  /// call of a sample, so that each call finds the first values. Empty otherwise.
  std::vector<std::vector<std::tuple<Operands...>>> spares;
  std::vector<std::vector<std::vector<at::Tensor>>> spare_tensors;
  /// The baseline draws random numbers: the generators are put into one state before each run.
  bool random = false;
  std::uint64_t seed = 0;

  [[nodiscard]] bool may_change(std::size_t operand) const {
    return std::find(mutated.begin(), mutated.end(), operand) != mutated.end();
  }
  /// Whether a tensor shares memory with an operand.
  [[nodiscard]] bool aliases(const at::Tensor& tensor) const {
    const auto in = [&](const auto& set) {
      return std::any_of(set.begin(), set.end(), [&](const auto& operand) { return operand.is_alias_of(tensor); });
    };
    return std::any_of(tensors.begin(), tensors.end(), in) ||
           std::any_of(spare_tensors.begin(), spare_tensors.end(), [&](const auto& spares) {
             return std::any_of(spares.begin(), spares.end(), in);
           });
  }
  /// What calls find in all sets at present, whatever they write.
  [[nodiscard]] const std::vector<at::Tensor>& values() const { return renewed.empty() ? pristine : renewed; }
  void restore(std::size_t set) const {
    for (const std::size_t i : mutated) check::restore_tensor(values()[i], tensors[set][i]);
    if (spares.empty()) return;
    for (const auto& spare : spare_tensors[set])
      for (const std::size_t i : mutated) check::restore_tensor(values()[i], spare[i]);
  }
  void restore_all(std::size_t set) const {
    for (std::size_t i = 0; i < pristine.size(); ++i) check::restore_tensor(pristine[i], tensors[set][i]);
  }
};

/// An exception, in words, and what it says of the device.
struct Failure {
  std::string message;
  enum class Device { fine, missing, lost } device = Device::fine;
  /// The device's or the host's.
  bool out_of_memory = false;
};

/// An exception out of an implementation, or out of timing it.
struct ImplementationThrew {
  std::size_t index;
  Failure failure;
};

/// What is wrong with an implementation, found while it was timed.
struct ImplementationWrong {
  std::size_t index;
  std::string message;
};

/// The message of the exception being handled.
[[nodiscard]] inline std::string current_message() {
  try {
    throw;
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// What the exception being handled says.
[[nodiscard]] inline Failure current_failure() {
  try {
    throw;
  } catch (const ImplementationThrew& thrown) {
    return thrown.failure;
  } catch (const DeviceMissing& error) {
    return {error.what(), Failure::Device::missing};
  } catch (const DeviceLost& error) {
    return {error.what(), Failure::Device::lost};
  } catch (const std::bad_alloc&) {
    return {.message = "memory ran out (std::bad_alloc)", .out_of_memory = true};
  } catch (const std::exception& error) {
    return {.message = current_message(), .out_of_memory = check::means_out_of_memory(error)};
  } catch (...) {
    return {.message = current_message()};
  }
}

template <class... Operands>
class Implementation {
 public:
  virtual ~Implementation() = default;
  /// Among those of the comparison.
  std::size_t index = 0;
  /// One call on operand set `set`; what it returned. `returned` is called when it has, before that is converted.
  virtual c10::IValue call(std::size_t set, const std::function<void()>& returned) = 0;
  c10::IValue call(std::size_t set) { return call(set, {}); }
  /// What the last timed call returned; gives it up.
  virtual c10::IValue take_output() = 0;
  /// For the timed loop.
  virtual timing::Operation operation() = 0;
  /// The outputs of later calls look like this one: memory of their sizes is poisoned before each sample.
  virtual void expect_outputs_like(const c10::IValue& output) = 0;
};

template <class F, class... Operands>
class CallableImplementation final : public Implementation<Operands...> {
  using Returned = decltype(std::apply(std::declval<F&>(), std::declval<std::tuple<Operands...>&>()));
  static constexpr bool returns_nothing = std::is_void_v<Returned>;
  // A returned reference (in-place operators return their argument) is kept as a handle, not as a reference.
  using Kept = std::conditional_t<returns_nothing, std::monostate, std::decay_t<Returned>>;

 public:
  CallableImplementation(F function, const OperandSets<Operands...>& operands)
      : function_(std::move(function)), operands_(operands) {}

  c10::IValue call(std::size_t set, const std::function<void()>& returned) override {
    auto& operands = const_cast<std::tuple<Operands...>&>(operands_.sets[set]);
    activity()->running(static_cast<std::int64_t>(this->index));
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

  timing::Operation operation() override {
    return {this, &run, &prepare, &keep_output, &put_back_output, &finish, &failed};
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

 private:
  static void run(void* state, std::size_t set, std::int64_t iterations) {
    auto& self = *static_cast<CallableImplementation*>(state);
    auto& operands = const_cast<std::tuple<Operands...>&>(self.operands_.sets[set]);
    try {
      if (self.operands_.spares.empty()) {
        self.repeat(iterations, [&]() -> auto& { return operands; });
        return;
      }
      auto& spares = const_cast<std::vector<std::tuple<Operands...>>&>(self.operands_.spares[set]);
      self.repeat(iterations, [&]() -> auto& {
        const std::size_t turn = self.calls_since_prepared_++ % (spares.size() + 1);
        return turn == 0 ? operands : spares[turn - 1];
      });
    } catch (...) {
      throw ImplementationThrew{self.index, current_failure()};
    }
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

  static void prepare(void* state, std::size_t set) {
    auto& self = *static_cast<CallableImplementation*>(state);
    activity()->running(static_cast<std::int64_t>(self.index));
    self.last_.reset();
    self.copied_ = {};
    self.replayed_ = {};
    self.calls_since_prepared_ = 0;
    self.operands_.restore(set);
    if (self.operands_.random) reset_random_state(self.operands_.seed);
    check::poison_free_memory(self.fresh_outputs_);
  }

  static std::shared_ptr<void> keep_output(void* state) {
    auto& self = *static_cast<CallableImplementation*>(state);
    if (!self.last_) return nullptr;
    if constexpr (returns_nothing) {
      return nullptr;
    } else {
      c10::IValue output = check::to_ivalue(std::move(*self.last_));
      self.last_.reset();
      return std::make_shared<CapturedOutput>(std::move(output));
    }
  }

  static void put_back_output(void* state, const std::shared_ptr<void>& output) {
    auto& self = *static_cast<CallableImplementation*>(state);
    if (!output) return;
    auto& captured = *static_cast<CapturedOutput*>(output.get());
    self.replayed_ = captured.value();
    captured.poison();
  }

  static void finish(void* state) {
    if constexpr (!returns_nothing) {
      auto& self = *static_cast<CallableImplementation*>(state);
      if (!self.last_ && self.replayed_.isNone()) return;
      try {
        const c10::IValue output =
            self.last_ ? check::to_ivalue(std::move(*self.last_)) : std::exchange(self.replayed_, {});
        self.last_.reset();
        self.copied_ = self.copy_.copy(output, [&](const auto& tensor) { return self.operands_.aliases(tensor); });
      } catch (...) {
        failed(state);
      }
    }
  }

  static void failed(void* state) {
    throw ImplementationThrew{static_cast<CallableImplementation*>(state)->index, current_failure()};
  }

  F function_;
  const OperandSets<Operands...>& operands_;
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

}  // namespace pace::detail
