// Wealth: the wealth of a bettor against a hypothesis, which is evidence that is valid at any time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace pace::stats {

/// A test by betting of the hypothesis that the centre of the observations lies at or below a threshold.
///
/// The wealth starts with 1. Each observation multiplies it by 1 + tanh(stake * score), where `score` is an odd,
/// increasing function of the observation's distance above the threshold. The starting wealth is divided among eight
/// such bets with fixed stakes ("players"), and the wealth is their sum. It is evidence by three steps:
///  1. If the deviation is symmetric about 0 given the past (or only its sign is scored, and its median is 0), the
///     factor has mean 1, because tanh and the score are odd; if it lies lower, the mean is at most 1, because both
///     increase. So wealth is a nonnegative supermartingale, whatever the distribution, its tails and its drift, and
///     whatever quantity of the past scales the score. A fixed mixture of such players is one, too.
///  2. Ville's inequality: the wealth ever reaches 1/alpha with probability at most alpha. So rejecting where it has
///     reached that errs with at most that probability, however often it is read, and whenever and why sampling stops.
///  3. Hence exp(-log_now()) is a p-value at every moment. So would be the inverse of the largest wealth so far, which
///  is
///     smaller, but what came after that moment would not count: code that becomes slower would keep its proof.
/// Sources: V. de la Pena, "A general class of exponential inequalities for martingales and ratios" (Annals of
/// Probability, 1999), for symmetric increments; A. Ramdas, J. Ruf, M. Larsson and W. Koolen, "Admissible anytime-valid
/// sequential inference must rely on nonnegative martingales" (arXiv 2009.03167), on symmetry; I. Waudby-Smith
/// and A. Ramdas, "Estimating means of bounded random variables by betting" (JRSS B, 2024), for stakes; J. Ville,
/// "Etude critique de la notion de collectif" (1939). The stake effect / deviation^2 would be the likelihood ratio of a
/// normal distribution against its mirror image, hence the best one; as it is unknown, about two nats are lost.
class Wealth {
 public:
  static constexpr std::size_t players = 8;  ///< number of stakes
  /// Stake of the first player. Stakes double from player to player, so that one exponential serves all. With scores in
  /// standard deviations, they suit effects of 0.025 to 3.2 deviations; a smaller effect takes over 20,000 cycles.
  static constexpr double smallest_stake = 0.025;
  /// Ratio of the starting wealth of a player to that of the player before it. Players with large stakes start with
  /// more: large effects are decided by a dozen cycles, in which a small share costs relatively many cycles.
  static constexpr double preference = 1.15;

  Wealth() {
    double sum = 0, money = 1;
    for (auto& own : money_) {
      sum += own = money;
      money *= preference;
    }
    for (auto& own : money_) own /= sum;
  }

  /// Updates the wealth by one observation. `score` must not be NaN; scores beyond +-2 gain nothing more.
  void bet(double score) {
    double odds = std::exp(-2 * smallest_stake * score);
    double total = 0;
    for (auto& own : money_) {
      total += own *= 2 / (1 + odds);
      odds *= odds;
    }
    // Rescaled before a thousand wins in a row overflow, or as many losses become denormal, which is slow.
    if (total > 1e100 || total < 1e-100) {
      for (auto& own : money_) own /= total;
      log_scale_ += std::log(total);
      total = 1;
    }
    log_now_ = log_scale_ + std::log(total);
  }

  /// Natural logarithm of the present wealth.
  [[nodiscard]] double log_now() const { return log_now_; }
  /// The p-value of the hypothesis by all observations, valid after each of them; at most 1. It rises again where later
  /// observations speak for the hypothesis.
  [[nodiscard]] double p_value() const { return std::exp(-std::max(log_now_, 0.0)); }

 private:
  std::array<double, players> money_{};
  double log_scale_ = 0, log_now_ = 0;
};

/// Fewest observations by which a Wealth can reach 1/alpha. No test that is valid for every symmetric distribution
/// needs fewer than log2(1/alpha): n observations all lie above their centre with probability 2^-n.
[[nodiscard]] inline std::size_t fewest_for_rejection(double alpha) {
  Wealth wealth;
  std::size_t n = 0;
  while (wealth.p_value() > alpha) {
    wealth.bet(1);
    ++n;
  }
  return n;
}

}  // namespace pace::stats
