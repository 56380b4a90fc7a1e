// Definitions compiled by Inductor, forward and backward: slow (about 100 s on two cores).
#include "benches/files/aot/training_package.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/allclose.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn_like.h>

#include "benches/files/aot/compiled_step.hpp"
#include "benches/files/aot/package_facts.hpp"
#include "pace/os/folders.hpp"
#include "tests/aot/definitions.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using pace::benches::aot::Definition;
using pace::benches::aot::PackageKind;
using pace::test::Scratch;
using pace::test::Tensors;
using pace::test::why;

bool close(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         at::allclose(a.to(at::kDouble), b.to(at::kDouble), tolerance, tolerance);
}

Tensors copies(const Tensors& tensors) {
  Tensors result;
  for (const auto& tensor : tensors) result.push_back(tensor.detach().clone());
  return result;
}

/// One step by autograd, which leaves the definition's own inputs as they are.
struct Eager {
  Tensors outputs, inputs_after, gradients_in, gradients;

  explicit Eager(const Definition& definition) : inputs_after(copies(definition.inputs)) {
    Tensors parameters;
    for (const auto& parameter : definition.parameters)
      parameters.push_back(parameter.detach().clone().requires_grad_());
    outputs = definition.forward(parameters, inputs_after);
    at::Tensor loss = at::zeros({});
    for (const auto i : definition.differentiated) {
      gradients_in.push_back(at::randn_like(outputs[i]));
      loss = loss + (outputs[i] * gradients_in.back()).sum();
    }
    loss.backward();
    for (const auto& parameter : parameters) gradients.push_back(parameter.grad());
  }
};

void require_same_step(const Definition& definition, pace::benches::aot::TrainingPackage& package) {
  const Eager eager(definition);
  auto inputs = copies(definition.inputs);
  auto [outputs, saved] = package.forward(definition.parameters, inputs);
  REQUIRE(outputs.size() == eager.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    INFO(definition.name << " output " << i);
    REQUIRE(close(outputs[i], eager.outputs[i], 1e-5));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO(definition.name << " input " << i << ", after the forward");
    REQUIRE(close(inputs[i], eager.inputs_after[i], 1e-5));
  }
  const auto gradients_in = copies(eager.gradients_in);
  const auto gradients = package.backward(std::move(saved), package.arrange(gradients_in));
  REQUIRE(gradients.size() == eager.gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    INFO(definition.name << " gradient " << i);
    REQUIRE(close(gradients[i], eager.gradients[i], 1e-4));
    if (!gradients[i].defined()) continue;
    (void)gradients[i].zero_();  // the memory is its own
  }
  for (std::size_t i = 0; i < gradients_in.size(); ++i) REQUIRE(close(gradients_in[i], eager.gradients_in[i], 0));
}

/// The package as a training step: gradients are added to those that are there.
void require_steps_add_up(const Definition& definition, pace::benches::aot::TrainingPackage&& package) {
  const Eager eager(definition);
  Tensors parameters;
  for (const auto& parameter : definition.parameters) parameters.push_back(parameter.detach().clone().requires_grad_());
  parameters[0].mutable_grad() = at::ones_like(parameters[0]);
  auto step =
      pace::benches::aot::training_step(std::make_shared<pace::benches::aot::TrainingPackage>(std::move(package)),
                                        parameters, [&](const at::Tensor&) { return eager.gradients_in[0]; });
  REQUIRE(step.parameters.size() == parameters.size());
  REQUIRE_THAT(why([&] { step.backward(at::ones({})); }), ContainsSubstring("backward without a forward"));
  for (int i = 1; i <= 2; ++i) {
    const auto inputs = copies(definition.inputs);
    // As models are called: input, and a pair of states.
    c10::Stack stack{inputs[0], c10::ivalue::Tuple::create(std::vector<c10::IValue>(inputs.begin() + 1, inputs.end()))};
    const auto output = step.forward(stack);
    const auto first = output.isTuple() ? output.toTupleRef().elements()[0].toTensor() : output.toTensor();
    REQUIRE(close(first, eager.outputs[0], 1e-5));
    step.backward(step.backward_setup(output));
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      INFO(definition.name << " parameter " << p << ", step " << i);
      const auto& gradient = eager.gradients[p];
      REQUIRE(close(parameters[p].grad(), gradient.defined() ? gradient * i + (p == 0 ? 1 : 0) : gradient, 1e-4));
    }
  }
  c10::Stack number{1.5};
  REQUIRE_THAT(why([&] { (void)step.forward(number); }), ContainsSubstring("operands, but called with"));
}

