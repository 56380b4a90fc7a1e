// Unseen tensors: calls on tensors that no call has had, beside those of the rounds.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/audit/context.hpp"
#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/timing/clock.hpp"
#include "pace/unseen/check.hpp"

namespace pace::detail {

/// While it exists, another set of operands is first.
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

/// Times single calls on set 0 and on unseen copies of it. Code that recognises tensors by object or address is slow on
/// copies, as in a program that makes operands for each call.
class UnseenTensorTimes {
 public:
  using Draw = std::function<void(const std::vector<at::Tensor>&)>;

  /// `draw` writes unseen values to tensors like those of `like`. The other arguments must outlive it.
  UnseenTensorTimes(timing::Clock& clock, OperandSets& operands, const OperandSet& like, Draw draw)
      : clock_(clock), operands_(operands), like_(like), draw_(std::move(draw)) {}

  /// A call of an implementation on each.
  struct Times {
    Nanoseconds on_known{}, on_unseen{};
  };
  [[nodiscard]] Times take(Implementation& implementation) {
    Times times;
    times.on_known = time(implementation, nullptr);
    // It lives on, so that no later one gets its address.
    made_.push_back(like_.clone());
    times.on_unseen = time(implementation, &made_.back());
    return times;
  }

  /// Whether a call takes more than 1.5 times as long on unseen tensors, beyond `slack` and the baseline's increase:
  /// memory unused before costs a time or a share.
  [[nodiscard]] static bool is_slow(const Times& own, const Times& baseline, Nanoseconds slack) {
    constexpr double most_times = 1.5;
    const Nanoseconds longer = std::max(baseline.on_unseen - baseline.on_known, Nanoseconds(0));
    const double norm = baseline.on_known.count() > 0 ? 1 + longer / baseline.on_known : 1;
    return own.on_unseen > most_times * norm * own.on_known + longer + slack;
  }

 private:
  [[nodiscard]] Nanoseconds time(Implementation& implementation, std::unique_ptr<OperandSet>* made) {
    const auto values = like_.clone();
    draw_(values->tensors());
    implementation.prepare(0);
    implementation.run(0, 1);
    std::optional<FirstSetExchanged> exchanged;
    if (made != nullptr) exchanged.emplace(operands_, *made);
    implementation.prepare(0);
    write_values(values->tensors(), operands_.tensors[0]);
    // State kept for an operand's version is made again on both.
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

/// Finds candidates that are fast only on the tensors of the rounds.
class UnseenTensors final : public Check {
 public:
  /// `context` must outlive it.
  explicit UnseenTensors(AuditContext& context) : context_(context) {}
  [[nodiscard]] std::string find_fault(Implementation& implementation) override;
  /// State kept for an operand is made again for another one.
  [[nodiscard]] bool is_explained_by_kept_operand() const override { return true; }

 private:
  AuditContext& context_;
};

/// Both calls have unseen values. Large operands would take too long to copy.
inline std::string UnseenTensors::find_fault(Implementation& implementation) {
  constexpr int tries = 12, for_all_but_one = 11;
  constexpr double slack_in_resolutions = 40, most_bytes = 64 << 20;
  const Nanoseconds usual = context_.shortest_of(implementation.index) + context_.shortest_of(context_.baseline_index);
  // On the values given, only unseen tensors would make kept state again. A training step has its tensors from the
  // model.
  if (context_.clock.modes() != nullptr || !context_.operands.constant.empty() || context_.prepared.renew ||
      !context_.answers->takes_unseen() || context_.operands.given.empty() ||
      bytes_of(context_.operands.given) > most_bytes || implementation.phases() != nullptr ||
      4 * usual > AuditContext::audit_share * context_.options.budget)
    return {};
  const Nanoseconds start = context_.clock.now(), slack = slack_in_resolutions * context_.clock.resolution();
  UnseenTensorTimes::Times own, of_baseline;
  int slower = 0;
  {
    const UnseenValuesInUse in_use = context_.unseen_in_use();
    UnseenTensorTimes times(context_.clock, context_.operands, *context_.prepared.given,
                            [&](const std::vector<at::Tensor>& tensors) {
                              context_.source->draw(context_.answers->unseen().kind, tensors, {});
                            });
    for (int i = 0; i < tries && slower >= i - (tries - for_all_but_one); ++i) {
      // Work on unseen tensors alone may have taken the time.
      if (i > 0 && context_.clock.now() - start > context_.longest_of_rounds()) break;
      if (time_left(context_.clock).count() <= 0) break;
      of_baseline = times.take(context_.baseline());
      own = times.take(implementation);
      slower += UnseenTensorTimes::is_slow(own, of_baseline, slack);
    }
  }
  context_.repair(0);
  if (slower < for_all_but_one) return {};
  return "a call on tensors that none has had takes " + format_time(own.on_unseen) +
         ", and one on the rounds' tensors " + format_time(own.on_known) +
         ", both on unseen values; the baseline's take " + format_time(of_baseline.on_unseen) + " and " +
         format_time(of_baseline.on_known) + ": it is fast on the tensors of the rounds alone" +
         AuditContext::keeps_hint();
}
}  // namespace pace::detail
