// GpuWatch: leaves out cycles whose sides ran at different clocks of the GPU, and lets it cool down.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/options.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/gpu_reading.hpp"

namespace pace::detail {

/// Reads the GPU's clock between samples. A GPU has one clock for all that runs on it, and changes it with a delay of
/// tens of milliseconds. So work that meets the power limit or heats the GPU also slows the work after it.
///
/// A cycle counts if all its sides ran at the same clock, at whichever. After the first that does not, pace rests
/// before each sample while the GPU is limited, until it has recovered. If cycles still differ, an implementation meets
/// the limit by itself in one sample. Then rounds without rests follow, so that all sides have the lowered clock; and
/// rests again if that fails, too. Only readings of the driver decide, never times. So twins stay exchangeable, as the
/// error rates assume.
class GpuWatch {
 public:
  /// How it chooses. Times are of the GPU.
  struct Limits {
    /// How much higher one side's mean clock may be, read after each sample of a cycle. A step of the clock is 15 MHz,
    /// 0.8 % of 1,980 MHz.
    double apart = 1.01;
    /// Cycles left out in a row, after which rests begin or end. Doubles each time.
    std::size_t in_a_row = 3;
    /// Shortest time between two complete readings, which take up to a millisecond.
    Nanoseconds between_looks = std::chrono::milliseconds(20);
    /// Time between two readings of a rest.
    Nanoseconds between_readings = std::chrono::milliseconds(2);
    /// Rest after which a low clock means that the GPU idles.
    Nanoseconds idle = std::chrono::milliseconds(50);
    /// Share of the budget for all rests, and share of that for a single one.
    double of_budget = 0.5, of_rests = 0.25;
  };

  /// Watches `sides` implementations on `clock`'s GPU. Without one, all functions do nothing.
  GpuWatch(timing::Clock& clock, std::size_t sides, const Options& options) : GpuWatch(clock, sides, options, {}) {}
  /// The same with other limits, for tests.
  GpuWatch(timing::Clock& clock, std::size_t sides, const Options& options, Limits limits)
      : clock_(clock),
        modes_(clock.modes()),
        limits_(limits),
        // The host's time does not depend on the clock of the GPU, and an interference of 1 tolerates everything.
        drops_(modes_ != nullptr && modes_->selected() != ClockChoice::host && options.max_interference < 1),
        rests_left_(limits.of_budget * options.budget),
        longest_rest_(limits.of_rests * rests_left_),
        began_(clock.now()),
        sides_(sides),
        patience_(limits.in_a_row) {}

  /// Rests, if rests help.
  void sample_started() {
    if (!drops_) return;
    if (!last_) last_ = read();
    // A clock that is low without a limit rises under load, not in a rest.
    if (resting_ && last_ && is_limited(*last_)) rest();
  }

  void sample_ended(std::size_t side) {
    if (!drops_) return;
    const auto now = last_ ? read() : last_;
    unknown_ = unknown_ || !now;
    if (!now) return;
    auto& own = sides_[side];
    own.clock += now->clock;
    own.slowed += now->slowed;
    own.power_limited += now->power_limited;
    changed_ = changed_ || last_->clock != now->clock;
    last_ = now;
  }

  /// Ends a cycle. Returns whether its sides ran at the same clock.
  [[nodiscard]] bool keeps_cycle() {
    // A driver that does not answer says nothing against a cycle.
    kept_ = std::exchange(unknown_, false) || same_for_all();
    for (auto& side : sides_) side = {};
    gpu_.suspect_cycles += std::exchange(changed_, false);
    gpu_.dropped_cycles += !kept_;
    if (kept_) {
      dropped_in_a_row_ = 0;
      return true;
    }
    ++dropped_in_a_row_;
    if (!has_rested_ || dropped_in_a_row_ >= patience_) take_turns();
    return false;
  }

  /// Reads the rest of the GPU's state now and then.
  void cycle_ended(Nanoseconds elapsed) {
    lost_ += kept_ ? gpu_.paused - last_paused_ : elapsed - last_cycle_;
    last_cycle_ = elapsed;
    last_paused_ = gpu_.paused;
    if (modes_ == nullptr || (looks_ > 0 && elapsed - last_look_ < limits_.between_looks)) return;
    last_look_ = elapsed;
    ++looks_;
    const Nanoseconds start = clock_.now();
    if (const auto now = modes_->look_at_gpu()) {
      enter(*now);
      if (!drops_) gpu_.suspect_cycles += last_ && now->clock != last_->clock;
      last_ = now;
    }
    took_ += clock_.now() - start;
  }

