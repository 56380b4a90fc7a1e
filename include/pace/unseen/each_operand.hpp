// EachOperand: whether an implementation follows each operand alone, while the others keep their values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include "pace/base/format.hpp"
#include "pace/base/random.hpp"
#include "pace/base/spelling.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/restore.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/unseen/alike_operands.hpp"
#include "pace/unseen/answers.hpp"
#include "pace/unseen/check.hpp"
#include "pace/unseen/oracle.hpp"
#include "pace/unseen/rounding.hpp"
#include "pace/unseen/value_changes.hpp"
#include "pace/values/changed_memory.hpp"
#include "pace/values/unseen_kind.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// Finds values of each operand alone that change the baseline's output, and calls implementations on them. If all
/// operands change at once, one that hardly matters hides behind the others.
///
/// Operands that are equal or share memory change together. So do all integers, which may describe each other, like the
/// ends of a range. A draw keeps structure, such as equal values; operands with structure also get values without it.
class EachOperand final : public Check {
 public:
  /// Whether outputs compared by `options` can be checked. Declared ratios and orders may hold between operands.
  [[nodiscard]] static bool applies(const check::CheckOptions& options) {
    using Method = check::CheckOptions::Method;
    return options.unseen_values == check::CheckOptions::UnseenValues::varied && options.method != Method::none &&
           options.method != Method::random && options.method != Method::float64_reference;
  }

  using Learn = std::function<void(Expected&, const OperandSet&)>;

  /// `seed` is for values, and `seed_of_calls` for calls that draw. `learn` adds tolerances for unseen values.
  EachOperand(const Oracle& oracle, std::uint64_t seed, std::uint64_t seed_of_calls, Learn learn)
      : oracle_(oracle),
        operands_(oracle.operands),
        options_(oracle.check),
        source_(oracle.unseen_values(seed)),
        seed_of_calls_(seed_of_calls),
        learn_tolerances_(std::move(learn)) {}

  /// Finds values with at most about `most_calls` calls of the baseline.
  void learn(std::int64_t most_calls) {
    calls_left_ = most_calls;
    try {
      find_changes();
    } catch (...) {
      const Failure failure = current_failure();
      if (failure.device != Failure::Device::fine || !failure.out_of_memory) throw;
      give_up();
    }
    operands_.restore_all(0);
    // They would take memory while rounds are timed.
    if (std::ranges::none_of(changes_, [](const Change& each) { return each.others != Others::given; })) {
      unseen_.operands.reset();
      unseen_.values.clear();
      unseen_.expected = {};
    }
  }

  /// A note for readers of the result, empty if there is none.
  [[nodiscard]] std::string note() const {
    std::string text;
    const auto add = [&](const std::string& sentence) { text += (text.empty() ? "" : " ") + sentence; };
    const auto unseen = [](const std::vector<std::size_t>& operands) {
      const std::string pronoun = operands.size() == 1 ? "it" : "them";
      return ". An implementation that ignores " + pronoun + ", or keeps what it derives from " + pronoun +
             ", would not be found.";
    };
    if (!without_effect_.empty())
      add("No values of operand tensor " + listed(without_effect_) +
          " alone were found that change an output of the baseline" + unseen(without_effect_));
    if (!untried_.empty())
      add("Operand tensor " + listed(untried_) + (untried_.size() == 1 ? " was" : " were") +
          " not given unseen values alone, since " + (no_memory_ ? "memory ran out" : "that takes too many calls") +
          unseen(untried_));
    return text;
  }

  /// Returns the fault of an implementation that is right on the values given, empty for none.
  [[nodiscard]] std::string find_fault(Implementation& implementation) override {
    std::string problem;
    for (const auto& change : changes_) {
      std::optional<Tried> tried;
      try {
        tried = make(change);
      } catch (...) {
        const Failure failure = current_failure();
        if (failure.device != Failure::Device::fine || !failure.out_of_memory) throw;
        operands_.restore_all(0);  // The implementation has not been called.
      }
      if (!tried) continue;  // The baseline need not take the next draw.
      problem = judge(implementation, change, *tried);
      operands_.restore_all(0);
      if (!problem.empty()) break;
    }
    return problem;
  }

