// How figures become a verdict, and its message.
#pragma once

#include "pace/gate/judge.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "pace/base/format.hpp"
#include "pace/gate/excess.hpp"
#include "pace/gate/forecast.hpp"

namespace pace::gate {

PACE_INLINE bool judge_without_figures(const Demand& demand, const ImplementationResult& row,
                                       const ImplementationResult* reference, Judgement& judgement) {
  judgement = {.expectation = demand.describe()};
  const std::string own = '\'' + row.name + '\'';
  switch (row.outcome) {
    case Outcome::wrong:
      judgement.verdict = Verdict::failed;
      judgement.message = own + " does not compute what the baseline computes, so it has no speed-up: " + row.message +
                          ". Correct it" +
                          (row.context.beyond_tolerance ? ", or state a tolerance that its inputs justify" : "");
      return true;
    case Outcome::threw:
    case Outcome::crashed:
    case Outcome::timed_out:
    case Outcome::out_of_memory:
      judgement.verdict = Verdict::failed;
      judgement.message =
          own + ' ' + to_string(row.outcome) + ": " + row.message + ". Make it run on these inputs first";
      return true;
    case Outcome::refused:
      judgement.message = own + " could not be run here: " + row.message;
      return true;
    case Outcome::unreached:
      // There are no figures for or against the demand, so that it is undecided as if the time had not sufficed.
      judgement.verdict = Verdict::undecided;
      demand.leave_open(judgement);
      judgement.message = own + " was not measured: " + row.message;
      return true;
    case Outcome::measured:
      break;
  }
  if (demand.quantity == Quantity::time) return false;
  if (reference != nullptr) {
    if (reference->outcome == Outcome::measured) return false;
    judgement.message = own + " cannot be compared with '" + reference->name + "', which was not measured";
    return true;
  }
  if (row.is_baseline) {
    judgement.message = own + " is the baseline itself; state the expectation for a candidate";
    return true;
  }
  if (!demand.reference.empty() && demand.reference != row.context.baseline) {
    judgement.message = own + " was compared with '" + row.context.baseline + "'; to compare it with '" +
                        demand.reference + "', state .expect(\"" + row.name + "\", ...) before the run";
    return true;
  }
  return false;
}

namespace detail {

/// Returns whether every observation is slow and more than a thousand times below the threshold. No disturbance slows
/// one side down a thousand times in every cycle and leaves the other one unaffected.
[[nodiscard]] inline bool beyond_any_disturbance(const Demand& demand, const Evidence& evidence,
                                                 const std::vector<double>& observations) {
  constexpr double thousandfold = 6.907755278982137;  // ln 1000
  if (demand.quantity != Quantity::speedup || demand.method != Method::sequential || !evidence.slow) return false;
  for (const double each : observations)
    if (!(demand.threshold - each > thousandfold)) return false;
  return true;
}

/// Ends of an interval of observations, as the figures that are printed: a factor or a time.
struct Figures {
  std::string centre, interval, relation;
  bool bounded = false;
};

[[nodiscard]] inline Figures figures_of(const Demand& demand, double centre, const Interval<double>& interval) {
  Figures figures;
  figures.bounded = std::isfinite(interval.low) && std::isfinite(interval.high);
  if (demand.quantity == Quantity::time) {
    figures.centre = "takes " + format_time(Nanoseconds(std::exp(-centre)));
    figures.interval = format_interval(Interval<Nanoseconds>{
        Nanoseconds(std::exp(-interval.high)), Nanoseconds(std::exp(-interval.low)), interval.confidence});
    return figures;
  }
  const bool guard = demand.burden == Burden::guard;
  const double low = std::exp(guard ? -interval.high : interval.low);
  const double high = std::exp(guard ? -interval.low : interval.high);
  // As many digits as distinguish the ends from the limit and from each other.
  int digits = 3;
  const auto text = [&](double factor) { return format_significant(factor, digits) + 'x'; };
  const auto alike = [&](double one, double other) {
    return std::abs(one - other) > 1e-5 * other && text(one) == text(other);
  };
  while (figures.bounded && digits < 6 && (alike(low, high) || alike(low, demand.limit) || alike(high, demand.limit)))
    ++digits;
  figures.interval = '[' + text(low) + ", " + text(high) + ']';
  figures.centre = guard ? "takes " + text(std::exp(-centre)) + ' ' + demand.reference_text() + "'s time"
                         : "is " + text(std::exp(centre)) + " as fast as " + demand.reference_text();
  return figures;
}

/// Whether the printed figures grow where observations fall, as times do.
[[nodiscard]] inline bool smaller_is_better(const Demand& demand) {
  return demand.quantity == Quantity::time || demand.burden == Burden::guard;
}

[[nodiscard]] inline const char* advice(const Demand& demand) {
  if (demand.quantity == Quantity::time) return ". Make the implementation faster, or allow more time";
  return demand.burden == Burden::guard ? ". Find what made it slower, or allow more"
                                        : ". Make the implementation faster, or lower what is expected of it";
}

/// ` by the graph clock`, where there are several.
[[nodiscard]] inline std::string by_clock(const GateContext& context) {
  return context.clock.empty() ? "" : " by the " + context.clock + " clock";
}

/// `wrongly passed: 0.1 %, wrongly failed: 1 %`.
[[nodiscard]] inline std::string rates_text(double pass_level, double fail_level) {
  return "wrongly passed: " + format_percent(pass_level) + ", wrongly failed: " + format_percent(fail_level);
}

/// What becomes of a demand on unseen values.
struct OnUnseenValues {
  /// What the figures are there at best, where that does not meet the demand; empty: it does, or that is not known.
  std::string at_best = {};
  /// Whether the median there does not meet it, which proves nothing.
  bool doubtful = false;
  /// What the figures are there by the median, where they are worse than in the rounds; empty: they are not.
  std::string by_median = {};
};

/// Returns it for observations of this centre.
[[nodiscard]] inline OnUnseenValues on_unseen_values(const Demand& demand, const GateContext& context, double centre) {
  OnUnseenValues found;
  if (context.likely_excess_in_rounds > 1) {
    const double likely = centre - std::log(context.likely_excess_in_rounds);
    found.doubtful = likely < demand.threshold;
    constexpr double open = std::numeric_limits<double>::infinity();
    found.by_median = figures_of(demand, likely, {-open, open, 0}).centre;
  }
  const double best = centre - std::log(context.excess_in_rounds);
  if (context.excess_in_rounds <= 1 || best >= demand.threshold) return found;
  if (demand.quantity == Quantity::time)
    found.at_best = "at least " + format_time(Nanoseconds(std::exp(-best)));
  else if (demand.burden == Burden::guard)
    found.at_best = "at least " + format_significant(std::exp(-best), 3) + "x " + demand.reference_text() + "'s time";
  else
    found.at_best = "at most " + format_significant(std::exp(best), 3) + "x as fast as " + demand.reference_text();
  return found;
}

/// What decided: an interval, which the figures show; one of which an end is open, so that they do not; or
/// stats::LargeDeviationBet, which every cycle has won.
struct Ground {
  bool shown = true, won = false;
  /// The mean of times alone decided, and the figures are those of the mean.
  bool by_mean = false;
  /// What the figure says that did not decide, the mean or the median, as a sentence or a part of one; empty: there is
  /// one figure.
  std::string beside = {};
  OnUnseenValues on_unseen_values = {};
};

/// `, all of it above `, to be followed by the limit.
[[nodiscard]] inline std::string relation_text(const Ground& ground, bool above, bool or_at) {
  if (ground.by_mean) return ", and the mean is proven to lie above ";
  if (!ground.won)
    return std::string(ground.shown ? ", all of it " : ", proven to lie ") + (or_at ? "at or " : "") +
           (above ? "above " : "below ");
  return above ? ", in every cycle more than ten times " : ", in every cycle less than a tenth of ";
}

/// Sets verdict, acceptable and message. `open` is what follows where the figures do not decide. `stands`: no
/// disturbance accounts for a verdict of `failed`.
inline void conclude(Judgement& judgement, const Demand& demand, const GateContext& context, const std::string& figures,
                     const std::string& rates, std::string open, const Ground& ground = {}, bool stands = false) {
  if (const auto why = context.why(Severity::impossible); !why.empty()) {
    judgement.verdict = Verdict::invalid;
    judgement.acceptable = false;
    judgement.message = figures + ", which cannot be: " + why;
    return;
  }
  if (const auto why = context.why(Severity::unproven);
      !why.empty() && demand.burden == Burden::claim && judgement.verdict == Verdict::passed) {
    judgement.verdict = Verdict::invalid;
    judgement.acceptable = false;
    judgement.message = figures + ", which proves nothing: " + why;
    return;
  }
  const auto too_brief = context.why(Severity::too_brief), unchecked = context.why(Severity::unchecked),
             cut_short = context.why(Severity::cut_short);
  // The result of the figures is not printed, since it would be read as a verdict.
  const bool disturbed = !context.disturbance.empty();
  if (disturbed && !(stands && judgement.verdict == Verdict::failed)) {
    judgement.verdict = Verdict::undecided;
    open = ", on which no verdict may rest: " + context.disturbance +
           " Measure again when the machine is quieter (--max-interference sets the limit)";
  } else if (!too_brief.empty()) {
    judgement.verdict = Verdict::undecided;
    open = ", on which no verdict may rest yet: " + too_brief;
    if (!cut_short.empty()) open += ". The rounds ended early: " + cut_short;
  } else if (!ground.on_unseen_values.at_best.empty() && judgement.verdict != Verdict::failed) {
    judgement.verdict = Verdict::failed;
    judgement.acceptable = false;
    judgement.message =
        figures + ", but on unseen values " + ground.on_unseen_values.at_best + ", which does not meet " +
        demand.limit_text() +
        ". Either it keeps something from call to call, or the code or the processor know the values "
        "of the rounds. If it derives something from an operand that stays the same where the code is "
        "used, declare that operand, counted from 0: .keeps(operand) (//benches/files: --keeps OPERAND). If it is made "
        "for values of a kind, let each round have "
        "others of that kind: .renew_each_round(function)";
    return;
  } else if (ground.on_unseen_values.doubtful && judgement.verdict == Verdict::passed) {
    judgement.verdict = Verdict::undecided;
    open = ", which is not so by the median on unseen values";
    open += unchecked.empty() ? ", of too few or too different samples. Measure longer (--budget), or on a "
                                "quieter machine"
                              : ": " + unchecked;
  } else if (!unchecked.empty() && demand.burden == Burden::claim && judgement.verdict == Verdict::passed) {
    judgement.verdict = Verdict::undecided;
    open = ", on which no claim may rest: " + unchecked;
    if (!cut_short.empty() && unchecked.find(cut_short) == std::string::npos)
      open += ". The rounds ended early: " + cut_short;
  } else if (!cut_short.empty()) {
    open += ". The rounds ended early: " + cut_short;
  }
  const bool smaller = smaller_is_better(demand);
  const std::string limit = demand.limit_text();
  const bool high = smaller == (judgement.verdict == Verdict::failed);
  switch (judgement.verdict) {
    case Verdict::passed:
      judgement.message = figures + relation_text(ground, high, /*or_at=*/true) + limit + rates + ground.beside;
      if (!ground.on_unseen_values.by_median.empty())
        judgement.message += "; on unseen values it " + ground.on_unseen_values.by_median;
      break;
    case Verdict::failed:
      judgement.message =
          figures + relation_text(ground, high, /*or_at=*/false) + limit + rates + ground.beside + advice(demand);
      if (disturbed)
        judgement.message += ". The machine was disturbed, which does not account for this: " + context.disturbance;
      break;
    default:
      judgement.message = figures + open;
      if (!demand.closes_when_undecided())
        judgement.message +=
            demand.burden == Burden::guard ? "; no regression is proven" : "; let through all the same";
  }
  if (judgement.verdict == Verdict::undecided)
    demand.leave_open(judgement);
  else
    judgement.acceptable = judgement.verdict == Verdict::passed;
}

}  // namespace detail

PACE_INLINE Judgement judge_summary(const Demand& demand, const ImplementationResult& row) {
  Judgement judgement{.expectation = demand.describe(), .verdict = Verdict::undecided};
  const std::string own = '\'' + row.name + "' ";
  const bool time = demand.quantity == Quantity::time;
  std::optional<Interval<double>> interval;
  double centre = 0;
  if (time && row.time && row.time->interval) {
    centre = -std::log(row.time->median.count());
    interval.emplace() = {-std::log(row.time->interval->high.count()), -std::log(row.time->interval->low.count()),
                          row.time->interval->confidence};
  } else if (!time && row.speedup && row.speedup->interval) {
    centre = std::log(row.speedup->median);
    interval.emplace() = {std::log(row.speedup->interval->low), std::log(row.speedup->interval->high),
                          row.speedup->interval->confidence};
  }
  if (!interval) {
    const auto seen = time ? row.samples.size() : row.speedup ? row.speedup->observations : 0;
    demand.leave_open(judgement);
    judgement.message =
        own + "has only " + std::to_string(seen) + (time ? " samples" : " paired observations") +
        detail::by_clock(row.context) + ", too few for an interval" +
        (!row.context.has(Severity::cut_short) ? "; give it a longer budget (--budget)"
                                               : ". The rounds ended early: " + row.context.why(Severity::cut_short));
    // Whatever is let through by figures is not let through without any.
    if (seen == 0) judgement.unresolved = judgement.acceptable;
    return judgement;
  }
  // Logarithms round; an end that was stated to be the threshold is not beyond it.
  constexpr double rounding = 1e-12;
  if (interval->low >= demand.threshold - rounding)
    judgement.verdict = Verdict::passed;
  else if (interval->high < demand.threshold - rounding)
    judgement.verdict = Verdict::failed;
  const auto figures = detail::figures_of(demand, centre, *interval);
  std::string open = ", which holds " + demand.limit_text();
  if (demand.closes_when_undecided())
    open += std::string(". Measure longer (--budget), or on a quieter machine, or ") +
            (demand.burden == Burden::claim && !time ? "claim less" : "allow more");
  const std::string text = own + figures.centre + detail::by_clock(row.context) + ' ' + figures.interval + " at " +
                           format_percent(interval->confidence);
  detail::conclude(judgement, demand, row.context, text, "", open,
                   {.on_unseen_values = detail::on_unseen_values(demand, row.context, centre)});
  return judgement;
}

namespace detail {

/// How far processes of one program may be apart in a speed-up: three times 0.31 %, the largest standard deviation of
/// identical code over 40 processes whose operands stay with their side (docs/measurements.md, "Placement").
inline constexpr double speedups_apart = 0.0093;
/// How far they may be apart in a time: one standard deviation, as it is assumed for stored baselines (docs/gates.md,
/// "Stored baselines").
inline constexpr double times_apart = 0.05;

/// Adds to a verdict of one process that another process may come to another one, if `centre`, the figure that decided,
/// lies so near the limit.
inline void add_near_limit(Judgement& judgement, const Demand& demand, double centre) {
  if (demand.method == Method::replicates) return;
  if (judgement.verdict != Verdict::passed && judgement.verdict != Verdict::failed) return;
  const double apart = demand.quantity == Quantity::time ? times_apart : speedups_apart;
  if (!(std::abs(centre - demand.threshold) <= std::log1p(apart))) return;
  judgement.near_limit = "Within " + format_percent(apart) +
                         " of the limit, by which processes of one program may differ, so that this verdict is about "
                         "this process. ";
  // What several processes cannot judge together has no other remedy.
  judgement.near_limit += judgement.speed && !demand.of_tails_alone()
                              ? "--processes 12 judges up to 12 processes together"
                              : "State a limit that is farther away";
  judgement.message += ". " + judgement.near_limit;
}

/// The judgement of a demand on a mean or a quantile alone.
[[nodiscard]] inline Judgement judge_tail(const Demand& demand, const std::string& name, const GateContext& context,
                                          const Evidence& evidence, double pass_level, double fail_level) {
  Judgement judgement{.expectation = demand.describe(), .verdict = Verdict::undecided};
  if (!evidence.tail) {
    demand.leave_open(judgement);
    judgement.message = '\'' + name + "' has no samples beside those of " + demand.reference_text() +
                        " here, which its " + demand.statistic_text() + " is held against";
    return judgement;
  }
  judgement.verdict = decide(evidence.p_above, evidence.p_below, pass_level, fail_level);
  const std::string levels = rates_text(pass_level, fail_level);
  const std::string cycles = std::to_string(evidence.observations) + " cycles";
  const std::string text = '\'' + name + "' has a " + demand.statistic_text() + " of " +
                           format_significant(*evidence.tail, 3) + "x " + demand.reference_text() + "'s" +
                           by_clock(context);
  std::string open = ", of which it is not proven on which side of " + demand.limit_text() + " it lies (" + levels +
                     "; " + cycles + "). Measure longer (--budget, --max-rounds)";
  conclude(judgement, demand, context, text, " (" + levels + "; " + cycles + ")", open,
           {.shown = false, .on_unseen_values = on_unseen_values(demand, context, -std::log(*evidence.tail))});
  add_near_limit(judgement, demand, -std::log(*evidence.tail));
  return judgement;
}

}  // namespace detail

PACE_INLINE Judgement judge_observations(const Demand& demand, const std::string& name, const GateContext& context,
                                         const std::vector<double>& observations, const Evidence& evidence,
                                         const Rates& rates) {
  const double pass_level = demand.pass_level(rates), fail_level = demand.fail_level(rates);
  if (demand.of_tails_alone()) return detail::judge_tail(demand, name, context, evidence, pass_level, fail_level);
  Judgement judgement{.expectation = demand.describe()};
  if (demand.quantity == Quantity::speedup && (demand.reference.empty() || demand.reference == context.baseline))
    judgement.speed = {demand.burden == Burden::guard,       demand.limit,
                       demand.alpha.value_or(context.alpha), demand.beta.value_or(context.beta),
                       demand.closes_when_undecided(),       demand.when_undecided == WhenUndecided::let_through};
  judgement.verdict = decide(evidence.p_above, evidence.p_below, pass_level, fail_level);
  auto interval = undecided_thresholds(observations, demand, pass_level, fail_level);
  // Each end for processes is what those so far have proven at some time. If the figures moved, the ends may have
  // changed sides; the verdict on a threshold outside of them is the same in either order.
  if (interval.low > interval.high) std::swap(interval.low, interval.high);
  const auto figures = detail::figures_of(demand, centre_within(interval, evidence), interval);
  const auto all = detail::figures_of(demand, evidence.centre, interval);
  const std::string levels = detail::rates_text(pass_level, fail_level);
  const bool by_process = demand.method == Method::replicates;
  const std::string cycles = std::to_string(evidence.observations) + (by_process ? " processes" : " cycles");
  std::string text = '\'' + name + "' " + figures.centre + detail::by_clock(context);
  const std::string mean =
      evidence.tail ? format_significant(*evidence.tail, 3) + "x " + demand.reference_text() + "'s time" : "";
  if (evidence.tail)
    text += judgement.verdict == Verdict::undecided ? " by the median (by the mean " + mean + ")" : " by the median";
  if (figures.bounded) text += ' ' + figures.interval + " at " + format_percent(interval.confidence);
  if (all.centre != figures.centre)
    text += " (by the mean of all processes it " + all.centre + ", since they changed while they were taken)";
  std::string open;
  if (evidence.p_above <= pass_level && evidence.p_below <= fail_level) {
    open = ", which was proven to lie above " + demand.limit_text() + " and below it in turn (" + cycles +
           "): the figures changed while they were taken. Measure on a quieter machine";
  } else if (const bool passes_by_median = evidence.p_above_by_interval <= pass_level;
             passes_by_median && evidence.p_slower <= suspicion) {
    open = ", of which the median is proven to lie at or below " + demand.limit_text() +
           ", but the mean looks slower, which is not proven (" + levels + "; " + cycles +
           "). Measure longer (--budget, --max-rounds)";
  } else if (evidence.skewed) {
    const auto centre = stats::centre_of_scores(observations, demand.assumption());
    open = ", which holds " + demand.limit_text() + " (" + levels + "; " + cycles +
           "). The log ratios are skewed or have several modes: their centre, by which it " +
           detail::figures_of(demand, centre, interval).centre +
           ", lies on a side of the limit on which too few of them lie, so that nothing is decided";
  } else {
    open = (figures.bounded ? ", which holds " + demand.limit_text() : std::string(", on too little evidence")) + " (" +
           levels + "; " + cycles + "). " +
           forecast_text(forecast(evidence, demand, pass_level, fail_level), evidence, demand, context);
  }
  // The bet on large deviations is named only if the interval would not have decided.
  const bool by_interval = judgement.verdict == Verdict::passed ? evidence.p_above_by_interval <= pass_level
                                                                : evidence.p_below_by_interval <= fail_level;
  const bool won = judgement.verdict == Verdict::passed ? evidence.far_above : evidence.far_below;
  detail::Ground ground{.shown = figures.bounded,
                        .won = !by_interval && won,
                        .on_unseen_values = detail::on_unseen_values(demand, context, evidence.centre)};
  ground.by_mean = judgement.verdict == Verdict::failed && !by_interval && !won;
  if (evidence.tail) {
    if (ground.by_mean) {
      ground.beside = ". A guard fails by the mean or by the median, which is here " + figures.centre.substr(6) +
                      (figures.bounded ? ' ' + figures.interval : "");
      text = '\'' + name + "' takes " + mean + detail::by_clock(context) + " by the mean";
    } else if (judgement.verdict == Verdict::failed) {
      ground.beside = ". A guard fails by the median or by the mean, which is here " + mean;
    } else if (judgement.verdict == Verdict::passed) {
      ground.beside = "; by the mean it takes " + mean;
    }
  }
  detail::conclude(judgement, demand, context, text, " (" + levels + "; " + cycles + ")", open, ground,
                   detail::beyond_any_disturbance(demand, evidence, observations));
  detail::add_near_limit(judgement, demand, ground.by_mean ? -std::log(*evidence.tail) : evidence.centre);
  return judgement;
}

PACE_INLINE Judgement judge_row(const Demand& demand, const ImplementationResult& row,
                                const ImplementationResult* reference, const Rates& rates) {
  if (Judgement early; judge_without_figures(demand, row, reference, early)) return early;
  const auto observations = observe(demand, row, reference);
  if (observations.empty()) return judge_summary(demand, row);
  const auto evidence =
      weigh(observations, demand, longer_sides(demand, row, observations), paired_samples(row, reference));
  GateContext context = row.context;
  if (reference != nullptr && demand.quantity == Quantity::speedup) {
    context.excess_in_rounds = excess_over(row, *reference);
    context.likely_excess_in_rounds = likely_excess_over(row, *reference);
  }
  return judge_observations(demand, row.name, context, observations, evidence, rates);
}

}  // namespace pace::gate
