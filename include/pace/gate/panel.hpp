// Panel: all demands of a comparison, watched cycle by cycle, and judged together in the end.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/judge.hpp"
#include "pace/stats/cycle.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/stats/sequential_test.hpp"

namespace pace::gate {

/// Rates at which `count` demands are judged so that wrong verdicts of either kind have the given probability for all
/// together: Holm's procedure, on each side. Demands with a rate of their own stand outside. `demand(i)` gives a
/// Demand, `p_above(i)` and `p_below(i)` its p-values. No allocation.
template <class DemandOf, class PAbove, class PBelow>
[[nodiscard]] Rates shared_rates(std::size_t count, const Rates& family, DemandOf demand, PAbove p_above,
                                 PBelow p_below) {
  std::size_t sharing_alpha = 0, sharing_beta = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sharing_alpha += !demand(i).alpha;
    sharing_beta += !demand(i).beta;
  }
  // For a claim, alpha is the rate at which "it does not hold" is rejected wrongly; for a guard, "it holds".
  const auto count_at_most = [&](bool alpha_side, double level) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Demand& each = demand(i);
      if (alpha_side ? each.alpha.has_value() : each.beta.has_value()) continue;
      found += ((each.burden == Burden::claim) == alpha_side ? p_above(i) : p_below(i)) <= level;
    }
    return found;
  };
  return {stats::holm_level(sharing_alpha, family.alpha, [&](double level) { return count_at_most(true, level); }),
          stats::holm_level(sharing_beta, family.beta, [&](double level) { return count_at_most(false, level); })};
}

/// The stopping rule: told of every cycle while the rounds go on, it says when every demand is decided. All memory is
/// taken before the first cycle; a cycle costs a fraction of a microsecond per demand.
template <class Test>
class PanelOf {
 public:
  explicit PanelOf(Rates family) : family_(family) {}

  /// `own` and `reference` are positions among the samples that add_cycle is given.
  void watch(const Demand& demand, std::size_t own, std::size_t reference) {
    watched_.push_back({demand, own, reference, Test(demand.threshold, demand.assumption())});
  }
  [[nodiscard]] bool empty() const { return watched_.empty(); }
  [[nodiscard]] std::size_t size() const { return watched_.size(); }

  /// `samples[i]` are times per iteration of implementation i, each of a sample of `iterations`; those of `rounds` rounds
  /// from `first` on are new.
  void add_cycle(std::span<const std::vector<Nanoseconds>> samples, std::size_t first, std::size_t rounds,
                 std::int64_t iterations) {
    const auto cycle_of = [&](std::size_t i) {
      return std::span<const Nanoseconds>(samples[i]).subspan(first, rounds);
    };
    for (auto& each : watched_) {
      if (each.demand.quantity == Quantity::time) {
        each.test.add(-stats::log_time_of_cycle(cycle_of(each.own)));
        continue;
      }
      const double ratio = stats::log_ratio_of_cycle(cycle_of(each.reference), cycle_of(each.own));
      // Where it is not as large as that, its length does not matter, which costs as many logarithms again.
      const bool slow =
          std::abs(ratio - each.demand.threshold) > stats::LargeDeviationBet::least &&
          longer_side(stats::log_time_of_cycle(cycle_of(each.own)), ratio, rounds, iterations) >= slow_side;
      each.test.add(ratio, slow);
    }
  }

  [[nodiscard]] bool decided() const {
    const auto demand = [&](std::size_t i) -> const Demand& { return watched_[i].demand; };
    const auto p_above = [&](std::size_t i) { return watched_[i].test.p_above(); };
    const auto p_below = [&](std::size_t i) { return watched_[i].test.p_below(); };
    const Rates rates = shared_rates(watched_.size(), family_, demand, p_above, p_below);
    for (const auto& each : watched_) {
      // A verdict on a sample of fixed size may not be looked at before that is reached.
      if (each.demand.method != Method::sequential) return false;
      if (each.test.p_above() > each.demand.pass_level(rates) && each.test.p_below() > each.demand.fail_level(rates))
        return false;
    }
    return true;
  }

 private:
  struct Watched {
    Demand demand;
    std::size_t own, reference;
    Test test;
  };

