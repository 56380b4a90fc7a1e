// All runners of recurrent and convolutional networks on a GPU, plain and as CUDA graphs, and fastrnns' own loop.
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include "benches/files/aot/definition_store.hpp"
#include "benches/rnn/check_rnns.hpp"
#include "benches/rnn/make_models.hpp"
#include "benches/rnn/plan.hpp"
#include "benches/rnn/runners.hpp"
#include "benches/rnn/train_bench.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"
#include "tests/gpu/cuda/gpu.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using namespace pace::benches::rnn;

Sizes small_on_gpu() {
  Sizes sizes{.sequence = 6, .layers = 1, .input = 8, .hidden = 16, .batch = 4, .device = c10::Device("cuda:0")};
  sizes.seed = 17;
  sizes.images = 4;
  sizes.image_side = 64;
  return sizes;
}

/// float32 products: TF32 has three digits, and the comparison needs more.
class WithoutTf32 {
 public:
  WithoutTf32() {
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowTF32CuBLAS(false);
  }
  WithoutTf32(const WithoutTf32&) = delete;
  WithoutTf32& operator=(const WithoutTf32&) = delete;
  ~WithoutTf32() {
    at::globalContext().setAllowTF32CuDNN(cudnn_);
    at::globalContext().setAllowTF32CuBLAS(cublas_);
  }

 private:
  const bool cudnn_ = at::globalContext().allowTF32CuDNN(), cublas_ = at::globalContext().allowTF32CuBLAS();
};

/// Two tensors of float64 on the CPU: all of the answer, and all gradients.
struct Flat {
  at::Tensor answer = {}, gradients = {};
};

at::Tensor as_one(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> flat;
  for (const auto& tensor : tensors) flat.push_back(tensor.detach().to(at::kCPU, at::kDouble).flatten());
  return at::cat(flat);
}

/// One step of `model`, whose gradients are zeroed before it.
Flat step_of(ModelDef& model) {
  Step& step = model.step;
  for (const auto& parameter : step.parameters)
    if (parameter.grad().defined()) {
      const at::NoGradGuard values_alone;
      parameter.mutable_grad().zero_();
    }
  const c10::IValue output = step.forward(model.inputs);
  Flat flat{.answer = as_one(pace::check::tensors_of(step.answer ? step.answer(output) : output))};
  if (!step.backward) return flat;
  step.backward(step.backward_setup ? step.backward_setup(output) : output);
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : step.parameters)
    gradients.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter));
  flat.gradients = as_one(gradients);
  return flat;
}

/// How far `actual` is from `expected`, as a part of the length of `expected`. Sums in another order, and rectifiers
/// that switch for inputs near zero, change a thousandth of it; a mistake changes a tenth.
double distance(const at::Tensor& actual, const at::Tensor& expected) {
  if (actual.sizes() != expected.sizes()) return INFINITY;
  return ((actual - expected).norm() / expected.norm()).item<double>();
}

void require_agreement(const Flat& actual, const Flat& expected) {
  REQUIRE(distance(actual.answer, expected.answer) < 0.01);
  REQUIRE(actual.gradients.defined() == expected.gradients.defined());
  if (expected.gradients.defined()) REQUIRE(distance(actual.gradients, expected.gradients) < 0.02);
}

ModelMaker maker() { return {small_on_gpu(), false, pace::benches::aot::definition_package_options()}; }

}  // namespace

TEST_CASE("every runner computes on a GPU what the reference of its kind does", "[rnn]") {
  (void)pace::testing::on_gpu();
  const WithoutTf32 products;
  for (const Runner& runner : runners()) {
    INFO(runner.name);
    const Runner* const reference = reference_of(runner, small_on_gpu().device, runners());
    REQUIRE(reference != nullptr);
    ModelDef expected = reference->make(small_on_gpu()), model = runner.make(small_on_gpu());
    for (const auto& parameter : model.step.parameters) REQUIRE(parameter.is_cuda());
    const Flat wanted = step_of(expected);
    // TorchScript's executor observes the first calls, and runs code of its own from then on.
    for (int i = 0; i < 3; ++i) require_agreement(step_of(model), wanted);
  }
}

