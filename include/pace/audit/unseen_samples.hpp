// UnseenSamples: samples whose calls have operands of their own, with unseen values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/audit/unseen_ratios.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/base/random.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/restore.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Takes samples on set 0 and on spares of it. Calls follow each other like timed ones, so that an implementation
/// cannot tell them apart.
class UnseenSamples {
 public:
  /// Samples of at most `calls` calls on operands like `like`; those of the rounds have `repeated`. All must outlive
  /// it, and nothing else may use the operands meanwhile.
  UnseenSamples(timing::Clock& clock, OperandSets& operands, const OperandSet& like, std::size_t calls,
                std::int64_t repeated, std::uint64_t seed)
      : clock_(clock), operands_(operands), repeated_(static_cast<std::size_t>(repeated)), random_(seed) {
    // Existing spares are for calls that write to operands.
    owns_spares_ = calls > 1 && operands_.spares.empty();
    if (!owns_spares_) calls = operands_.spares.empty() ? 1 : std::min(calls, 1 + operands_.spares[0].size());
    for (std::size_t i = 0; i < calls; ++i) values_.emplace_back(like);
    most_calls_ = calls;
    // Captures of the rounds have other operands.
    clock_.begin_cycle();
    // Last, since memory may run out for the copies.
    if (!operands_.spares.empty()) {
      // Each preparation restores all spares: put aside unused ones.
      const auto last = static_cast<std::ptrdiff_t>(calls - 1);
      put_aside(operands_.spares[0], last, spares_aside_);
      put_aside(operands_.spare_tensors[0], last, tensors_aside_);
    }
    if (!owns_spares_) return;
    decltype(OperandSets::spares) spares(operands_.sets.size());
    decltype(OperandSets::spare_tensors) spare_tensors(operands_.sets.size());
    for (std::size_t i = 1; i < calls; ++i) {
      spares[0].push_back(like.clone());
      spare_tensors[0].push_back(spares[0].back()->tensors());
    }
    operands_.spares = std::move(spares);
    operands_.spare_tensors = std::move(spare_tensors);
  }
  UnseenSamples(const UnseenSamples&) = delete;
  UnseenSamples& operator=(const UnseenSamples&) = delete;
  ~UnseenSamples() {
    operands_.kept_call.reset();
    clock_.begin_cycle();
    if (!owns_spares_) {
      for (auto& each : spares_aside_) operands_.spares[0].push_back(std::move(each));
      for (auto& each : tensors_aside_) operands_.spare_tensors[0].push_back(std::move(each));
      return;
    }
    operands_.spares.clear();
    operands_.spare_tensors.clear();
  }

  /// Calls `implementation` once on each copy, untimed: a device must not capture work of a first call with an address.
  void touch(Implementation& implementation) {
    implementation.prepare(0);
    implementation.run(0, static_cast<std::int64_t>(values_.size()));
  }

  /// Later calls may overwrite outputs, so that one is copied before the next call.
  void let_outputs_be_overwritten() { outputs_stay_ = false; }

  /// Samples have at most so many calls from now on.
  void hold_calls_to(std::size_t most) { most_calls_ = std::clamp<std::size_t>(most, 1, values_.size()); }

  /// Chooses the values of take_unseen() for all implementations, and unpredictably how many calls. `draw` writes them
  /// to copies of the operands. Tensors `kept` keep theirs, with one call per sample, since copies lie elsewhere.
  void draw_unseen(std::span<const std::size_t> kept,
                   FunctionRef<void(OperandSet&, const std::vector<at::Tensor>&)> draw) {
    const std::size_t varied = most_calls_ - random_.below(1 + most_calls_ / 2);
    // A capture is replayed once for each sample.
    drawn_ = !kept.empty() ? 1 : clock_.modes() != nullptr ? most_calls_ : varied;
    keep_given(kept);
    for (std::size_t i = 0; i < drawn_; ++i) {
      draw(*values_[i].operands, values_[i].tensors);
      // The user's function may assign other tensors.
      values_[i].tensors = values_[i].operands->tensors();
      for (const std::size_t each : kept) check::restore_tensor(operands_.given[each], values_[i].tensors[each]);
      // A device's sample restores operands from one set of values.
      if (clock_.modes() == nullptr) continue;
      for (const std::size_t each : operands_.mutated)
        check::restore_tensor(values_[0].tensors[each], values_[i].tensors[each]);
    }
  }
  /// Whether calls on the values given are the norm for take_unseen(). They are written just before without a version
  /// change, so an implementation may recognise them. Values just written must first leave the cache. So operands and
  /// outputs of about its size take up to 1.5 times as long as in the rounds (the L2 of an H100; two cores beside
  /// others' work). The host's time of calls on a device varies more, and does not depend on that.
  [[nodiscard]] bool takes_given() const {
    constexpr double most_bytes = 1 << 20;
    if (clock_.modes() != nullptr) return clock_.modes()->selected() != ClockChoice::host;
    return bytes_of(operands_.given) > most_bytes;
  }

