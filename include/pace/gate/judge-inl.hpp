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
#include "pace/base/spelling.hpp"
#include "pace/gate/conclude.hpp"
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
      few.remedy = "a longer budget (" + option_text("budget") + ')';
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
    open.remedy = "measure longer (" + option_text("budget") + "), or on a quieter machine, or " +
                  (demand.burden == Burden::claim && !time ? "claim less" : "allow more");
  const std::string text = own + figures.centre + detail::by_clock(row.context) + ' ' + figures.interval + " at " +
                           format_percent(interval->confidence);
  judgement.message = detail::conclude(judgement, demand, row.context, text, "", open,
                                       {.on_unseen_values = detail::on_unseen_values(demand, row.context, centre)})
                          .text();
  return judgement;
}

namespace detail {

/// Judges a demand on a mean or a quantile alone.
[[nodiscard]] inline Judgement judge_tail(const Demand& demand, const std::string& name, const GateContext& context,
                                          const Evidence& evidence, double pass_level, double fail_level) {
  Judgement judgement{.expectation = demand.describe(), .verdict = Verdict::undecided};
  if (!evidence.tail) {
    demand.leave_open(judgement);
    judgement.message = MessageParts{'\'' + name + "' has no " + demand.statistic_text() + " here",
                                     "it has no samples taken together with " + demand.reference_text()}
                            .text();
    return judgement;
  }
  judgement.verdict = decide(evidence.p_above, evidence.p_below, pass_level, fail_level);
  const std::string levels = rates_text(pass_level, fail_level);
  const std::string cycles = std::to_string(evidence.observations) + " cycles";
  const std::string text = '\'' + name + "' has a " + demand.statistic_text() + " of " +
                           format_significant(*evidence.tail, 3) + "x " + demand.reference_text() + "'s" +
                           by_clock(context);
  MessageParts open{
      ", and nothing proves on which side of " + demand.limit_text() + " it lies (" + levels + "; " + cycles + ')', "",
      "measure longer (" + option_text("budget") + ", " + option_text("max-rounds") + ')'};
  const double centre = -std::log(*evidence.tail);
  auto said = conclude(judgement, demand, context, text, " (" + levels + "; " + cycles + ")", std::move(open),
                       {.shown = false, .on_unseen_values = on_unseen_values(demand, context, centre)});
  finish_message(std::move(said), demand, centre, judgement);
  return judgement;
}

}  // namespace detail

namespace detail {

/// What a judgement of observations comes from.
struct Weighed {
  const Demand& demand;
  const std::string& name;
  const GateContext& context;
  const std::vector<double>& observations;
  const Evidence& evidence;
  double pass_level, fail_level;

