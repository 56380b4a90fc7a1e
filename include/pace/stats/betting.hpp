// Wealth: the wealth of a bettor against a hypothesis, as evidence that is valid at any time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace pace::stats {

/// A test by betting of the hypothesis that the centre of the observations lies at or below a threshold.
///
/// The wealth starts with 1. Each observation multiplies it by 1 + tanh(stake * score). The `score` is an odd,
/// increasing function of the observation's distance above the threshold. Eight such bets with fixed stakes ("players")
/// share the starting wealth, and the wealth is their sum. It is evidence by three steps:
/// 1. Let the deviation be symmetric about 0 given the past (or have the median 0, if only its sign is scored). Then
///    the factor has mean 1, since tanh and the score are odd. If it lies lower, the mean is at most 1, since both
///    increase. So wealth is a nonnegative supermartingale, whatever the distribution, its tails and drift, and however
///    the past scales the score. A fixed mixture of players is one, too.
/// 2. Ville's inequality: the wealth ever reaches 1/alpha with probability at most alpha. So rejecting there errs with
///    at most that probability, however often you look, and whenever and why sampling stops.
/// 3. Hence exp(-log_now()) is a p-value at every moment. So is the smaller inverse of the largest wealth so far, but
///    it ignores later observations: code that becomes slower would keep its proof.
///
/// Sources: V. de la Pena, "A general class of exponential inequalities for martingales and ratios" (Annals of
/// Probability, 1999), for symmetric increments; A. Ramdas, J. Ruf, M. Larsson and W. Koolen, "Admissible anytime-valid
/// sequential inference must rely on nonnegative martingales" (arXiv 2009.03167), on symmetry; I. Waudby-Smith and A.
/// Ramdas, "Estimating means of bounded random variables by betting" (JRSS B, 2024), for stakes; J. Ville, "Etude
/// critique de la notion de collectif" (1939).
///
/// The best stake is effect / deviation^2: the likelihood ratio of a normal distribution against its mirror image. It
/// is unknown, which costs about two nats.
class Wealth {
 public:
  static constexpr std::size_t players = 8;  ///< number of stakes
  /// Stake of the first player. Stakes double from player to player, so that one exponential serves all. With scores in
  /// standard deviations, they suit effects of 0.025 to 3.2 deviations. A smaller effect takes over 20,000 cycles.
  static constexpr double smallest_stake = 0.025;
  /// Ratio of a player's starting wealth to the one before it. Players with large stakes start with more. They decide
  /// large effects in a dozen cycles, where a small share would cost relatively many more.
  static constexpr double preference = 1.15;

  Wealth() {
    double sum = 0, money = 1;
    for (auto& own : money_) {
      sum += own = money;
      money *= preference;
    }
    for (auto& own : money_) own /= sum;
  }

  /// Updates the wealth by one observation. `score` must not be NaN. Scores beyond +-2 gain nothing more.
  void bet(double score) {
    double odds = std::exp(-2 * smallest_stake * score);
    double total = 0;
    for (auto& own : money_) {
      total += own *= 2 / (1 + odds);
      odds *= odds;
    }
    // Rescale before a thousand wins in a row overflow, or as many losses become denormal, which is slow.
    if (total > 1e100 || total < 1e-100) {
      for (auto& own : money_) own /= total;
      log_scale_ += std::log(total);
      total = 1;
    }
    log_now_ = log_scale_ + std::log(total);
  }

  /// Natural logarithm of the present wealth.
  [[nodiscard]] double log_now() const { return log_now_; }
  /// p-value of the hypothesis by all observations, valid after each; at most 1. Rises again if later observations
  /// support the hypothesis.
  [[nodiscard]] double p_value() const { return std::exp(-std::max(log_now_, 0.0)); }

 private:
  std::array<double, players> money_{};
  double log_scale_ = 0, log_now_ = 0;
};

/// Fewest observations that take a Wealth to 1/alpha. No test that is valid for every symmetric distribution needs
/// fewer than log2(1/alpha), since n observations all lie above their centre with probability 2^-n.
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
