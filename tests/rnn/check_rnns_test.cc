// The correctness tool, on runners that are wrong in every way they can be.
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "benches/rnn/check_rnns.hpp"
#include "pace/base/error.hpp"
// After LibTorch's headers, whose CHECK is another one.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using namespace pace::benches::rnn;

/// The deviations of a runner from its reference.
struct Faults {
  double input = 0, parameter = 0, output = 0, gradient = 0;
  bool no_backward = false, lacks_gradient = false;
};

/// Answers its input times its second parameter. The gradient of the first is 3, of the second nothing that is
/// written, which counts as 0.
ModelDef model(const Faults& faults, const Sizes& sizes) {
  ModelDef def;
  const auto value = static_cast<double>(*sizes.seed);
  def.inputs = {at::full({2}, value + faults.input), at::full({1}, 5.0)};
  at::Tensor first = at::full({3}, 1 + faults.parameter).requires_grad_(true);
  def.step.parameters = {first, at::full({1}, 2.0).requires_grad_(true)};
  def.step.forward = [faults](Stack& inputs) -> c10::IValue {
    return c10::ivalue::Tuple::create(inputs.at(0).toTensor().mul(2).add(faults.output), at::zeros({1}));
  };
  if (faults.no_backward) return def;
  def.step.backward = [first, faults](const c10::IValue&) mutable {
    if (!faults.lacks_gradient) first.mutable_grad() = at::full({3}, 3 + faults.gradient);
  };
  return def;
}

Runner runner(const std::string& name, const std::string& kind, const Faults& faults, bool draws = false) {
  Runner each;
  each.name = name;
  each.compared_with = kind;
  each.draws = draws;
  each.make = [faults](const Sizes& sizes) { return model(faults, sizes); };
  return each;
}

Runner scripted(const std::string& name, const std::string& kind, const Faults& faults) {
  Runner each = runner(name, kind, faults);
  each.form = Form::scripted;
  return each;
}

Runner leading(const std::string& name, const std::string& kind, bool needs_cuda) {
  Runner each = runner(name, kind, {});
  each.form = Form::module;
  each.leads = true;
  each.needs_cuda = needs_cuda;
  return each;
}

std::vector<Runner> some_runners() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  auto broken = runner("broken", "lstm", {});
  broken.make = [](const Sizes&) -> ModelDef { throw std::runtime_error("cannot be made"); };
  return {leading("cudnn", "lstm", true),
          leading("aten", "lstm", false),
          scripted("jit", "lstm", {}),
          scripted("jit_premul", "lstm", {.output = 0.0009}),
          leading("vl_aten", "vl_lstm", false),
          runner("vl_py", "vl_lstm", {}),
          runner("bad_input", "lstm", {.input = 0.5}),
          runner("bad_parameter", "lstm", {.parameter = 0.5}),
          runner("bad_output", "lstm", {.output = 0.25}),
          runner("not_a_number", "lstm", {.output = nan}),
          runner("bad_gradient", "lstm", {.gradient = -1}),
          runner("forgetful", "lstm", {.lacks_gradient = true}),
          runner("forward_only", "lstm", {.no_backward = true}),
          runner("of_its_own", "", {}),
          runner("dropout", "lstm", {}, true),
          std::move(broken)};
}

struct Run {
  std::string out, err;
  int code;
};

Run run(std::vector<std::string> words) {
  words.insert(words.begin(), "check_rnns");
  std::vector<char*> argv;
  for (auto& each : words) argv.push_back(each.data());
  std::ostringstream out, err;
  const auto to_device = [](const std::optional<std::string>& asked) {
    if (asked && *asked != "cpu") throw pace::InputError({}, "--device: expected cpu, found '" + *asked + "'");
    return c10::Device(c10::kCPU);
  };
  const int code = check_rnns(static_cast<int>(argv.size()), argv.data(), some_runners(), to_device, out, err);
  return {out.str(), err.str(), code};
}

std::string progress(const std::string& name) {
  return "testing " + name + "...\nSetting up...\nChecking outputs...\nChecking grads...\n\n";
}

TEST_CASE("jit_premul and jit are checked, within a thousandth") {
  const auto result = run({});
  REQUIRE(result.err == "");
  REQUIRE(result.code == 0);
  REQUIRE(result.out == progress("jit_premul") + progress("jit"));
}

TEST_CASE("--variable-lstms checks vl_py, too; --verbose prints figures") {
  REQUIRE(run({"--variable_lstms", "--rnns", "jit"}).out == progress("vl_py") + progress("jit"));
  REQUIRE(run({"--verbose", "--rnns", "jit"}).out ==
          "testing jit...\nSetting up...\n  2 inputs differ by 0.00 at most\n  2 parameters differ by 0.00 at most\n"
          "Checking outputs...\n  2 outputs differ by 0.00 at most\n"
          "Checking grads...\n  2 gradients differ by 0.00 at most\n\n");
}

