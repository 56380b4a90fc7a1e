// New tensors: times of calls on tensors that no call has had, beside those of calls on the tensors of the rounds. Code
// that knows tensors by their objects or addresses is slow on the former alone, which is what a program has whose
// operands are made for each call.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/base/units.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// While it exists, the first set of operands is another one.
class FirstSetExchanged {
 public:
  /// Both must outlive it.
  FirstSetExchanged(OperandSets& operands, std::unique_ptr<OperandSet>& other)
      : operands_(operands), set_(other), tensors_(other->tensors()) {
    exchange();
  }
  FirstSetExchanged(const FirstSetExchanged&) = delete;
  FirstSetExchanged& operator=(const FirstSetExchanged&) = delete;
  ~FirstSetExchanged() { exchange(); }

 private:
  void exchange() {
    std::swap(operands_.sets[0], set_);
    std::swap(operands_.tensors[0], tensors_);
  }
  OperandSets& operands_;
  std::unique_ptr<OperandSet>& set_;
  std::vector<at::Tensor> tensors_;
};

/// Times of single calls on set 0 and on copies of it that no call has had.
class NewTensorTimes {
 public:
  using Draw = std::function<void(const std::vector<at::Tensor>&)>;

  /// `draw` writes new values to the tensors that it gets, which are like those of `like`. The other arguments must
  /// outlive it.
  NewTensorTimes(timing::Clock& clock, OperandSets& operands, const OperandSet& like, Draw draw)
      : clock_(clock), operands_(operands), like_(like), draw_(std::move(draw)) {}

  /// A call of an implementation on each.
  struct Times {
    Nanoseconds on_known{}, on_new{};
  };
  [[nodiscard]] Times take(Implementation& implementation) {
    Times times;
    times.on_known = time(implementation, nullptr);
    // It lives on, so that no later one has its address.
    made_.push_back(like_.clone());
    times.on_new = time(implementation, &made_.back());
    return times;
  }

  /// Whether a call takes more than 1.5 times as long on new tensors, beyond `slack` and beyond what that of the
  /// baseline takes longer there: memory that is new to the process makes calls longer by a time or by a share.
  [[nodiscard]] static bool is_slow(const Times& own, const Times& baseline, Nanoseconds slack) {
    constexpr double most_times = 1.5;
    const Nanoseconds longer = std::max(baseline.on_new - baseline.on_known, Nanoseconds(0));
    const double norm = baseline.on_known.count() > 0 ? 1 + longer / baseline.on_known : 1;
    return own.on_new > most_times * norm * own.on_known + longer + slack;
  }

 private:
  [[nodiscard]] Nanoseconds time(Implementation& implementation, std::unique_ptr<OperandSet>* made) {
    const auto values = like_.clone();
    draw_(values->tensors());
    // The calls before are on tensors that are known.
    implementation.prepare(0);
    implementation.run(0, 1);
    std::optional<FirstSetExchanged> exchanged;
    if (made != nullptr) exchanged.emplace(operands_, *made);
    implementation.prepare(0);
    write_values(values->tensors(), operands_.tensors[0]);
    // What is kept for the version of an operand is made anew on the known tensors, too, where the draw has left its
    // values as they were.
    for (const auto& tensor : operands_.tensors[0])
      if (is_versioned(tensor)) tensor.unsafeGetTensorImpl()->bump_version();
    return clock_.time_prepared(implementation, 0, 1);
  }

  timing::Clock& clock_;
  OperandSets& operands_;
  const OperandSet& like_;
  Draw draw_;
  std::vector<std::unique_ptr<OperandSet>> made_ = {};
};

}  // namespace pace::detail