  /// Time of rests so far, and time of rests and readings.
  [[nodiscard]] Nanoseconds paused() const { return gpu_.paused; }
  [[nodiscard]] Nanoseconds took() const { return took_; }
  /// Time of rests, and of cycles that were left out.
  [[nodiscard]] Nanoseconds lost() const { return lost_; }

  /// Returns the conditions; nothing if the driver reports none.
  [[nodiscard]] std::optional<GpuConditions> finish() {
    if (modes_ == nullptr) return std::nullopt;
    auto sharing = modes_->look_for_others(clock_.now() - began_);
    gpu_.sharing = std::move(sharing.who);
    gpu_.other_processes = sharing.processes;
    gpu_.others = sharing.others;
    if (gpu_.readings == 0 && gpu_.sharing.empty()) return std::nullopt;
    GpuConditions found = gpu_;
    const auto readings = static_cast<double>(std::max<std::size_t>(1, found.readings));
    found.slowed /= readings;
    found.power_limited /= readings;
    return found;
  }

 private:
  /// Readings of one side in a cycle.
  struct Side {
    double clock = 0, slowed = 0, power_limited = 0;
  };

  [[nodiscard]] std::optional<timing::GpuReading> read() {
    const Nanoseconds start = clock_.now();
    const auto now = modes_->look_at_clock();
    took_ += clock_.now() - start;
    if (now) enter(*now);
    return now;
  }

  /// `slowed` and `power_limited` count readings until the end.
  void enter(const timing::GpuReading& now) {
    gpu_.lowest_clock = gpu_.readings == 0 ? now.clock : std::min(gpu_.lowest_clock, now.clock);
    gpu_.highest_clock = std::max(gpu_.highest_clock, now.clock);
    gpu_.hottest = std::max(gpu_.hottest, now.celsius);
    gpu_.most_power = std::max(gpu_.most_power, now.watts);
    gpu_.slowed += now.slowed;
    gpu_.power_limited += now.power_limited;
    ++gpu_.readings;
  }

  /// Each side has as many samples in a cycle. The power limit acts by the clock alone, so its bit only counts where no
  /// clock is known. Hardware may slow down without a lower clock.
  [[nodiscard]] bool same_for_all() const {
    const auto [low, high] = std::ranges::minmax_element(sides_, {}, &Side::clock);
    if (high->clock > limits_.apart * low->clock) return false;
    for (const auto& side : sides_)
      if (side.slowed != low->slowed || (high->clock <= 0 && side.power_limited != low->power_limited)) return false;
    return true;
  }

  [[nodiscard]] static bool is_limited(const timing::GpuReading& now) { return now.slowed || now.power_limited; }

  /// Rests before each sample if it did not so far, or the other way round.
  void take_turns() {
    dropped_in_a_row_ = 0;
    if (std::exchange(has_rested_, true)) patience_ *= 2;
    resting_ = !resting_ && rests_left_.count() > 0;
  }

  void rest() {
    const Nanoseconds start = clock_.now(), longest = std::min(longest_rest_, rests_left_);
    Nanoseconds rested{};
    bool done = false;
    while (!done && rested < longest) {
      clock_.pause(std::min<Nanoseconds>(limits_.between_readings, longest - rested));
      rested = clock_.now() - start;
      const auto now = modes_->look_at_clock();
      if (!now) break;
      const bool is_fast = now->clock * limits_.apart >= gpu_.highest_clock;
      done = !is_limited(*now) && (is_fast || rested >= limits_.idle);
      last_ = now;
    }
    gpu_.paused += rested;
    took_ += rested;
    rests_left_ = std::max(Nanoseconds(0), rests_left_ - rested);
    if (!done) take_turns();
  }

  timing::Clock& clock_;
  timing::ModeClock* modes_;
  const Limits limits_;
  const bool drops_;
  Nanoseconds rests_left_, longest_rest_;
  const Nanoseconds began_;
  std::vector<Side> sides_;
  GpuConditions gpu_;
  std::optional<timing::GpuReading> last_;
  Nanoseconds last_look_{}, took_{}, lost_{}, last_cycle_{}, last_paused_{};
  std::size_t looks_ = 0, dropped_in_a_row_ = 0, patience_;
  bool kept_ = true, changed_ = false, unknown_ = false, resting_ = false, has_rested_ = false;
};

}  // namespace pace::detail
