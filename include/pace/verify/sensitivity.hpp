// Sensitivity: tolerances for any operator, learned by changing the last bits of the baseline's operands.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_ops.h>
#include <c10/core/GradMode.h>

#include "pace/base/spelling.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/structure.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/os/activity.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/verify/expected.hpp"

namespace pace::detail {

/// Whether `tensor` has real or complex elements that support arithmetic in place.
[[nodiscard]] inline bool has_real_values(const at::Tensor& tensor) {
  return tensor.defined() && check::detail::is_plain(tensor) && tensor.numel() > 0 &&
         (tensor.is_floating_point() || tensor.is_complex()) && !c10::isFloat8Type(tensor.scalar_type()) &&
         !check::detail::holds_only_bits(tensor.scalar_type());
}

/// Calls `change(values, numbers)` for each operand of real values, to change `values` in place. `numbers` are as many
/// random numbers from [0, 1), the same for equal seeds, and may change too. For large operands they repeat with a
/// prime period, since drawing all would take longer than most calls. If `elementwise`, changes large tensors in pieces
/// of one dimension.
template <class Change>
void change_values(const std::vector<at::Tensor>& tensors, std::uint64_t seed, const Change& change,
                   bool elementwise = false) {
  constexpr std::int64_t longest_period = 65521;
  const c10::NoGradGuard no_grad;
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  for (const auto& tensor : tensors) {
    if (!has_real_values(tensor)) continue;
    at::Tensor values = check::detail::distinct_values_of(tensor);
    const std::int64_t count = values.numel(), period = std::min(count, longest_period);
    at::Tensor numbers =
        values.new_empty({period}, at::TensorOptions().dtype(at::kFloat).device(at::kCPU)).uniform_(0, 1, generator);
    if (elementwise && values.is_cpu() && values.is_contiguous()) {
      // In pieces, since temporaries for all values would take several times their memory.
      at::Tensor flat = values.view({-1});
      for (std::int64_t start = 0; start < count; start += period) {
        const std::int64_t length = std::min(period, count - start);
        at::Tensor piece = flat.narrow(0, start, length);
        change(piece, numbers.narrow(0, 0, length).clone());
      }
      continue;
    }
    if (count > period) numbers = numbers.repeat({(count + period - 1) / period}).narrow(0, 0, count);
    change(values, numbers.view(values.sizes()).to(values.device()));
  }
}

/// Makes each value smaller by up to three units in the last place; by at most one in 16-bit types. Zeros, signs and
/// ranges such as [0, 1] stay.
inline void shrink_slightly(const std::vector<at::Tensor>& tensors, std::uint64_t seed) {
  change_values(
      tensors, seed,
      [](at::Tensor& values, const at::Tensor& numbers) {
        const check::detail::Precision precision = check::detail::precision_of(values.scalar_type());
        const int most = precision.epsilon > precision.accumulator_epsilon ? 1 : 3;
        // Exact in float32 for float32 and narrower types.
        const at::ScalarType real = c10::toRealValueType(values.scalar_type());
        const at::Tensor wide = real == at::kDouble ? numbers.to(at::kDouble) : numbers;
        values.mul_(wide.mul_(most + 1).floor_().mul_(-precision.epsilon).add_(1).to(real));
      },
      /*elementwise=*/true);
}

/// Makes a random share of the values smaller by a quarter.
inline void shrink_some(const std::vector<at::Tensor>& tensors, double share, std::uint64_t seed) {
  change_values(
      tensors, seed,
      [&](at::Tensor& values, const at::Tensor& numbers) {
        values.mul_(numbers.lt(share).to(c10::toRealValueType(values.scalar_type())).mul(-0.25).add(1));
      },
      /*elementwise=*/true);
}

/// Converts floating-point tensors to float64 in place, since a callable takes them by their static types. Tensors of
/// one dtype that share memory still share it.
inline void convert_to_float64(std::vector<at::Tensor> tensors) {
  std::vector<at::Tensor> wide(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    if (!tensor.is_floating_point() || check::detail::holds_only_bits(tensor.scalar_type())) continue;
    const auto shares = [&](std::size_t j) {
      return j != i && tensors[j].defined() && tensors[j].scalar_type() == tensor.scalar_type() &&
             check::detail::is_plain(tensor) && check::detail::is_plain(tensors[j]) && tensors[j].is_alias_of(tensor);
    };
    std::size_t first = 0;
    while (first < tensors.size() && !shares(first)) ++first;
    if (first == tensors.size()) {
      wide[i] = tensor.to(at::kDouble);
      continue;
    }
    const auto elements = static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.element_size());
    const at::Tensor all =
        first < i ? at::Tensor() : at::empty({0}, tensor.options()).set_(tensor.storage(), 0, {elements});
    wide[i] = (first < i ? wide[first] : all.to(at::kDouble))
                  .as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  }
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (wide[i].defined()) tensors[i].set_data(wide[i]);
}

