// EachOperand: whether an implementation follows each operand alone, where the others keep their values.
#pragma once

#include <algorithm>
#include <cmath>
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

#include "pace/check/check_options.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/restore.hpp"
#include "pace/compare/expected.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/integrity/answers.hpp"
#include "pace/compare/integrity/fresh_values.hpp"
#include "pace/compare/integrity/observed_call.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/sensitivity.hpp"
#include "pace/compare/value_structure.hpp"
#include "pace/core/format.hpp"
#include "pace/core/random.hpp"

namespace pace::detail {

/// Looks for values by which each operand alone changes what the baseline returns, and asks implementations about such
/// values. Where all operands change at once, one that does not matter for these values hides behind the others, and a
/// result that is kept for one of them is computed anew.
///
/// Operands that are equal, or share memory, change together, and so do all integers: they may describe each other, as
/// the first and the last index of a range do.
class EachOperand {
 public:
  /// Whether outputs that are compared by `options` can be compared for such values. Declared ratios and orders may
  /// hold between operands.
  [[nodiscard]] static bool applies(const check::CheckOptions& options) {
    using Method = check::CheckOptions::Method;
    return options.fresh_values == check::CheckOptions::FreshValues::varied && options.method != Method::none &&
           options.method != Method::random && options.method != Method::float64_reference;
  }

  using Learn = std::function<void(Expected&, const OperandSet&)>;

  /// `seed` is that of the values, and `seed_of_calls` that of the random numbers which calls draw. All must outlive
  /// it.
  EachOperand(Implementation& baseline, OperandSets& operands, const OperandSet& original, const Expected& given,
              const check::CheckOptions& options, std::uint64_t seed, std::uint64_t seed_of_calls)
      : baseline_(baseline),
        operands_(operands),
        original_(original),
        given_(given),
        options_(options),
        source_(operands.pristine, seed),
        seed_of_calls_(seed_of_calls) {}

  /// Finds values for each operand by at most about `most_calls` calls of the baseline.
  void learn(std::int64_t most_calls) {
    calls_left_ = most_calls;
    fresh_ = find_fresh_answers(baseline_, operands_, original_, given_, options_, source_,
                                [](Expected&, const OperandSet&) {});
    operands_.restore_all(0);
    if (fresh_.renewal == Renewal::none || fresh_.renewal > Renewal::vary) return;
    const auto groups = find_groups();
    // What changes one operand was seen to matter.
    if (groups.size() < 2 && differs(given_, fresh_.expected)) return;
    constexpr std::size_t most_groups = 8;
    for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) learn_group(groups[i]);
    operands_.restore_all(0);
  }

  /// What readers of the result must know; empty if there is nothing.
  [[nodiscard]] std::string note() const {
    if (without_effect_.empty()) return {};
    const bool one = without_effect_.size() == 1;
    return "No values were found for which operand tensor " + listed(without_effect_) +
           (one ? " alone changes" : " alone change") + " an output of the baseline: that an implementation ignores " +
           (one ? "it" : "them") + ", or keeps what it derives from " + (one ? "it" : "them") + ", would not be seen.";
  }

  /// What is wrong with an implementation that is right for the given values; empty if nothing is. `learn` adds the
  /// tolerances for other values to what is expected.
  [[nodiscard]] std::string examine(Implementation& implementation, const Learn& learn) {
    std::string problem;
    for (const auto& question : questions_) {
      auto asked = make(question);
      if (!asked) continue;  // The next draw may be none that the baseline takes.
      problem = judge(implementation, question, *asked, learn);
      operands_.restore_all(0);
      if (!problem.empty()) break;
    }
    return problem;
  }

