// Backward passes of operators: their gradients, the comparison of these, and the texts of the results.
#include "benches/operators/backward.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros_like.h>

#include "benches/operators/backends/eager.hpp"
#include "benches/operators/backends/functor.hpp"
#include "benches/operators/backends/torchscript.hpp"
#include "benches/operators/cases.hpp"
#include "benches/operators/make_call.hpp"
#include "benches/operators/replay.hpp"
#include "benches/operators/selection.hpp"

// After LibTorch's headers, which have a CHECK of their own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Outcome;
using pace::benches::operators::CaseList;
using pace::benches::operators::Pass;
namespace operators = pace::benches::operators;

operators::OperatorCall call(const std::string& op, const std::string& text) {
  return operators::make_call(op, {.text = text, .count = 1, .where = {"test"}}, {}, 1);
}

/// As a compiled package: autograd does not follow it.
class Compiled final : public operators::Backend {
 public:
  [[nodiscard]] std::string name() const override { return "compiled"; }
  [[nodiscard]] bool is_differentiable() const override { return false; }
  [[nodiscard]] std::unique_ptr<operators::Executable> prepare(const operators::OperatorCall& call) override {
    return operators::EagerBackend().prepare(call);
  }
};

struct Fixture {
  Fixture() {
    registry.add(std::make_unique<operators::EagerBackend>());
    registry.add(std::make_unique<operators::TorchScriptBackend>());
    const auto add = [&](const std::string& name, auto function) {
      auto backend = std::make_unique<operators::FunctorBackend>(name);
      backend->implement("aten.relu.default", function);
      registry.add(std::move(backend));
    };
    add("wrong_gradient",
        [](const at::Tensor& a) { return at::relu(a.detach()).add(a.mul(2)).sub(a.mul(2).detach()); });
    add("no_graph", [](const at::Tensor& a) { return at::relu(a.detach()); });
    auto& measuring = pace::run_context().options;
    measuring.budget = std::chrono::milliseconds(2);
    measuring.warm_up = std::chrono::milliseconds(1);
  }

  /// Results that a listener hears, by the names of the cases in `cases`.
  std::vector<pace::Result> run(const std::vector<pace::corpus::OperatorSamples>& cases, Pass pass,
                                const std::string& backends) {
    const auto corpus = pace::corpus::Corpus::from_samples(cases);
    operators::ReplayOptions options;
    options.backends = backends;
    options.pass = pass;
    const auto selection = operators::select(corpus, options, [](const std::string&) {});
    struct Listener : operators::ReplayListener {
      std::vector<pace::Result> results;
      void result(const operators::Selected&, std::size_t, const pace::Result& result) override {
        results.push_back(result);
      }
    } listener;
    operators::Replay(options, registry).run(selection, listener);
    return listener.results;
  }

  operators::BackendRegistry registry;
};

std::vector<pace::corpus::OperatorSamples> relu() {
  return CaseList("aten.relu.default", "relu").cross("M", {64}).call("((T([{M}], f32),), {})").all_samples("cpu", "");
}

TEST_CASE("floating-point tensors that are not written to can have gradients") {
  const auto index = call("aten.index_select.default", "((T([4, 2], f32), 0, T([3], i64)), {})");
  CHECK(operators::differentiable_tensors(index) == std::vector<std::size_t>{0});
  const auto leaves = operators::with_gradients(index);
  CHECK(leaves.tensors()[0].requires_grad());
  CHECK_FALSE(leaves.tensors()[1].requires_grad());
  CHECK(leaves.tensors()[0].data_ptr() == index.tensors()[0].data_ptr());

  const auto add = call("aten.add.Tensor", "((T([4], f32), T([4], f32)), {})");
  const auto second = operators::with_gradients(add, {1});
  CHECK_FALSE(second.tensors()[0].requires_grad());
  CHECK(second.tensors()[1].requires_grad());
  CHECK_THROWS_WITH(operators::with_gradients(index, {1}),
                    ContainsSubstring("auto_set names tensor 1, which is not among the floating-point tensors"));
  CHECK_THROWS_WITH(operators::with_gradients(call("aten.relu.default", "((T([4], i64),), {})")),
                    ContainsSubstring("no operand is of a floating-point type"));
  CHECK_THROWS_WITH(operators::with_gradients(call("aten.add_.Tensor", "((T([4], f32), T([4], f32)), {})")),
                    ContainsSubstring("it writes to its operands"));
}

