// BaselineLimit: how long the baseline may take on unseen values, so that slowing it gains nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/audit/baseline_alone.hpp"
#include "pace/audit/time_pairs.hpp"
#include "pace/audit/unseen_ratios.hpp"
#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/excess.hpp"
#include "pace/result/result.hpp"

namespace pace::detail {

/// A request to an untouched process: samples of the baseline on unseen values.
struct UnseenRequest {
  UnseenRequest(std::size_t most_calls, std::span<const std::size_t> keeping) : calls(most_calls) {
    for (const std::size_t each : keeping) {
      if (each < operands) kept |= std::uint64_t{1} << each;
      fits = fits && each < operands;
    }
  }

  /// Indices of the operand tensors that keep the values given.
  [[nodiscard]] std::vector<std::size_t> kept_operands() const {
    std::vector<std::size_t> found;
    for (std::size_t each = 0; each < operands; ++each)
      if ((kept >> each & 1) != 0) found.push_back(each);
    return found;
  }

  std::size_t calls;  ///< of each sample, at most
  std::uint64_t kept = 0;
  /// Whether `kept` has a bit for each of them.
  bool fits = true;

 private:
  static constexpr std::size_t operands = 64;
};

/// A speed-up with a limit on the baseline's time.
struct HeldSpeed {
  /// Nothing: there was no time for it.
  std::optional<UnseenSpeed> speed = {};
  /// In most pairs, the baseline took longer than the limit.
  bool mostly = false;
  /// The limit alone makes the speed-up of the rounds excessive.
  bool decides = false;
};

/// Whether the speed-up `in_rounds` looks larger than on unseen values.
[[nodiscard]] inline bool looks_excessive(double in_rounds, const SpeedupSummary& on_unseen_values) {
  return gate::likely_excess_of(in_rounds, on_unseen_values) > 1;
}

/// The longest time of the baseline on unseen values that counts. Before any candidate, it learns how many times longer
/// calls take longer there than repeated ones. After the rounds, a call counts up to this factor of its time in the
/// rounds, and `slowed_share` more. If that limit decides, the machine may have become slower: a process without
/// candidates then times the baseline at the same moment.
class BaselineLimit {
 public:
  /// Returns the time of a call of the baseline on unseen values; nothing without such a process, or an answer within
  /// the time.
  using TimeUntouched = std::function<std::optional<Nanoseconds>(const UnseenRequest&, Nanoseconds)>;

  /// No limit, as no time is longer.
  static constexpr Nanoseconds none{std::numeric_limits<double>::infinity()};
  /// Time for pairs beside the untouched process, with pauses.
  static constexpr Nanoseconds time_beside_untouched = static_cast<double>(pairs_of_decision) * pause_between_pairs;

  void time_untouched_by(TimeUntouched time) { time_untouched_ = std::move(time); }

  /// Times of a call before any candidate. Without both, calls on unseen values count as repeated ones.
  void learn(Nanoseconds on_unseen_values, Nanoseconds repeated) {
    if (repeated.count() > 0 && repeated < none) times_ = std::max(1.0, on_unseen_values / repeated);
  }
  /// The median time of a call of the baseline in the rounds.
  void take_rounds(Nanoseconds baseline) { in_rounds_ = baseline; }

  /// The longest time of a call that counts.
  [[nodiscard]] Nanoseconds longest() const { return held_to(times_ * in_rounds_, slowed_share); }
  /// The same without a process that shows whether the machine is slower.
  [[nodiscard]] Nanoseconds longest_without_process() const {
    return held_to(times_ * in_rounds_, slowed_share_without_process);
  }
  /// The same by the untouched process; nothing if it does not answer.
  [[nodiscard]] std::optional<Nanoseconds> longest_by_untouched(const UnseenRequest& request, Nanoseconds left) const {
    constexpr Nanoseconds longest_answer = std::chrono::seconds(20);
    if (!time_untouched_ || !request.fits) return std::nullopt;
    const auto there = time_untouched_(request, std::min(longest_answer, left));
    return there ? std::optional(held_to(*there, slowed_share)) : std::nullopt;
  }

  /// A note if the baseline took longer than the limit.
  [[nodiscard]] static std::string note(bool untouched) {
    return "On unseen values, the baseline takes longer than " +
           std::string(untouched ? "in a process in which no candidate was called"
                                 : "before any candidate was called") +
           ": its time counts up to " + format_factor(1 + (untouched ? slowed_share : slowed_share_without_process)) +
           " the time there.";
  }

 private:
  [[nodiscard]] static Nanoseconds held_to(Nanoseconds norm, double share) {
    return norm.count() > 0 ? Nanoseconds((1 + share) * norm) : none;
  }

  TimeUntouched time_untouched_ = {};
  /// Time of a call on unseen values / time of a repeated one.
  double times_ = 1;
  Nanoseconds in_rounds_{};
};

}  // namespace pace::detail
