// The registry, and the back ends that compile nothing.
#include "benches/operators/backends/backend.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ops/equal.h>

#include "benches/files/aot/device.hpp"
#include "benches/operators/backends/default_backends.hpp"
#include "benches/operators/backends/eager.hpp"
#include "benches/operators/backends/functor.hpp"
#include "tests/operators/inputs.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::benches::operators::BackendRegistry;
using pace::benches::operators::EagerBackend;
using pace::benches::operators::FunctorBackend;
using pace::benches::operators::OperatorCall;
using pace::test::inputs;
using pace::test::list;
using pace::test::random;
using pace::test::why;
using Tensors = std::vector<at::Tensor>;

TEST_CASE("back ends are found by name", "[aot]") {
  auto registry = BackendRegistry::with_defaults({});
  const auto names = registry.names();
  for (const auto& name : names) CHECK(registry.find(name).name() == name);
  for (const char* name : {"eager", "torchscript", "static_runtime", "aot_inductor", "cuda_graph",
                           "torchscript_cuda_graph", "aot_inductor_cuda_graph"})
    CHECK(std::ranges::count(names, name) == 1);
  registry.add(std::make_unique<FunctorBackend>("mine"));
  CHECK(registry.find("mine").name() == "mine");
  CHECK(registry.names().back() == "mine");
  CHECK_THAT(why([&] { (void)registry.find("egaer"); }),
             ContainsSubstring("unknown back end 'egaer'; known: eager, torchscript, aot_inductor, ") &&
                 ContainsSubstring(", mine"));
  CHECK_THAT(why([&] { registry.add(std::make_unique<EagerBackend>()); }), ContainsSubstring("already registered"));
  CHECK_THROWS_AS(registry.find(""), pace::InputError);
}

TEST_CASE("TorchScript's fuser concerns TorchScript, captured or not", "[aot]") {
  const auto registry = BackendRegistry::with_defaults({});
  for (const auto& name : registry.names()) {
    INFO(name);
    CHECK(registry.find(name).uses_fuser() == (name == "torchscript" || name == "torchscript_cuda_graph"));
  }
}

TEST_CASE("devices are named in full when they are not known, or not there", "[aot]") {
  using pace::benches::aot::parse_device;
  CHECK(parse_device("cpu") == at::Device(at::kCPU));
  CHECK_THAT(why([] { (void)parse_device("tpu"); }),
             ContainsSubstring("--device: expected cpu, cuda or cuda:NUMBER, found 'tpu'"));
  CHECK_THAT(why([] { (void)parse_device("cuda:x"); }), ContainsSubstring("found 'cuda:x'"));
  CHECK_THAT(why([] { (void)parse_device("meta"); }), ContainsSubstring("found 'meta'"));
  CHECK_THAT(why([] { (void)parse_device("cuda:100"); }), ContainsSubstring("found 'cuda:100'; this "));
  CHECK(pace::benches::aot::device_model(at::kCPU) == "");
}

TEST_CASE("a CUDA graph refuses operands that are not on a GPU", "[aot]") {
  auto registry = BackendRegistry::with_defaults({});
  const auto call = OperatorCall::bind("aten.sub.Tensor", inputs({random({3}), random({3})}));
  for (const char* name : {"cuda_graph", "torchscript_cuda_graph", "aot_inductor_cuda_graph"})
    CHECK_THAT(why([&] { (void)registry.find(name).prepare(call); }),
               ContainsSubstring("the operands of aten.sub.Tensor are not on one"));
}

TEST_CASE("a CUDA graph takes as long to compile as the back end that it captures", "[aot]") {
  class Compiler final : public pace::benches::operators::Backend {
   public:
    std::string name() const override { return "compiler"; }
    std::unique_ptr<pace::benches::operators::Executable> prepare(const OperatorCall&) override { return nullptr; }
    std::optional<double> compile_seconds(const OperatorCall&) override { return 12; }
  } compiler;
  EagerBackend eager;
  const auto call = OperatorCall::bind("aten.sub.Tensor", inputs({random({3}), random({3})}));
  CHECK(pace::benches::operators::CudaGraphBackend("graph", compiler).compile_seconds(call) == 12);
  CHECK(pace::benches::operators::CudaGraphBackend("graph", eager).compile_seconds(call) == std::nullopt);
}