TEST_CASE("every runner of one length is captured in CUDA graphs, and computes the same", "[rnn]") {
  (void)pace::testing::on_gpu();
  const WithoutTf32 products;
  ModelMaker models = maker();
  for (const Runner& runner : runners()) {
    INFO(runner.name);
    ModelDef plain = runner.make(small_on_gpu());
    const Flat expected = step_of(plain);
    const auto replayed = [&] {
      ModelDef graphed = models.make(find_planned(runner.name + "_graph"));
      for (int i = 0; i < 3; ++i) require_agreement(step_of(graphed), expected);
    };
    // Lengths of packed sequences are read by the host, and TorchScript compiles kernels in its second call.
    const bool may_refuse = runner.group == "vl_lstm" || runner.form == Form::scripted;
    if (!may_refuse) {
      REQUIRE_NOTHROW(replayed());
      continue;
    }
    try {
      replayed();
    } catch (const c10::Error& error) {
      // Autograd's graph of scripted code for several lengths is not there while a graph is captured.
      const bool lengths = runner.group == "vl_lstm";
      REQUIRE_THAT(error.what_without_backtrace(), ContainsSubstring(lengths ? "" : "captur"));
    } catch (const pace::Error& error) {
      REQUIRE_THAT(error.what(), ContainsSubstring("captur"));
    }
  }
}

TEST_CASE("fastrnns' own loop times all of its runners by events", "[rnn]") {
  (void)pace::testing::on_gpu();
  Sizes sizes = small_on_gpu();
  sizes.original = true;
  sizes.seed.reset();
  std::vector<std::string> names = default_rnns;
  for (const auto* const more : {&default_cnns, &variable_length_rnns})
    names.insert(names.end(), more->begin(), more->end());
  for (const char* const more :
       {"cudnn_dropout", "cudnn_layernorm", "jit_layernorm", "jit_layernorm_decom", "jit_dropout"})
    names.emplace_back(more);
  std::vector<Entry> entries;
  for (const auto& name : names) {
    const Runner& runner = find_runner(name);
    entries.push_back({.name = name,
                       .make = [&runner, sizes] { return runner.make(sizes); },
                       .zeroed_once = runner.zeroed_once_in_original});
  }
  GroupOptions options;
  options.nloops = 2;
  options.warmup = 1;
  options.compat = true;
  std::ostringstream table;
  const auto outcome = with_step_timer(timed_device("cuda", sizes.device), [&](auto& timer) {
    REQUIRE_FALSE(timer.on_host);
    return bench_group(timer, "LSTM", "lstm", entries, options, table);
  });
  REQUIRE(outcome.results.models.size() == names.size());
  for (const auto& each : outcome.results.models) {
    INFO(each.name);
    // Milliseconds; TorchScript compiles kernels in the first steps, which takes seconds.
    for (const float time : each.info_fwd) REQUIRE((time > 0 && time < 60'000));
    for (const float time : each.info_bwd) REQUIRE((time >= 0 && time < 60'000));
  }
}

TEST_CASE("fastrnns' custom LSTMs have weights of deviation 1, and one layer with layer norm", "[rnn]") {
  (void)pace::testing::on_gpu();
  Sizes sizes = small_on_gpu();
  sizes.original = true;
  sizes.layers = 2;
  sizes.hidden = 64;
  for (const char* const name : {"jit_layernorm", "jit_layernorm_decom", "jit_dropout"}) {
    INFO(name);
    const ModelDef model = find_runner(name).make(sizes);
    for (const auto& parameter : model.step.parameters) {
      if (parameter.dim() == 2) REQUIRE(std::abs(parameter.std().item<double>() - 1) < 0.1);
    }
    REQUIRE(model.inputs.size() == (std::string(name) == "jit_dropout" ? 5 : 3));
  }
}
