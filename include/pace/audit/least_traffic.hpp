// Least traffic: memory that every correct call must read and write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/ne.h>

#include "pace/base/random.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/os/activity.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/timing/clock.hpp"
#include "pace/unseen/answers.hpp"
#include "pace/values/changed_memory.hpp"
#include "pace/values/unseen_kind.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/observed_call.hpp"

namespace pace::detail {

/// Finds LeastTraffic of a baseline. Counts only bytes seen to be needed, so that no honest call is below it:
///
/// - Outputs: elements that differ between two calls on different values, in memory of their own, outside of operands,
///   while both are alive. So views, expanded tensors, copies on write, constants, kept and unwritten outputs do not
///   count.
/// - Operands written to: elements that a call changes.
/// - Operands read: half of one, if each of `probes` random elements changes the output alone. If fewer than half of
///   its elements did, that would happen once in 256 times. So a table with some rows looked up does not count.
class TrafficProbe {
 public:
  static constexpr int probes = 8;
  static constexpr double counted_share = 0.5;
  /// Fewest bytes of an operand or output that are worth a call.
  static constexpr double fewest_bytes = 4096;

  /// Makes two calls, and more for at most `time`.
  TrafficProbe(timing::Clock& clock, Implementation& baseline, const OperandSets& operands, std::uint64_t seed,
               Nanoseconds time)
      : clock_(clock), baseline_(baseline), operands_(operands), seed_(seed), time_(time), places_(seed) {}

  /// Leaves changed values in operand set 0. Throws what the baseline throws on unseen values.
  [[nodiscard]] timing::LeastTraffic find(const OperandSet& given) {
    timing::LeastTraffic found;
    const auto& tensors = operands_.tensors[0];
    if (std::none_of(tensors.begin(), tensors.end(), is_changeable)) return found;
    const Nanoseconds start = clock_.now();
    const c10::IValue output = call_on(operands_.given);
    const auto outputs = check::tensors_of(output);
    const auto own = [&](const at::Tensor& each) { return plain(each) && !overlaps_any(each, tensors); };
    if (!std::all_of(outputs.begin(), outputs.end(), own)) return found;
    found.written = written_to_outputs(outputs, given) + written_to_operands();
    if (operands_.mutated.empty() && !outputs.empty())
      found.read = read_from_operands(outputs, start, clock_.now() - start);
    return found;
  }

 private:
  [[nodiscard]] static bool plain(const at::Tensor& tensor) {
    return tensor.defined() && check::detail::is_plain(tensor) && !tensor.is_conj() && !tensor.is_neg();
  }
  /// Begin and end address of the elements. Tensors that are copied on write share memory but no storage.
  [[nodiscard]] static std::pair<std::uintptr_t, std::uintptr_t> addresses_of(const at::Tensor& tensor) {
    const auto span = check::detail::byte_span(tensor);
    const auto base = reinterpret_cast<std::uintptr_t>(tensor.storage().data());
    return {base + static_cast<std::uintptr_t>(span.begin), base + static_cast<std::uintptr_t>(span.end)};
  }
  [[nodiscard]] static bool overlap(const at::Tensor& one, const at::Tensor& other) {
    const auto [begin, end] = addresses_of(one);
    const auto [other_begin, other_end] = addresses_of(other);
    return begin < other_end && other_begin < end;
  }
  [[nodiscard]] static bool overlaps_any(const at::Tensor& one, const std::vector<at::Tensor>& others) {
    return std::any_of(others.begin(), others.end(),
                       [&](const auto& other) { return plain(other) && overlap(one, other); });
  }

  [[nodiscard]] c10::IValue call_on(const std::vector<at::Tensor>& values) {
    write_values(operands_, &values, 0);
    return call_now();
  }
  [[nodiscard]] c10::IValue call_now() {
    reset_random_state(seed_);
    const UnseenValuesInUse in_use("pace changed single values of operands, to find what a call must read and write",
                                   remedy_for_drawn_values());
    return baseline_.call(0);
  }

  /// Bytes of the elements whose bits differ; 0 unless both are alike and dense.
  [[nodiscard]] static double bytes_that_differ(const at::Tensor& one, const at::Tensor& other) {
    if (!plain(other) || one.scalar_type() != other.scalar_type() || one.sizes() != other.sizes() ||
        one.strides() != other.strides() || !one.is_non_overlapping_and_dense())
      return 0;
    const c10::NoGradGuard no_grad;
    const auto differs = at::ne(check::detail::elements_of(one), check::detail::elements_of(other));
    const auto bytes =
        static_cast<double>(one.nbytes()) / static_cast<double>(std::max<std::int64_t>(1, differs.numel()));
    return bytes * static_cast<double>(differs.sum().item<std::int64_t>());
  }