TEST_CASE("a step gives the gradients of marked tensors, anew each time, and zeros where none flows") {
  const auto add = operators::with_gradients(call("aten.mul.Tensor", "((T([4], f32), T([4], f32)), {})"), {0});
  operators::EagerBackend eager;
  const pace::OutputGradient gradient(3);
  const auto step = operators::backward_step(eager.prepare(add), gradient);
  auto tensors = add.tensors();
  for (int i = 0; i < 2; ++i) {
    const at::AutoGradMode with_gradients(true);
    const auto output = step.forward(tensors);
    step.backward(step.backward_setup(output));
    const auto found = step.gradients();
    REQUIRE(found.size() == 1);
    CHECK(at::equal(found[0], gradient.of(output.toTensor().detach()).mul(tensors[1])));
  }
  CHECK_FALSE(tensors[0].grad().defined());
}

TEST_CASE("gradients are compared, and a back end without a graph is refused") {
  Fixture fixture;
  for (const Pass pass : {Pass::backward, Pass::both}) {
    const auto results = fixture.run(relu(), pass, "eager,torchscript,wrong_gradient,no_graph");
    REQUIRE(results.size() == 1);
    const auto& result = results[0];
    CHECK(result["eager"].outcome == Outcome::measured);
    CHECK(result["torchscript"].outcome == Outcome::measured);
    CHECK(result["wrong_gradient"].outcome == Outcome::wrong);
    CHECK(result["no_graph"].outcome == Outcome::refused);
    CHECK_THAT(result["no_graph"].message, ContainsSubstring("no output of aten.relu.default has a graph"));
    CHECK(result.phase == (pass == Pass::backward ? "backward" : ""));
    CHECK(result.phases.size() == (pass == Pass::backward ? 0 : 2));
    REQUIRE(result["torchscript"].time);
  }
}

TEST_CASE("a guard is about the pass that is asked for") {
  Fixture fixture;
  const auto corpus = pace::corpus::Corpus::from_samples(relu());
  for (const Pass pass : {Pass::backward, Pass::both}) {
    operators::ReplayOptions options;
    options.backends = "eager,torchscript";
    options.pass = pass;
    options.no_slower_than = 1000;
    struct Listener : operators::ReplayListener {
      void result(const operators::Selected&, std::size_t, const pace::Result& result) override {
        REQUIRE(result["torchscript"].judgements.size() == 1);
        ++results;
      }
      int results = 0;
    } listener;
    operators::Replay(options, fixture.registry)
        .run(operators::select(corpus, options, [](const std::string&) {}), listener);
    CHECK(listener.results == 1);
  }
}

TEST_CASE("auto_set makes one case for all marked tensors, then one for each") {
  const auto cases = CaseList("aten.mul.Tensor", "mul")
                         .cross("M", {8})
                         .auto_set({0, 1})
                         .call("((T([{M}], f32), T([{M}], f32)), {})")
                         .all_samples("cpu", "");
  Fixture fixture;
  std::vector<std::string> names;
  for (const auto& each : fixture.run(cases, Pass::both, "eager,torchscript")) {
    names.push_back(each.name);
    CHECK(each["torchscript"].outcome == Outcome::measured);
  }
  CHECK(names == std::vector<std::string>{"aten.mul.Tensor[mul_M8_bwdall]", "aten.mul.Tensor[mul_M8_bwd1]",
                                          "aten.mul.Tensor[mul_M8_bwd2]"});
  // Without a backward pass it is one case.
  CHECK(fixture.run(cases, Pass::forward, "eager").size() == 1);
}

TEST_CASE("an operator without a backward pass has no result, and others go on") {
  Fixture fixture;
  const auto none = CaseList("aten.argmax.default", "argmax").call("((T([8], f32),), {})").all_samples("cpu", "");
  const auto results = fixture.run({none[0], relu()[0]}, Pass::backward, "eager,torchscript");
  REQUIRE(results.size() == 1);
  CHECK(results[0]["eager"].outcome == Outcome::measured);
  operators::EagerBackend eager;
  CHECK_THROWS_WITH(operators::with_gradients_by(eager, call("aten.argmax.default", "((T([8], f32),), {})")),
                    ContainsSubstring("aten.argmax.default has no backward pass: eager: no output"));
}

