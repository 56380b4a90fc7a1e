// Models of the zoo against torchvision's, transformers' and timm's: equal answers, losses and gradients, within
// a tolerance for each, on equal weights and inputs. reference_outputs.py has computed the expected figures and names
// both.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <nlohmann/json.hpp>

#include "benches/models/model.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pace::benches::models;
using pace::check::tensors_of;

at::Tensor mixed(at::Tensor x) {
  for (int i = 0; i < 2; ++i) x = at::bitwise_and((x ^ at::bitwise_right_shift(x, 16)) * 0x45D9F3B, 0xFFFFFFFF);
  return x ^ at::bitwise_right_shift(x, 16);
}

/// Whole numbers from 0 to 2^32 - 1, as the function of that name in reference_outputs.py makes them.
at::Tensor hashes(const std::string& key, std::int64_t count) {
  std::uint32_t seed = 2166136261u;
  for (const char each : key) seed = (seed ^ static_cast<unsigned char>(each)) * 16777619u;
  constexpr std::int64_t piece = 1 << 18;
  std::vector<at::Tensor> pieces;
  for (std::int64_t begin = 0; begin < count; begin += piece) {
    const at::Tensor places = at::arange(begin, std::min(begin + piece, count), at::kLong);
    pieces.push_back(mixed(at::bitwise_and(places * 2654435761 + static_cast<std::int64_t>(seed), 0xFFFFFFFF)));
  }
  return at::cat(pieces);
}

at::Tensor uniform(const std::string& key, at::IntArrayRef sizes) {
  return (hashes(key, c10::multiply_integers(sizes)).to(at::kDouble) / 4294967296. - 0.5).reshape(sizes);
}

at::Tensor weights(const std::string& key, at::IntArrayRef sizes, bool is_factor) {
  const at::Tensor values = uniform(key, sizes);
  if (sizes.size() > 1)
    return values * std::sqrt(12. * static_cast<double>(sizes[0]) / static_cast<double>(values.numel()));
  return is_factor ? 1 + 0.5 * values : 0.2 * values;
}

double weighted_sum(const std::string& key, const at::Tensor& tensor) {
  const at::Tensor flat = tensor.reshape(-1);
  const at::Tensor repeats = uniform(key, {std::min<std::int64_t>(flat.numel(), 65537)});
  const std::int64_t whole = flat.numel() / repeats.numel() * repeats.numel();
  const at::Tensor rows = flat.narrow(0, 0, whole).reshape({-1, repeats.numel()});
  const at::Tensor rest = flat.narrow(0, whole, flat.numel() - whole);
  return (at::mv(rows, repeats).sum() + at::dot(rest, repeats.narrow(0, 0, rest.numel()))).item<double>();
}

/// The norm of all, and four weighted sums.
std::vector<double> projections(const std::string& key, const std::vector<at::Tensor>& tensors) {
  std::vector<double> norms, found;
  double squares = 0;
  for (const auto& tensor : tensors) {
    norms.push_back(tensor.norm().item<double>());
    squares += norms.back() * norms.back();
  }
  found.push_back(std::sqrt(squares));
  for (int which = 0; which < 4; ++which) {
    double sum = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (norms[i] > 1e-8 * found[0])
        sum += weighted_sum(key + ' ' + std::to_string(which) + ' ' + std::to_string(i), tensors[i]) / norms[i];
    found.push_back(sum);
  }
  return found;
}

/// A relative difference, absolute below 1: 1e-7 for rounding in float64, which another order of sums changes, and
/// 1e-5 (hf_GPT2) and 1e-4 (T5Small) where the reference computes parts in float32.
void require_close(const std::vector<double>& found, const nlohmann::json& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double other = expected[i].get<double>();
    CAPTURE(i, found[i], other);
    CHECK(std::abs(found[i] - other) <= tolerance * std::max(1., std::abs(other)));
  }
}

struct Tested {
  Model model;
  std::vector<at::Tensor> parameters;
};

