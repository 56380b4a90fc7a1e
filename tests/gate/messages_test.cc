// Every message of a judgement, whole and once, to be read as a user reads it: the verdict, `why:`, `try:`.
#include <cstddef>
#include <functional>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "pace/gate/counts.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/times.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "tests/gate/rows.hpp"

namespace {

using pace::Expectation;
using pace::ImplementationResult;
using pace::NoSlowerThan;
using pace::Outcome;
using pace::Severity;
using pace::SpeedupAtLeast;
using rows::sampled;
using rows::stalling;

/// A heading, and the judgement of `row` by `expectation`.
std::string said(const std::string& of, const Expectation& expectation, const ImplementationResult& row) {
  constexpr std::size_t width = 110;
  const auto judgement = expectation.judge(row);
  std::string text = "# " + of + '\n';
  for (const auto& line : pace::report::wrap(to_string(judgement.verdict) + (": " + judgement.message), width))
    text += line + '\n';
  return text + '\n';
}

ImplementationResult ended(Outcome outcome, const std::string& message) {
  auto row = sampled(1.5, 0, 20);
  row.outcome = outcome;
  row.message = message;
  return row;
}

ImplementationResult objected(double speedup, pace::Objection objection) {
  auto row = sampled(speedup, 0, 20);
  row.context.enter(std::move(objection));
  return row;
}

ImplementationResult with(double speedup, double noise, std::size_t cycles,
                          const std::function<void(pace::GateContext&)>& change) {
  auto row = sampled(speedup, noise, cycles);
  change(row.context);
  return row;
}

std::string without_figures() {
  auto other = sampled(1.5, 0, 20), baseline = other;
  baseline.is_baseline = true;
  return said("wrong", SpeedupAtLeast(1.2), ended(Outcome::wrong, "output: 3 of 8 elements differ")) +
         said("an exception", SpeedupAtLeast(1.2), ended(Outcome::threw, "no kernel for 3 dimensions")) +
         said("not run here", SpeedupAtLeast(1.2), ended(Outcome::refused, "it needs a GPU")) +
         said("no time left", NoSlowerThan(1.02), ended(Outcome::unreached, "the test's time is over")) +
         said("the baseline", SpeedupAtLeast(1.2), baseline) +
         said("another baseline", pace::FasterThan("compiled"), other);
}

std::string decided() {
  const auto disturbed = [](pace::GateContext& context) { context.disturbance = "The measuring thread waited."; };
  auto slow = with(1 / 20000.0, 0.01, 3, disturbed);
  slow.context.iterations = 60;
  return said("a claim that holds", SpeedupAtLeast(1.2), sampled(1.5, 0, 20)) +
         said("one that does not", SpeedupAtLeast(1.2), sampled(1, 0, 20)) +
         said("a guard that fails", NoSlowerThan(1.1), sampled(0.5, 0, 20)) +
         said("a time", pace::WithinTime(pace::Nanoseconds(5e5)), sampled(1.25, 0, 20)) +
         said("near the limit", NoSlowerThan(1.02), sampled(1 / 1.015, 0.002, 400)) +
         said("by the mean", NoSlowerThan(1.02), stalling(1500, 100, [](std::size_t i) { return i % 30 == 7; })) +
         said("slow beyond any disturbance", NoSlowerThan(1.02), slow) +
         said("slower on unseen values, which does not matter", SpeedupAtLeast(1.1),
              with(1.5, 0, 20, [](auto& context) { context.likely_excess_in_rounds = 1.25; }));
}

std::string undecided() {
  return said("noise", SpeedupAtLeast(1.2), sampled(1.205, 0.02, 40)) +
         said("noise about a guard", NoSlowerThan(1.02), sampled(1 / 1.02, 0.01, 40)) +
         said("too near", NoSlowerThan(1.02).when_undecided(pace::WhenUndecided::let_through),
              sampled(1 / 1.0199, 0.01, 400)) +
         said("few cycles", SpeedupAtLeast(1.2), sampled(1.3, 0.01, 5)) +
         said("a summary alone", SpeedupAtLeast(1.2), rows::summary(1.1, 1.2, 1.3)) +
         said("the mean looks slower", NoSlowerThan(1.02),
              stalling(300, 100, [](std::size_t i) { return i % 60 == 7; })) +
         said("a disturbed machine", NoSlowerThan(1.02),
              with(0.5, 0, 20, [](auto& context) { context.disturbance = "The machine slept."; })) +
         said("brief rounds", SpeedupAtLeast(1.2),
              objected(1.5, {Severity::too_brief, "the rounds lasted 3 ms, and a verdict needs 20 ms"})) +
         said("cut short", SpeedupAtLeast(1.2),
              with(1.205, 0.02, 40,
                   [](auto& context) { context.enter({Severity::cut_short, "the test's time is over"}); })) +
         said("a check that was left out", SpeedupAtLeast(1.2),
              objected(1.5, {Severity::unchecked, "it was not checked whether it keeps answers", "measure longer"})) +
         said("doubtful on unseen values", SpeedupAtLeast(1.2),
              with(1.5, 0, 20, [](auto& context) { context.likely_excess_in_rounds = 1.6; })) +
         said("no samples of both sides", pace::MeanNoSlowerThan(1.05), sampled(1, 0.01, 40));
}

std::string not_true() {
  return said("impossible", NoSlowerThan(1.02),
              objected(1.5, {Severity::impossible, "it would be 130 % of the peak"})) +
         said("no proof", SpeedupAtLeast(1.2),
              objected(1.5, {Severity::unproven, "its functions have no operand tensors", "pass the tensors"})) +
         said("slower on unseen values", SpeedupAtLeast(1.2),
              with(1.5, 0, 20, [](auto& context) { context.excess_in_rounds = 1.6; })) +
         said("no count", pace::AtMost(pace::Count::operator_calls, 9), ended(Outcome::measured, "")) +
         said("no count of instructions", pace::InstructionsAtMost(1.02), sampled(1, 0, 20));
}

TEST_CASE("judgements say these texts, word for word") {
  CHECK(without_figures() == R"(# wrong
failed: 'fused' does not compute what the baseline computes, so it has no speed-up
why: output: 3 of 8 elements differ
try: correct it

# an exception
failed: 'fused' threw
why: no kernel for 3 dimensions
try: make it run on these inputs first

# not run here
invalid: 'fused' could not be run here
why: it needs a GPU

# no time left
undecided: 'fused' was not measured
why: the test's time is over

# the baseline
invalid: 'fused' is the baseline itself
try: state the expectation for a candidate

# another baseline
invalid: 'fused' was compared with 'eager', not with 'compiled'
try: state .expect("fused", ...) before the run

)");
  CHECK(decided() == R"(# a claim that holds
passed: 'fused' is 1.50x as fast as the baseline [1.50x, 1.50x] at 98.9 %, all of it at or above 1.20x
(wrongly passed: 0.1 %, wrongly failed: 1 %; 20 cycles)

# one that does not
failed: 'fused' is 1.00x as fast as the baseline [1.00x, 1.00x] at 98.9 %, all of it below 1.20x (wrongly
passed: 0.1 %, wrongly failed: 1 %; 20 cycles)
try: make the implementation faster, or lower the expectation

# a guard that fails
failed: 'fused' takes 2.00x the baseline's time [2.00x, 2.00x] at 98.9 %, all of it above 1.10x (wrongly
passed: 1 %, wrongly failed: 0.1 %; 20 cycles)
try: find what made it slower, or allow more

# a time
failed: 'fused' takes 800 us [800, 800] us at 98.9 %, all of it above 500 us (wrongly passed: 0.1 %, wrongly
failed: 1 %; 20 cycles)
try: make the implementation faster, or allow more time

# near the limit
passed: 'fused' takes 1.015x the baseline's time [1.014x, 1.015x] at 98.9 %, all of it at or below 1.02x
(wrongly passed: 1 %, wrongly failed: 0.1 %; 400 cycles)
why: within 0.93 % of the limit. Processes of one program may differ by that, so this verdict is about this
process
try: --processes 12, which judges up to 12 processes together

# by the mean
failed: 'fused' takes 4.30x the baseline's time by the mean, and the mean is proven to lie above 1.02x
(wrongly passed: 1 %, wrongly failed: 0.1 %; 1500 cycles). A guard fails by the mean or by the median, which
is here 1.002x the baseline's time [1.000x, 1.003x]
try: find what made it slower, or allow more

# slow beyond any disturbance
failed: 'fused' takes 20006x the baseline's time, in every cycle more than ten times 1.02x (wrongly passed: 1
%, wrongly failed: 0.1 %; 3 cycles)
why: The measuring thread waited. No disturbance explains so large a factor in every cycle.
try: find what made it slower, or allow more

# slower on unseen values, which does not matter
passed: 'fused' is 1.50x as fast as the baseline [1.50x, 1.50x] at 98.9 %, all of it at or above 1.10x
(wrongly passed: 0.1 %, wrongly failed: 1 %; 20 cycles); on unseen values it is 1.20x as fast as the baseline

)");
  CHECK(undecided() == R"(# noise
undecided: 'fused' is 1.21x as fast as the baseline [1.19x, 1.23x] at 98.9 %, which holds 1.20x (wrongly
passed: 0.1 %, wrongly failed: 1 %; 40 cycles)
try: --budget 0.34, since about 62 more rounds (124 ms) would settle it at today's noise

# noise about a guard
undecided: 'fused' takes 1.017x the baseline's time [1.009x, 1.023x] at 98.9 %, which holds 1.02x (wrongly
passed: 1 %, wrongly failed: 0.1 %; 40 cycles); no regression is proven
try: --budget 0.61, since about 180 more rounds (348 ms) would settle it at today's noise

