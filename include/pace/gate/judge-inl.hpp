// How figures become a verdict, and its message.
#pragma once

#include "pace/gate/judge.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/gate/excess.hpp"
#include "pace/gate/forecast.hpp"

namespace pace::gate {

PACE_INLINE bool judge_without_figures(const Demand& demand, const ImplementationResult& row,
                                       const ImplementationResult* reference, Judgement& judgement) {
  judgement = {.expectation = demand.describe()};
  const std::string own = '\'' + row.name + '\'';
  const auto say = [&](std::string what, std::string_view why, std::string_view remedy = "") {
    auto parts = MessageParts::of(std::move(what), why);
    parts.add_remedy(remedy);
    judgement.message = parts.text();
    return true;
  };
  switch (row.outcome) {
    case Outcome::wrong:
      judgement.verdict = Verdict::failed;
      return say(
          own + " does not compute what the baseline computes, so it has no speed-up", row.message,
          row.context.beyond_tolerance ? "correct it, or state a tolerance that its inputs justify" : "correct it");
    case Outcome::threw:
    case Outcome::crashed:
    case Outcome::timed_out:
    case Outcome::out_of_memory:
      judgement.verdict = Verdict::failed;
      return say(own + ' ' + to_string(row.outcome), row.message, "make it run on these inputs first");
    case Outcome::refused:
      return say(own + " could not be run here", row.message);
    case Outcome::unreached:
      // Without figures for or against the demand it is undecided, as if the time had not sufficed.
      judgement.verdict = Verdict::undecided;
      demand.leave_open(judgement);
      return say(own + " was not measured", row.message);
    case Outcome::measured:
      break;
  }
  if (demand.quantity == Quantity::time) return false;
  if (reference != nullptr) {
    if (reference->outcome == Outcome::measured) return false;
    return say(own + " cannot be compared with '" + reference->name + '\'', "that one was not measured");
  }
  if (row.is_baseline) return say(own + " is the baseline itself", "", "state the expectation for a candidate");
  if (!demand.reference.empty() && demand.reference != row.context.baseline)
    return say(own + " was compared with '" + row.context.baseline + "', not with '" + demand.reference + '\'', "",
               "state .expect(\"" + row.name + "\", ...) before the run");
  return false;
}

namespace detail {

/// Returns whether every observation is slow and more than a thousand times below the threshold. No disturbance slows
/// one side down that much in every cycle and spares the other.
[[nodiscard]] inline bool beyond_any_disturbance(const Demand& demand, const Evidence& evidence,
                                                 const std::vector<double>& observations) {
  constexpr double thousandfold = 6.907755278982137;  // ln 1000
  if (demand.quantity != Quantity::speedup || demand.method != Method::sequential || !evidence.slow) return false;
  for (const double each : observations)
    if (!(demand.threshold - each > thousandfold)) return false;
  return true;
}

/// A centre and an interval of observations as printed: factors or times.
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
  // As many digits as tell the ends from the limit and from each other.
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

/// Whether printed figures grow where observations fall, as times do.
[[nodiscard]] inline bool smaller_is_better(const Demand& demand) {
  return demand.quantity == Quantity::time || demand.burden == Burden::guard;
}

[[nodiscard]] inline const char* advice(const Demand& demand) {
  if (demand.quantity == Quantity::time) return "make the implementation faster, or allow more time";
  return demand.burden == Burden::guard ? "find what made it slower, or allow more"
                                        : "make the implementation faster, or lower what is expected of it";
}

/// Such as ` by the graph clock`; empty with one clock.
[[nodiscard]] inline std::string by_clock(const GateContext& context) {
  return context.clock.empty() ? "" : " by the " + context.clock + " clock";
}

/// Such as `wrongly passed: 0.1 %, wrongly failed: 1 %`.
[[nodiscard]] inline std::string rates_text(double pass_level, double fail_level) {
  return "wrongly passed: " + format_percent(pass_level) + ", wrongly failed: " + format_percent(fail_level);
}

/// Figures of a demand on unseen values.
struct OnUnseenValues {
  /// Best figures there if they miss the demand; empty: they meet it, or that is unknown.
  std::string at_best = {};
  /// Whether the median there misses the demand, which proves nothing.
  bool doubtful = false;
  /// Median figures there if worse than in the rounds; empty: they are not.
  std::string by_median = {};
};

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

/// Reason of a verdict. `shown`: the interval decides, and both its ends are printed. `won`: every cycle won
/// stats::LargeDeviationBet.
struct Ground {
  bool shown = true, won = false;
  /// The mean of times alone decided, and the printed figures are the mean's.
  bool by_mean = false;
  /// The figure that did not decide, mean or median, as a sentence or a part of one; empty: there is one figure.
  std::string beside = {};
  OnUnseenValues on_unseen_values = {};
};

/// Such as `, all of it above `; the limit follows.
[[nodiscard]] inline std::string relation_text(const Ground& ground, bool above, bool or_at) {
  if (ground.by_mean) return ", and the mean is proven to lie above ";
  if (!ground.won)
    return std::string(ground.shown ? ", all of it " : ", proven to lie ") + (or_at ? "at or " : "") +
           (above ? "above " : "below ");
  return above ? ", in every cycle more than ten times " : ", in every cycle less than a tenth of ";
}

/// The first reason against the figures; nothing if there is none. Sets the verdict.
[[nodiscard]] inline std::optional<MessageParts> first_objection(Judgement& judgement, const Demand& demand,
                                                                 const GateContext& context,
                                                                 const OnUnseenValues& unseen, bool stands) {
  const auto made = [&](Verdict verdict, std::string what, const Objection& objection) {
    judgement.verdict = verdict;
    return MessageParts{std::move(what), objection.why, objection.remedy};
  };
  const bool claims = demand.burden == Burden::claim && judgement.verdict == Verdict::passed;
  if (const auto* const found = context.find(Severity::impossible))
    return made(Verdict::invalid, ", which cannot be", *found);
  if (const auto* const found = context.find(Severity::unproven); found != nullptr && claims)
    return made(Verdict::invalid, ", which proves nothing", *found);
  // The verdict of the figures is not printed, since readers would take it for the verdict.
  if (!context.disturbance.empty() && !(stands && judgement.verdict == Verdict::failed)) {
    auto disturbed = Objection::of(Severity::impossible, context.disturbance);
    if (disturbed.remedy.empty())
      disturbed.remedy = "measure again when the machine is quieter (--max-interference sets the limit)";
    return made(Verdict::undecided, ", on which no verdict may rest", disturbed);
  }
  if (const auto* const found = context.find(Severity::too_brief))
    return made(Verdict::undecided, ", on which no verdict may rest yet", *found);
  if (!unseen.at_best.empty() && judgement.verdict != Verdict::failed)
    return made(Verdict::failed,
                ", but on unseen values " + unseen.at_best + ", which does not meet " + demand.limit_text(),
                {.why = "either it keeps something from call to call, or the code or the processor know the values of "
                        "the rounds",
                 .remedy = "if it derives something from an operand that stays the same where the code is used, "
                           "declare that operand, counted from 0: .keeps(operand) (//benches/files: --keeps OPERAND); "
                           "if it is made for values of a kind, let each round have others of that kind: "
                           ".renew_each_round(function)"});
  const auto* const unchecked = context.find(Severity::unchecked);
  if (unseen.doubtful && judgement.verdict == Verdict::passed) {
    const Objection few{.why = "the samples there are too few or too different",
                        .remedy = "measure longer (--budget), or on a quieter machine"};
    return made(Verdict::undecided, ", which is not so by the median on unseen values",
                unchecked != nullptr ? *unchecked : few);
  }
  if (unchecked != nullptr && claims) return made(Verdict::undecided, ", on which no claim may rest", *unchecked);
  return std::nullopt;
}

/// Sets verdict and acceptable, and returns the message. `open` follows `figures` if they do not decide. `stands`: no
/// disturbance explains a verdict of `failed`.
[[nodiscard]] inline MessageParts conclude(Judgement& judgement, const Demand& demand, const GateContext& context,
                                           const std::string& figures, const std::string& rates, MessageParts open,
                                           const Ground& ground = {}, bool stands = false) {
  MessageParts said;
  if (auto found = first_objection(judgement, demand, context, ground.on_unseen_values, stands)) {
    said = *std::move(found);
  } else {
    const bool high = smaller_is_better(demand) == (judgement.verdict == Verdict::failed);
    if (judgement.verdict == Verdict::passed) {
      said.what = relation_text(ground, high, /*or_at=*/true) + demand.limit_text() + rates + ground.beside;
      if (!ground.on_unseen_values.by_median.empty())
        said.what += "; on unseen values it " + ground.on_unseen_values.by_median;
    } else if (judgement.verdict == Verdict::failed) {
      said = {relation_text(ground, high, /*or_at=*/false) + demand.limit_text() + rates + ground.beside, "",
              advice(demand)};
      if (!context.disturbance.empty())
        said.why = context.disturbance + " No disturbance explains so large a factor in every cycle.";
    } else {
      said = std::move(open);
    }
  }
  said.what.insert(0, figures);
  if (judgement.verdict == Verdict::undecided) {
    if (const auto* const cut = context.find(Severity::cut_short); cut != nullptr && context.disturbance.empty()) {
      const bool is_said = !cut->remedy.empty() && said.remedy.find(cut->remedy) != std::string::npos;
      if (!is_said) said.add_why("the rounds ended early: " + cut->why);
      if (!is_said) said.add_remedy(cut->remedy);
    }
    if (!demand.closes_when_undecided())
      said.what += demand.burden == Burden::guard ? "; no regression is proven" : "; let through all the same";
    demand.leave_open(judgement);
  } else {
    judgement.acceptable = judgement.verdict == Verdict::passed;
  }
  return said;
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
    MessageParts few{own + "has only " + std::to_string(seen) + (time ? " samples" : " paired observations") +
                     detail::by_clock(row.context) + ", too few for an interval"};
    if (const auto* const cut = row.context.find(Severity::cut_short)) {
      few.why = "the rounds ended early: " + cut->why;
      few.remedy = cut->remedy;
    } else {
      few.remedy = "a longer budget (--budget)";
    }
    judgement.message = few.text();
    // Without any figures, nothing is let through quietly.
    if (seen == 0) judgement.unresolved = judgement.acceptable;
    return judgement;
  }
  // Logarithms round: an end that equals the threshold is not beyond it.
  constexpr double rounding = 1e-12;
  if (interval->low >= demand.threshold - rounding)
    judgement.verdict = Verdict::passed;
  else if (interval->high < demand.threshold - rounding)
    judgement.verdict = Verdict::failed;
  const auto figures = detail::figures_of(demand, centre, *interval);
  MessageParts open{", which holds " + demand.limit_text()};
  if (demand.closes_when_undecided())
    open.remedy = std::string("measure longer (--budget), or on a quieter machine, or ") +
                  (demand.burden == Burden::claim && !time ? "claim less" : "allow more");
  const std::string text = own + figures.centre + detail::by_clock(row.context) + ' ' + figures.interval + " at " +
                           format_percent(interval->confidence);
  judgement.message = detail::conclude(judgement, demand, row.context, text, "", open,
                                       {.on_unseen_values = detail::on_unseen_values(demand, row.context, centre)})
                          .text();
  return judgement;
}

namespace detail {

/// How far apart processes of one program may be in a speed-up: three times 0.31 %. That is the largest standard
/// deviation of identical code over 40 processes whose operands stay with their side (docs/measurements.md,
/// "Placement").
inline constexpr double speedups_apart = 0.0093;
/// The same for a time: one standard deviation, as stored baselines assume (docs/gates.md, "Stored baselines").
inline constexpr double times_apart = 0.05;

/// Enters the message. If `centre`, the figure that decided, is near the limit, adds that another process may come to
/// another verdict.
inline void finish_message(MessageParts said, const Demand& demand, double centre, Judgement& judgement) {
  const double apart = demand.quantity == Quantity::time ? times_apart : speedups_apart;
  const bool decided = judgement.verdict == Verdict::passed || judgement.verdict == Verdict::failed;
  if (decided && demand.method != Method::replicates && std::abs(centre - demand.threshold) <= std::log1p(apart)) {
    // Without a joint verdict of several processes there is no other remedy.
    const MessageParts near{
        "",
        "within " + format_percent(apart) +
            " of the limit, by which processes of one program may differ, so that this verdict is about this process",
        judgement.speed && !demand.of_tails_alone() ? "--processes 12, which judges up to 12 processes together"
                                                    : "a limit that is farther away"};
    judgement.near_limit = near.why + "; try: " + near.remedy;
    said.add_why(near.why);
    said.add_remedy(near.remedy);
  }
  judgement.message = said.text();
}

/// Judges a demand on a mean or a quantile alone.
[[nodiscard]] inline Judgement judge_tail(const Demand& demand, const std::string& name, const GateContext& context,
                                          const Evidence& evidence, double pass_level, double fail_level) {
  Judgement judgement{.expectation = demand.describe(), .verdict = Verdict::undecided};
  if (!evidence.tail) {
    demand.leave_open(judgement);
    judgement.message = MessageParts{'\'' + name + "' has no " + demand.statistic_text() + " here",
                                     "it has no samples beside those of " + demand.reference_text()}
                            .text();
    return judgement;
  }
  judgement.verdict = decide(evidence.p_above, evidence.p_below, pass_level, fail_level);
  const std::string levels = rates_text(pass_level, fail_level);
  const std::string cycles = std::to_string(evidence.observations) + " cycles";
  const std::string text = '\'' + name + "' has a " + demand.statistic_text() + " of " +
                           format_significant(*evidence.tail, 3) + "x " + demand.reference_text() + "'s" +
                           by_clock(context);
  MessageParts open{", of which it is not proven on which side of " + demand.limit_text() + " it lies (" + levels +
                        "; " + cycles + ')',
                    "", "measure longer (--budget, --max-rounds)"};
  const double centre = -std::log(*evidence.tail);
  auto said = conclude(judgement, demand, context, text, " (" + levels + "; " + cycles + ")", std::move(open),
                       {.shown = false, .on_unseen_values = on_unseen_values(demand, context, centre)});
  finish_message(std::move(said), demand, centre, judgement);
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
  // For processes, each end is the best that was proven at some time. If the figures moved, the ends may have crossed.
  // The verdict on a threshold outside of them is the same in either order.
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
  MessageParts open;
  const std::string how = " (" + levels + "; " + cycles + ')';
  if (evidence.p_above <= pass_level && evidence.p_below <= fail_level) {
    open = {", which was proven to lie above " + demand.limit_text() + " and below it in turn (" + cycles + ')',
            "the figures changed while they were taken", "measure on a quieter machine"};
  } else if (const bool passes_by_median = evidence.p_above_by_interval <= pass_level;
             passes_by_median && evidence.p_slower <= suspicion) {
    open = {", of which the median is proven to lie at or below " + demand.limit_text() + how,
            "the mean looks slower, which is not proven", "measure longer (--budget, --max-rounds)"};
  } else if (evidence.skewed) {
    const auto centre = stats::centre_of_scores(observations, demand.assumption());
    open = {", which holds " + demand.limit_text() + how,
            "the log ratios are skewed or have several modes: their centre, by which it " +
                detail::figures_of(demand, centre, interval).centre +
                ", lies on a side of the limit on which too few of them lie"};
  } else {
    open.what =
        (figures.bounded ? ", which holds " + demand.limit_text() : std::string(", on too little evidence")) + how;
    add_forecast(forecast(evidence, demand, pass_level, fail_level), evidence, demand, context, open);
  }
  // Name the bet on large deviations only if the interval alone would not have decided.
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
  auto said = detail::conclude(judgement, demand, context, text, how, std::move(open), ground,
                               detail::beyond_any_disturbance(demand, evidence, observations));
  const double centre = ground.by_mean ? -std::log(*evidence.tail) : evidence.centre;
  detail::finish_message(std::move(said), demand, centre, judgement);
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