TEST_CASE("a record has whole numbers, or is refused", "[aot][training]") {
  using pace::benches::aot::detail::read_constants;
  using pace::benches::aot::detail::read_layout;
  const Scratch folder;
  const auto reason = [&](const std::string& layout, auto read) {
    const fs::path record = folder.write("step.json", R"({"layout": {)" + layout + "}}");
    return why([&] { (void)read(record.parent_path() / "step.pt2"); });
  };
  for (const std::string number : {"1.5", "-1", "1e300", "true"})
    CHECK_THAT(
        reason(R"("outputs": )" + number + R"(, "saved": [], "tangents": [], "gradients": [])", read_layout),
        ContainsSubstring("expected a whole number from 0 on, found " + (number == "1e300" ? "1e+300" : number)));
  CHECK_THAT(reason(R"("outputs": 1, "saved": [], "tangents": [], "gradients": [0.5])", read_layout),
             ContainsSubstring("expected a whole number from 0 on, found 0.5"));
  CHECK_THAT(reason(R"("operands": [0, -2], "folded": 0)", read_constants),
             ContainsSubstring("operands: expected whole numbers, found [0,-2]"));
}

TEST_CASE("the state of random numbers may be where LibTorch keeps it", "[aot][training]") {
  const auto on_gpu = [](at::ScalarType type, std::vector<std::int64_t> sizes) {
    return pace::benches::aot::TensorMetadata{type, at::Device(at::kCUDA, 0), sizes,
                                              std::vector<std::int64_t>(sizes.size(), 1)};
  };
  const at::Tensor state = at::zeros({}, at::kLong);
  CHECK(pace::benches::aot::detail::is_random_state(on_gpu(at::kLong, {}), state));
  CHECK_FALSE(pace::benches::aot::detail::is_random_state(on_gpu(at::kFloat, {}), state));
  CHECK_FALSE(pace::benches::aot::detail::is_random_state(on_gpu(at::kLong, {1}), state));
  CHECK_FALSE(pace::benches::aot::detail::is_random_state(on_gpu(at::kLong, {}), at::zeros({1}, at::kLong)));
  CHECK_FALSE(pace::benches::aot::detail::is_random_state(on_gpu(at::kLong, {}), at::zeros({}, at::kFloat)));
  CHECK_FALSE(pace::benches::aot::detail::is_random_state(on_gpu(at::kLong, {}), at::Tensor()));
}