  [[nodiscard]] double written_to_outputs(const std::vector<at::Tensor>& outputs, const OperandSet& given) {
    const auto values = given.clone();
    UnseenValues(operands_.given, seed_).draw(UnseenKind::rotate, values->tensors());
    const auto later = check::tensors_of(call_on(values->tensors()));
    // Of outputs that share memory, the largest counts.
    std::map<const void*, double> by_memory;
    for (std::size_t i = 0; i < std::min(outputs.size(), later.size()); ++i) {
      if (!plain(later[i]) || overlaps_any(later[i], operands_.tensors[0]) || overlaps_any(later[i], outputs)) continue;
      auto& most = by_memory[later[i].storage().data()];
      most = std::max(most, bytes_that_differ(outputs[i], later[i]));
    }
    double sum = 0;
    for (const auto& [memory, bytes] : by_memory) sum += bytes;
    return sum;
  }

  [[nodiscard]] double written_to_operands() {
    if (operands_.mutated.empty()) return 0;
    operands_.restore_all(0);
    std::vector<const void*> places;
    for (const auto& tensor : operands_.tensors[0])
      places.push_back(tensor.defined() ? tensor.const_data_ptr() : nullptr);
    (void)call_now();
    double sum = 0;
    for (const std::size_t i : operands_.mutated) {
      const auto& tensor = operands_.tensors[0][i];
      if (plain(tensor) && tensor.const_data_ptr() == places[i]) sum += bytes_that_differ(operands_.given[i], tensor);
    }
    return sum;
  }

  /// `two_calls` is the time of two calls, to plan further ones.
  [[nodiscard]] double read_from_operands(const std::vector<at::Tensor>& outputs, Nanoseconds start,
                                          Nanoseconds two_calls) {
    operands_.restore_all(0);
    double sum = 0;
    const auto& tensors = operands_.tensors[0];
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const at::Tensor& tensor = tensors[i];
      if (!is_changeable(tensor) || !tensor.is_non_overlapping_and_dense() ||
          static_cast<double>(tensor.nbytes()) < fewest_bytes)
        continue;
      bool alone = true;
      for (std::size_t other = 0; other < tensors.size(); ++other)
        alone = alone && (other == i || !plain(tensors[other]) || !overlap(tensor, tensors[other]));
      if (!alone) continue;
      if (clock_.now() - start + 0.5 * probes * two_calls > time_) break;
      if (depends_on_all(tensor, outputs)) sum += counted_share * static_cast<double>(tensor.nbytes());
    }
    return sum;
  }

  [[nodiscard]] bool depends_on_all(const at::Tensor& operand, const std::vector<at::Tensor>& outputs) {
    const c10::NoGradGuard no_grad;
    const at::Tensor memory = flat_memory(operand);
    for (int probe = 0; probe < probes; ++probe) {
      const auto place = static_cast<std::int64_t>(places_.below(static_cast<std::uint64_t>(memory.numel())));
      const at::Tensor element = memory.select(0, place);
      const at::Tensor before = element.clone();
      const auto advance = [&] {
        if (!operand.requires_grad() && !operand.is_inference()) operand.unsafeGetTensorImpl()->bump_version();
      };
      element.mul_(-3).add_(1);
      advance();
      const auto now = check::tensors_of(call_now());
      element.copy_(before);
      advance();
      bool differs = now.size() == outputs.size();
      double bytes = 0;
      for (std::size_t i = 0; differs && i < now.size(); ++i) bytes += bytes_that_differ(outputs[i], now[i]);
      if (!differs || bytes <= 0) return false;
    }
    return true;
  }

  timing::Clock& clock_;
  Implementation& baseline_;
  const OperandSets& operands_;
  std::uint64_t seed_;
  Nanoseconds time_;
  SplitMix64 places_;
};

/// Largest share of the budget for a TrafficProbe.
inline constexpr double traffic_share = 0.05;

/// Runs a TrafficProbe. Returns nothing for small operands and outputs, or if the baseline throws.
[[nodiscard]] inline timing::LeastTraffic find_least_traffic(timing::Clock& clock, Implementation& baseline,
                                                             const OperandSets& operands, const OperandSet& given,
                                                             const c10::IValue& output, const Options& options) {
  double bytes = bytes_of(operands.given);
  for (const auto& tensor : check::tensors_of(output))
    if (tensor.defined() && tensor.layout() == at::kStrided)
      bytes = std::max(bytes, static_cast<double>(tensor.nbytes()));
  if (bytes < TrafficProbe::fewest_bytes) return {};
  try {
    return TrafficProbe(clock, baseline, operands, options.seed, traffic_share * options.budget).find(given);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace pace::detail