/// Returns the output of a call with `operands` converted to float64. Throws what the call throws. Removes the
/// additional operand set again, since the rounds must not use it.
[[nodiscard]] inline c10::IValue call_in_float64(Implementation& implementation, OperandSets& sets,
                                                 const OperandSet& operands, std::uint64_t seed) {
  struct Removed {
    OperandSets& sets;
    ~Removed() { sets.sets.resize(sets.tensors.size()); }
  } const removed{sets};
  auto as_double = operands.clone();
  convert_to_float64(as_double->tensors());
  sets.sets.push_back(std::move(as_double));
  reset_random_state(seed);
  return check::clone_ivalue(implementation.call(sets.sets.size() - 1));
}

/// Learns tolerances of the baseline's outputs for one set of values, by calls on nearly these values.
class Sensitivity {
 public:
  /// `expected` of learn() belongs to `values`. All must outlive it. `number_dtype`: see check::CheckOptions.
  Sensitivity(Implementation& baseline, OperandSets& operands, const OperandSet& values, std::uint64_t seed,
              std::int64_t reduction_length, at::ScalarType number_dtype)
      : baseline_(baseline),
        operands_(operands),
        values_(values),
        seed_(seed),
        reduction_length_(static_cast<double>(reduction_length)),
        number_dtype_(number_dtype) {}

  /// Adds learned tolerances to `expected`; none if the baseline accepts no unseen values. `terms`: numbers of terms
  /// from earlier values, in the order of the results. Returns the numbers in use.
  std::vector<double> learn(Expected& expected, std::vector<double> terms) {
    const c10::NoGradGuard no_grad;
    const UnseenValuesInUse in_use(
        "pace made some values of all operands smaller, to learn tolerances",
        "state tolerances: " + spelled("check::CheckOptions::rtol and atol (//benches/files: --rtol and --atol)",
                                       "check(rtol=..., atol=...)"));
    expected.learned.clear();
    try {
      const auto results = results_of(expected.output, expected.operands, nullptr);
      const std::size_t first_number = results.size() - check::detail::numbers_in_order(expected.output).size();
      if (terms.size() != results.size()) terms = count_terms(results);
      auto moves = moves_of(results);
      for (std::size_t i = 0; i < results.size(); ++i)
        if (moves[i]) expected.learned.push_back({results[i], terms[i], slack_of(results[i], *moves[i], terms[i])});
      if (!expected.random && baseline_.phases() == nullptr) add_errors_of_baseline(results, expected.learned);
      for (auto& each : expected.learned)
        for (std::size_t i = first_number; i < results.size() && !each.number; ++i)
          if (results[i].is_same(each.output))
            each = {.terms = each.terms, .slack = each.slack, .number = i - first_number};
    } catch (...) {
      // The changed values are no valid operands, or memory is short. Default tolerances hold.
    }
    operands_.restore_all(0);
    return terms;
  }

 private:
  /// The tensors of an output, the operands that the baseline writes to, and the output's numbers as 0-d tensors.
  /// Numbers take their types from `like`, the results on the unchanged operands, unless null.
  [[nodiscard]] std::vector<at::Tensor> results_of(const c10::IValue& output, const std::vector<at::Tensor>& operands,
                                                   const std::vector<at::Tensor>* like) const {
    auto results = check::tensors_of(output);
    for (const std::size_t i : operands_.mutated) results.push_back(operands.at(i));
    for (const auto& number : check::detail::numbers_in_order(output)) {
      const bool known = like != nullptr && results.size() < like->size();
      results.push_back(
          as_tensor(number, known ? std::optional(like->at(results.size()).scalar_type()) : std::nullopt));
    }
    return results;
  }