  /// Times calls on the values of draw_unseen(), and keeps a random output for take_output(). Calls on the values given
  /// come before, in the same memory: they warm the code, and replace unseen values that the last implementation saw. A
  /// device times them if takes_given().
  [[nodiscard]] CallTimes take_unseen(Implementation& implementation, std::span<const std::size_t> kept) {
    keep_given(kept);
    operands_.kept_call.reset();
    CallTimes times;
    if (clock_.modes() != nullptr)
      sample_new(implementation, kept, times);
    else
      time_each_new(implementation, kept, times);
    times.on_unseen /= static_cast<double>(drawn_);
    times.on_given /= static_cast<double>(drawn_);
    after_.clear();
    for (const auto& each : tensors_of_call(last_)) after_.push_back(check::clone_input(each));
    return times;
  }

  /// The kept output on unseen values, its values, and the operands after it.
  [[nodiscard]] c10::IValue take_output() { return std::exchange(output_, {}); }
  [[nodiscard]] const std::vector<at::Tensor>& values() const { return values_[last_].tensors; }
  [[nodiscard]] const std::vector<at::Tensor>& operands_after() const { return after_; }
  [[nodiscard]] std::size_t calls() const { return values_.size(); }

 private:
  [[nodiscard]] auto given_of_call() const {
    return [this](std::size_t) -> auto& { return operands_.given; };
  }
  [[nodiscard]] auto new_of_call() const {
    return [this](std::size_t i) -> auto& { return values_[i].tensors; };
  }

  /// Times the calls one by one. Keeps all outputs to the end, so that no call can tell whether its own is checked.
  /// Checks a random one, before the next call if that may overwrite it.
  void time_each_new(Implementation& implementation, std::span<const std::size_t> kept, CallTimes& times) {
    const auto write_all = [&](auto values_of_call) {
      implementation.prepare(0);
      for (std::size_t i = 0; i < drawn_; ++i) write_values(values_of_call(i), tensors_of_call(i), kept);
    };
    last_ = random_.below(drawn_);
    std::vector<c10::IValue> outputs(drawn_);
    const auto time_all = [&](Nanoseconds& taken, auto after_call) {
      for (std::size_t i = 0; i < drawn_; ++i) {
        taken += clock_.time_prepared(implementation, 0, 1);
        outputs[i] = implementation.take_output();
        after_call(i);
      }
    };
    write_all(given_of_call());
    // As many calls as in a part of a sample of the rounds.
    const bool as_in_rounds = takes_given() && operands_.mutated.empty();
    implementation.run(
        0, static_cast<std::int64_t>(as_in_rounds ? std::max(drawn_, 1 + random_.below(repeated_)) : drawn_));
    // Shows how much longer calls take than in the rounds, whatever their values.
    write_all(given_of_call());
    time_all(times.on_given, [](std::size_t) {});
    outputs.assign(drawn_, {});
    write_all(new_of_call());
    time_all(times.on_unseen, [&](std::size_t i) {
      if (!outputs_stay_ && i == last_) times.afterwards = read_output(outputs[i]);
    });
    if (outputs_stay_) times.afterwards = copy_output(std::move(outputs[last_]));
  }