/// The entry's model in float64 with the formula's weights.
Tested made(const ModelEntry& entry, bool small) {
  const at::NoGradGuard values_alone;
  Tested made{.model = entry.make({.size = small ? ModelSize::small : ModelSize::published, .batch_size = 1}),
              .parameters = {}};
  made.model.module->to(at::kDouble);
  for (const auto& parameter : made.model.module->named_parameters()) {
    const std::string key = "parameter " + std::to_string(made.parameters.size());
    at::Tensor value = parameter.value();
    value.copy_(weights(key, value.sizes(), parameter.key().ends_with("weight")));
    made.parameters.push_back(value);
  }
  return made;
}

/// Running averages of batch norms, as they are before each step.
std::vector<at::Tensor> settled(const Model& model) {
  const at::NoGradGuard values_alone;
  std::vector<at::Tensor> averages;
  for (const auto& buffer : model.module->named_buffers()) {
    const bool is_variance = buffer.key().ends_with("running_var");
    if (!is_variance && !buffer.key().ends_with("running_mean")) continue;
    at::Tensor value = buffer.value();
    const at::Tensor values = uniform("average " + std::to_string(averages.size()), value.sizes());
    value.copy_(is_variance ? 1 + values : 0.2 * values);
    averages.push_back(value);
  }
  return averages;
}

nlohmann::json references() {
  std::ifstream file("tests/models/reference_outputs.json");
  REQUIRE(file.good());
  return nlohmann::json::parse(file);
}

TEST_CASE("the formula of weights and inputs gives what it gives in Python") {
  CHECK(hashes("input 0", 3).equal(at::tensor(std::vector<std::int64_t>{1631609147, 1589387272, 3828018972})));
}

TEST_CASE("models answer like the ones of torchvision, transformers and timm on equal weights") {
  const auto all = references();
  std::size_t compared = 0;
  for (const ModelEntry& entry : registered_models()) {
    const auto found = all.at("models").find(entry.name);
    if (found == all.at("models").end()) continue;
    const auto& expected = *found;
    const double tolerance = expected.at("tolerance");
    INFO(entry.name << " and " << expected.at("reference"));
    ++compared;
    const Tested tested = made(entry, expected.at("small"));
    REQUIRE(tested.parameters.size() == expected.at("parameters"));
    torch::jit::Stack inputs;
    if (expected.contains("image")) {
      inputs.emplace_back(uniform("input 0", expected.at("image").get<std::vector<std::int64_t>>()) * std::sqrt(12.));
    } else {
      for (std::size_t i = 0; i < tested.model.inputs.size(); ++i)
        inputs.emplace_back(hashes("input " + std::to_string(i), 2 * 16).reshape({2, 16}) %
                            expected.at("vocabulary").get<std::int64_t>());
    }
    for (const bool training : {false, true}) {
      INFO((training ? "training" : "eval"));
      const auto& figures = expected.at(training ? "training" : "eval");
      const auto averages = settled(tested.model);
      tested.model.module->train(training);
      at::manual_seed(3);
      const c10::IValue answer = tested.model.forward(inputs);
      const at::Tensor output = tensors_of(answer).back();
      const at::Tensor loss =
          tested.model.loss ? tested.model.loss(answer) : (output * uniform("loss", output.sizes())).sum();
      tested.model.module->zero_grad();
      loss.backward();
      const at::NoGradGuard values_alone;
      std::vector<at::Tensor> gradients;
      for (const auto& parameter : tested.parameters) gradients.push_back(parameter.grad());
      INFO("loss");
      require_close({loss.item<double>()}, nlohmann::json::array({figures.at("loss")}), tolerance);
      INFO("output");
      require_close(projections("output", {output.detach()}), figures.at("output"), tolerance);
      INFO("gradients");
      require_close(projections("gradient", gradients), figures.at("gradients"), tolerance);
      INFO("averages");
      require_close(projections("average", averages), figures.at("averages"), tolerance);
    }
  }
  REQUIRE(compared == all.at("models").size());
}

}  // namespace
