// EachOperand: whether an implementation follows each operand alone, while the others keep their values.
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
#include <ATen/ops/arange.h>
#include <c10/core/GradMode.h>

#include "pace/base/format.hpp"
#include "pace/base/random.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/restore.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/values/changed_memory.hpp"
#include "pace/values/quantized_values.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/renewal.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/special_values.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/values/value_structure.hpp"
#include "pace/verify/answers.hpp"
#include "pace/verify/check.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/rounding.hpp"
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

  /// `seed` is for values, and `seed_of_calls` for calls that draw. `learn` adds tolerances for unseen values. All must
  /// outlive it.
  EachOperand(Implementation& baseline, OperandSets& operands, const OperandSet& original, const Expected& given,
              const check::CheckOptions& options, std::uint64_t seed, std::uint64_t seed_of_calls, Learn learn)
      : baseline_(baseline),
        operands_(operands),
        original_(original),
        given_(given),
        options_(options),
        source_(operands.pristine, seed, KnownSizes(operands.pristine, given.output, original.numbers())),
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
  /// How the unseen values of a group are made.
  enum class Way {
    /// By the kind of unseen values that the baseline takes.
    draw,
    /// ... divided by 16 or 256, for functions that saturate.
    shrink,
    shrink_far,
    /// ... times 16.
    grow,
    /// Zeros become numbers in [1/4, 1).
    fill,
    /// One in eight bools is negated.
    flip,
    /// One in eight of equal values becomes zero (see zero_some_ones()).
    zero_some,
    /// ... or all become different (see make_unequal()).
    make_unequal,
    /// ... or equal rows become different (see make_rows_unlike()).
    unlike_rows,
    /// Numbers change places (see mix_elements()).
    mix,
    /// Integers become smaller (see lower_integers()).
    lower
  };
  [[nodiscard]] static std::string describe(Way way) {
    switch (way) {
      case Way::draw:
        break;
      case Way::shrink:
        return "divided by 16";
      case Way::shrink_far:
        return "divided by 256";
      case Way::grow:
        return "times 16";
      case Way::fill:
        return "numbers in place of zeros";
      case Way::flip:
        return "some bools negated";
      case Way::zero_some:
        return "some ones replaced by zeros";
      case Way::make_unequal:
        return "different values in place of equal ones";
      case Way::unlike_rows:
        return "different rows in place of equal ones";
      case Way::mix:
        return "single values in other places";
      case Way::lower:
        return "smaller integers";
    }
    return {};
  }
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

  [[nodiscard]] static bool shares_memory(const at::Tensor& one, const at::Tensor& other) {
    return one.has_storage() && other.has_storage() && one.storage().data() != nullptr &&
           one.storage().data() == other.storage().data();
  }

  [[nodiscard]] std::vector<std::vector<std::size_t>> find_groups() const {
    const auto& tensors = operands_.pristine;
    std::vector<std::vector<std::size_t>> groups;
    const auto belong_together = [&](std::size_t one, std::size_t other) {
      return (is_integer(one) && is_integer(other)) || are_alike(one, other);
    };
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].defined() || tensors[i].numel() == 0 || operands_.may_change(i) ||
          !(check::detail::is_plain(tensors[i]) || is_changeable_quantized(tensors[i])))
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

  void find_changes() {
    unseen_ = find_unseen_answers(baseline_, operands_, original_, given_, options_, source_,
                                  [](Expected&, const OperandSet&) {});
    calls_left_ -= unseen_.calls;
    operands_.restore_all(0);
    const auto groups = find_groups();
    const bool draws = unseen_.renewal.varies();
    // The draw for the only group was seen to matter.
    const bool matters = groups.size() == 1 && draws && differs(given_, unseen_.expected);
    // The baseline may take only a common factor.
    const bool tries = !matters && (draws || unseen_.renewal == Renewal::none);
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
        if (first_alike(group, i)) learn_special(alike(group, i));
  }

  void give_up() {
    no_memory_ = true;
    changes_.clear();
    unseen_ = {};
    without_effect_.clear();
    untried_.clear();
    for (const auto& group : find_groups()) untried_.insert(untried_.end(), group.begin(), group.end());
  }

  [[nodiscard]] bool are_alike(std::size_t one, std::size_t other) const {
    return source_.same_as(one) == source_.same_as(other) ||
           shares_memory(operands_.tensors[0][one], operands_.tensors[0][other]);
  }
  [[nodiscard]] std::vector<std::size_t> alike(const std::vector<std::size_t>& group, std::size_t i) const {
    std::vector<std::size_t> found;
    for (const std::size_t other : group)
      if (are_alike(i, other)) found.push_back(other);
    return found;
  }
  [[nodiscard]] bool first_alike(const std::vector<std::size_t>& group, std::size_t i) const {
    return alike(group, i).front() == i;
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
          (!unseen_.renewal.varies() || !learn_change({operands, Others::unseen, way})))
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
    Expected before = given_;
    if (change.others != Others::given) {
      UnseenAnswers answers{.renewal = unseen_.renewal,
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
      taken = answer_unseen_values(baseline_, operands_, given_, answers);
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
    tried.before = operands_.pristine;
    if (change.others != Others::given) {
      tried.before_operands = original_.clone();
      tried.before = tried.before_operands->tensors();
    }
    auto& after = tried.after;
    after = {.renewal = unseen_.renewal, .operands = original_.clone(), .seed = seed_of_calls_};
    after.values = after.operands->tensors();
    const auto in_group = [&](std::size_t i) { return std::ranges::find(change.group, i) != change.group.end(); };
    const c10::NoGradGuard no_grad;
    try {
      if (change.others != Others::given) {
        if (change.others == Others::filled && !fill_zeros_of_others(tried.before, in_group)) return std::nullopt;
        for (std::size_t i = 0; i < tried.before.size(); ++i) {
          const bool filled = change.others == Others::filled && is_zeros(i);
          if (in_group(i) || operands_.may_change(i)) continue;
          if (!filled) check::restore_tensor(unseen_.values[i], tried.before[i]);
          check::restore_tensor(tried.before[i], after.values[i]);
        }
      }
      std::vector<std::size_t> kept;
      for (std::size_t i = 0; i < tried.before.size(); ++i)
        if (!in_group(i)) kept.push_back(i);
      source_.draw(unseen_.renewal, after.values, kept);
      bool changes =
          change.way == Way::draw && std::any_of(change.group.begin(), change.group.end(),
                                                 [&](std::size_t i) { return source_.changes(unseen_.renewal, i); });
      const std::uint64_t seed = random_();
      // Operands that are equal stay so.
      for (const std::size_t i : change.group)
        changes = apply(change.way, i, after.values[i], SplitMix64(seed + source_.same_as(i))) || changes;
      if (!changes) return std::nullopt;
    } catch (...) {
      const Failure failure = current_failure();
      if (failure.device != Failure::Device::fine || failure.out_of_memory) throw;
      return std::nullopt;  // a dtype without arithmetic
    }
    after.which =
        "pace drew those of operand tensor " + listed(change.group) + " alone (" + how_changed(change.way) + ')';
    if (change.way != Way::draw) after.remedy = remedy_for_edge_values;
    after.may_shrink = change.way == Way::lower;
    if (!answer(after)) return std::nullopt;
    after.expected.learned = learned_for(after.expected, given_);
    return tried;
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

  /// Applies `way` to operand `i`, drawn before. Returns whether that changes it.
  [[nodiscard]] bool apply(Way way, std::size_t i, const at::Tensor& tensor, SplitMix64 random) const {
    const bool real = has_real_values(operands_.pristine[i]);
    const auto& structure = source_.structure(i);
    const auto multiply = [&](double factor) {
      if (!real || structure.is_special()) return false;
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
        constexpr std::int64_t few = 2;
        if (tensor.scalar_type() != at::kBool) return false;
        at::Tensor values = check::detail::distinct_values_of(tensor);
        // Larger operands in order, like padding, stay so.
        if (values.numel() > few && !source_.moves(i) && !values.all().item<bool>() && values.any().item<bool>())
          return false;
        const auto one = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(values.numel())));
        const auto places = at::TensorOptions().device(values.device()).dtype(at::kLong);
        if (values.numel() <= few)  // two negated ones may cancel
          values.logical_xor_(at::arange(values.numel(), places).eq(one).view(values.sizes()));
        else if (source_.keeps_sum(i))
          exchange_some(values, random);
        else
          resample_values(values, 0, random);
        return true;
      }
      default:
        return apply_special(way, i, tensor, random);
    }
  }

  [[nodiscard]] bool apply_special(Way way, std::size_t i, const at::Tensor& tensor, SplitMix64& random) const {
    if (way == Way::lower) {
      if (!is_integer(i) || source_.moves(i) || source_.is_related(i)) return false;
      at::Tensor values = check::detail::distinct_values_of(tensor);
      const LowerBounds bounds{least_integer(i), source_.keeps_sum(i), source_.keeps_largest(i)};
      return lower_integers(values, bounds, random);
    }
    if (!has_real_values(operands_.pristine[i])) return false;
    at::Tensor values = check::detail::distinct_values_of(tensor);
    const auto& structure = source_.structure(i);
    // A draw may have scaled them.
    check::restore_tensor(operands_.pristine[i], tensor);
    switch (way) {
      case Way::zero_some:
        return zero_some_ones(values, random);
      case Way::make_unequal:
        return make_unequal(values, structure, random);
      case Way::unlike_rows:
        return make_rows_unlike(values, structure, random);
      case Way::mix:
        return mix_elements(values, structure, random);
      default:
        return false;
    }
  }

  [[nodiscard]] bool is_integer(std::size_t i) const {
    return c10::isIntegralType(operands_.pristine[i].scalar_type(), /*includeBool=*/false);
  }

  /// For a single integer: the largest one below it in operands of a few integers, or 0. The last index of a range is
  /// no smaller than its first.
  [[nodiscard]] std::int64_t least_integer(std::size_t i) const {
    constexpr std::int64_t few = 4;
    if (operands_.pristine[i].numel() != 1) return 0;
    const auto own = operands_.pristine[i].item<std::int64_t>();
    std::int64_t least = 0;
    for (std::size_t other = 0; other < operands_.pristine.size(); ++other) {
      const at::Tensor& values = operands_.pristine[other];
      if (!values.defined() || values.numel() == 0 || values.numel() > few || !is_integer(other)) continue;
      const at::Tensor flat = values.to(at::kLong).flatten();
      for (std::int64_t place = 0; place < flat.numel(); ++place)
        if (const auto value = flat[place].item<std::int64_t>(); value < own) least = std::max(least, value);
    }
    return least;
  }

  [[nodiscard]] std::string judge(Implementation& implementation, const Change& change, Tried& tried) {
    const std::string where = "operand tensor " + listed(change.group) + " alone " +
                              (change.group.size() == 1 ? "has" : "have") + " unseen values";
    ObservedCall before, made;
    try {
      const c10::AutoGradMode as_given(gradients_);
      const UnseenValuesInUse in_use = tried.after.in_use();
      before = observe_call(implementation, operands_, &tried.before, tried.after.seed, given_.output);
      made = observe_call(implementation, operands_, &tried.after.values, tried.after.seed, given_.output);
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
        (operands_agree() && rounding_explains(made.at_return, {after.values, expected, after.seed}, baseline_,
                                               operands_, *after.operands, source_, options_)))
      return {};
    const auto options = without_reference(options_);
    const bool stale =
        !made.at_return.isNone() && check::outputs_match(before.at_return, made.at_return, options).correct;
    return (stale ? "it returned the answer for values that had been overwritten where "
                  : "it is right for the operands given, but not where ") +
           where + " (" + how_changed(change.way) + "): " + agreement.message +
           "; try: if it relies on what is special about the operands, choose other unseen values or none "
           "(check::CheckOptions::" +
           (change.way == Way::draw ? "unseen_values" : "unseen_values, edge_values") +
           " in C++, --audit standard on a command line)";
  }

  [[nodiscard]] std::string how_changed(Way way) const {
    const std::string drawn = unseen_.renewal.varies() && way < Way::zero_some ? to_string(unseen_.renewal) : "";
    const std::string by_way = describe(way);
    return drawn + (drawn.empty() || by_way.empty() ? "" : ", and ") + by_way;
  }

  Implementation& baseline_;
  OperandSets& operands_;
  const OperandSet& original_;
  const Expected& given_;
  const check::CheckOptions& options_;
  UnseenValues source_;
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