TEST_CASE("eager runs the operator, and refuses one without a kernel", "[aot]") {
  const auto x = random({3}), y = random({3});
  const auto call = OperatorCall::bind("aten.sub.Tensor", inputs({x, y}));
  const auto executable = EagerBackend().prepare(call);
  CHECK(at::equal(executable->run({x, y}).toTensor(), x.sub(y)));
  CHECK(at::equal(executable->run({y, x}).toTensor(), y.sub(x)));

  const auto cudnn = OperatorCall::bind("aten.cudnn_convolution_relu.default",
                                        inputs({x, x, c10::IValue(), list({1}), list({0}), list({1}), 1}));
  CHECK_THAT(why([&] { (void)EagerBackend().prepare(cudnn); }),
             ContainsSubstring("aten.cudnn_convolution_relu.default has no kernel for cpu"));
}

TEST_CASE("results that do not fit in memory are refused before they are made", "[aot]") {
  const auto x = random({1, 1});
  const std::int64_t much = std::int64_t{1} << 22;  // squared, 64 TiB of floats
  const auto call = OperatorCall::bind("aten.repeat.default", inputs({x, list({much, much})}));
  CHECK_THAT(why([&] { (void)EagerBackend().prepare(call); }),
             ContainsSubstring("not enough memory for the results of aten.repeat.default: 65536.00 GiB needed"));
  CHECK(pace::benches::operators::output_bytes(OperatorCall::bind("aten.repeat.default", inputs({x, list({5, 2})}))) ==
        40);
  // In place: nothing is allocated.
  CHECK(pace::benches::operators::output_bytes(OperatorCall::bind("aten.relu_.default", inputs({x}))) == 0);
}

TEST_CASE("a user's functor runs in the operator's place", "[aot]") {
  const auto x = random({3}), y = random({3});
  const auto add = OperatorCall::bind("aten.add.Tensor", inputs({x, y}, {{"alpha", 3}}));
  FunctorBackend mine("mine");

  SECTION("taking tensors one by one") {
    mine.implement("aten.add.Tensor", [](const at::Tensor& a, const at::Tensor& b) { return a.mul(b); });
    CHECK(at::equal(mine.prepare(add)->run({x, y}).toTensor(), x.mul(y)));
  }
  SECTION("taking all tensors") {
    mine.implement("aten.add.Tensor", [](const Tensors& all) { return all.at(1); });
    CHECK(mine.prepare(add)->run({x, y}).toTensor().is_same(y));
  }
  SECTION("taking the constants too") {
    mine.implement("aten.add.Tensor", [](const OperatorCall& call, const Tensors& all) {
      return all[0].add(all[1], call.constant("alpha").toScalar());
    });
    CHECK(at::equal(mine.prepare(add)->run({x, y}).toTensor(), x.add(y, 3)));
  }
  SECTION("returning several, a list, nothing") {
    mine.implement("aten.add.Tensor", [](const at::Tensor& a, const at::Tensor& b) { return std::tuple(b, a); });
    CHECK(mine.prepare(add)->run({x, y}).toTupleRef().elements()[0].toTensor().is_same(y));
    mine.implement("aten.add.Tensor", [](const Tensors& all) { return all; });  // replaces
    CHECK(mine.prepare(add)->run({x, y}).toTensorVector().size() == 2);
    mine.implement("aten.add.Tensor", [](const at::Tensor& a, const at::Tensor&) { a.fill_(7); });
    CHECK(mine.prepare(add)->run({x, y}).isNone());
    CHECK(x[0].item<float>() == 7);
  }
  SECTION("refusing what it is not for") {
    mine.implement("aten.add.Tensor", [](const at::Tensor& a) { return a; });
    CHECK_THAT(why([&] { (void)mine.prepare(add); }), ContainsSubstring("for 1 tensors, this call has 2"));
    CHECK_THAT(why([&] { (void)mine.prepare(OperatorCall::bind("aten.relu.default", inputs({x}))); }),
               ContainsSubstring("mine does not implement aten.relu.default"));
  }
}

}  // namespace