 private:
  /// Values of the operands outside of the group.
  enum class Others {
    given,
    /// Those of a draw for all operands.
    unseen,
    /// ... with random numbers in [1/4, 1) for all zeros, which may multiply the group.
    filled
  };
  using Way = WayToChange;
  struct Change {
    std::vector<std::size_t> group;
    Others others;
    Way way;
  };
  struct Tried {
    /// With the group's first values: of `before_operands`, or the values given.
    std::vector<at::Tensor> before;
    std::unique_ptr<OperandSet> before_operands;
    UnseenAnswers after;
  };

  void find_changes() {
    unseen_ = find_unseen_answers(oracle_, source_, [](Expected&, const OperandSet&) {});
    calls_left_ -= unseen_.calls;
    operands_.restore_all(0);
    const auto groups = alike_.find_groups();
    const bool draws = unseen_.kind.varies();
    // The draw for the only group was seen to matter.
    const bool matters = groups.size() == 1 && draws && differs(oracle_.expected, unseen_.expected);
    // The baseline may take only a common factor.
    const bool tries = !matters && (draws || unseen_.kind == UnseenKind::none);
    constexpr std::size_t most_groups = 8;
    for (std::size_t i = 0; i < groups.size() && tries; ++i) {
      if (i < most_groups && calls_left_ > 0)
        learn_group(groups[i], draws);
      else
        untried_.insert(untried_.end(), groups[i].begin(), groups[i].end());
    }
    if (!options_.edge_values) return;
    constexpr std::int64_t calls_for_special = 16;
    calls_left_ = std::max(calls_left_, calls_for_special);
    for (const auto& group : groups)
      for (const std::size_t i : group)
        if (alike_.first_alike(group, i)) learn_special(alike_.alike(group, i));
  }

  void give_up() {
    no_memory_ = true;
    changes_.clear();
    unseen_ = {};
    without_effect_.clear();
    untried_.clear();
    for (const auto& group : alike_.find_groups()) untried_.insert(untried_.end(), group.begin(), group.end());
  }

  void learn_group(const std::vector<std::size_t>& group, bool draws) {
    constexpr int most_draws = 3;
    for (int i = 0; i < most_draws && draws; ++i)
      if (learn_change({group, Others::given, Way::draw})) return;
    if (draws && learn_change({group, Others::unseen, Way::draw})) return;
    // As with edge values, implementations need not take these.
    if (!options_.edge_values) return note_group(group);
    for (const Way way : {Way::fill, Way::flip, Way::shrink, Way::shrink_far, Way::grow, Way::draw})
      for (const Others others : {Others::given, Others::unseen, Others::filled})
        if ((draws || others == Others::given) && learn_change({group, others, way})) return;
    note_group(group);
  }

  void note_group(const std::vector<std::size_t>& group) {
    auto& noted = calls_left_ > 0 ? without_effect_ : untried_;
    noted.insert(noted.end(), group.begin(), group.end());
  }

  /// Tries each way that breaks structure, until one changes the baseline's output.
  void learn_special(const std::vector<std::size_t>& operands) {
    for (const Way way : {Way::zero_some, Way::make_unequal, Way::unlike_rows, Way::lower, Way::mix}) {
      if (!learn_change({operands, Others::given, way}) &&
          (!unseen_.kind.varies() || !learn_change({operands, Others::unseen, way})))
        continue;
      for (const std::size_t i : operands) {
        std::erase(without_effect_, i);
        std::erase(untried_, i);
      }
      return;
    }
  }