  /// A number as a 0-d tensor of type `dtype`; without one, of the type that computed it.
  [[nodiscard]] at::Tensor as_tensor(const c10::IValue& number, std::optional<at::ScalarType> dtype) const {
    const bool real = number.isDouble();
    const std::complex<double> value =
        real ? std::complex<double>(number.toDouble()) : std::complex<double>(number.toComplexDouble());
    if (!dtype) {
      const at::ScalarType of_parts = check::detail::number_dtype(value, number_dtype_);
      dtype = real ? of_parts : c10::toComplexType(of_parts);
    }
    const at::Tensor tensor = at::_ops::empty_memory_format::call({}, real ? at::kDouble : at::kComplexDouble,
                                                                  at::kStrided, at::kCPU, std::nullopt, std::nullopt);
    if (real)
      *static_cast<double*>(tensor.mutable_data_ptr()) = value.real();
    else
      *static_cast<std::complex<double>*>(tensor.mutable_data_ptr()) = value;
    return tensor.to(*dtype);
  }

  template <class Change>
  [[nodiscard]] std::vector<at::Tensor> results_after(const std::vector<at::Tensor>& results, const Change& change) {
    const auto changed = values_.clone();
    const auto tensors = changed->tensors();
    change(tensors);
    write_values(tensors, operands_.tensors[0]);
    reset_random_state(seed_);
    const auto output = check::clone_ivalue(call_as_given());
    std::vector<at::Tensor> after;
    for (const auto& tensor : operands_.tensors[0]) after.push_back(check::clone_input(tensor));
    return results_of(output, after, &results);
  }

  [[nodiscard]] static bool comparable(const at::Tensor& result, const at::Tensor& other) {
    return has_real_values(result) && other.defined() && other.sizes() == result.sizes() &&
           other.scalar_type() == result.scalar_type();
  }