  /// Times the calls together, as a device's clock does: it replays a capture, or queues them behind a block. Checks
  /// the last output.
  void sample_new(Implementation& implementation, std::span<const std::size_t> kept, CallTimes& times) {
    const auto sample_on = [&](auto values_of_call, const std::vector<at::Tensor>& restored) {
      for (std::size_t i = 0; i < drawn_; ++i) write_values(values_of_call(i), tensors_of_call(i), kept);
      const RestoredFrom values(operands_, restored);
      return timing::take_sample(clock_, implementation, 0, static_cast<std::int64_t>(drawn_));
    };
    (void)sample_on(given_of_call(), operands_.given);
    if (takes_given()) times.on_given = sample_on(given_of_call(), operands_.given);
    times.on_unseen = sample_on(new_of_call(), values_[0].tensors);
    last_ = drawn_ - 1;
    times.afterwards = copy_output(implementation.take_output());
  }

  /// While it exists, operands are restored from `values` before each sample.
  class RestoredFrom {
   public:
    RestoredFrom(OperandSets& operands, const std::vector<at::Tensor>& values)
        : operands_(operands), before_(std::exchange(operands.of_round, values)) {}
    RestoredFrom(const RestoredFrom&) = delete;
    RestoredFrom& operator=(const RestoredFrom&) = delete;
    ~RestoredFrom() { operands_.of_round = std::move(before_); }

   private:
    OperandSets& operands_;
    std::vector<at::Tensor> before_;
  };

  /// Gives the operand tensors `kept` their first values for single calls.
  void keep_given(std::span<const std::size_t> kept) const {
    for (const std::size_t each : kept)
      for (const auto& tensors : {operands_.tensors[0], values_[0].tensors})
        write_values({operands_.given[each]}, {tensors[each]});
  }

  /// Copies an output. Returns the time of its first reading beyond a second one; 0 on a device.
  [[nodiscard]] Nanoseconds read_output(const c10::IValue& output) {
    if (clock_.modes() != nullptr) {
      output_ = check::clone_ivalue(output);
      return {};
    }
    // Warms copying and freeing.
    if (!last_copy_.isNone()) (void)check::clone_ivalue(last_copy_);
    c10::IValue again;
    const Nanoseconds first = clock_.time([&] { output_ = check::clone_ivalue(output); });
    const Nanoseconds second = clock_.time([&] { again = check::clone_ivalue(output); });
    last_copy_ = std::move(again);
    return std::max(first - second, Nanoseconds(0));
  }

  /// The same with its release.
  [[nodiscard]] Nanoseconds copy_output(c10::IValue output) {
    const Nanoseconds reading = read_output(output);
    if (clock_.modes() != nullptr) return reading;
    return reading + clock_.time([&] { output = {}; });
  }

  template <class T>
  static void put_aside(std::vector<T>& from, std::ptrdiff_t first, std::vector<T>& to) {
    to.assign(std::make_move_iterator(from.begin() + first), std::make_move_iterator(from.end()));
    from.erase(from.begin() + first, from.end());
  }

  struct Copy {
    explicit Copy(const OperandSet& like) : operands(like.clone()), tensors(operands->tensors()) {}
    std::unique_ptr<OperandSet> operands;
    std::vector<at::Tensor> tensors;
  };

  [[nodiscard]] const std::vector<at::Tensor>& tensors_of_call(std::size_t call) const {
    return call == 0 ? operands_.tensors[0] : operands_.spare_tensors[0][call - 1];
  }

  timing::Clock& clock_;
  OperandSets& operands_;
  std::size_t repeated_;
  bool outputs_stay_ = true;
  SplitMix64 random_;
  bool owns_spares_ = false;
  decltype(OperandSets::spares)::value_type spares_aside_ = {};
  decltype(OperandSets::spare_tensors)::value_type tensors_aside_ = {};
  std::vector<Copy> values_;
  /// Most calls of a sample, those of draw_unseen(), and the index of the checked one.
  std::size_t most_calls_ = 1, drawn_ = 1, last_ = 0;
  c10::IValue output_, last_copy_;
  std::vector<at::Tensor> after_;
};

}  // namespace pace::detail