# too near
undecided: 'fused' takes 1.020x the baseline's time [1.017x, 1.021x] at 98.9 %, which holds 1.02x (wrongly
passed: 1 %, wrongly failed: 0.1 %; 400 cycles); no regression is proven
try: --budget 36 --max-rounds 19000, since about 15000 more rounds (28.5 s) would settle it at today's noise

# few cycles
undecided: 'fused' is 1.30x as fast as the baseline, on too little evidence (wrongly passed: 0.1 %, wrongly
failed: 1 %; 5 cycles)
try: --budget 0.067, since about 18 more rounds (36.0 ms) would settle it at today's noise

# a summary alone
undecided: 'fused' is 1.20x as fast as the baseline [1.10x, 1.30x] at 95 %, which holds 1.20x
try: measure longer (--budget), or on a quieter machine, or claim less

# the mean looks slower
undecided: 'fused' takes 1.00x the baseline's time by the median (by the mean 2.65x the baseline's time)
[0.998x, 1.00x] at 98.9 %; the median is proven to lie at or below 1.02x (wrongly passed: 1 %, wrongly failed:
0.1 %; 300 cycles); no regression is proven
why: the mean looks slower, which is not proven
try: measure longer (--budget, --max-rounds)

# a disturbed machine
undecided: 'fused' takes 2.00x the baseline's time [2.00x, 2.00x] at 98.9 %, on which no verdict may rest; no
regression is proven
why: The machine slept.
try: measure again when the machine is quieter (--max-interference sets the limit)