  Rates family_;
  std::vector<Watched> watched_;
};

using Panel = PanelOf<stats::SequentialTest>;

/// The row of that name; null if there is none, or it is the baseline and so needs no naming.
[[nodiscard]] const ImplementationResult* reference_row(const auto& result, const auto& demand) {
  for (const auto& row : result.implementations)
    if (row.name == demand.reference && !row.is_baseline) return &row;
  return nullptr;
}

/// Whether `stated` is about `row`: not about the baseline, nor about a row that would be compared with itself.
[[nodiscard]] bool concerns(const auto& stated, const auto& row) {
  if (row.is_baseline || row.name == stated.expectation.demand().reference) return false;
  return stated.candidate.empty() || stated.candidate == row.name;
}

/// A panel for whatever was stated of one phase, or of the whole, for implementations that are timed: `timed` are their
/// rows in `result`, in the order in which samples will be given, from position `first` on. What needs one that is not
/// timed is left out, since no cycle can decide it.
[[nodiscard]] Panel watch_all(const auto& result, std::span<const std::size_t> timed, std::span<const Stated> stated,
                              const Rates& family, const std::string& phase = {}, std::size_t first = 0) {
  Panel panel(family);
  const auto row = [&](std::size_t position) -> const ImplementationResult& {
    return result.implementations[timed[position]];
  };
  for (const auto& each : stated) {
    if (each.phase != phase) continue;
    const Demand& demand = each.expectation.demand();
    for (std::size_t reference = 0; reference < timed.size(); ++reference) {
      if (demand.reference.empty() ? !row(reference).is_baseline : row(reference).name != demand.reference) continue;
      for (std::size_t own = 0; own < timed.size(); ++own)
        if (concerns(each, row(own)))
          panel.watch(demand.with(row(own).context.allowance), first + own, first + reference);
    }
  }
  return panel;
}

/// The rates of each phase, and of the whole, that something was stated of: all together err as often as `family`.
[[nodiscard]] Rates share_among_phases(const auto& stated, Rates family) {
  std::size_t parts = 0;
  for (std::size_t i = 0; i < stated.size(); ++i) {
    bool first = true;
    for (std::size_t j = 0; j < i; ++j) first = first && stated[j].phase != stated[i].phase;
    parts += first;
  }
  const double share = 1 / static_cast<double>(parts > 0 ? parts : 1);
  return {share * family.alpha, share * family.beta};
}

/// Judges every row by what was stated for it in the result's phase, into ImplementationResult::judgements, with the error rates `family` for
/// all verdicts of the result together. Rows without figures take no share of them, as they take none of a Panel's.
inline void judge_all(Result& result, std::span<const Stated> stated, const Rates& family) {
  /// A demand on a row with figures; its judgement, which stands at `place` in the row, waits for the others.
  struct Case {
    ImplementationResult* row;
    std::size_t place;
    Demand demand;
    std::vector<double> observations;
    Evidence evidence;
  };
  std::vector<Case> cases;
  for (auto& row : result.implementations) {
    for (const auto& each : stated) {
      if (each.phase != result.phase || !concerns(each, row)) continue;
      const Demand demand = each.expectation.demand().with(row.context.allowance);
      const ImplementationResult* const reference = reference_row(result, demand);
      Judgement& judgement = row.judgements.emplace_back();
      if (judge_without_figures(demand, row, reference, judgement)) continue;
      auto observations = observe(demand, row, reference);
      if (observations.empty()) {
        judgement = detail::judge_summary(demand, row);
        continue;
      }
      const Evidence evidence = weigh(observations, demand, longer_sides(demand, row, observations));
      cases.push_back({&row, row.judgements.size() - 1, demand, std::move(observations), evidence});
    }
  }
  const Rates rates = shared_rates(
      cases.size(), family, [&](std::size_t i) -> const Demand& { return cases[i].demand; },
      [&](std::size_t i) { return cases[i].evidence.p_above; },
      [&](std::size_t i) { return cases[i].evidence.p_below; });
  for (const auto& each : cases)
    each.row->judgements[each.place] =
        judge_observations(each.demand, each.row->name, each.row->context, each.observations, each.evidence, rates);
}

}  // namespace pace::gate
