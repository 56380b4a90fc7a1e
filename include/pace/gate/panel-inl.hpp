// How demands are tested and judged together.
#pragma once

#include "pace/gate/panel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pace/gate/evidence.hpp"
#include "pace/gate/judge.hpp"
#include "pace/stats/cycle.hpp"
#include "pace/stats/multiplicity.hpp"

namespace pace::gate {

PACE_INLINE Rates shared_rates(std::size_t count, const Rates& family,
                               FunctionRef<WeighedDemand(std::size_t)> weighed) {
  std::size_t sharing_alpha = 0, sharing_beta = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sharing_alpha += !weighed(i).demand.alpha;
    sharing_beta += !weighed(i).demand.beta;
  }
  // For a claim, alpha is the rate of wrongly rejecting "it does not hold"; for a guard, "it holds".
  const auto count_at_most = [&](bool alpha_side, double level) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const WeighedDemand each = weighed(i);
      if (alpha_side ? each.demand.alpha.has_value() : each.demand.beta.has_value()) continue;
      found += ((each.demand.burden == Burden::claim) == alpha_side ? each.p_above : each.p_below) <= level;
    }
    return found;
  };
  return {stats::holm_level(sharing_alpha, family.alpha, [&](double level) { return count_at_most(true, level); }),
          stats::holm_level(sharing_beta, family.beta, [&](double level) { return count_at_most(false, level); })};
}

PACE_INLINE void Panel::watch(const Demand& demand, std::size_t own, std::size_t reference, DemandId id) {
  watched_.push_back({demand, own, reference, id, stats::SequentialTest(demand.threshold, demand.assumption()),
                      TailTests(demand), demand.quantity == Quantity::speedup});
}

PACE_INLINE void Panel::add_cycle(std::span<const std::vector<Nanoseconds>> samples, std::size_t first,
                                  std::size_t rounds, std::int64_t iterations) {
  const auto cycle_of = [&](std::size_t i) { return std::span<const Nanoseconds>(samples[i]).subspan(first, rounds); };
  for (auto& each : watched_) {
    if (each.demand.quantity == Quantity::time) {
      each.test.add(-stats::log_time_of_cycle(cycle_of(each.own)));
      each.p_above = each.test.p_above();
      each.p_below = each.test.p_below();
      continue;
    }
    const double ratio = stats::log_ratio_of_cycle(cycle_of(each.reference), cycle_of(each.own));
    // The length only matters if the ratio is large. Computing it costs as many logarithms again.
    const bool slow = std::abs(ratio - each.demand.threshold) > stats::LargeDeviationBet::least &&
                      longer_side(stats::log_time_of_cycle(cycle_of(each.own)), ratio, rounds, iterations) >= slow_side;
    each.test.add(ratio, slow);
    each.slow = each.slow && slow;
    each.tails.add_cycle(cycle_of(each.reference), cycle_of(each.own));
    const Weights both = weigh_together(each.demand, {each.test.p_above(), each.test.p_below()}, each.tails);
    each.p_above = both.p_above;
    each.p_below = both.p_below;
  }
}

PACE_INLINE bool Panel::decided() const {
  const Rates rates = shared_rates(watched_.size(), family_, [&](std::size_t i) -> WeighedDemand {
    return {watched_[i].demand, watched_[i].p_above, watched_[i].p_below};
  });
  for (const auto& each : watched_) {
    // A sample of fixed size allows no verdict before it is complete.
    if (each.demand.method != Method::sequential) return false;
    if (each.p_below <= each.demand.fail_level(rates)) continue;
    if (each.p_above > each.demand.pass_level(rates) || each.tails.mean_beyond()) return false;
  }
  return true;
}

namespace detail {

/// Returns the row of the demand's reference; null if there is none, or if it is the baseline.
[[nodiscard]] inline const ImplementationResult* reference_row(const Result& result, const Demand& demand) {
  for (const auto& row : result.implementations)
    if (row.name == demand.reference && !row.is_baseline) return &row;
  return nullptr;
}

/// Whether `stated` is about `row`. An expectation of a time is never about the baseline, nor about its own reference.
[[nodiscard]] inline bool concerns(const Stated& stated, const ImplementationResult& row) {
  if (!stated.expectation.is_of_time())
    return stated.implementation.empty() ? !row.is_baseline : stated.implementation == row.name;
  if (row.is_baseline || row.name == stated.expectation.demand().reference) return false;
  return stated.implementation.empty() || stated.implementation == row.name;
}

}  // namespace detail

PACE_INLINE std::vector<Stated> share_among_clocks(std::span<const Stated> stated, bool guards_of_both) {
  std::vector<Stated> shared;
  for (const auto& each : stated) {
    const auto& expectation = each.expectation;
    const TakenOn on = expectation.taken_on();
    if (on != TakenOn::host) shared.push_back(each);
    const bool of_both = on == TakenOn::by_burden && guards_of_both && expectation.is_of_time() &&
                         expectation.phase().empty() && expectation.demand().burden == Burden::guard;
    if (of_both) {
      // The host's time is noisy. By default the guard is there to find plain regressions only.
      const bool by_default = expectation.demand().when_undecided == WhenUndecided::by_burden;
      shared.push_back(
          {each.implementation,
           (by_default ? expectation.when_undecided(WhenUndecided::let_through) : expectation).in_phase(host_phase)});
    }
    if (on == TakenOn::host) shared.push_back({each.implementation, expectation.on_device().in_phase(host_phase)});
  }
  return shared;
}