  /// Keeps the change and returns true if it changes the baseline's output.
  [[nodiscard]] bool learn_change(Change change) {
    if (calls_left_ <= 0) return false;
    const auto tried = make(change);
    if (!tried) return false;
    Expected before = oracle_.expected;
    if (change.others != Others::given) {
      UnseenAnswers answers{.kind = unseen_.kind,
                            .values = tried->before,
                            .seed = seed_of_calls_,
                            .which = tried->after.which,
                            .remedy = tried->after.remedy};
      if (!answer(answers)) return false;
      before = std::move(answers.expected);
    }
    if (!differs(before, tried->after.expected)) return false;
    changes_.push_back(std::move(change));
    return true;
  }

  [[nodiscard]] bool differs(const Expected& before, const Expected& after) const {
    const auto options = without_reference(options_);
    const auto differ = [&](const c10::IValue& one, const c10::IValue& other) {
      return !check::outputs_match(one, other, options).correct;
    };
    if (!before.output.isNone() && differ(before.output, after.output)) return true;
    for (const std::size_t i : operands_.mutated)
      if (differ(before.operands[i], after.operands[i])) return true;
    return false;
  }

  /// Enters the baseline's answers on these values. Returns whether it takes them.
  [[nodiscard]] bool answer(UnseenAnswers& answers) {
    --calls_left_;
    bool taken = false;
    try {
      const c10::AutoGradMode as_given(gradients_);
      taken = answer_unseen_values(oracle_.baseline, operands_, oracle_.expected, answers);
    } catch (...) {
      const Failure failure = current_failure();
      if (failure.device != Failure::Device::fine || failure.out_of_memory) throw;
    }
    operands_.restore_all(0);
    return taken;
  }

  /// Returns a change's values; nothing if the baseline takes none.
  [[nodiscard]] std::optional<Tried> make(const Change& change) {
    Tried tried;
    tried.before = operands_.given;
    if (change.others != Others::given) {
      tried.before_operands = oracle_.given.clone();
      tried.before = tried.before_operands->tensors();
    }
    auto& after = tried.after;
    after = {.kind = unseen_.kind, .operands = oracle_.given.clone(), .seed = seed_of_calls_};
    after.values = after.operands->tensors();
    const auto in_group = [&](std::size_t i) { return std::ranges::find(change.group, i) != change.group.end(); };
    const c10::NoGradGuard no_grad;
    try {
      if (change.others != Others::given) {
        if (change.others == Others::filled && !fill_zeros_of_others(tried.before, in_group)) return std::nullopt;
        for (std::size_t i = 0; i < tried.before.size(); ++i) {
          const bool filled = change.others == Others::filled && value_changes_.is_zeros(i);
          if (in_group(i) || operands_.may_change(i)) continue;
          if (!filled) check::restore_tensor(unseen_.values[i], tried.before[i]);
          check::restore_tensor(tried.before[i], after.values[i]);
        }
      }
      std::vector<std::size_t> kept;
      for (std::size_t i = 0; i < tried.before.size(); ++i)
        if (!in_group(i)) kept.push_back(i);
      source_.draw(unseen_.kind, after.values, kept);
      bool changes =
          change.way == Way::draw && std::any_of(change.group.begin(), change.group.end(),
                                                 [&](std::size_t i) { return source_.changes(unseen_.kind, i); });
      const std::uint64_t seed = random_();
      // Operands that are equal stay so.
      for (const std::size_t i : change.group)
        changes =
            value_changes_.apply(change.way, i, after.values[i], SplitMix64(seed + source_.same_as(i))) || changes;
      if (!changes) return std::nullopt;
    } catch (...) {
      const Failure failure = current_failure();
      if (failure.device != Failure::Device::fine || failure.out_of_memory) throw;
      return std::nullopt;  // a dtype without arithmetic
    }
    after.which =
        "pace drew those of operand tensor " + listed(change.group) + " alone (" + how_changed(change.way) + ')';
    if (change.way != Way::draw) after.remedy = remedy_for_edge_values();
    after.may_shrink = change.way == Way::lower;
    if (!answer(after)) return std::nullopt;
    after.expected.learned = learned_for(after.expected, oracle_.expected);
    return tried;
  }