 private:
  /// Which values the other operands have.
  enum class Others {
    given,
    /// Those of a draw for all operands.
    fresh,
    /// ... and random ones in [1/4, 1) where all were zeros, since other operands may be multiplied by these.
    filled
  };
  /// How other values of a group are made.
  enum class Way {
    /// By the kind of fresh values that the baseline takes.
    draw,
    /// ... divided by 16 or 256, for what saturates.
    shrink,
    shrink_far,
    /// ... times 16.
    grow,
    /// Zeros become numbers in [1/4, 1).
    fill,
    /// One in eight of the bools takes the other value.
    flip
  };
  [[nodiscard]] static std::string describe(Way way) {
    switch (way) {
      case Way::draw:
        break;
      case Way::shrink:
        return ", and divided by 16";
      case Way::shrink_far:
        return ", and divided by 256";
      case Way::grow:
        return ", and times 16";
      case Way::fill:
        return ", and numbers in place of zeros";
      case Way::flip:
        return ", and some bools negated";
    }
    return {};
  }
  struct Question {
    std::vector<std::size_t> group;
    Others others;
    Way way;
  };
  struct Asked {
    /// Values by which the group has its first values.
    std::vector<at::Tensor> before;
    std::unique_ptr<OperandSet> before_operands;
    FreshAnswers after;
  };

  [[nodiscard]] static bool shares_memory(const at::Tensor& one, const at::Tensor& other) {
    return one.has_storage() && other.has_storage() && one.storage().data() != nullptr &&
           one.storage().data() == other.storage().data();
  }