TEST_CASE("differences are named, and how large they are") {
  const auto input = run({"--rnns", "bad_input"});
  REQUIRE(input.code == 1);
  REQUIRE_THAT(input.err, StartsWith("check_rnns: bad_input: not as aten: inputs differ: input[0]: 2 of 2 elements"));
  REQUIRE_THAT(input.err, ContainsSubstring("expected 17.0, got 17.5"));
  REQUIRE_THAT(run({"--rnns", "bad_input", "--seed", "4"}).err, ContainsSubstring("expected 4.0, got 4.5"));

  REQUIRE_THAT(run({"--rnns", "bad_parameter"}).err,
               StartsWith("check_rnns: bad_parameter: not as aten: parameters differ: parameter[0]: 3 of 3"));

  const auto output = run({"--rnns", "bad_output"});
  REQUIRE(output.code == 1);
  REQUIRE_THAT(output.err, StartsWith("check_rnns: bad_output: not as aten: outputs differ: output[0]: 2 of 2"));
  REQUIRE_THAT(output.err, ContainsSubstring("off by 0.25"));
  REQUIRE(run({"--rnns", "not_a_number"}).code == 1);

  const auto gradient = run({"--rnns", "bad_gradient"});
  REQUIRE(gradient.code == 1);
  REQUIRE_THAT(gradient.err,
               StartsWith("check_rnns: bad_gradient: not as aten: gradients differ: gradient[0]: 3 of 3"));
  REQUIRE_THAT(run({"--rnns", "forgetful"}).err, ContainsSubstring("expected 3.0, got 0"));
}

TEST_CASE("one that fails does not keep the others from being checked") {
  const auto result = run({"--rnns", "broken", "jit"});
  REQUIRE(result.code == 1);
  REQUIRE(result.err == "check_rnns: broken: cannot be made\n");
  REQUIRE(result.out == "testing broken...\nSetting up...\n\n" + progress("jit"));
}

TEST_CASE("gradients only if they are asked for") {
  REQUIRE(run({"--rnns", "bad_gradient", "--check-grad", "no"}).code == 0);
  REQUIRE(run({"--rnns", "bad_gradient", "--check_grad", "True"}).code == 1);
  REQUIRE(run({"--rnns", "forward_only"}).err ==
          "check_rnns: forward_only: not as aten: there is no backward step; --check-grad no compares the forward step "
          "alone\n");
  REQUIRE(run({"--rnns", "forward_only", "--check-grad=no"}).code == 0);
  REQUIRE(run({"--check-grad", "perhaps"}).err ==
          "check_rnns: --check-grad: invalid value 'perhaps'; expected yes or no\n");
}

TEST_CASE("what cannot be checked is no success") {
  REQUIRE(run({"--rnns", "of_its_own"}).err ==
          "check_rnns: of_its_own: there is no other runner of its kind to compare it with\n");
  REQUIRE(run({"--rnns", "aten"}).err ==
          "check_rnns: aten: it is itself what the others of its kind are compared with\n");
  REQUIRE(run({"--rnns", "dropout"}).code == 0);
  REQUIRE(run({"--rnns", "dropout", "--numLayers", "2"}).err ==
          "check_rnns: dropout: it drops out between layers, by chance; expected --num-layers 1\n");
}

TEST_CASE("bad command lines end before anything runs") {
  const auto unknown = run({"--rnns", "jit", "warp"});
  REQUIRE(unknown.code == 1);
  REQUIRE(unknown.out == "");
  REQUIRE_THAT(unknown.err,
               StartsWith("check_rnns: --rnns: there is no runner 'warp'; expected some of cudnn, aten, jit, "));
  REQUIRE(run({"--hiddenSize", "0"}).err ==
          "check_rnns: --hidden-size: invalid value '0'; expected a whole number from 1 to 1000000\n");
  REQUIRE(run({"--device", "abacus"}).err == "check_rnns: --device: expected cpu, found 'abacus'\n");
  REQUIRE(run({"--seed", "-1"}).err == "check_rnns: --seed: invalid value '-1'; expected a whole number from 0 on\n");
  REQUIRE(run({"--nonsense"}).code == 1);
  const auto help = run({"--help"});
  REQUIRE(help.code == 0);
  REQUIRE_THAT(help.out, ContainsSubstring("--check-grad <yes|no>"));
}

TEST_CASE("on a GPU the reference is cuDNN's") {
  const auto all = some_runners();
  REQUIRE(reference_of(all[2], c10::Device("cuda:0"), all)->name == "cudnn");
  REQUIRE(reference_of(all[2], c10::kCPU, all)->name == "aten");
  REQUIRE(reference_of(all[5], c10::kCPU, all)->name == "vl_aten");
}

TEST_CASE("without nn::LSTM the reference is one of the kind that is no TorchScript, and runs on the device") {
  auto for_gpus = runner("on_gpus", "x", {});
  for_gpus.needs_cuda = true;
  const std::vector<Runner> all = {for_gpus,
                                   scripted("jit_x", "x", {}),
                                   runner("py_x", "x", {}, true),
                                   scripted("jit_y", "y", {}),
                                   scripted("jit_z", "", {}),
                                   runner("z", "", {})};
  REQUIRE(reference_of(all[1], c10::kCPU, all)->name == "py_x");
  REQUIRE(reference_of(all[1], c10::Device("cuda:0"), all)->name == "on_gpus");
  REQUIRE(reference_of(all[3], c10::kCPU, all) == nullptr);
  REQUIRE(reference_of(all[4], c10::kCPU, all) == nullptr);
}

}  // namespace
