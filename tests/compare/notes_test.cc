// The notes on comparisons and the refusals of them, whole and once, to be read as a user reads them. Notes on the
// clocks of a GPU are in tests/measure; notes of checks after the rounds are in tests/audit and tests/cheats.
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>

#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "pace/isolate/measure_sides.hpp"
#include "pace/judge/judge.hpp"
#include "pace/judge/measurement.hpp"
#include "pace/judge/memory_limits.hpp"
#include "pace/judge/summarize.hpp"
#include "pace/measure/calibrate.hpp"
#include "pace/measure/clocks_alone.hpp"
#include "pace/measure/controls.hpp"
#include "pace/report/text.hpp"
#include "pace/result/conditions.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/prepare.hpp"
#include "tests/support/comparisons.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/why.hpp"

namespace {

using pace::Nanoseconds;
using pace::Options;
using pace::Result;
using pace::check::CheckOptions;
using pace::test::FakeClock;
using pace::test::few_rounds;
using pace::test::why;

/// A heading, and each of `notes` on lines of its own.
std::string said(const std::string& of, const std::vector<std::string>& notes) {
  constexpr std::size_t width = 110;
  std::string text = "# " + of + '\n';
  for (const auto& note : notes)
    for (const auto& line : pace::report::wrap(note, width)) text += line + '\n';
  return text + '\n';
}
std::string said(const std::string& of, const std::string& one) { return said(of, std::vector{one}); }

at::Tensor doubled(const at::Tensor& x) { return x.mul(2); }

/// Notes of a comparison of `baseline` with `candidate` on `operands`. Each call takes 100 ns.
template <class F, class G, class... Operands>
std::vector<std::string> notes_of(const CheckOptions& check, const Options& options, F baseline, G candidate,
                                  const Operands&... operands) {
  FakeClock clock;
  return pace::compare("case", operands...)
      .options(options)
      .check(check)
      .baseline("eager", pace::test::costing(clock, 100, baseline))
      .candidate("fused", pace::test::costing(clock, 100, candidate))
      .run(clock)
      .notes;
}

Options standard() {
  auto options = few_rounds();
  options.audit = pace::Audit::standard;
  return options;
}

Result two_rows() {
  Result result;
  result.name = "case";
  result.clock = "wall";
  for (const char* const name : {"eager", "fused"}) {
    auto& row = result.implementations.emplace_back();
    row.name = name;
    row.is_baseline = result.implementations.size() == 1;
    row.outcome = pace::Outcome::measured;
    row.checked = true;
    row.time = pace::TimeSummary{.median = Nanoseconds(1000)};
    row.speedup = pace::SpeedupSummary{.median = 2, .interval = pace::Interval<double>{1.9, 2.1, 0.95}};
  }
  return result;
}

std::string of_declarations() {
  const auto declared = [](CheckOptions::Method method) {
    CheckOptions check;
    check.method = method;
    return pace::check::declaration_text(check);
  };
  pace::detail::ComparisonPlan plan;
  plan.scratch = {1};
  plan.constant = {2, 3};
  plan.reuses_outputs = true;
  plan.renew = [](pace::detail::OperandSet&) {};
  Result result;
  pace::detail::note_declarations(plan, result);
  using Method = CheckOptions::Method;
  std::vector<std::string> methods;
  for (const auto method : {Method::order_free, Method::sign_free, Method::ties, Method::random, Method::custom})
    methods.push_back(declared(method));
  FakeClock clock;
  const auto one_reuses = pace::compare("case", at::rand({8}))
                              .options(standard())
                              .baseline("eager", pace::test::costing(clock, 100, doubled))
                              .candidate("fused", pace::test::costing(clock, 100, doubled))
                              .reuses_outputs("fused")
                              .run(clock)
                              .notes;
  return said("how outputs are compared", methods) + said("what calls may do", result.notes) +
         said("what one implementation may do", one_reuses);
}

std::string of_options() {
  Options options;
  options.clock = pace::ClockChoice::graph;
  options.asks_for_mode_share = true;
  auto result = two_rows();
  pace::detail::note_options_for_gpu(options, result);
  return said("options for a GPU", result.notes);
}

std::string of_first_calls() {
  const at::Tensor x = at::rand({64}), large = at::rand({(1 << 22) + 1});
  CheckOptions by_reference;
  by_reference.method = CheckOptions::Method::float64_reference;
  double calls = 0;
  const auto varies = [&](const at::Tensor& t) { return t.mul(++calls); };
  const auto draws = [](const at::Tensor& t) { return at::rand_like(t); };
  const auto writes = [](at::Tensor& t) { return t.add_(1); };
  const auto nan = [](const at::Tensor& t) { return t.mul(std::numeric_limits<double>::quiet_NaN()); };
  const auto in_float = [](const at::Tensor& t) {
    if (t.scalar_type() == at::kDouble) throw std::runtime_error("no kernel for float64");
    return t.mul(2);
  };
  const auto ignores = [](const at::Tensor& t, const at::Tensor& other) { return t.mul(2).add(other.sum().mul(0)); };
  CheckOptions random;
  random.method = CheckOptions::Method::random;
  return said("a baseline that draws random numbers", notes_of({}, standard(), draws, draws, x)) +
         said("one that writes to an operand", notes_of({}, standard(), writes, writes, x)) +
         said("one that varies", notes_of({}, standard(), varies, doubled, at::ones({4}))) +
         said("no float64 reference", notes_of(by_reference, standard(), in_float, in_float, x)) +
         said("nothing to compare", notes_of({}, standard(), nan, nan, x)) +
         said("large operands", notes_of({}, standard(), doubled, doubled, large)) +
         said("an operand without effect", notes_of({}, few_rounds(), ignores, ignores, x, at::rand({3})));
}

std::string of_rounds() {
  auto result = two_rows();
  pace::detail::add_speed_on_unseen_values(1, {.median = 1.1, .interval = pace::Interval<double>{1.0, 1.2, 0.95}},
                                           result);
  const std::vector<std::string> unseen = std::exchange(result.notes, {});
  pace::detail::note_too_fast({.time = Nanoseconds(100),
                               .least = Nanoseconds(5000),
                               .taken = "its calls take ",
                               .machine = "this machine, at 1.50x its measured bandwidth,"},
                              {.read = 4e6, .written = 2e6}, result.implementations[1], result);
  const std::vector<std::string> too_fast = std::exchange(result.notes, {});
  pace::detail::ComparisonPlan plan;
  plan.operands = std::make_shared<pace::detail::TypedOperands<>>(std::tuple<>());
  pace::detail::note_hidden_inputs(plan, result);
  plan.captures = true;
  pace::detail::note_hidden_inputs(plan, result);
  const std::vector<std::string> hidden = std::exchange(result.notes, {});
  pace::SpeedupSummary same{
      .observations = 30, .median = 1.001, .interval = pace::Interval<double>{0.999, 1.002, 0.95}},
      slowed{.observations = 30, .median = 0.953, .interval = pace::Interval<double>{0.951, 0.955, 0.95}};
  const std::vector<pace::ControlSummary> controls{{.injected = 1, .speedup = same},
                                                   {.injected = 0.9524, .speedup = slowed, .proven_slower = true}};
  pace::detail::Samples samples{.timed = {0, 1}, .iterations = 10};
  samples.rounds.samples = {{Nanoseconds(1000)}, {Nanoseconds(500)}};
  pace::GpuConditions gpu;
  gpu.sharing = {"an instance of MIG", "process 7 (train)"};
  pace::detail::GatedRounds gated;
  gated.samples = samples;
  pace::detail::note_gpu(gpu, gated, 0.9, result);
  const std::vector<std::string> shared = std::exchange(result.notes, {});
  return said("slower on unseen values", unseen) + said("faster than memory", too_fast) + said("no operands", hidden) +
         said("controls", pace::detail::describe_controls(controls)) +
         said("clocks alone", {pace::detail::describe_clocks_apart({{1980, 1980}, {1410, 1590}}, {"eager", "fused"})}) +
         said("a shared GPU", shared) +
         said("a process for each side", pace::detail::note_on_sides(Nanoseconds(300), samples));
}

std::string of_disturbances() {
  pace::Conditions conditions{.steal = 0.95,
                              .others = 0.99,
                              .waiting = 0.95,
                              .throttled = 0.95,
                              .involuntary_switches = 100,
                              .clock_error = Nanoseconds(1e8),
                              .suspended = Nanoseconds(3e9),
                              .longest_cycle = Nanoseconds(2e9),
                              .median_cycle = Nanoseconds(1e6),
                              .shortest_cycle = Nanoseconds(-1)};
  conditions.gpu = pace::GpuConditions{.readings = 10, .slowed = 0.95, .other_processes = 2, .others = 0.3};
  auto all = pace::find_disturbances(conditions, Nanoseconds(1e9), 0.9);
  for (const bool slowed : {true, false}) {
    const pace::ControlSummary control{.injected = slowed ? 0.95 : 1, .proven_faster = true};
    all.push_back(pace::detail::control_alarm({control}));
  }
  pace::Conditions uneven, threads;
  uneven.sides = {{.ticks_per_nanosecond = 2.5}, {.ticks_per_nanosecond = 2.6}};
  const pace::SideConditions busy{.sampled = Nanoseconds(1e9), .process_cpu = Nanoseconds(4e9)};
  return said("why no verdict may rest on the figures", all) +
         said("why the figures cannot be true",
              {pace::find_uneven_clock(uneven, {"eager", "fused"}), pace::find_more_threads(busy, 1, 1)});
}

std::string of_refusals() {
  const auto nothing = [] {};
  const auto takes = [](const at::Tensor&) {};
  const auto wrong = [](const std::string& of, auto&& run) { return said(of, why([&] { run(); })); };
  return wrong("no baseline", [&] { pace::compare("case").candidate("a", nothing).run(); }) +
         wrong("two baselines", [&] { pace::compare("case").baseline("a", nothing).baseline("b", nothing).run(); }) +
         wrong("one name twice", [&] { pace::compare("case").baseline("a", nothing).candidate("a", nothing).run(); }) +
         wrong("a null pointer", [&] { pace::compare("case").baseline("a", static_cast<void (*)()>(nullptr)).run(); }) +
         wrong("a sparse operand", [&] { pace::compare("case", at::eye(3).to_sparse()).baseline("a", takes).run(); }) +
         wrong("no such operand", [&] { pace::compare("case", at::ones(3)).baseline("a", takes).scratch(1).run(); }) +
         wrong("a workspace that is kept",
               [&] { pace::compare("case", at::ones(3)).baseline("a", takes).scratch(0).constant(0).run(); }) +
         wrong("two methods",
               [&] { pace::compare("case", at::ones(3)).baseline("a", takes).order_free().sign_free().run(); }) +
         wrong("an unknown candidate",
               [&] { pace::compare("case").baseline("a", nothing).expect("b", pace::SpeedupAtLeast(1)).run(); }) +
         wrong(
             "an unknown reference",
             [&] {
               pace::compare("case").baseline("a", nothing).candidate("b", nothing).expect(pace::FasterThan("c")).run();
             }) +
         wrong("no candidate",
               [&] { pace::compare("case").baseline("a", nothing).expect(pace::NoSlowerThan(1)).run(); }) +
         wrong("an unknown phase",
               [&] {
                 pace::compare("case")
                     .baseline("a", nothing)
                     .candidate("b", nothing)
                     .expect(pace::NoSlowerThan(1).in_phase("forward"))
                     .run();
               }) +
         wrong("bytes below 0", [&] { pace::compare("case").baseline("a", nothing).bytes(-1).run(); }) +
         wrong("an option out of range", [&] {
           Options options;
           options.alpha = 1;
           pace::compare("case").options(options).baseline("a", nothing).run();
         });
}

std::string of_exceptions() {
  FakeClock clock;
  const auto result = pace::compare("case", at::rand({8}))
                          .options(standard())
                          .baseline("eager", pace::test::costing(clock, 100, doubled))
                          .candidate("fused",
                                     [](const at::Tensor&) -> at::Tensor {
                                       throw std::runtime_error("no kernel; try: float32 (as its own text says)");
                                     })
                          .expect(pace::SpeedupAtLeast(1.1))
                          .run(clock);
  return said("a text of the user's that looks like a remedy", result["fused"].judgements.at(0).message);
}

TEST_CASE("notes say these texts, word for word") {
  CHECK(of_declarations() == R"(# how outputs are compared
Rows of outputs are compared in any order, as declared (order_free); outputs with equally many rows have one
order.
Vectors of the outputs are compared up to their signs, as declared (sign_free).
Indices are compared by the values that they select from operand tensor 0 (counted from 0) along dimension -1,
as declared (ties).
Outputs are random numbers, as declared (random): their means, variances, shares of zeros and correlations are
compared, not their values.
Outputs are compared by the function given to compare_outputs().

# what calls may do
The values that calls leave in operand tensor 1 (counted from 0) are not compared, as declared (scratch).
What implementations derive from operand tensor 2, 3 (counted from 0) may be kept between calls, as declared
(constant): these values stay the same while times are taken.
Later calls may overwrite the outputs of earlier ones, as declared (reuses_outputs).
Every round has unseen values, equal for all implementations; writing them is not timed.

# what one implementation may do
Later calls of 'fused' may overwrite its earlier outputs, as declared (reuses_outputs).

)");
  CHECK(of_options() == R"(# options for a GPU
--clock graph has no effect here: it is for calls on a GPU, and these are timed by the wall clock.
--mode-share has no effect here: it is for calls on a GPU, and these are timed by the wall clock.

)");
  CHECK(of_first_calls() == R"(# a baseline that draws random numbers
The baseline draws random numbers, so the generators are reset before each sample, untimed.

# one that writes to an operand
The baseline writes to operand tensor 0 (counted from 0), so each call of a sample (256 at most) has a copy of
its own, restored before the sample, untimed.

# one that varies
The baseline does not repeat itself, so no outputs were compared: output: 4 of 4 elements (100 %) differ;
worst at [0]: expected 2.0, got 3.0 (off by 1, allowed 0.000247).

# no float64 reference
The float64 reference threw, so outputs were compared directly: no kernel for float64.

# nothing to compare
Nothing was compared of the outputs of 'eager': they are NaN throughout.

# large operands
Edge values were not tried: that takes 20 copies of the operands; try: --audit strict, which tries them.

# an operand without effect
No values of operand tensor 1 alone were found that change an output of the baseline. An implementation that
ignores it, or keeps what it derives from it, would not be found.

)");
  CHECK(of_rounds() == R"(# slower on unseen values
'fused' is 1.10x as fast as the baseline on unseen values, and 2.00x in the rounds, which repeat the same
values.

# faster than memory
'fused' is too fast: its calls take 100 ns, and this machine, at 1.50x its measured bandwidth, needs 5.00 us,
to read the 4.00 MB of operands that the outputs depend on and to write the 2.00 MB of outputs that change
with them; try: do all of the work in each call.

# no operands
No claim about times is proven here: its functions have no operand tensors that pace could give unseen values,
so that cached results would not be found; try: pass the tensors to pace::compare(name, tensors...), or
declare .captures() (//benches/files: --captures).
As declared (captures), its functions have no operand tensors that pace could give unseen values, so that
cached results would not be found.

# controls
Controls: the baseline against itself: 1.001x [0.9990x, 1.002x], slowed to 0.9524x: 0.9530x [0.9510x, 0.9550x]
(detected); 30 cycles each.

# clocks alone
The sides take turns, which evens the GPU's clock out. In long runs alone, 'eager' has 1980 MHz and 'fused'
1410 to 1590 MHz, which makes 'fused' slower there by up to 40.43 %; try: lock the clocks (nvidia-smi
--lock-gpu-clocks).

# a shared GPU
The GPU is shared: an instance of MIG; process 7 (train).

# a process for each side
Each implementation ran in a process of its own (--isolate sides). Each sample includes 300 ns to start it and
to report its end: 6 % of the fastest one's, so that speed-ups may look nearer to 1 than they are. Memory lies
differently in each process, so that identical code differs by some tenths of a percent; try: --processes 12
for a limit that close.

)");
  CHECK(of_disturbances() == R"(# why no verdict may rest on the figures
The hypervisor gave others 95 % of the CPU time that this machine wanted (limit: 90 %).
The measuring thread waited during 95 % of the rounds, put aside for other work (limit: 90 %).
The container's quota of CPU time was used up during 95 % of the rounds (limit: 90 %).
Other processes used 99 % of all cores' time (limit: 97 %).
The process stood still: one cycle of rounds took 2.00 s, others 1.00 ms.
The clock ran backwards during the rounds.
The clock jumped: it told 100 ms more than the hardware counter did.
The GPU was slowed down by heat or its hardware in 95 % of the readings (limit: 90 %).
Other processes used 30 % of the GPU's multiprocessors' time (limit: 5 %).
The machine slept for 3.00 s during the rounds.
The control failed: the baseline with calls added was proven faster than itself.
The control failed: the baseline was proven to differ from itself.

# why the figures cannot be true
the clock runs 4 % slower in the samples of 'fused' than in those of 'eager', by the CPU's own counter (limit:
0.5 %); try: leave clock_gettime() as the system has it
its samples used 4.00 CPU seconds in each second, and 1 thread is allowed (the baseline used 1.00); try: as
many threads for all (--threads)

)");
}

TEST_CASE("notes that you add come first, and those that you make after the calls come last") {
  FakeClock clock;
  const auto notes = pace::compare("case", at::rand({8}))
                         .options(standard())
                         .note("A note of yours.")
                         .late_notes([]() -> std::vector<std::string> { throw std::runtime_error("no such file"); })
                         .late_notes([]() -> std::vector<std::string> { throw 1; })
                         .late_notes([] { return std::vector<std::string>{"One made after the calls."}; })
                         .baseline("eager", pace::test::costing(clock, 100, doubled))
                         .candidate("fused", pace::test::costing(clock, 100, doubled))
                         .reuses_outputs()
                         .run(clock)
                         .notes;
  CHECK(notes ==
        std::vector<std::string>{"A note of yours.",
                                 "Later calls may overwrite the outputs of earlier ones, as declared (reuses_outputs).",
                                 "A note could not be made: no such file.",
                                 "A note could not be made: an exception that is no std::exception, of type int.",
                                 "One made after the calls."});
}

TEST_CASE("refused comparisons say these texts, word for word") {
  CHECK(of_refusals() == R"(# no baseline
comparison 'case': needs exactly one baseline, and has none; try: call .baseline(name, function) once

# two baselines
comparison 'case': needs exactly one baseline, and has 2; try: call .baseline(name, function) once

# one name twice
comparison 'case': has two implementations named 'a'; each needs a name of its own

# a null pointer
comparison 'case': the function of 'a' is null; expected a function that can be called with the operands

# a sparse operand
comparison 'case': operand tensor 0 (of 1, counted from 0) is sparse COO, of shape [3, 3]; expected dense,
strided tensors; try: pass its parts as operands, such as indices and values, or let each function hold a
tensor of its own

# no such operand
comparison 'case': declares operand tensor 1 (counted from 0) as scratch; expected 0

# a workspace that is kept
comparison 'case': declares operand tensor 0 by both scratch() and constant(); why: calls may overwrite a
workspace, so that nothing of it stays; try: one of them

# two methods
comparison 'case': sign_free() and another method of check() or of a declaration exclude each other; expected
one of them

# an unknown candidate
comparison 'case': expects something of 'b', which is not one of its candidates

# an unknown reference
comparison 'case': expects something to be faster than 'c', which is not one of its implementations

# no candidate
comparison 'case': expects something of its candidates, and has none; try: add one by .candidate(name,
function)

# an unknown phase
comparison 'case': expects something of the phase 'forward', which its iterations do not have

# bytes below 0
comparison 'case': bytes of one iteration must be a number from 0 on

# an option out of range
options: alpha must lie between 0 and 0.5, such as 0.001

)");
  CHECK(of_exceptions() == R"(# a text of the user's that looks like a remedy
'fused' threw
why: no kernel; try: float32 (as its own text says)
try: make it run on these inputs first

)");
}

}  // namespace