  /// Estimates how many values n an element depends on. If a share of the values changes, 1 - (1 - share)^n of the
  /// elements do. Some values have no effect, such as half of relu's, so we return twice n.
  [[nodiscard]] std::vector<double> count_terms(const std::vector<at::Tensor>& results) {
    constexpr std::array shares{0x1p-3, 0x1p-8};
    constexpr std::int64_t fewest_elements = 64;
    double values = 0;
    for (const auto& tensor : values_.tensors())
      if (has_real_values(tensor)) values += static_cast<double>(tensor.numel());
    const double most = std::min(values + 1, reduction_length_);
    std::vector<double> terms(results.size(), most);
    constexpr double fewest_changes = 8;
    for (const double share : shares) {
      // If hardly a value changes, the results show no dependence.
      if (share * values < fewest_changes) break;
      const auto now = results_after(results, [&](const auto& tensors) { shrink_some(tensors, share, seed_ + 1); });
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (terms[i] < most || i >= now.size() || !comparable(results[i], now[i])) continue;
        const auto numbers = results[i].eq(results[i]);
        const auto count = numbers.sum().item<std::int64_t>();
        if (count < fewest_elements) continue;
        const auto changed = results[i].ne(now[i]).logical_and(numbers).sum().item<std::int64_t>();
        const double part = static_cast<double>(changed) / static_cast<double>(count);
        if (part < 0.98) terms[i] = std::clamp(2 * std::log1p(-part) / std::log1p(-share), 1.0, most);
      }
      if (std::none_of(terms.begin(), terms.end(), [&](double each) { return each >= most; })) break;
    }
    return terms;
  }

  /// The largest move of each element when operands change in their last places. Nothing for results without real
  /// values, or of other shapes.
  [[nodiscard]] std::vector<std::optional<at::Tensor>> moves_of(const std::vector<at::Tensor>& results) {
    std::vector<std::optional<at::Tensor>> moves(results.size());
    const auto wide = [](const at::Tensor& tensor) {
      return tensor.resolve_conj().resolve_neg().to(tensor.is_complex() ? at::kComplexDouble : at::kDouble);
    };
    const auto is_whole = [](const at::Tensor& values) {
      return !values.is_complex() && values.eq(values.round()).all().item<bool>();
    };
    // Includes the unchanged values: a sum that is zero but for rounding may be exactly zero for the changed ones.
    std::vector<bool> whole(results.size());
    std::vector<at::Tensor> wide_results(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!comparable(results[i], results[i])) continue;
      wide_results[i] = wide(results[i]);
      whole[i] = is_whole(wide_results[i]);
    }
    constexpr std::uint64_t trials = 2;
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
      const auto now =
          results_after(results, [&](const auto& tensors) { shrink_slightly(tensors, seed_ + 2 + trial); });
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (i >= now.size() || !comparable(results[i], now[i])) continue;
        const auto values = wide(now[i]);
        whole[i] = whole[i] && is_whole(values);
        auto move = values.sub(wide_results[i]).abs().nan_to_num_(0, 0, 0);
        moves[i] = moves[i] ? moves[i]->maximum(move) : std::move(move);
      }
    }
    // Whole numbers, as from floor or sign, jump. That is no rounding.
    for (std::size_t i = 0; i < results.size(); ++i)
      if (whole[i] && moves[i]) moves[i]->zero_();
    return moves;
  }

  /// Correct implementations differ by a few moves. Sums of n terms differ by up to sqrt(n), since a plain loop's
  /// errors add up. The limit is the default tolerance for values as large as the operands and their products.
  [[nodiscard]] at::Tensor slack_of(const at::Tensor& result, const at::Tensor& move, double terms) const {
    const check::detail::Precision precision = check::detail::precision_of(result.scalar_type());
    const bool rounded = precision.epsilon > precision.accumulator_epsilon;
    const double factor = 4 * (rounded ? 1 : std::sqrt(terms));
    auto slack = move.clamp_min(check::typical_magnitude(move)).mul_(factor).clamp_max_(most_slack(result));
    return slack.to(result.scalar_type() == at::kDouble || result.scalar_type() == at::kComplexDouble ? at::kDouble
                                                                                                      : at::kFloat);
  }

  [[nodiscard]] double most_slack(const at::Tensor& result) const {
    const check::detail::Precision precision = check::detail::precision_of(result.scalar_type());
    double operand = 0;
    for (const auto& tensor : values_.tensors())
      if (has_real_values(tensor)) operand = std::max(operand, check::typical_magnitude(tensor));
    const double magnitude = std::max({check::typical_magnitude(result), operand, operand * operand});
    const double relative = precision.epsilon > precision.accumulator_epsilon
                                ? 16 * precision.epsilon
                                : std::max(precision.rtol, 16 * precision.epsilon * std::sqrt(reduction_length_));
    return relative * magnitude;
  }

  /// Allows for the baseline's own error, as a float64 call shows it, since an implementation may be more accurate.
  /// Adds nothing if that call fails or computes something else.
  void add_errors_of_baseline(const std::vector<at::Tensor>& results, check::LearnedTolerances& learned) {
    const auto tensors = values_.tensors();
    if (std::none_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
          return tensor.is_floating_point() && tensor.scalar_type() != at::kDouble;
        }))
      return;
    std::vector<at::Tensor> exact;
    try {
      const c10::IValue output = call_in_float64(baseline_, operands_, values_, seed_);
      exact = check::tensors_of(output);
      const auto numbers = check::detail::numbers_in_order(output);
      // Operands that the baseline writes to in float64 are not compared.
      exact.resize(results.size() - std::min(numbers.size(), results.size()));
      for (const auto& number : numbers)
        exact.push_back(as_tensor(number, number.isDouble() ? at::kDouble : at::kComplexDouble));
    } catch (...) {
      return;
    }
    for (auto& each : learned) {
      std::size_t i = 0;
      while (!results[i].is_same(each.output)) ++i;
      if (i >= exact.size() || !exact[i].defined() || exact[i].scalar_type() != at::kDouble ||
          exact[i].sizes() != each.output.sizes() || exact[i].device() != each.output.device())
        continue;
      // In place unless the memory is the output's own, since float64 takes twice the memory of most outputs.
      auto error = each.output.to(at::kDouble).sub(exact[i]).abs_().nan_to_num_(0, 0, 0);
      const auto rms = [](const at::Tensor& tensor) {
        return tensor.norm().template item<double>() / std::sqrt(static_cast<double>(tensor.numel()));
      };
      const double typical = rms(error);
      if (!(typical <= 0.01 * rms(exact[i].nan_to_num_(0, 0, 0)))) continue;
      const auto slack = error.mul_(2).add_(4 * typical).clamp_max_(most_slack(each.output));
      each.slack = each.slack.maximum(slack.to(each.slack.scalar_type()));
    }
  }

  /// Records gradients as the first calls do, since the baseline may take some.
  [[nodiscard]] c10::IValue call_as_given() {
    const c10::AutoGradMode as_given(gradients_);
    return baseline_.call(0);
  }

  bool gradients_ = c10::GradMode::is_enabled();
  Implementation& baseline_;
  OperandSets& operands_;
  const OperandSet& values_;
  std::uint64_t seed_;
  double reduction_length_;
  at::ScalarType number_dtype_;
};

}  // namespace pace::detail
