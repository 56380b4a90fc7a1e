// RepeatedNumbers: whether timed calls return random numbers of earlier timed calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// How often one output tensor of an implementation repeats in timed calls.
struct Repetitions {
  /// Outputs looked at, and how many of them equal an earlier one.
  std::int64_t outputs = 0, repeated = 0;
  /// Elements that differ between the first two outputs, among those looked at.
  std::int64_t changing = 0;
};

/// Looks at outputs declared as random numbers, while the default generators get another seed each round. Keeps a hash
/// of up to 4 KiB of each tensor. Independent draws hardly repeat. A pool of n outputs does after about sqrt(n) calls
/// (the birthday problem).
class RepeatedNumbers {
 public:
  /// Rounds of so many implementations begin. Forgets earlier rounds.
  void begin(std::size_t implementations) { each_.assign(implementations, {}); }

  /// Looks at the output of a sample of the implementation at `place`.
  void look_at(std::size_t place, const c10::IValue& output) {
    auto& tensors = each_[place];
    std::size_t position = 0;
    check::for_each_tensor(output, [&](const at::Tensor& tensor) {
      if (position == tensors.size()) tensors.emplace_back();
      add(tensors[position++], tensor);
    });
  }

  /// Repetitions of each output tensor of the implementation at `place`.
  [[nodiscard]] std::vector<Repetitions> of(std::size_t place) const {
    std::vector<Repetitions> found;
    for (const auto& each : each_.at(place)) found.push_back(each.repetitions);
    return found;
  }

 private:
  static constexpr std::size_t most_bytes = 4096;

  struct OfTensor {
    Repetitions repetitions = {};
    std::string first = {};
    std::unordered_set<std::uint64_t> seen = {};
  };

  static void add(OfTensor& of, const at::Tensor& tensor) {
    if (!check::detail::is_plain(tensor) || !tensor.is_cpu() || !tensor.is_non_overlapping_and_dense()) return;
    const auto span = check::detail::byte_span(tensor);
    const std::string_view bytes(static_cast<const char*>(tensor.storage().data()) + span.begin,
                                 std::min(static_cast<std::size_t>(span.end - span.begin), most_bytes));
    auto& found = of.repetitions;
    if (found.outputs == 0) of.first = bytes;
    if (found.outputs == 1) found.changing = differing_elements(of.first, bytes, tensor.element_size());
    ++found.outputs;
    if (!of.seen.insert(std::hash<std::string_view>{}(bytes)).second) ++found.repeated;
  }

  [[nodiscard]] static std::int64_t differing_elements(std::string_view one, std::string_view other,
                                                       std::size_t element) {
    std::int64_t differing = 0;
    for (std::size_t at = 0; at + element <= std::min(one.size(), other.size()); at += element)
      differing += std::memcmp(one.data() + at, other.data() + at, element) != 0;
    return differing;
  }

  std::vector<std::vector<OfTensor>> each_ = {};
};

/// Returns the fault of a candidate's random numbers as text; empty if none. Few elements may repeat by chance, and so
/// may channel masks, which follow from few numbers. The baseline then repeats about as often. So a fault takes `most`
/// repetitions plus four times the baseline's.
[[nodiscard]] inline std::string describe_repetitions(const std::vector<Repetitions>& baseline,
                                                      const std::vector<Repetitions>& candidate) {
  constexpr std::int64_t most = 20, fewest_changing = 64;
  for (std::size_t i = 0; i < std::min(baseline.size(), candidate.size()); ++i) {
    const auto &norm = baseline[i], &own = candidate[i];
    if (norm.changing < fewest_changing || norm.outputs < own.outputs || own.repeated < most + 4 * norm.repeated)
      continue;
    return "its random numbers are not drawn anew in each timed call: output tensor " + std::to_string(i) +
           " is the same as an earlier one in " + std::to_string(own.repeated) + " of " + std::to_string(own.outputs) +
           " samples, though the generators have another seed in each round, and the baseline's in " +
           std::to_string(norm.repeated) + " of " + std::to_string(norm.outputs);
  }
  return {};
}

}  // namespace pace::detail
