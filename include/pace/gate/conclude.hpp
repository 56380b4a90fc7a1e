// How a verdict on figures is put into words, and which objection to the figures changes it.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/base/spelling.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/result/gate_context.hpp"
#include "pace/result/verdict.hpp"

namespace pace::gate::detail {

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
                                        : "make the implementation faster, or lower the expectation";
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
      disturbed.remedy =
          "measure again when the machine is quieter (" + option_text("max-interference") + " sets the limit)";
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
                           "declare that operand, counted from 0: " +
                           declaration_text(".constant(operand)", "--constant OPERAND") +
                           "; if it is made for values of a kind, let each round have others of that kind: "
                           ".renew_each_round(function)"});
  const auto* const unchecked = context.find(Severity::unchecked);
  if (unseen.doubtful && judgement.verdict == Verdict::passed) {
    const Objection few{.why = "the samples there are too few or too different",
                        .remedy = "measure longer (" + option_text("budget") + "), or on a quieter machine"};
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
            " of the limit. Processes of one program may differ by that, so this verdict is about this process",
        judgement.speed && !demand.of_tails_alone()
            ? program_option_text("--processes 12") + ", which judges up to 12 processes together"
            : "a limit that is farther away"};
    judgement.near_limit = near.why + "; try: " + near.remedy;
    said.add_why(near.why);
    said.add_remedy(near.remedy);
  }
  judgement.message = said.text();
}

}  // namespace pace::gate::detail
