// --freezing: parameters as constants of compiled code, and the tensors folded into them.
#include "benches/models/run/run_model.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/allclose.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <nlohmann/json.hpp>

#include "benches/files/aot/package_facts.hpp"
#include "benches/files/aot/package_options.hpp"
#include "benches/models/run/backend.hpp"
#include "benches/models/run/instance.hpp"
#include "benches/models/run/step.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using pace::test::run;
using pace::test::text;
namespace fs = std::filesystem;

/// Three convolutions with a batch norm each, whose statistics are not trivial, and a count of calls that it writes to.
/// Inductor writes constants of up to eight elements into the code, by a kernel of their own: these have more.
struct Normed : torch::nn::Module {
  Normed() {
    calls = register_buffer("calls", at::zeros({1}));
    const at::NoGradGuard values_alone;
    for (int layer = 0; layer < 3; ++layer) {
      const std::string number = std::to_string(layer);
      const torch::nn::Conv2dOptions options(layer == 0 ? 3 : 16, 16, 3);
      convs.push_back(
          register_module("conv" + number, torch::nn::Conv2d(torch::nn::Conv2dOptions(options).padding(1))));
      const auto norm = norms.emplace_back(register_module("norm" + number, torch::nn::BatchNorm2d(16)));
      norm->running_mean.copy_(at::randn({16}));
      norm->running_var.copy_(at::rand({16}) + 0.5);
      norm->weight.copy_(at::rand({16}) + 0.5);
      norm->bias.copy_(at::randn({16}));
    }
  }
  at::Tensor forward(at::Tensor x) {
    calls.add_(1);
    for (std::size_t layer = 0; layer < convs.size(); ++layer) x = norms[layer]->forward(convs[layer]->forward(x));
    return x;
  }
  std::vector<torch::nn::Conv2d> convs;
  std::vector<torch::nn::BatchNorm2d> norms;
  at::Tensor calls;
};

ModelEntry normed() {
  return {.name = "normed",
          .suite = Suite::torchbench,
          .family = "cnn",
          .training_batch = 2,
          .inference_batch = 2,
          .make = [](const ModelRequest& request) {
            return make_model(std::make_shared<Normed>(), at::randn({request.batch_size, 3, 16, 16}));
          }};
}

nlohmann::json layout_of(fs::path package) {
  std::ifstream file(package.replace_extension(".json"));
  return nlohmann::json::parse(file).at("layout");
}

TEST_CASE("with freezing a batch norm is folded into its convolution, and the package holds the weights", "[models]") {
  pace::test::PackageCache cache;
  if (pace::benches::aot::default_python().empty()) SKIP("no Python with torch is known: set PACE_PYTHON");
  const auto entry = normed();
  Settings settings;
  settings.mode = Mode::accuracy;
  settings.precision = Precision::float32;
  // The convolution's own layout, so that nothing is copied into another one before or behind it.
  settings.channels_last = true;
  const auto accurate = [&] {
    const auto rows = run(entry, settings);
    INFO(rows[0].message);
    REQUIRE(text(rows[0], "accuracy") == "pass");
  };
  accurate();
  const auto plain = cache.news();
  REQUIRE(plain.size() == 1);
  settings.freezing = true;
  accurate();
  const auto frozen = cache.news();
  REQUIRE(frozen.size() == 1);

  const auto steps = [](const fs::path& package) {
    const auto facts = pace::benches::aot::read_package_facts(package);
    REQUIRE(facts.has_value());
    REQUIRE(facts->problem.empty());
    std::vector<std::string> names;
    for (const auto& kernel : facts->kernels)
      names.insert(names.end(), static_cast<std::size_t>(kernel.calls), kernel.name);
    return names;
  };
  CAPTURE(steps(plain[0]), steps(frozen[0]));
  CHECK(steps(frozen[0]).size() < steps(plain[0]).size());
  const auto layout = layout_of(frozen[0]);
  CHECK(layout.at("folded").get<int>() > 0);
  // The input, and the count, which is written to; none of twelve parameters and nine other buffers.
  CHECK(layout.at("operands").size() == 2);
  CHECK_FALSE(layout_of(plain[0]).contains("operands"));

  // The same weights have the same package, others another.
  accurate();
  CHECK(cache.news().empty());
  settings.seed = 2;
  accurate();
  CHECK(cache.news().size() == 1);

  // Later changes of the instance's parameters do not reach the code, and buffers that it writes to are still written
  // to.
  const auto base = make_instance(entry, {.batch_size = 2});
  const auto made = find_backend("aot_inductor").make(copy_instance(base), {&settings, {}});
  CHECK(made.folded);
  REQUIRE(made.notes.size() == 1);
  CHECK_THAT(made.notes[0], ContainsSubstring("parameters are constants of its code, where changes of them have no "
                                              "effect; folded into weights: "));
  const auto call = [&] {
    const at::NoGradGuard values_alone;
    auto inputs = made.model.inputs;
    return made.model.step.answer(made.model.step.forward(inputs)).toTensor().clone();
  };
  const at::Tensor before = call();
  {
    const at::NoGradGuard values_alone;
    for (const auto& parameter : made.instance.model.module->parameters()) (void)parameter.zero_();
    const at::Tensor expected = forward_of(base, base.model.inputs).toTensor();
    CHECK(at::allclose(before, expected, 1e-4, 1e-5));
  }
  CHECK(call().equal(before));
  CHECK(made.instance.model.module->named_buffers()["calls"].item<double>() == 2);

  settings.training = true;
  const auto rows = run(entry, settings);
  CHECK(text(rows[0], "accuracy") == "fail_to_run");
  CHECK_THAT(rows[0].message,
             ContainsSubstring("--freezing does not go with training; why: trained parameters are no constants"));
}

}  // namespace