  [[nodiscard]] std::vector<std::vector<std::size_t>> find_groups() const {
    const auto& tensors = operands_.pristine;
    std::vector<std::vector<std::size_t>> groups;
    const auto is_integer = [&](std::size_t i) {
      return c10::isIntegralType(tensors[i].scalar_type(), /*includeBool=*/false);
    };
    const auto belong_together = [&](std::size_t one, std::size_t other) {
      return (is_integer(one) && is_integer(other)) || source_.same_as(one) == source_.same_as(other) ||
             shares_memory(operands_.tensors[0][one], operands_.tensors[0][other]);
    };
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].defined() || !check::detail::is_plain(tensors[i]) || tensors[i].numel() == 0 ||
          operands_.may_change(i))
        continue;
      const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return std::any_of(group.begin(), group.end(), [&](std::size_t other) { return belong_together(i, other); });
      });
      if (known == groups.end())
        groups.push_back({i});
      else
        known->push_back(i);
    }
    return groups;
  }

  void learn_group(const std::vector<std::size_t>& group) {
    constexpr int draws = 3;
    for (int i = 0; i < draws; ++i)
      if (learn_question({group, Others::given, Way::draw})) return;
    if (learn_question({group, Others::fresh, Way::draw})) return;
    // Like edge values, these may be none that an implementation takes.
    if (!options_.edge_values) return note_group(group);
    for (const Way way : {Way::fill, Way::flip, Way::shrink, Way::shrink_far, Way::grow, Way::draw})
      for (const Others others : {Others::given, Others::fresh, Others::filled})
        if (learn_question({group, others, way})) return;
    note_group(group);
  }

  void note_group(const std::vector<std::size_t>& group) {
    if (calls_left_ > 0) without_effect_.insert(without_effect_.end(), group.begin(), group.end());
  }

  /// Returns whether the group changes what the baseline returns, and then keeps the question.
  [[nodiscard]] bool learn_question(Question question) {
    if (calls_left_ <= 0) return false;
    const auto asked = make(question);
    if (!asked) return false;
    Expected before = given_;
    if (question.others != Others::given) {
      FreshAnswers answers{.renewal = fresh_.renewal, .values = asked->before, .seed = seed_of_calls_};
      if (!answer(answers)) return false;
      before = std::move(answers.expected);
    }
    if (!differs(before, asked->after.expected)) return false;
    questions_.push_back(std::move(question));
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

  /// Returns whether the baseline takes these values, with its answers.
  [[nodiscard]] bool answer(FreshAnswers& answers) {
    --calls_left_;
    bool taken = false;
    try {
      const c10::AutoGradMode as_given(gradients_);
      taken = answer_fresh_values(baseline_, operands_, given_, answers);
    } catch (...) {
      if (current_failure().device != Failure::Device::fine) throw;
    }
    operands_.restore_all(0);
    return taken;
  }

  /// Returns values for a question that the baseline takes; nothing if there are none.
  [[nodiscard]] std::optional<Asked> make(const Question& question) {
    Asked asked;
    asked.before_operands = original_.clone();
    asked.before = asked.before_operands->tensors();
    auto& after = asked.after;
    after = {.renewal = fresh_.renewal, .operands = original_.clone(), .seed = seed_of_calls_};
    after.values = after.operands->tensors();
    const auto in_group = [&](std::size_t i) { return std::ranges::find(question.group, i) != question.group.end(); };
    const c10::NoGradGuard no_grad;
    try {
      if (question.others != Others::given) {
        if (question.others == Others::filled && !fill_zeros_of_others(asked.before, in_group)) return std::nullopt;
        for (std::size_t i = 0; i < asked.before.size(); ++i) {
          const bool filled = question.others == Others::filled && is_zeros(i);
          if (in_group(i) || operands_.may_change(i)) continue;
          if (!filled) check::restore_tensor(fresh_.values[i], asked.before[i]);
          check::restore_tensor(asked.before[i], after.values[i]);
        }
      }
      std::vector<std::size_t> kept;
      for (std::size_t i = 0; i < asked.before.size(); ++i)
        if (!in_group(i)) kept.push_back(i);
      source_.draw(fresh_.renewal, after.values, kept);
      bool changes =
          question.way == Way::draw && std::any_of(question.group.begin(), question.group.end(),
                                                   [&](std::size_t i) { return source_.renews(fresh_.renewal, i); });
      const std::uint64_t seed = random_();
      // Operands that are equal stay so.
      for (const std::size_t i : question.group)
        changes = apply(question.way, i, after.values[i], SplitMix64(seed + source_.same_as(i))) || changes;
      if (!changes) return std::nullopt;
    } catch (...) {  // a dtype without arithmetic
      return std::nullopt;
    }
    if (!answer(after)) return std::nullopt;
    after.expected.learned = learned_for(after.expected, given_);
    return asked;
  }

  [[nodiscard]] bool is_zeros(std::size_t i) const {
    return has_real_values(operands_.pristine[i]) && source_.structure(i).zeros;
  }

  static void fill(at::Tensor& values, SplitMix64& random) {
    draw_in_parts(
        values.numel(), random, values.options().dtype(c10::toRealValueType(values.scalar_type())),
        [](SplitMix64& from) { return 1.5 * draw_factor(from) - 0.5; },
        [flat = values.view({-1})](std::int64_t first, std::int64_t count, const at::Tensor& part) {
          flat.narrow(0, first, count).copy_(part);
        });
  }

  template <class InGroup>
  [[nodiscard]] bool fill_zeros_of_others(const std::vector<at::Tensor>& tensors, const InGroup& in_group) {
    bool filled = false;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (in_group(i) || operands_.may_change(i) || !tensors[i].defined() || !is_zeros(i)) continue;
      at::Tensor memory = flat_memory(tensors[i]);
      fill(memory, random_);
      filled = true;
    }
    return filled;
  }

  /// Returns whether this way changes operand `i`, whose values were drawn before.
  [[nodiscard]] bool apply(Way way, std::size_t i, const at::Tensor& tensor, SplitMix64 random) const {
    const bool real = has_real_values(operands_.pristine[i]);
    const auto& structure = source_.structure(i);
    const auto multiply = [&](double factor) {
      if (!real || structure.needs_common_factor()) return false;
      flat_memory(tensor).mul_(factor);
      return true;
    };
    switch (way) {
      case Way::draw:
        return false;
      case Way::shrink:
        return multiply(0x1p-4);
      case Way::shrink_far:
        return multiply(0x1p-8);
      case Way::grow:
        // One sign may mean coordinates, which have a largest value.
        return structure.both_signs && multiply(0x1p4);
      case Way::fill: {
        if (!is_zeros(i)) return false;
        at::Tensor memory = flat_memory(tensor);
        fill(memory, random);
        return true;
      }
      case Way::flip: {
        if (tensor.scalar_type() != at::kBool || tensor.numel() < 2) return false;
        at::Tensor values = check::detail::distinct_values_of(tensor);
        // Those in order, as padding is, and those of one true value would belong to another kind.
        if (!source_.moves(i) && !values.all().item<bool>() && values.any().item<bool>()) return false;
        resample_values(values, 0, random);
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::string judge(Implementation& implementation, const Question& question, Asked& asked,
                                  const Learn& learn) {
    const std::string where = "operand tensor " + listed(question.group) + " alone " +
                              (question.group.size() == 1 ? "has" : "have") + " other values";
    ObservedCall before, made;
    try {
      const c10::AutoGradMode as_given(gradients_);
      before = observe_call(implementation, operands_, &asked.before, asked.after.seed, given_.output);
      made = observe_call(implementation, operands_, &asked.after.values, asked.after.seed, given_.output);
    } catch (...) {
      const Failure failure = current_failure();
      if (failure.device != Failure::Device::fine || failure.out_of_memory) throw;
      return "it is right for the operands given, but throws where " + where + ": " + failure.message;
    }
    const c10::NoGradGuard no_grad;
    auto& expected = asked.after.expected;
    Agreement agreement = agree(expected, made.at_return, operands_, 0, options_);
    if (agreement.correct) return {};
    std::vector<at::Tensor> tensors_after;
    for (const auto& each : operands_.tensors[0]) tensors_after.push_back(check::clone_input(each));
    learn(expected, *asked.after.operands);
    agreement = agree_with(expected, made.at_return, operands_, &tensors_after, options_);
    if (agreement.correct || rounding_explains(made.at_return, asked.after)) return {};
    const auto options = without_reference(options_);
    const bool stale =
        !made.at_return.isNone() && check::outputs_match(before.at_return, made.at_return, options).correct;
    return (stale ? "it returned the answer for values that had been overwritten where "
                  : "it is right for the operands given, but not where ") +
           where + " (" + to_string(fresh_.renewal) + describe(question.way) + "): " + agreement.message +
           ". If it relies on what is special about the operands, choose other values or none "
           "(check::CheckOptions::" +
           (question.way == Way::draw ? "fresh_values)" : "fresh_values, edge_values)");
  }

  /// Whether the baseline's output changes about as much as `output` is off, if operands change in their last places.
  [[nodiscard]] bool rounding_explains(const c10::IValue& output, const FreshAnswers& asked) {
    constexpr double as_much = 8;
    const auto options = without_reference(options_);
    if (output.isNone() || options.method != check::CheckOptions::Method::allclose) return false;
    const double error = check::outputs_match(asked.expected.output, output, options).max_abs_error;
    if (!std::isfinite(error)) return false;
    try {
      const auto changed = asked.operands->clone();
      const auto tensors = changed->tensors();
      source_.perturb(tensors);
      const ObservedCall perturbed = observe_call(baseline_, operands_, &tensors, asked.seed, given_.output);
      operands_.restore_all(0);
      const double change = check::outputs_match(asked.expected.output, perturbed.at_return, options).max_abs_error;
      return change > 0 && error <= as_much * change;
    } catch (...) {
      operands_.restore_all(0);
      return false;
    }
  }

  Implementation& baseline_;
  OperandSets& operands_;
  const OperandSet& original_;
  const Expected& given_;
  const check::CheckOptions& options_;
  FreshValues source_;
  std::uint64_t seed_of_calls_;
  SplitMix64 random_{source_.draw_seed()};
  bool gradients_ = c10::GradMode::is_enabled();
  std::int64_t calls_left_ = 0;
  /// Values of a draw for all operands that the baseline takes.
  FreshAnswers fresh_ = {};
  std::vector<Question> questions_ = {};
  std::vector<std::size_t> without_effect_ = {};
};

}  // namespace pace::detail