PACE_INLINE bool expects_on_device(std::span<const Stated> stated) {
  return std::ranges::any_of(stated, [](const Stated& each) {
    return each.expectation.is_of_time() && each.expectation.phase() != host_phase;
  });
}

PACE_INLINE bool expects_in_phase(std::span<const Stated> stated, const std::string& phase) {
  return std::ranges::any_of(stated, [&](const Stated& each) { return each.expectation.phase() == phase; });
}

PACE_INLINE Panel watch_all(const Result& result, std::span<const std::size_t> timed, std::span<const Stated> stated,
                            const Rates& family, const std::string& phase, std::size_t first) {
  Panel panel(family);
  const auto row = [&](std::size_t position) -> const ImplementationResult& {
    return result.implementations[timed[position]];
  };
  for (std::size_t index = 0; index < stated.size(); ++index) {
    const Stated& each = stated[index];
    if (each.expectation.phase() != phase || !each.expectation.is_of_time()) continue;
    const Demand& demand = each.expectation.demand();
    for (std::size_t reference = 0; reference < timed.size(); ++reference) {
      if (demand.reference.empty() ? !row(reference).is_baseline : row(reference).name != demand.reference) continue;
      for (std::size_t own = 0; own < timed.size(); ++own)
        if (detail::concerns(each, row(own))) panel.watch(demand, first + own, first + reference, {index, timed[own]});
    }
  }
  return panel;
}

PACE_INLINE Rates share_among_phases(std::span<const Stated> stated, const Rates& family) {
  std::vector<std::string> parts;
  for (const auto& each : stated)
    if (each.expectation.is_of_time() && std::find(parts.begin(), parts.end(), each.expectation.phase()) == parts.end())
      parts.push_back(each.expectation.phase());
  const double share = 1 / static_cast<double>(std::max<std::size_t>(parts.size(), 1));
  return {share * family.alpha, share * family.beta};
}

namespace detail {

/// The demand as a panel has watched it; null if none has, or if its method has another test.
[[nodiscard]] inline const Panel::Watched* find_watched(std::span<const Panel> panels, DemandId id) {
  for (const auto& panel : panels)
    for (const auto& each : panel.watched())
      if (each.id == id && each.demand.method == Method::sequential) return &each;
  return nullptr;
}

}  // namespace detail

PACE_INLINE void judge_all(Result& result, std::span<const Stated> stated, const Rates& family,
                           std::span<const Panel> panels) {
  /// A demand on a row with figures. Its judgement, at `place` in the row, waits for the others.
  struct Case {
    ImplementationResult* row;
    std::size_t place;
    Demand demand;
    std::vector<double> observations;
    Evidence evidence;
  };
  std::vector<Case> cases;
  for (std::size_t implementation = 0; implementation < result.implementations.size(); ++implementation) {
    auto& row = result.implementations[implementation];
    for (std::size_t index = 0; index < stated.size(); ++index) {
      const Stated& each = stated[index];
      if (each.expectation.phase() != result.phase || !detail::concerns(each, row)) continue;
      if (!each.expectation.is_of_time()) {
        row.judgements.push_back(each.expectation.judge(row));
        continue;
      }
      const Demand demand = each.expectation.demand();
      const ImplementationResult* const reference = detail::reference_row(result, demand);
      Judgement& judgement = row.judgements.emplace_back();
      if (judge_without_figures(demand, row, reference, judgement)) continue;
      auto observations = observe(demand, row, reference);
      if (observations.empty()) {
        judgement = judge_summary(demand, row);
        continue;
      }
      const auto pairs = paired_samples(row, reference);
      const auto* const watched = detail::find_watched(panels, {index, implementation});
      const Evidence evidence = watched != nullptr
                                    ? weigh(observations, demand, watched->test, watched->tails, watched->slow, pairs)
                                    : weigh(observations, demand, longer_sides(demand, row, observations), pairs);
      cases.push_back({&row, row.judgements.size() - 1, demand, std::move(observations), evidence});
    }
  }
  const Rates rates = shared_rates(cases.size(), family, [&](std::size_t i) -> WeighedDemand {
    return {cases[i].demand, cases[i].evidence.p_above, cases[i].evidence.p_below};
  });
  for (const auto& each : cases)
    each.row->judgements[each.place] =
        judge_observations(each.demand, each.row->name, each.row->context, each.observations, each.evidence, rates);
}

PACE_INLINE void defer_judgements(Result& result) {
  for (auto& row : result.implementations)
    for (auto& judgement : row.judgements)
      judgement.deferred = judgement.speed.has_value() || row.outcome == Outcome::unreached;
  for (auto& phase : result.phases) defer_judgements(phase);
}

}  // namespace pace::gate
