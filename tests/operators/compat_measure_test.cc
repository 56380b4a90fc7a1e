// How a sample is timed: its device, its models and its options.
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>

#include "benches/operators/backends/default_backends.hpp"
#include "benches/operators/compat/measure.hpp"
#include "benches/operators/compat/models.hpp"
#include "benches/operators/compat/timer.hpp"
#include "tests/gpu/fake_device.hpp"
#include "tests/operators/compat_dependencies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::test::CompatFixture;
using pace::test::Dependencies;
using pace::test::FakeTimer;
using pace::test::relu_of;
using pace::test::compat::CompatOptions;
using pace::test::compat::Generation;
namespace compat = pace::test::compat;
using Log = std::vector<std::string>;
using namespace std::chrono_literals;

/// A model that returns `value` (of nothing: its input), and takes the next of `costs`.
class Scripted final : public pace::benches::operators::Executable {
 public:
  Scripted(Dependencies& dependencies, std::string name, std::vector<double> costs, c10::IValue value = {})
      : dependencies_(dependencies), name_(std::move(name)), costs_(std::move(costs)), value_(std::move(value)) {}
  [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) override {
    dependencies_.log.push_back(name_);
    dependencies_.now += costs_.at(calls_++ % costs_.size());
    return value_.isNone() ? c10::IValue(tensors.at(0)) : value_;
  }

 private:
  Dependencies& dependencies_;
  std::string name_;
  std::vector<double> costs_;
  c10::IValue value_;
  std::size_t calls_ = 0;
};

struct Sample {
  Dependencies dependencies;
  FakeTimer timer{dependencies};
  compat::Executables models;
  CompatOptions options;
  std::ostringstream out, err;
  std::vector<at::Tensor> inputs{at::ones({4})};

  Sample() { options.device = "cpu"; }
  void add(const std::string& name, std::vector<double> costs, c10::IValue value = {}) {
    models.push_back(std::make_unique<Scripted>(dependencies, name, std::move(costs), std::move(value)));
  }
  compat::Measured measure(Generation generation = Generation::new_) {
    return compat::measure("aten.relu.default", models, inputs, options, generation, timer, out, err);
  }
};

TEST_CASE("on the CPU: repeats outside, models inside, one call each, seconds, the mean-type median") {
  Sample sample;
  sample.add("a", {100, 4, 1, 2, 8});
  sample.add("b", {16, 32, 64, 1});
  sample.options.repeats = 4;
  // a: 4, 1, 2, 8 after its first call; b: 16, 32, 64, 1.
  CHECK(sample.measure().medians == std::vector<double>{3, 24});
  const Log twice{"time", "a", "time", "b", "time", "a", "time", "b"};
  Log expected{"a"};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), twice.begin(), twice.end());
  CHECK(sample.dependencies.log == expected);
}

TEST_CASE("on a GPU: one call before the timer, milliseconds, the generation's statistic") {
  Sample sample;
  sample.add("a", {0.5});
  sample.add("b", {0.25});
  sample.options.device = "cuda:1";
  sample.options.repeats = 1;
  CHECK(sample.measure().medians == std::vector<double>{500, 250});
  CHECK(sample.dependencies.log == Log{"a", "a", "time median on GPU", "a", "a", "b", "time median on GPU", "b", "b"});
  sample.dependencies.log.clear();
  CHECK(sample.measure(Generation::old).medians == std::vector<double>{500, 250});
  CHECK(sample.dependencies.log.at(2) == "time mean on GPU");
}

TEST_CASE("models that write to their inputs find what the others left there") {
  Sample sample;
  class AddOne final : public pace::benches::operators::Executable {
   public:
    c10::IValue run(const std::vector<at::Tensor>& tensors) override { return tensors.at(0).add_(1); }
  };
  for (int i = 0; i < 2; ++i) sample.models.push_back(std::make_unique<AddOne>());
  (void)sample.measure();
  // The first call, and three repeats of two.
  CHECK(sample.inputs[0][0].item<float>() == 1 + 1 + 3 * 2);
}

TEST_CASE("accuracy checking: one repeat, and a wrong value is only logged") {
  Sample sample;
  sample.add("a", {1});
  sample.add("b", {1}, at::ones({4}).neg());
  sample.add("c", {1}, at::ones({4}));
  sample.options.accuracy_checking = true;
  const auto measured = sample.measure();
  CHECK(measured.mismatches == std::vector<bool>{false, true, false});
  CHECK(measured.medians.size() == 3);
  CHECK(sample.out.str() == "");
  CHECK_THAT(sample.err.str(), ContainsSubstring("aten.relu.default: Similarity score=-1"));
  CHECK(sample.dependencies.log == Log{"a", "b", "c", "time", "a", "time", "b", "time", "c"});
}