TEST_CASE("compiled forwards and backwards do what autograd does", "[aot][training]") {
  const Scratch folder;
  auto options = pace::benches::aot::definition_package_options();
  options.cache = folder.path;
  if (options.python.empty()) SKIP("no Python with torch is known: set PACE_PYTHON");

  const std::vector<Definition> definitions = {pace::test::mlp(), pace::test::lstm(4, 3, 8), pace::test::convolution(),
                                               pace::test::odd(), pace::test::built_in_lstm()};
  std::vector<pace::benches::aot::Traced> traced;
  for (const auto& definition : definitions) traced.push_back(pace::benches::aot::trace(definition));
  auto useless = pace::test::mlp();
  useless.name = "useless";
  useless.forward = [](const Tensors&, const Tensors& x) { return Tensors{at::relu(x[0])}; };
  const auto traced_useless = pace::benches::aot::trace(useless);

  std::vector<pace::benches::aot::PackageRequest> requests;
  for (const auto& each : traced) requests.push_back({&each, PackageKind::training});
  requests.push_back({&traced[2], PackageKind::inference});
  requests.push_back({&traced_useless, PackageKind::training});
  {
    pace::benches::aot::DefinitionStore store(options);
    store.prepare_all(requests);
    REQUIRE(store.compile_times(traced[0], PackageKind::training).value().whole > 0);
    REQUIRE_THAT(why([&] { (void)pace::benches::aot::TrainingPackage::open(store, traced_useless); }),
                 ContainsSubstring("output 0 does not depend on any parameter"));
  }

  // From here on there is no Python to compile with: packages come from the cache, and from a directory.
  const Scratch empty;
  options.python = "/no/such/python";
  options.directories = {folder.path};
  options.cache = empty.path;
  pace::benches::aot::DefinitionStore store(options);
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    auto package = pace::benches::aot::TrainingPackage::open(store, traced[i]);
    REQUIRE_FALSE(package.costs().compile.has_value());
    REQUIRE(package.costs().load > 0);
    require_same_step(definitions[i], package);
    require_same_step(definitions[i], package);  // nothing is left from the first step
  }

  require_steps_add_up(definitions[1], pace::benches::aot::TrainingPackage::open(store, traced[1]));
  require_steps_add_up(definitions[2], pace::benches::aot::TrainingPackage::open(store, traced[2]));

  auto inference = pace::benches::aot::InferencePackage::open(store, traced[2]);
  const Eager eager(definitions[2]);
  auto operands = definitions[2].parameters;
  const auto inputs = copies(definitions[2].inputs);
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  const auto outputs = inference.run(operands);
  REQUIRE(outputs.size() == 1);
  REQUIRE(close(outputs[0], eager.outputs[0], 1e-5));
  REQUIRE(close(inputs[1], eager.inputs_after[1], 1e-5));
  REQUIRE_THAT(
      why([&] { (void)inference.run(inputs); }),
      ContainsSubstring("the compiled inference of convolution was compiled for 7 operands, but called with 3"));

  // The facts kept for each model of a package.
  const auto described = store.find(traced[0], PackageKind::training);
  const auto forward_facts = pace::benches::aot::read_package_facts(described, "forward");
  const auto backward_facts = pace::benches::aot::read_package_facts(described, "backward");
  REQUIRE(forward_facts.has_value());
  REQUIRE(backward_facts.has_value());
  REQUIRE(forward_facts->inputs.size() == 5);
  REQUIRE(forward_facts->inputs[4].fits(definitions[0].inputs[0]));
  REQUIRE(backward_facts->inputs.back().sizes == std::vector<std::int64_t>{4, 8});  // the gradient that comes in
  // Two products of operands 4x16, 32x16 and 4x32, 8x32; their gradients by the weights and by the tensor between.
  const auto products = [](const pace::benches::aot::PackageFacts& facts) {
    return std::ranges::count(facts.kernels, pace::benches::aot::PackageKernel::Kind::external,
                              &pace::benches::aot::PackageKernel::kind);
  };
  REQUIRE(products(*forward_facts) == 2);
  REQUIRE(products(*backward_facts) == 3);
  for (const auto& facts : {*forward_facts, *backward_facts}) {
    REQUIRE(facts.problem == "");
    for (const auto& kernel : facts.kernels) REQUIRE(kernel.bytes.has_value());
  }
  REQUIRE_THAT(why([&] { (void)pace::benches::aot::read_package_facts(described); }),
               ContainsSubstring("has no model `model`, but `backward`, `forward`"));
  REQUIRE(pace::benches::aot::read_package_facts(store.find(traced[2], PackageKind::inference))->inputs.size() == 7);

  // Compiled code trusts its operands, so others must not reach it.
  auto package = pace::benches::aot::TrainingPackage::open(store, traced[0]);
  const auto& mlp = definitions[0];
  REQUIRE_THAT(
      why([&] { (void)package.forward(mlp.parameters, {at::randn({5, 16})}); }),
      ContainsSubstring("the compiled forward of mlp was compiled for float32[4, 16] with strides [16, 1] on cpu as "
                        "operand 4, but called with float32[5, 16]"));
  REQUIRE_THAT(why([&] { (void)package.forward(mlp.parameters, {at::randn({16, 4}).t()}); }),
               ContainsSubstring("with strides [1, 4]"));
  REQUIRE_THAT(why([&] { (void)package.forward(mlp.parameters, {at::randn({4, 16}).to(at::kDouble)}); }),
               ContainsSubstring("float64"));
  REQUIRE_THAT(why([&] { (void)package.forward(mlp.parameters, {}); }),
               ContainsSubstring("5 operands, but called with 4"));
  const auto done = package.forward(mlp.parameters, mlp.inputs);
  REQUIRE_THAT(why([&] { (void)package.backward(done.saved, {at::randn({8, 4})}); }),
               ContainsSubstring("the compiled backward of mlp was compiled for float32[4, 8]"));
  REQUIRE_THAT(why([&] { (void)package.backward(done.saved, {}); }), ContainsSubstring("operands, but called with"));
  REQUIRE_THAT(why([&] { (void)package.backward(done.saved, {at::Tensor()}); }),
               ContainsSubstring("an undefined tensor"));
  REQUIRE(package.backward(done.saved, {at::randn({4, 8})}).size() == 4);  // saved is still whole

  // A package that does not load is not believed twice.
  const auto path = store.find(traced[0], PackageKind::training);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const std::string garbage(fs::file_size(path), '\x55');
    file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
  }
  REQUIRE_THAT(why([&] { (void)pace::benches::aot::TrainingPackage::open(store, traced[0]); }),
               ContainsSubstring("cannot run /no/such/python"));
}

}  // namespace
