// --fuser and --executor, as LibTorch's getters show them.
#include "benches/rnn/fuser.hpp"

#include <string>

#include "benches/rnn/runners.hpp"
#include "tests/rnn/one_step.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::rnn;

/// Sets everything to the opposite of fuser.py's settings in fastrnns.
void start_from_the_opposite(bool value) {
  torch::jit::getExecutorMode() = value;
  torch::jit::setGraphExecutorOptimize(value);
  torch::jit::overrideCanFuseOnCPU(value);
  torch::jit::overrideCanFuseOnGPU(value);
  torch::jit::setTensorExprFuserEnabled(value);
}

/// Without a back end for a device the getter says no after any setting.
struct BackEnds {
  BackEnds() {
    const FuserGuard guard;
    start_from_the_opposite(true);
    cpu = torch::jit::canFuseOnCPU();
    gpu = torch::jit::canFuseOnGPU();
  }
  bool cpu = false, gpu = false;
};

FuserState after(bool before, const std::string& fuser, const std::string& executor = "default") {
  start_from_the_opposite(before);
  set_fuser(fuser, executor);
  return {};
}

TEST_CASE("Every fuser sets what the table says") {
  const FuserGuard guard;
  const BackEnds has;
  for (const bool before : {false, true}) {
    INFO("from all " << before);
    const FuserState te = after(before, "te");
    REQUIRE(te.profiling_executor);
    REQUIRE(te.optimize);
    REQUIRE_FALSE(te.on_cpu);
    REQUIRE(te.on_gpu == has.gpu);
    REQUIRE(te.tensor_expressions);

    const FuserState old = after(before, "old");
    REQUIRE_FALSE(old.profiling_executor);
    REQUIRE_FALSE(old.optimize);
    REQUIRE(old.on_cpu == (before && has.cpu));
    REQUIRE(old.on_gpu == has.gpu);
    REQUIRE_FALSE(old.tensor_expressions);

    const FuserState none = after(before, "none");
    REQUIRE_FALSE(none.profiling_executor);
    REQUIRE_FALSE(none.optimize);
    REQUIRE_FALSE(none.on_cpu);
    REQUIRE_FALSE(none.on_gpu);
    REQUIRE_FALSE(none.tensor_expressions);

    start_from_the_opposite(before);
    const FuserState untouched;
    REQUIRE(after(before, "default") == untouched);
  }
}

TEST_CASE("The executor overrides the fuser's choice") {
  const FuserGuard guard;
  const FuserState profiling = after(false, "none", "profiling"), legacy = after(true, "te", "legacy"),
                   simple = after(true, "te", "simple"), unchanged = after(false, "te", "default");
  REQUIRE(profiling.profiling_executor);
  REQUIRE(profiling.optimize);
  REQUIRE(!legacy.profiling_executor);
  REQUIRE(legacy.optimize);
  REQUIRE(simple.profiling_executor);
  REQUIRE(!simple.optimize);
  REQUIRE(unchanged.profiling_executor);
  REQUIRE(unchanged.optimize);
}

TEST_CASE("Scripted LSTMs answer the same under every fuser and executor") {
  using pace::test::difference;
  using pace::test::in_float64;
  for (const std::string name : {"simple", "multilayer"}) {
    ModelDef plain = in_float64(find_runner("py_" + name).make(pace::test::small()));
    const pace::test::StepResult expected = pace::test::one_step(plain);
    for (const char* fuser : {"te", "old", "none"}) {
      for (const char* executor : {"default", "profiling", "legacy", "simple"}) {
        INFO(name << ", " << fuser << ", " << executor);
        const FuserGuard guard;
        set_fuser(fuser, executor);
        ModelDef scripted = in_float64(find_runner("jit_" + name).make(pace::test::small()));
        for (int step = 0; step < 3; ++step) {
          const pace::test::StepResult actual = pace::test::one_step(scripted);
          REQUIRE(difference(actual.answer, expected.answer, 1e-10) == "");
          REQUIRE(difference(actual.gradients, expected.gradients, 1e-10) == "");
        }
      }
    }
  }
}

TEST_CASE("Settings of pointwise kernels are applied unless 0") {
  const FuserGuard guard;
  const FuserState before;
  set_pointwise_kernels({});
  REQUIRE(FuserState() == before);
  set_pointwise_kernels({.loop_level = 2});
  REQUIRE(FuserState().loop_level == 2);
  REQUIRE(FuserState().block_count == before.block_count);
  set_pointwise_kernels({.block_count = 17, .block_size = 128});
  const FuserState all;
  REQUIRE(all.loop_level == 2);
  REQUIRE(all.block_count == 17);
  REQUIRE(all.block_size == 128);
}

TEST_CASE("The guard puts everything back") {
  const FuserGuard outer;
  for (const bool before : {false, true}) {
    start_from_the_opposite(before);
    const FuserState expected;
    {
      const FuserGuard guard;
      set_fuser(before ? "none" : "te", before ? "simple" : "profiling");
      set_pointwise_kernels({3, 4, 5});
      REQUIRE_FALSE(FuserState() == expected);
    }
    REQUIRE(FuserState() == expected);
  }
}

TEST_CASE("Unknown words are refused with the list, and change nothing") {
  using Catch::Matchers::ContainsSubstring;
  const FuserState before;
  REQUIRE_THROWS_AS(set_fuser("nvfuser"), pace::InputError);
  REQUIRE_THROWS_WITH(set_fuser("nvfuser"),
                      ContainsSubstring("te, old, none or default") && ContainsSubstring("nvfuser"));
  REQUIRE_THROWS_WITH(set_fuser("none", "fast"),
                      ContainsSubstring("profiling, simple, legacy or default") && ContainsSubstring("fast"));
  REQUIRE(FuserState() == before);
}

}  // namespace
