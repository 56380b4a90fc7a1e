// TimedOutputs: whether kept outputs of timed calls are right, as far as that is cheap.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/base/function_ref.hpp"
#include "pace/base/random.hpp"
#include "pace/base/units.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Whether both tensors are dense and alike, with the same bits in the CPU's memory. Makes no call of LibTorch that
/// would wake its threads before the next sample.
[[nodiscard]] inline bool same_bits(const at::Tensor& one, const at::Tensor& other) {
  if (!one.defined() || !other.defined()) return one.defined() == other.defined();
  const auto is_dense = [](const at::Tensor& tensor) {
    return check::detail::is_plain(tensor) && tensor.is_cpu() && tensor.is_non_overlapping_and_dense();
  };
  if (!is_dense(one) || !is_dense(other) || one.scalar_type() != other.scalar_type() || one.sizes() != other.sizes() ||
      one.strides() != other.strides() || one.is_conj() != other.is_conj() || one.is_neg() != other.is_neg())
    return false;
  const auto first = check::detail::byte_span(one), second = check::detail::byte_span(other);
  return first.end == first.begin || std::memcmp(static_cast<const char*>(one.storage().data()) + first.begin,
                                                 static_cast<const char*>(other.storage().data()) + second.begin,
                                                 static_cast<std::size_t>(first.end - first.begin)) == 0;
}

/// The same for any output. Values of rare types, such as dicts, count as different.
[[nodiscard]] inline bool same_bits(const c10::IValue& one, const c10::IValue& other) {
  const auto all_same = [](const auto& ones, const auto& others) {
    return std::equal(ones.begin(), ones.end(), others.begin(), others.end(),
                      [](const c10::IValue& x, const c10::IValue& y) { return same_bits(x, y); });
  };
  if (one.isTensor()) return other.isTensor() && same_bits(one.toTensor(), other.toTensor());
  if (one.isTuple()) return other.isTuple() && all_same(one.toTupleRef().elements(), other.toTupleRef().elements());
  if (one.isList()) return other.isList() && all_same(one.toListRef(), other.toListRef());
  if (one.isNone()) return other.isNone();
  if (one.isInt()) return other.isInt() && one.toInt() == other.toInt();
  if (one.isBool()) return other.isBool() && one.toBool() == other.toBool();
  if (one.isDouble())
    return other.isDouble() &&
           std::bit_cast<std::uint64_t>(one.toDouble()) == std::bit_cast<std::uint64_t>(other.toDouble());
  if (one.isString()) return other.isString() && one.toStringRef() == other.toStringRef();
  return false;
}

/// Compares the bits of each sample's output with correct ones of the implementation. Judges other bits by tolerances
/// at the end of the cycle. If either would take more than its share of the rounds, outputs are chosen at random.
class TimedOutputs {
 public:
  /// Returns the fault of an output of the implementation at `place`, empty for none.
  using Judge = FunctionRef<std::string(std::size_t place, const c10::IValue& output)>;
  struct Fault {
    std::size_t place = 0;
    std::string problem;
  };

  /// Shares of the time of the rounds: for comparing bits, and for judging outputs with other bits.
  static constexpr double share_of_comparing = 0.02, share_of_judging = 0.02;

  /// `clock` must outlive it. Outputs are chosen by `seed`.
  TimedOutputs(timing::Clock& clock, std::uint64_t seed) : clock_(clock), random_(seed) {}

  /// Rounds of so many implementations begin. Forgets what earlier rounds had.
  void begin(std::size_t implementations) {
    each_.assign(implementations, {});
    samples_ = 0;
    took_ = {};
    began_ = clock_.now();
  }

  /// Checks the output of a sample of the implementation at `place`. `right` is a correct output.
  void look_at(std::size_t place, const c10::IValue& output, const c10::IValue& right) {
    auto& of = each_[place];
    ++samples_;
    const Nanoseconds start = clock_.now();
    if (!is_chosen(of, start - began_)) return;
    const bool known = same_bits(output, right) || std::any_of(of.known.begin(), of.known.end(),
                                                               [&](const auto& one) { return same_bits(output, one); });
    if (!known && may_wait(of, start - began_)) of.waiting.push_back(output);
    ++of.compared;
    const Nanoseconds took = clock_.now() - start;
    of.comparing += took;
    took_ += took;
  }

  /// Judges the waiting outputs. Returns the first fault, and drops the others then.
  [[nodiscard]] std::optional<Fault> judge(Judge problem_of) {
    std::optional<Fault> fault;
    for (std::size_t place = 0; place < each_.size(); ++place) {
      auto& of = each_[place];
      for (const auto& output : std::exchange(of.waiting, {})) {
        if (fault) continue;
        const Nanoseconds start = clock_.now();
        if (auto problem = problem_of(place, output); !problem.empty())
          fault = Fault{place, std::move(problem)};
        else
          remember(of, output);
        ++of.judged;
        const Nanoseconds took = clock_.now() - start;
        of.judging += took;
        took_ += took;
      }
    }
    return fault;
  }

  /// Returns the time that this has taken since the rounds began.
  [[nodiscard]] Nanoseconds took() const { return took_; }

 private:
  /// Most correct outputs of an implementation: algorithms may take turns.
  static constexpr std::size_t most_known = 4;
  static constexpr double most_known_bytes = 16 << 20;

  struct OfOne {
    std::vector<c10::IValue> known = {}, waiting = {};
    Nanoseconds comparing{}, judging{};
    std::size_t compared = 0, judged = 0;
  };

  [[nodiscard]] bool happens(double probability) {
    constexpr std::size_t steps = std::size_t{1} << 30;
    return static_cast<double>(random_.below(steps)) < probability * static_cast<double>(steps);
  }

  /// At random, so that comparisons keep to their share and none can be foreseen.
  [[nodiscard]] bool is_chosen(const OfOne& of, Nanoseconds elapsed) {
    if (of.compared == 0) return true;
    const Nanoseconds allowed = share_of_comparing * elapsed / static_cast<double>(samples_),
                      cost = of.comparing / static_cast<double>(of.compared);
    return cost <= allowed || happens(allowed / cost);
  }

  /// The first output, and later ones as far as their share allows, half by chance.
  [[nodiscard]] bool may_wait(const OfOne& of, Nanoseconds elapsed) {
    if (of.judged == 0) return of.waiting.empty();
    const Nanoseconds allowed = share_of_judging * elapsed / static_cast<double>(each_.size()),
                      cost = of.judging / static_cast<double>(of.judged),
                      wanted = of.judging + static_cast<double>(of.waiting.size() + 1) * cost;
    return 2 * wanted <= allowed || (wanted <= allowed && happens(0.5));
  }

  void remember(OfOne& of, const c10::IValue& output) {
    double bytes = 0;
    bool plain = true;
    check::for_each_tensor(output, [&](const at::Tensor& tensor) {
      plain = plain && check::detail::is_plain(tensor);
      if (plain) bytes += static_cast<double>(tensor.nbytes());
    });
    // same_bits() compares no others, such as sparse ones.
    if (!plain || bytes > most_known_bytes / most_known) return;
    // A copy, since an output may be a view of an operand, whose values change.
    auto copy = check::clone_ivalue(output);
    if (of.known.size() < most_known)
      of.known.push_back(std::move(copy));
    else
      of.known[random_.below(most_known)] = std::move(copy);
  }

  timing::Clock& clock_;
  SplitMix64 random_;
  std::vector<OfOne> each_ = {};
  std::size_t samples_ = 0;
  Nanoseconds began_{}, took_{};
};

}  // namespace pace::detail