# brief rounds
undecided: 'fused' is 1.50x as fast as the baseline [1.50x, 1.50x] at 98.9 %, on which no verdict may rest yet
why: the rounds lasted 3 ms, and a verdict needs 20 ms

# cut short
undecided: 'fused' is 1.21x as fast as the baseline [1.19x, 1.23x] at 98.9 %, which holds 1.20x (wrongly
passed: 0.1 %, wrongly failed: 1 %; 40 cycles)
why: the rounds ended early: the test's time is over
try: --budget 0.34, since about 62 more rounds (124 ms) would settle it at today's noise

# a check that was left out
undecided: 'fused' is 1.50x as fast as the baseline [1.50x, 1.50x] at 98.9 %, on which no claim may rest
why: it was not checked whether it keeps answers
try: measure longer

# doubtful on unseen values
undecided: 'fused' is 1.50x as fast as the baseline [1.50x, 1.50x] at 98.9 %, which is not so by the median on
unseen values
why: the samples there are too few or too different
try: measure longer (--budget), or on a quieter machine

# no samples of both sides
undecided: 'fused' has no mean time here
why: it has no samples taken together with the baseline

)");
  CHECK(not_true() == R"(# impossible
invalid: 'fused' takes 0.667x the baseline's time [0.667x, 0.667x] at 98.9 %, which cannot be
why: it would be 130 % of the peak

# no proof
invalid: 'fused' is 1.50x as fast as the baseline [1.50x, 1.50x] at 98.9 %, which proves nothing
why: its functions have no operand tensors
try: pass the tensors

# slower on unseen values
failed: 'fused' is 1.50x as fast as the baseline [1.50x, 1.50x] at 98.9 %, but on unseen values at most 0.937x
as fast as the baseline, which does not meet 1.20x
why: either it keeps something from call to call, or the code or the processor know the values of the rounds
try: if it derives something from an operand that stays the same where the code is used, declare that operand,
counted from 0: .constant(operand) (//benches/files: --constant OPERAND); if it is made for values of a kind,
let each round have others of that kind: .renew_each_round(function)

# no count
invalid: 'fused' has no count of operator calls
why: it was not counted

# no count of instructions
invalid: 'fused' has no count of instructions
why: this run does not count them
try: --count-instructions (//benches/operators)

)");
}

}  // namespace