TEST_CASE("accuracy checking: it is the direction that counts, and NaN equals NaN") {
  Sample sample;
  const at::Tensor x = at::rand({100});
  x[3] = std::nan("");
  sample.add("a", {1}, x);
  sample.add("b", {1}, x.clone());
  sample.options.accuracy_checking = true;
  CHECK(sample.measure().mismatches == std::vector<bool>{false, false});
  Sample longer;
  longer.add("a", {1}, at::ones({4}));
  longer.add("b", {1}, at::ones({4}).mul(5));
  longer.options.accuracy_checking = true;
  CHECK(longer.measure().mismatches == std::vector<bool>{false, false});
}

TEST_CASE("accuracy checking: another structure is told with the difference of the first outputs, and goes on") {
  Sample sample;
  sample.add("a", {1});
  sample.add("b", {1}, c10::ivalue::Tuple::create({at::ones({4}).mul(1.5)}));
  sample.options.accuracy_checking = true;
  CHECK(sample.measure().mismatches == std::vector<bool>{false, true});
  CHECK_THAT(sample.out.str(),
             ContainsSubstring("same: ") &&
                 Catch::Matchers::EndsWith("\nAccuracy check failed: aten.relu.default\ntensor(0.5000)\n"));
  CHECK(sample.dependencies.log.size() == 2 + 2 * 2);
}

TEST_CASE("without accuracy checking nothing is compared") {
  Sample sample;
  sample.add("a", {1});
  sample.add("b", {1}, c10::ivalue::Tuple::create({at::ones({4}).neg()}));
  CHECK(sample.measure().mismatches == std::vector<bool>{false, false});
  CHECK(sample.out.str() == "");
  CHECK(sample.err.str() == "");
}

TEST_CASE("the whole flow counts mismatches, and says nothing on standard output") {
  CompatFixture fixture(relu_of({1, 2}));
  fixture.inductor->run = [](const auto& call, const auto& tensors) {
    return c10::IValue(call.run(tensors).toTensor().sub(100));
  };
  fixture.options.accuracy_checking = true;
  fixture.options.repeats = 3;
  const auto summary = fixture.run(Generation::new_);
  CHECK(summary.mismatches == 2);
  CHECK(summary.errors == 0);
  CHECK(summary.operators == 1);
  CHECK_THAT(fixture.out.str(), Catch::Matchers::StartsWith("aten.relu.default: inductor=2.0000x"));
}

TEST_CASE("accuracy checking: what cannot be equal is no mismatch") {
  // Written to by each model; drawn by each; never written.
  CompatFixture fixture(
      "Operator: aten.relu_.default\ncnt: 1, ((T([4], f32),), {})\n"
      "Operator: aten.rand_like.default\ncnt: 1, ((T([4], f32),), {})\n"
      "Operator: aten.new_empty.default\ncnt: 1, ((T([4], f32), [5]), {})\n");
  fixture.inductor->run = [](const auto& call, const auto& tensors) {
    return c10::IValue(call.run(tensors).toTensor().sub(100));
  };
  fixture.options.accuracy_checking = true;
  const auto summary = fixture.run(Generation::new_);
  INFO(fixture.err.str());
  CHECK(summary.mismatches == 0);
  CHECK(summary.errors == 0);
  CHECK(summary.operators == 3);
  CHECK_THAT(fixture.err.str(), !ContainsSubstring("aten.new_empty.default: Similarity"));
}

TEST_CASE("which models there are depends on generation and device") {
  CompatFixture fixture(relu_of({1}));
  for (const char* name : {"cuda_graph", "aot_inductor_cuda_graph", "torchscript", "torchscript_cuda_graph",
                           "aot_inductor[halide]", "aot_inductor[autotune]"})
    fixture.add(name, [](std::int64_t) { return 1.0; });
  CompatOptions options;
  options.measure_nvfuser = true;
  const auto backends = [&](Generation generation) {
    Log names;
    for (const auto& model : compat::models(options, generation, fixture.registry, fixture.err))
      names.push_back(model.backend->name());
    return names;
  };
  options.device = "cpu";
  CHECK(backends(Generation::old) == Log{"eager", "aot_inductor", "torchscript"});
  CHECK(backends(Generation::new_) == Log{"eager", "aot_inductor", "torchscript"});
  options.device = "cuda";
  CHECK(backends(Generation::old) == Log{"cuda_graph", "aot_inductor_cuda_graph", "torchscript_cuda_graph"});
  options.inductor_configs = {"autotune", "halide"};
  CHECK(backends(Generation::new_) ==
        Log{"eager", "aot_inductor", "aot_inductor[autotune]", "aot_inductor[halide]", "torchscript_cuda_graph"});
  CHECK(compat::column_names(compat::models(options, Generation::new_, fixture.registry, fixture.err)) ==
        Log{"inductor", "autotune", "halide", "nvfuser"});
}

TEST_CASE("back ends for Inductor's configurations are added once, and a missing one is named") {
  CompatFixture fixture(relu_of({1}));
  fixture.options.inductor_configs = {"autotune"};
  CHECK_THROWS_WITH(fixture.run(Generation::new_), ContainsSubstring("unknown back end 'aot_inductor[autotune]'"));
}