  template <class InGroup>
  [[nodiscard]] bool fill_zeros_of_others(const std::vector<at::Tensor>& tensors, const InGroup& in_group) {
    bool filled = false;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (in_group(i) || operands_.may_change(i) || !tensors[i].defined() || !value_changes_.is_zeros(i)) continue;
      at::Tensor memory = flat_memory(tensors[i]);
      ValueChanges::fill(memory, random_);
      filled = true;
    }
    return filled;
  }

  [[nodiscard]] std::string judge(Implementation& implementation, const Change& change, Tried& tried) {
    const std::string where = "operand tensor " + listed(change.group) + " alone " +
                              (change.group.size() == 1 ? "has" : "have") + " unseen values";
    ObservedCall before, made;
    try {
      const c10::AutoGradMode as_given(gradients_);
      const UnseenValuesInUse in_use = tried.after.in_use();
      before = observe_call(implementation, operands_, &tried.before, tried.after.seed, oracle_.expected.output);
      made = observe_call(implementation, operands_, &tried.after.values, tried.after.seed, oracle_.expected.output);
    } catch (...) {
      const Failure failure = current_failure();
      if (failure.device != Failure::Device::fine || failure.out_of_memory) throw;
      return "it is right for the operands given, but throws on others: " + failure.message;
    }
    const c10::NoGradGuard no_grad;
    auto& expected = tried.after.expected;
    Agreement agreement = agree(expected, made.at_return, operands_, 0, options_);
    if (agreement.correct) return {};
    std::vector<at::Tensor> tensors_after;
    for (const auto& each : operands_.tensors[0]) tensors_after.push_back(check::clone_input(each));
    learn_tolerances_(expected, *tried.after.operands);
    agreement = agree_with(expected, made.at_return, operands_, &tensors_after, options_);
    const auto& after = tried.after;
    // rounding_explains() does not look at operands that the call has written to.
    const auto operands_agree = [&] {
      return agree_with(expected, expected.output, operands_, &tensors_after, without_reference(options_)).correct;
    };
    if (agreement.correct ||
        (operands_agree() && rounding_explains(made.at_return, {after.values, expected, after.seed}, oracle_, source_)))
      return {};
    const auto options = without_reference(options_);
    const bool stale =
        !made.at_return.isNone() && check::outputs_match(before.at_return, made.at_return, options).correct;
    return (stale ? "it returned the answer for values that had been overwritten where "
                  : "it is right for the operands given, but not where ") +
           where + " (" + how_changed(change.way) + "): " + agreement.message +
           "; try: if it relies on special operands, choose other unseen values or none (" +
           (change.way == Way::draw
                ? spelled("check::CheckOptions::unseen_values in C++, --audit standard on a command line",
                          "check(unseen_values=...)")
                : spelled("check::CheckOptions::unseen_values, edge_values in C++, --audit standard on a command line",
                          "check(unseen_values=..., edge_values=False)")) +
           ')';
  }

  [[nodiscard]] std::string how_changed(Way way) const {
    const std::string drawn = unseen_.kind.varies() && way < Way::zero_some ? to_string(unseen_.kind) : "";
    const std::string by_way = describe(way);
    return drawn + (drawn.empty() || by_way.empty() ? "" : ", and ") + by_way;
  }

  Oracle oracle_;
  OperandSets& operands_;
  const check::CheckOptions& options_;
  UnseenValues source_;
  ValueChanges value_changes_{operands_.given, source_};
  AlikeOperands alike_{operands_, source_, value_changes_};
  std::uint64_t seed_of_calls_;
  Learn learn_tolerances_;
  SplitMix64 random_{source_.draw_seed()};
  bool gradients_ = c10::GradMode::is_enabled();
  std::int64_t calls_left_ = 0;
  /// A draw for all operands that the baseline takes.
  UnseenAnswers unseen_ = {};
  std::vector<Change> changes_ = {};
  std::vector<std::size_t> without_effect_ = {};
  /// Operands left out, and whether memory ran out.
  std::vector<std::size_t> untried_ = {};
  bool no_memory_ = false;
};

}  // namespace pace::detail
