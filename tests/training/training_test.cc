#include "pace/training/training.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"
#include "tests/support/comparisons.hpp"
#include "tests/support/last_freed_first.hpp"
#include "tests/support/operator_observer.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::IsEmpty;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::Outcome;
using pace::Verdict;
using pace::test::FakeClock;
using pace::test::few_rounds;
using Step = pace::TrainingStep<at::Tensor>;

at::Tensor weight() { return at::ones({4, 4}).mul_(0.5).set_requires_grad(true); }

/// x * w, whose parts move the clock.
Step product(FakeClock& clock, double forward, double backward, const at::Tensor& w = weight()) {
  Step step;
  step.parameters = {w};
  step.forward = [&clock, forward, w](at::Tensor& x) -> c10::IValue {
    clock.advance(Nanoseconds(forward));
    return at::matmul(x, w);
  };
  step.backward_setup = [&clock, gradient = pace::OutputGradient()](const c10::IValue& output) {
    clock.advance(Nanoseconds(5000));
    return gradient(output);
  };
  step.backward = [&clock, backward](const c10::IValue& prepared) {
    clock.advance(Nanoseconds(backward));
    pace::run_backward(prepared);
  };
  return step;
}

TEST_CASE("forward and backward of one iteration are timed apart, and what lies between them is not") {
  FakeClock clock;
  const auto result = pace::compare("product", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("eager", product(clock, 300, 200))
                          .candidate("mine", product(clock, 100, 400))
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
  CHECK_THAT(result.baseline().time->median.count(), WithinRel(500.0, 1e-9));
  CHECK_THAT(result["mine"].speedup->median, WithinRel(1.0, 1e-9));

  REQUIRE(result.phases.size() == 2);
  const auto& forward = result.in_phase("forward");
  const auto& backward = result.in_phase("backward");
  CHECK(forward.name == "product/forward");
  CHECK(backward.name == "product/backward");
  CHECK_THAT(forward.baseline().time->median.count(), WithinRel(300.0, 1e-9));
  CHECK_THAT(forward["mine"].speedup->median, WithinRel(3.0, 1e-9));
  CHECK(forward["mine"].speedup->observations == result["mine"].speedup->observations);
  CHECK_THAT(backward.baseline().time->median.count(), WithinRel(200.0, 1e-9));
  CHECK_THAT(backward["mine"].speedup->median, WithinRel(0.5, 1e-9));
  CHECK_THAT(forward["mine"], pace::SpeedupAtLeast(2.9));
  CHECK_THAT(backward["mine"], !pace::SpeedupAtLeast(1.0));
  CHECK_THROWS_MATCHES(result.in_phase("sideways"), pace::Error,
                       MessageMatches(ContainsSubstring("no phase 'sideways'; it has: forward, backward")));
}

/// Moves a clock when it goes.
struct SlowToFree : torch::CustomClassHolder {
  FakeClock& clock;
  explicit SlowToFree(FakeClock& moved) : clock(moved) {}
  ~SlowToFree() override { clock.advance(Nanoseconds(9000)); }
};

TEST_CASE("neither zeroing the gradients nor freeing what the last step left is a part of a phase") {
  FakeClock clock;
  int zeroed = 0;
  const pace::test::OperatorObserver observer([&](std::string_view op) {
    if (op != "aten::zero_") return;
    ++zeroed;
    clock.advance(Nanoseconds(7000));
  });
  const auto step = [&clock](double forward, double backward) {
    Step made = product(clock, forward, backward);
    made.forward = [&clock, inner = made.forward](at::Tensor& x) -> c10::IValue {
      return c10::ivalue::Tuple::create({inner(x), c10::IValue::make_capsule(c10::make_intrusive<SlowToFree>(clock))});
    };
    made.answer = [](const c10::IValue& output) { return output.toTupleRef().elements()[0]; };
    return made;
  };
  const auto result = pace::compare("product", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("eager", step(300, 200))
                          .candidate("mine", step(100, 400))
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
  CHECK(zeroed > 0);
  for (const char* const phase : {"forward", "backward"}) {
    INFO(phase);
    const bool is_forward = std::string_view(phase) == "forward";
    for (const auto sample : result.in_phase(phase).baseline().samples)
      CHECK(sample == Nanoseconds(is_forward ? 300 : 200));
    for (const auto sample : result.in_phase(phase)["mine"].samples)
      CHECK(sample == Nanoseconds(is_forward ? 100 : 400));
  }
  for (const auto sample : result.baseline().samples) CHECK(sample == Nanoseconds(500));
}

TEST_CASE("a call leaves the output of the last timed step to be taken") {
  FakeClock clock;
  pace::detail::OperandSets operands;
  using Values = pace::detail::TypedOperands<at::Tensor>;
  operands.given = {at::randn({3, 4})};
  operands.sets.push_back(std::make_unique<Values>(std::tuple(operands.given[0].clone())));
  operands.tensors.push_back(operands.sets[0]->tensors());
  const auto step = pace::detail::ImplementationOf<Step, at::Tensor>::make(product(clock, 1, 1), operands);
  step->prepare(0);
  step->run(0, 2);
  step->finish();
  const auto parts_of = [](const c10::IValue& answer) {
    const auto& parts = answer.toTupleRef().elements();
    return std::pair(parts[0].toTensor(), parts[1].toTensorVector().at(0));
  };
  const auto [expected, gradient] = parts_of(step->call(0));
  operands.tensors[0][0].mul_(2);
  CHECK_FALSE(parts_of(step->call(0)).second.equal(gradient));
  const auto [output, kept_gradient] = parts_of(step->take_output());
  CHECK(output.equal(expected));
  CHECK(kept_gradient.equal(gradient));
  CHECK(step->take_output().isNone());
}

/// A step on an operand set of its own. Its clock stands still.
struct StepAlone {
  FakeClock clock;
  pace::detail::OperandSets operands;
  std::unique_ptr<pace::detail::Implementation> implementation;

  explicit StepAlone(const std::function<void(Step&)>& change) {
    operands.given = {at::randn({3, 4})};
    operands.sets.push_back(
        std::make_unique<pace::detail::TypedOperands<at::Tensor>>(std::tuple(operands.given[0].clone())));
    operands.tensors.push_back(operands.sets[0]->tensors());
    Step step = product(clock, 1, 1, w);
    change(step);
    implementation = pace::detail::ImplementationOf<Step, at::Tensor>::make(step, operands);
  }
  at::Tensor w = weight();
};

TEST_CASE("what a captured step wrote comes back for each replay, and gradients are poisoned until it writes them") {
  for (const bool set_to_none : {false, true}) {
    CAPTURE(set_to_none);
    at::Tensor output;
    StepAlone step([&](Step& made) {
      made.set_to_none = set_to_none;
      // Held here as well, since only a capture's pool keeps memory that nobody holds.
      made.forward = [&output, forward = made.forward](at::Tensor& x) -> c10::IValue {
        return output = forward(x).toTensor();
      };
    });
    step.implementation->prepare(0);
    step.implementation->run(0, 1);
    const auto kept = step.implementation->keep_output();
    CHECK(step.implementation->take_output().isNone());
    const at::Tensor gradient = step.w.grad(), values = gradient.clone();
    if (set_to_none) step.w.mutable_grad() = at::Tensor();
    for (const bool replays : {true, false}) {
      step.implementation->put_back_output(kept);
      CHECK(step.w.grad().is_same(gradient));
      CHECK(gradient.isnan().all().item<bool>());
      if (replays) gradient.copy_(values);
      step.implementation->finish();
      const auto answer = step.implementation->take_output();
      CHECK(answer.toTupleRef().elements()[0].toTensor().equal(output));
      CHECK(answer.toTupleRef().elements()[1].toTensorVector().at(0).equal(values) == replays);
    }
  }
}

TEST_CASE("an exception of a timed step is the implementation's") {
  StepAlone step(
      [](Step& made) { made.forward = [](at::Tensor&) -> c10::IValue { throw std::runtime_error("out of luck"); }; });
  step.implementation->prepare(0);
  CHECK_THROWS_MATCHES(step.implementation->run(0, 1), pace::detail::ImplementationThrew,
                       Catch::Matchers::Message("out of luck"));
}

TEST_CASE("a compiled backward starts from one for a loss, and from drawn gradients for other outputs") {
  const pace::OutputGradient drawn;
  const auto gradient = pace::gradient_of(drawn);
  const at::Tensor output = at::ones({2, 3});
  CHECK(gradient(output).is_same(drawn.of(output)));
  CHECK(gradient(output.sum()).equal(at::ones({})));
}

TEST_CASE("a kept graph can be gone through again, and gradients add up") {
  const at::Tensor w = weight(), x = at::ones({3, 4});
  const c10::IValue prepared = pace::OutputGradient()(at::matmul(x, w));
  const c10::IValue kept = pace::keep_graph(prepared);
  pace::run_backward(kept);
  const at::Tensor once = w.grad().clone();
  pace::run_backward(kept);
  CHECK(w.grad().equal(once.mul(2)));
  pace::run_backward(prepared);
  CHECK_THROWS(pace::run_backward(prepared));
  CHECK_THROWS_MATCHES(pace::keep_graph(1), pace::Error,
                       MessageMatches(ContainsSubstring("expected an output and its gradient")));
}

TEST_CASE("phases are published after the whole") {
  FakeClock clock;
  std::vector<std::string> names;
  pace::run_context().on_result([&](const pace::Result& result) { names.push_back(result.name); });
  (void)pace::compare("product", at::randn({3, 4}))
      .options(few_rounds())
      .baseline("eager", product(clock, 300, 200))
      .run(clock);
  pace::run_context().clear_listeners();
  CHECK(names == std::vector<std::string>{"product", "product/forward", "product/backward"});
}

TEST_CASE("a training step is correct only if its gradients are") {
  FakeClock clock;
  Step doubled = product(clock, 100, 100);
  doubled.backward = [](const c10::IValue& prepared) {
    const auto& elements = prepared.toTupleRef().elements();
    elements[0].toTensor().backward(at::mul(elements[1].toTensor(), 2));
  };
  Step idle = product(clock, 100, 100);
  idle.backward = [](const c10::IValue&) {};
  Step stale = product(clock, 100, 100);  // right the first time, and then leaves the old output there
  stale.backward = [calls = 0](const c10::IValue& prepared) mutable {
    if (calls++ == 0) pace::run_backward(prepared);
  };
  Step half = product(clock, 100, 100);
  half.forward = [w = half.parameters[0]](at::Tensor& x) -> c10::IValue { return at::mul(at::matmul(x, w), 0.5); };
  const auto result = pace::compare("product", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("eager", product(clock, 100, 100))
                          .candidate("same", product(clock, 90, 90))
                          .candidate("doubled", doubled)
                          .candidate("idle", idle)
                          .candidate("stale", stale)
                          .candidate("half", half)
                          .run(clock);
  CHECK(result["same"].outcome == Outcome::measured);
  for (const char* wrong : {"doubled", "idle", "stale", "half"}) {
    INFO(wrong);
    CHECK(result[wrong].outcome == Outcome::wrong);
    CHECK(result.in_phase("forward")[wrong].outcome == Outcome::wrong);
    CHECK_FALSE(result.in_phase("forward")[wrong].speedup);
  }
}

TEST_CASE("a step that keeps answers has no claim, nor has the phase that does") {
  FakeClock clock;
  Step keeping = product(clock, 100, 100);
  keeping.forward = [&clock, known = at::Tensor(), w = keeping.parameters[0]](at::Tensor& x) mutable -> c10::IValue {
    clock.advance(Nanoseconds(known.defined() && known.equal(x) ? 10'000 : 30'000));
    known = x.clone();
    return at::matmul(x, w);
  };
  const auto result = pace::compare("product", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("eager", product(clock, 30'000, 100))
                          .candidate("keeping", keeping)
                          .expect(pace::SpeedupAtLeast(1.5))
                          .run(clock);
  const auto& row = result["keeping"];
  INFO(row.message << row.judgements.at(0).message);
  CHECK(row.judgements.at(0).verdict == pace::Verdict::failed);
  REQUIRE(row.on_unseen_values);
  CHECK(row.on_unseen_values->median < 1.1);
  const auto& forward = result.in_phase("forward")["keeping"];
  REQUIRE(forward.on_unseen_values);
  CHECK(forward.on_unseen_values->median < 1.2);
  REQUIRE(forward.speedup);
  CHECK(forward.speedup->median > 2.5);
}

TEST_CASE("gradients and answers are compared in the form that all implementations have") {
  FakeClock clock;
  Step transposed;
  const auto w = weight();
  transposed.parameters = {w};
  transposed.forward = [&clock, w](at::Tensor& x) -> c10::IValue {
    clock.advance(Nanoseconds(100));
    return c10::ivalue::Tuple::create({at::matmul(w, x.t()), c10::IValue(7)});
  };
  transposed.backward_setup = [](const c10::IValue& output) -> c10::IValue {
    const auto y = output.toTupleRef().elements()[0].toTensor();
    return c10::ivalue::Tuple::create({y, pace::OutputGradient().of(y.t().contiguous()).t()});
  };
  transposed.backward = pace::run_backward;
  transposed.answer = [](const c10::IValue& output) -> c10::IValue {
    return output.toTupleRef().elements()[0].toTensor().t();
  };
  transposed.gradients = [w] { return std::vector<at::Tensor>{w.grad().t()}; };
  const auto result = pace::compare("product", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("eager", product(clock, 100, 100))
                          .candidate("transposed", transposed)
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
}

TEST_CASE("a list of tensors that forward returned is still one when its answer is read") {
  FakeClock clock;
  const auto step_of_list = [&clock] {
    Step step = product(clock, 100, 100);
    step.forward = [forward = step.forward](at::Tensor& x) -> c10::IValue {
      return std::vector<at::Tensor>{forward(x).toTensor()};
    };
    step.backward_setup = [](const c10::IValue& output) {
      return pace::OutputGradient()(output.toTensorVector().at(0));
    };
    step.answer = [](const c10::IValue& output) -> c10::IValue { return output.toTensorVector().at(0); };
    return step;
  };
  const auto result = pace::compare("list", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("eager", step_of_list())
                          .candidate("same", step_of_list())
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
}

TEST_CASE("a step without a backward has an empty one") {
  FakeClock clock;
  Step forward_only = product(clock, 100, 100);
  forward_only.backward = {};
  const auto result =
      pace::compare("product", at::randn({3, 4})).options(few_rounds()).baseline("eager", forward_only).run(clock);
  CHECK_THAT(result, pace::Correct());
  CHECK_THAT(result.in_phase("forward").baseline().time->median.count(), WithinRel(100.0, 1e-9));
  CHECK(result.in_phase("backward").baseline().time->median.count() == 0);
}

TEST_CASE("expectations of a phase end the rounds and are judged by its figures") {
  FakeClock clock;
  auto options = few_rounds();
  options.max_rounds = 10'000;
  options.budget = Nanoseconds(1e9);
  const auto result = pace::compare("product", at::randn({3, 4}))
                          .options(options)
                          .baseline("eager", product(clock, 300, 200))
                          .candidate("mine", product(clock, 100, 400))
                          .expect("mine", pace::SpeedupAtLeast(2).in_phase("forward"))
                          .expect(pace::NoSlowerThan(1.1).in_phase("backward"))
                          .run(clock);
  CHECK(result.stop_reason == pace::StopReason::rule);
  CHECK(result["mine"].judgements.empty());
  const auto& forward = result.in_phase("forward")["mine"].judgements;
  REQUIRE(forward.size() == 1);
  CHECK(forward[0].verdict == Verdict::passed);
  const auto& backward = result.in_phase("backward")["mine"].judgements;
  REQUIRE(backward.size() == 1);
  CHECK(backward[0].verdict == Verdict::failed);
  const pace::AsExpected as_expected;
  CAPTURE(result);
  CHECK_FALSE(as_expected.match(result));
  CHECK_THAT(as_expected.examine(result).text, ContainsSubstring("failed: of its backward phase, "));
}

TEST_CASE("a claim about a step fails that holds for the values given alone") {
  FakeClock clock;
  auto options = few_rounds();
  options.max_rounds = 10'000;
  options.budget = Nanoseconds(1e9);
  const auto x = at::randn({3, 4});
  // Twice as slow on other values, which no ratio of theirs to the values given shows to be a fault.
  const auto faster_on = [&](const at::Tensor& known) {
    Step step = product(clock, 20'000, 20'000);
    step.forward = [forward = step.forward, &clock, known](at::Tensor& operand) {
      if (known.defined() && !at::equal(operand, known)) clock.advance(Nanoseconds(40'000));
      return forward(operand);
    };
    return step;
  };
  const auto result = pace::compare("product", x)
                          .options(options)
                          .baseline("eager", product(clock, 40'000, 40'000))
                          .candidate("on all", faster_on({}))
                          .candidate("on given", faster_on(x.clone()))
                          .expect(pace::SpeedupAtLeast(1.5))
                          .run(clock);
  for (const char* const name : {"on all", "on given"}) {
    const auto& row = result[name];
    INFO(name << ": " << row.message);
    REQUIRE(row.outcome == Outcome::measured);
    CHECK_THAT(row.speedup->median, WithinRel(2.0, 1e-9));
    REQUIRE(row.on_unseen_values);
  }
  CHECK_THAT(result["on all"].on_unseen_values->median, WithinRel(2.0, 1e-9));
  CHECK(result["on all"].judgements.at(0).verdict == Verdict::passed);
  CHECK_THAT(result["on given"].on_unseen_values->median, WithinRel(1.0, 0.03));
  CHECK(result["on given"].judgements.at(0).verdict == Verdict::failed);
  CHECK_THAT(result["on given"].judgements.at(0).message, ContainsSubstring("on unseen values"));
}

TEST_CASE("a claim about a phase fails that holds for the values given alone") {
  const double unit = GENERATE(1.0, 0.1, 0.03);
  FakeClock clock;
  auto options = few_rounds();
  options.max_rounds = 10'000;
  options.budget = Nanoseconds(1e9);
  const auto x = at::randn({3, 4});
  Step cheat = product(clock, 60'000 * unit, 120'000 * unit);
  cheat.forward = [&clock, unit, forward = cheat.forward, known = x.clone()](at::Tensor& operand) {
    if (!at::equal(operand, known)) clock.advance(Nanoseconds(60'000 * unit));
    return forward(operand);
  };
  const auto result = pace::compare("product", x)
                          .options(options)
                          .baseline("eager", product(clock, 120'000 * unit, 120'000 * unit))
                          .candidate("on given", cheat)
                          .expect(pace::SpeedupAtLeast(1.5).in_phase("forward"))
                          .expect(pace::NoSlowerThan(1.1).in_phase("backward"))
                          .run(clock);
  const auto& forward = result.in_phase("forward")["on given"];
  INFO(forward.message);
  REQUIRE(forward.judgements.size() == 1);
  INFO(forward.judgements[0].message);
  REQUIRE(forward.on_unseen_values);
  CHECK(forward.judgements[0].verdict == Verdict::failed);
  CHECK(result.in_phase("backward")["on given"].judgements.at(0).verdict == Verdict::passed);
}

TEST_CASE(
    "a claim about a phase gains nothing by a baseline that is slower on unseen values since a candidate was called") {
  FakeClock clock;
  auto options = few_rounds();
  options.max_rounds = 10'000;
  options.budget = Nanoseconds(1e9);
  const auto x = at::randn({3, 4});
  bool slows = false;
  Step baseline = product(clock, 120'000, 120'000);
  baseline.forward = [&, forward = baseline.forward, known = x.clone()](at::Tensor& operand) {
    if (slows && !at::equal(operand, known)) clock.advance(Nanoseconds(360'000));
    return forward(operand);
  };
  Step cheat = product(clock, 30'000, 120'000);
  cheat.forward = [&, forward = cheat.forward, known = x.clone()](at::Tensor& operand) {
    slows = true;
    if (!at::equal(operand, known)) clock.advance(Nanoseconds(90'000));
    return forward(operand);
  };
  const auto result = pace::compare("product", x)
                          .options(options)
                          .baseline("eager", baseline)
                          .candidate("slowing", cheat)
                          .expect(pace::SpeedupAtLeast(3).in_phase("forward"))
                          .run(clock);
  const auto& forward = result.in_phase("forward")["slowing"];
  INFO(forward.message);
  REQUIRE(forward.judgements.size() == 1);
  INFO(forward.judgements[0].message);
  CHECK_FALSE(forward.judgements[0].acceptable);
}

TEST_CASE("senseless comparisons of training steps are refused in words") {
  FakeClock clock;
  const auto x = at::randn({3, 4});
  CHECK_THROWS_MATCHES(pace::compare("product", x)
                           .baseline("eager", product(clock, 1, 1))
                           .expect(pace::SpeedupAtLeast(2).in_phase("sideways"))
                           .run(clock),
                       pace::Error, MessageMatches(ContainsSubstring("the phase 'sideways'")));
  CHECK_THROWS_MATCHES(pace::compare("product", x)
                           .baseline("eager", product(clock, 1, 1))
                           .candidate("plain", [](const at::Tensor& y) { return y; }),
                       pace::Error, MessageMatches(ContainsSubstring("other phases")));
  // A model that cannot be trained is a row with its reason.
  const auto result = pace::compare("product", x)
                          .options(few_rounds())
                          .baseline("eager", pace::training_step({}, [](const at::Tensor& y) { return at::mul(y, 2); }))
                          .run(clock);
  CHECK(result.baseline().outcome == Outcome::threw);
  CHECK_THAT(result.baseline().message, ContainsSubstring("does not depend on any parameter"));
}

TEST_CASE("a training step without a forward is an error as soon as it is given") {
  auto comparison = pace::compare("product", at::randn({3, 4}));
  const auto message = MessageMatches(ContainsSubstring("comparison 'product': the function of 'mine' is null"));
  CHECK_THROWS_MATCHES(comparison.baseline("mine", Step()), pace::Error, message);
  using Function = at::Tensor (*)(const at::Tensor&);
  CHECK_THROWS_MATCHES(comparison.baseline("mine", pace::training_step({weight()}, Function())), pace::Error, message);
}

TEST_CASE("a user's own forward becomes a step in one line, from a loss or from an output") {
  FakeClock clock;
  const auto w = weight(), v = weight();
  const auto loss = [&clock](const at::Tensor& parameter) {
    return [&clock, parameter](at::Tensor& x, at::Tensor& target) {
      clock.advance(Nanoseconds(100));
      return at::matmul(x, parameter).sub(target).square().mean();
    };
  };
  const auto result = pace::compare("loss", at::randn({3, 4}), at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("eager", pace::training_step({w}, loss(w)))
                          .candidate("again", pace::training_step({v}, loss(v)))
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
  CHECK(result["again"].checked);
  const auto outputs = [&clock](const at::Tensor& parameter) {
    return [&clock, parameter](at::Tensor& x) {
      clock.advance(Nanoseconds(100));
      return std::make_tuple(at::matmul(x, parameter), x.sum());
    };
  };
  const auto output = pace::compare("output", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("eager", pace::training_step({w}, outputs(w)))
                          .candidate("again", pace::training_step({v}, outputs(v)))
                          .run(clock);
  CHECK_THAT(output, pace::Correct());
}

TEST_CASE("gradients of outputs are drawn once, by a generator of their own") {
  const pace::OutputGradient one(3), other(3), different(4);
  const auto x = at::ones({2, 3});
  CHECK(one.of(x).equal(other.of(x)));
  CHECK_FALSE(one.of(x).equal(different.of(x)));
  CHECK(one.of(x).const_data_ptr() == one.of(at::ones({2, 3})).const_data_ptr());
  CHECK(one.of(at::ones({2, 3}, at::kDouble)).dtype() == at::kDouble);
}

TEST_CASE("what forward returns changes hands: steps of the same write it to the same memory") {
  const pace::test::LastFreedFirst allocator;
  FakeClock clock;
  const auto recording = [&clock](const pace::test::OutputPlaces& places) {
    Step step;
    step.forward = [&clock, places](at::Tensor& x) -> c10::IValue {
      clock.advance(Nanoseconds(500));
      const at::Tensor y = at::mul(x, 2);
      places.add(y);
      return y;
    };
    return step;
  };
  const pace::test::OutputPlaces one, other;
  const auto result = pace::test::compare_twins(clock, recording(one), recording(other));
  REQUIRE(result["other"].outcome == Outcome::measured);
  CHECK(one.later() == other.later());
}

}  // namespace

TEST_CASE("a float64 reference of a step with parameters of its own is a step of its own") {
  FakeClock clock;
  const auto step = [&](auto forward, at::ScalarType dtype) {
    const at::Tensor w = at::ones({64}).mul_(4097.3).to(dtype).set_requires_grad(true);
    return pace::training_step({w}, [forward, w, &clock](at::Tensor& x) {
      clock.advance(Nanoseconds(100));
      return forward(x, w);
    });
  };
  // Loses digits where the other one does not.
  const auto careless = [](at::Tensor& x, const at::Tensor& w) { return at::mul(x, w).sub(x.mul(4096)); };
  const auto compare = [&](bool reference, double factor) {
    const auto careful = [factor](at::Tensor& x, const at::Tensor& w) { return at::mul(x, w.sub(4096)).mul(factor); };
    pace::check::CheckOptions check;
    check.rtol = check.atol = 1e-6;
    auto comparison = pace::compare("cancellation", at::randn({64}).add_(300));
    comparison.options(few_rounds()).check(check).baseline("careless", step(careless, at::kFloat));
    comparison.candidate("careful", step(careful, at::kFloat));
    if (reference) comparison.float64_reference(step(careless, at::kDouble));
    return comparison.run(clock);
  };
  CHECK(compare(false, 1)["careful"].outcome == Outcome::wrong);
  const auto result = compare(true, 1);
  CHECK(result["careful"].outcome == Outcome::measured);
  CHECK_THAT(result.notes, IsEmpty());
  CHECK(compare(true, 1.01)["careful"].outcome == Outcome::wrong);
}