  /// The ends of the thresholds that are undecided.
  [[nodiscard]] Interval<double> interval() const {
    auto interval = undecided_thresholds(observations, demand, pass_level, fail_level);
    // For processes, each end is the best that was proven at some time. If the figures moved, the ends may have
    // crossed. The verdict on a threshold outside of them is the same in either order.
    if (interval.low > interval.high) std::swap(interval.low, interval.high);
    return interval;
  }
  /// Such as `40 cycles`.
  [[nodiscard]] std::string cycles() const {
    return std::to_string(evidence.observations) + (demand.method == Method::replicates ? " processes" : " cycles");
  }
  /// The rates and the number of cycles, as the end of a message.
  [[nodiscard]] std::string how() const { return " (" + rates_text(pass_level, fail_level) + "; " + cycles() + ')'; }
  /// The mean of the times as text; empty if it does not count.
  [[nodiscard]] std::string mean() const {
    return evidence.tail ? format_significant(*evidence.tail, 3) + "x " + demand.reference_text() + "'s time" : "";
  }
};

/// What the message says of the figures, before the verdict.
[[nodiscard]] inline std::string describe(const Weighed& weighed, const Figures& figures,
                                          const Interval<double>& interval, bool decided) {
  std::string text = '\'' + weighed.name + "' " + figures.centre + by_clock(weighed.context);
  if (weighed.evidence.tail) text += decided ? " by the median" : " by the median (by the mean " + weighed.mean() + ")";
  if (figures.bounded) text += ' ' + figures.interval + " at " + format_percent(interval.confidence);
  const auto all = figures_of(weighed.demand, weighed.evidence.centre, interval);
  if (all.centre != figures.centre)
    text += " (by the mean of all processes it " + all.centre + ", since they changed while they were taken)";
  return text;
}

/// What the message says if the figures do not decide.
[[nodiscard]] inline MessageParts describe_open(const Weighed& weighed, const Figures& figures,
                                                const Interval<double>& interval) {
  const auto& [demand, name, context, observations, evidence, pass_level, fail_level] = weighed;
  if (evidence.p_above <= pass_level && evidence.p_below <= fail_level)
    return {
        ", which was proven to lie above " + demand.limit_text() + " and below it in turn (" + weighed.cycles() + ')',
        "the figures changed while they were taken", "measure on a quieter machine"};
  if (evidence.p_above_by_interval <= pass_level && evidence.p_slower <= suspicion)
    return {"; the median is proven to lie at or below " + demand.limit_text() + weighed.how(),
            "the mean looks slower, which is not proven",
            "measure longer (" + option_text("budget") + ", " + option_text("max-rounds") + ')'};
  if (evidence.skewed) {
    const auto centre = stats::centre_of_scores(observations, demand.assumption());
    return {", which holds " + demand.limit_text() + weighed.how(),
            "the log ratios are skewed or have several modes: by their centre it " +
                figures_of(demand, centre, interval).centre + ", and too few of them lie on that side of the limit"};
  }
  MessageParts open{
      (figures.bounded ? ", which holds " + demand.limit_text() : std::string(", on too little evidence")) +
      weighed.how()};
  add_forecast(forecast(evidence, demand, pass_level, fail_level), evidence, demand, context, open);
  return open;
}

/// Why the figures have that verdict.
[[nodiscard]] inline Ground ground_of(const Weighed& weighed, const Figures& figures, Verdict verdict) {
  const auto& evidence = weighed.evidence;
  const bool passed = verdict == Verdict::passed, failed = verdict == Verdict::failed;
  // Name the bet on large deviations only if the interval alone would not have decided.
  const bool by_interval =
      passed ? evidence.p_above_by_interval <= weighed.pass_level : evidence.p_below_by_interval <= weighed.fail_level;
  const bool won = passed ? evidence.far_above : evidence.far_below;
  Ground ground{.shown = figures.bounded,
                .won = !by_interval && won,
                .by_mean = failed && !by_interval && !won,
                .on_unseen_values = on_unseen_values(weighed.demand, weighed.context, evidence.centre)};
  if (!evidence.tail) return ground;
  if (ground.by_mean)
    ground.beside = ". A guard fails by the mean or by the median, which is here " + figures.centre.substr(6) +
                    (figures.bounded ? ' ' + figures.interval : "");
  else if (failed)
    ground.beside = ". A guard fails by the median or by the mean, which is here " + weighed.mean();
  else if (passed)
    ground.beside = "; by the mean it takes " + weighed.mean();
  return ground;
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
  const detail::Weighed weighed{demand, name, context, observations, evidence, pass_level, fail_level};
  const auto interval = weighed.interval();
  const auto figures = detail::figures_of(demand, centre_within(interval, evidence), interval);
  const auto ground = detail::ground_of(weighed, figures, judgement.verdict);
  const bool says_mean = evidence.tail && ground.by_mean;
  const std::string text = says_mean
                               ? '\'' + name + "' takes " + weighed.mean() + detail::by_clock(context) + " by the mean"
                               : detail::describe(weighed, figures, interval, judgement.verdict != Verdict::undecided);
  auto said = detail::conclude(judgement, demand, context, text, weighed.how(),
                               detail::describe_open(weighed, figures, interval), ground,
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