TEST_CASE("each of Inductor's configurations is a back end of its own") {
  using pace::benches::operators::BackendRegistry;
  const auto registry = BackendRegistry::with_defaults({.inductor_configs = {"autotune", "halide", "cpp.simdlen=0"}});
  CHECK_THROWS_AS(BackendRegistry::with_defaults({.inductor_configs = {"fast"}}), pace::InputError);
  CHECK_THROWS_WITH(BackendRegistry::with_defaults({.inductor_configs = {"autotune", "autotune"}}),
                    ContainsSubstring("'aot_inductor[autotune]' is already registered"));
  // A call compiled with other options is another package.
  const auto call = pace::benches::operators::OperatorCall::bind("aten.relu.default", {{at::ones({4})}, {}});
  const auto key = [&](const char* name) {
    return dynamic_cast<pace::benches::operators::AotInductorBackend&>(registry.find(name)).store().key(call);
  };
  CHECK(key("aot_inductor[autotune]") != key("aot_inductor[cpp.simdlen=0]"));
}

TEST_CASE("options: what the originals assert, and their defaults") {
  const auto why = [](const CompatOptions& options, Generation generation) -> std::string {
    try {
      (void)compat::validate(options, generation);
    } catch (const pace::InputError& error) {
      return error.what();
    }
    return "";
  };
  CompatOptions options;
  CHECK(compat::validate(options, Generation::new_).op == "all");
  CHECK(compat::validate(options, Generation::new_).dtype == "float32");
  CHECK_THAT(why(options, Generation::old), ContainsSubstring("--op: must be given"));
  options.op = "all";
  CHECK_THAT(why(options, Generation::old), ContainsSubstring("--dtype: must be given"));
  options.dtype = "float16";
  CHECK(why(options, Generation::old) == "");
  for (const auto generation : {Generation::old, Generation::new_}) {
    CompatOptions wrong = options;
    wrong.dtype = "bfloat16";
    CHECK(why(wrong, generation) == "--dtype: expected float16 or float32, found 'bfloat16'");
    wrong = options;
    wrong.suite = "hf";
    CHECK(why(wrong, generation) == "--suite: expected timm, huggingface or torchbench, found 'hf'");
    wrong.inp_file = "a file";
    CHECK(why(wrong, generation) == "");
    wrong.repeats = 0;
    CHECK_THAT(why(wrong, generation), ContainsSubstring("--repeats"));
  }
  options.profile = true;
  CHECK_THAT(why(options, Generation::old), ContainsSubstring("--profile"));
  CHECK(why(options, Generation::new_) == "");
  options.profile = false;
  options.inductor_configs = {"halide", "fast"};
  CHECK_THAT(why(options, Generation::old), ContainsSubstring("--inductor-config"));
  CHECK(why(options, Generation::new_) ==
        "--inductor-config: expected one of halide, autotune, max_autotune, coordinate_descent, no_simd, simd, "
        "or OPTION=VALUE of Inductor's own; found 'fast'");
}

struct FakeClock {
  Dependencies* dependencies;
  [[nodiscard]] pace::Nanoseconds now() const { return compat::Seconds(dependencies->now); }
};

TEST_CASE("the CPU's timer: one call, the same random numbers each time, no GPU") {
  Dependencies dependencies;
  compat::HostTimer timer(FakeClock{&dependencies});
  at::Tensor first, second;
  CHECK(timer.cpu([&] { dependencies.now += 3, first = at::rand({8}); }) == 3s);
  (void)timer.cpu([&] { second = at::rand({8}); });
  CHECK(first.equal(second));
  CHECK(timer.now() == 3s);
  CHECK_THROWS_AS(timer.gpu([] {}, Generation::old), pace::Unsupported);
}

TEST_CASE("the GPU's timer: the mean for the old generation, the median and infinity for the new") {
  pace::testing::FakeDevice device;
  device.launch_cost = 0us;
  Dependencies dependencies;
  pace::benches::timers::DoBench options;
  options.warm_up = compat::Milliseconds(0.0015);
  options.repeat = compat::Milliseconds(0.0045);  // four calls of 1 us, flush and all
  compat::DeviceTimer timer(device, FakeClock{&dependencies}, options);
  int calls = 0;
  // One call, five estimated, one to warm up; then four, one of them long.
  const auto call = [&] { device.work(++calls % 11 == 0 ? 9us : 930ns); };
  const auto mean = timer.gpu(call, Generation::old);
  REQUIRE(calls == 11);
  const auto median = timer.gpu(call, Generation::new_);
  REQUIRE(calls == 22);
  CHECK(std::abs(mean.count() - (3 * 930e-6 + 9e-3) / 4) < 1e-6);
  CHECK(std::abs(median.count() - 930e-6) < 1e-6);

  const auto refused = [] { throw std::runtime_error("CUDA error: invalid configuration argument"); };
  CHECK(std::isinf(timer.gpu(refused, Generation::new_).count()));
  CHECK_THROWS_AS(timer.gpu(refused, Generation::old), std::runtime_error);

  device.log.clear();
  (void)timer.cpu([&] { device.log.push_back("call"); });
  CHECK(device.log == Log{"synchronise", "call", "synchronise"});
}

}  // namespace
