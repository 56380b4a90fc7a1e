// Back ends that only some programs, builds or devices have.
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>

#include "benches/files/aot/fuser.hpp"
#include "benches/files/aot/inductor_configs.hpp"
#include "benches/operators/backends/default_backends.hpp"
#include "tests/operators/inputs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

PACE_OPERATOR("mine", "aten.add.Tensor", [](const at::Tensor& a, const at::Tensor& b) { return b.add(a); });
PACE_OPERATOR("mine", "aten.relu.default", [](const at::Tensor& a) { return a.clamp_min(0); });

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::benches::operators::BackendRegistry;
using pace::benches::operators::OperatorCall;
using pace::test::inputs;
using pace::test::random;

TEST_CASE("an implementation that a source file registers is a back end of every registry", "[operators]") {
  for (int i = 0; i < 2; ++i) {
    const auto registry = BackendRegistry::with_defaults({});
    const auto call = OperatorCall::bind("aten.add.Tensor", inputs({random({8}), random({8})}));
    const auto result = registry.find("mine").prepare(call)->run(call.tensors()).toTensor();
    CHECK(at::equal(result, call.tensors()[0].add(call.tensors()[1])));
    const auto relu = OperatorCall::bind("aten.relu.default", inputs({random({8})}));
    CHECK(at::equal(registry.find("mine").prepare(relu)->run(relu.tensors()).toTensor(), relu.tensors()[0].relu()));
    CHECK_THROWS_WITH(registry.find("mine").prepare(OperatorCall::bind("aten.exp.default", inputs({random({8})}))),
                      ContainsSubstring("mine does not implement aten.exp.default"));
  }
}

TEST_CASE("Static Runtime computes what eager does, several returns included", "[operators]") {
  const auto registry = BackendRegistry::with_defaults({});
  auto& backend = registry.find("static_runtime");
  const auto call = OperatorCall::bind("aten.add.Tensor", inputs({random({8}), random({8})}));
  const auto executable = backend.prepare(call);
  for (int i = 0; i < 3; ++i)
    CHECK(at::equal(executable->run(call.tensors()).toTensor(), call.tensors()[0].add(call.tensors()[1])));
  // Its memory plan must not give away earlier outputs.
  const at::Tensor kept = executable->run(call.tensors()).toTensor(), before = kept.clone();
  (void)executable->run({random({8}), random({8})});
  CHECK(at::equal(kept, before));
  const auto top = OperatorCall::bind("aten.topk.default", inputs({random({8}), 3}));
  const auto expected = top.run(top.tensors()).toTuple()->elements();
  const auto actual = backend.prepare(top)->run(top.tensors()).toTuple()->elements();
  REQUIRE(actual.size() == 2);
  CHECK(at::equal(actual[0].toTensor(), expected[0].toTensor()));
  CHECK(at::equal(actual[1].toTensor(), expected[1].toTensor()));
  CHECK_THROWS_WITH(backend.prepare(OperatorCall::bind("aten.relu_.default", inputs({random({8})}))),
                    ContainsSubstring("writes to its inputs"));
}

TEST_CASE("a configuration of Inductor is a back end, and one that this build lacks refuses by name", "[operators]") {
  const auto registry = BackendRegistry::with_defaults({.inductor_configs = {"halide", "no_simd", "a=1,b=x,c=false"}});
  const auto call = OperatorCall::bind("aten.relu.default", inputs({random({8})}));
  CHECK_THROWS_AS(registry.find("aot_inductor[halide]").prepare(call), pace::Unsupported);
  CHECK_THROWS_WITH(registry.find("aot_inductor[halide]").prepare(call), ContainsSubstring("Halide"));
  CHECK(registry.find("aot_inductor[a=1,b=x,c=false]").name() == "aot_inductor[a=1,b=x,c=false]");
  const auto parsed = pace::benches::aot::find_inductor_config("a=1,b=x,c=false");
  CHECK(parsed.options == pace::benches::aot::InductorOptions{{"a", "1"}, {"b", "\"x\""}, {"c", "false"}});
  CHECK(pace::benches::aot::find_inductor_config("no_simd").options.at("cpp.simdlen") == "0");
  for (const char* wrong : {"=1", "a=", "a=1,", "a=1,b"})
    CHECK_THROWS_WITH(pace::benches::aot::find_inductor_config(wrong), ContainsSubstring("expected OPTION=VALUE"));
  CHECK_THROWS_AS(pace::benches::aot::find_inductor_config("fast"), pace::InputError);
  for (const char* frozen : {"freezing", "freezing=1", "max_autotune=1,freezing=True", "freezing_discard_parameters=1"})
    CHECK_THROWS_WITH(pace::benches::aot::find_inductor_config(frozen), ContainsSubstring("no constants to fold"));
  CHECK_THROWS_AS(BackendRegistry::with_defaults({.inductor_configs = {"simd", "simd"}}), pace::InputError);
}

TEST_CASE("random operators are Inductor's own", "[operators]") {
  const auto registry = BackendRegistry::with_defaults({});
  CHECK_THROWS_WITH(registry.find("aot_inductor")
                        .prepare(OperatorCall::bind("aten.bernoulli.default", inputs({random({8}).abs().clamp(0, 1)}))),
                    ContainsSubstring("Inductor draws random numbers of its own"));
}

TEST_CASE("TorchScript's fuser is what was asked for", "[operators]") {
  using namespace pace::benches::aot;
  const bool fuses = torch::jit::tensorExprFuserEnabled(), on_cpu = torch::jit::canFuseOnCPU(),
             on_gpu = torch::jit::canFuseOnGPU();
  use_fuser(parse_fuser("default"));
  CHECK(torch::jit::tensorExprFuserEnabled() == fuses);
  use_fuser(parse_fuser("none"));
  CHECK_FALSE(torch::jit::tensorExprFuserEnabled());
  CHECK_FALSE(torch::jit::canFuseOnCPU());
  CHECK_FALSE(torch::jit::canFuseOnGPU());
  use_fuser(parse_fuser("nnc"));
  CHECK(torch::jit::tensorExprFuserEnabled());
  torch::jit::setTensorExprFuserEnabled(fuses);
  torch::jit::overrideCanFuseOnCPU(on_cpu);
  torch::jit::overrideCanFuseOnGPU(on_gpu);
  for (const std::string name : {"default", "none", "nnc"}) CHECK(to_string(parse_fuser(name)) == name);
  CHECK_THROWS_WITH(parse_fuser("nvfuser"), ContainsSubstring("this LibTorch has no nvFuser; expected default, none"));
}

}  // namespace