TEST_CASE("a forward pass that fails is an error of the call, and no lack of a backward pass") {
  Fixture fixture;
  auto backend = std::make_unique<operators::FunctorBackend>("failing");
  backend->implement("aten.relu.default",
                     [](const at::Tensor&) -> at::Tensor { throw pace::Error("the forward pass fails"); });
  fixture.registry.add(std::move(backend));
  const auto results = fixture.run(relu(), Pass::both, "failing,eager");
  REQUIRE(results.size() == 1);
  CHECK(results[0]["failing"].outcome == Outcome::refused);
  CHECK_THAT(results[0]["failing"].message, ContainsSubstring("the forward pass fails"));
}

TEST_CASE("a baseline that ended an earlier process is not run again to find the gradients") {
  struct Earlier : pace::RunContext::Checkpoint {
    Earlier() { pace::run_context().recollection = this; }
    ~Earlier() override { pace::run_context().recollection = nullptr; }
    [[nodiscard]] bool knows(const std::string& /*name*/) const override { return true; }
    bool recall(const std::string& /*name*/, pace::Result& /*result*/) override { return false; }
    bool next_fate(const std::string& /*name*/, pace::RunContext::PriorFailure& fate) override {
      fate = {0, Outcome::crashed, "died"};
      return !std::exchange(is_told, true);
    }
    bool is_told = false;
  } earlier;
  Fixture fixture;
  int calls = 0;
  auto backend = std::make_unique<operators::FunctorBackend>("crashing");
  backend->implement("aten.relu.default", [&calls](const at::Tensor& a) {
    ++calls;
    return at::relu(a);
  });
  fixture.registry.add(std::move(backend));
  const auto results = fixture.run(relu(), Pass::both, "crashing,eager");
  REQUIRE(results.size() == 1);
  CHECK(results[0]["crashing"].outcome == Outcome::crashed);
  CHECK(calls == 0);
}

TEST_CASE("where LibTorch has no formula for some gradients, the others are computed") {
  operators::EagerBackend eager;
  const auto backward = call("aten.native_layer_norm_backward.default",
                             "((T([2, 4], f32), T([2, 4], f32), [4], T([2, 1], f32), T([2, 1], f32), T([4], f32), "
                             "T([4], f32), [True, True, True]), {})");
  const auto leaves = operators::with_gradients_by(eager, backward);
  CHECK(leaves.tensors()[0].requires_grad());
  CHECK_FALSE(leaves.tensors()[2].requires_grad());  // the mean
  CHECK_THROWS_WITH(operators::with_gradients_by(eager, backward, {2}), ContainsSubstring("mean' is not implemented"));
}

TEST_CASE("an operand that the forward pass refuses to differentiate is left out, and the others are not") {
  operators::EagerBackend eager;
  const auto batch_norm =
      call("aten.native_batch_norm.default",
           "((T([2, 3, 4, 4], f32), T([3], f32), T([3], f32), T([3], f32), T([3], f32), False, 0.1, "
           "1e-05), {})");
  const auto leaves = operators::with_gradients_by(eager, batch_norm);
  for (const std::size_t i : {0, 1, 2}) CHECK(leaves.tensors()[i].requires_grad());
  for (const std::size_t i : {3, 4}) CHECK_FALSE(leaves.tensors()[i].requires_grad());  // the running statistics
  CHECK_THROWS_WITH(operators::with_gradients_by(eager, batch_norm, {3}),
                    ContainsSubstring("has no backward pass: ") && ContainsSubstring("running_mean"));
}

TEST_CASE("a back end that autograd does not follow is refused by name") {
  Fixture fixture;
  fixture.registry.add(std::make_unique<Compiled>());
  operators::ReplayOptions options;
  options.backends = "eager,compiled";
  CHECK_NOTHROW(operators::Replay(options, fixture.registry));
  options.pass = Pass::backward;
  CHECK_THROWS_WITH(operators::Replay(options, fixture.registry),
                    ContainsSubstring("--backends: 'compiled' has no backward pass"));
}

}  // namespace
