// The pairs of runners to compare, and the runner that leads them.
#include "benches/rnn/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benches/rnn/model_def.hpp"
#include "pace/base/error.hpp"
#include "tests/support/why.hpp"
// After LibTorch's headers, whose CHECK is another one.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::rnn;

Sizes sizes(std::int64_t layers, const char* device) {
  Sizes made;
  made.layers = layers;
  made.device = c10::Device(device);
  return made;
}

/// `kind: baseline < candidate candidate` of each family.
std::vector<std::string> planned(const std::vector<std::string>& names, const std::optional<std::string>& baseline,
                                 const Sizes& of) {
  std::vector<std::string> texts;
  for (const Family& family : plan_families(names, baseline, of)) {
    std::string& text = texts.emplace_back(family.kind + ": " + family.baseline.name);
    for (const Planned& candidate : family.candidates) text += " < " + candidate.name;
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("the module without dropout leads its kind: cuDNN's on a GPU") {
  REQUIRE(planned({"jit", "py", "jit_simple"}, {}, sizes(1, "cuda")) ==
          Texts{"lstm: cudnn < jit < py", "simple: cudnn_simple < jit_simple"});
  REQUIRE(planned({"jit", "aten"}, {}, sizes(1, "cpu")) == Texts{"lstm: aten < jit"});
}

TEST_CASE("with several layers a runner that drops out is not compared with models that do not") {
  REQUIRE(planned({"cudnn", "cudnn_dropout", "jit_multilayer"}, {}, sizes(2, "cuda")) ==
          Texts{"lstm: cudnn < jit_multilayer", "cudnn_dropout: cudnn_dropout"});
  // With one layer there is nothing to drop out between.
  REQUIRE(planned({"cudnn", "cudnn_dropout"}, {}, sizes(1, "cuda")) == Texts{"lstm: cudnn < cudnn_dropout"});
  // All of these do, and draw the same numbers.
  REQUIRE(planned({"jit_dropout"}, {}, sizes(2, "cuda")) == Texts{"dropout: py_dropout < jit_dropout"});
}

TEST_CASE("a chosen baseline leads its own kind, and adds none") {
  REQUIRE(planned({"aten", "jit", "jit_simple"}, "py", sizes(1, "cpu")) ==
          Texts{"lstm: py < aten < jit", "simple: aten_simple < jit_simple"});
  REQUIRE(planned({"resnet18", "resnet18_jit"}, "py", sizes(1, "cpu")) == Texts{"resnet18: resnet18 < resnet18_jit"});
}

TEST_CASE("a baseline that nothing is compared with is refused") {
  const auto why = [](const std::string& baseline, const Texts& names, const Sizes& of) {
    return pace::test::why<pace::InputError>([&] { check_baseline(baseline, names, of); });
  };
  REQUIRE(why("resnet18", {"py", "jit"}, sizes(1, "cpu")) ==
          "--baseline-runner: none of the runners that were asked for is compared with 'resnet18'; expected one of "
          "resnet18, resnet18_jit among them");
  REQUIRE_THAT(why("cudnn_dropout", {"cudnn", "jit_multilayer"}, sizes(2, "cuda")),
               Catch::Matchers::StartsWith("--baseline-runner: none of"));
  REQUIRE(why("cudnn_dropout", {"cudnn", "jit"}, sizes(1, "cuda")) == "nothing was thrown");
  REQUIRE(why("py_aot_inductor", {"aten"}, sizes(1, "cpu")) == "nothing was thrown");
}

TEST_CASE("a plan has TorchScript, or is compiled, if one of its runners is") {
  const auto effects = [](const Texts& names, const std::optional<std::string>& baseline = {}) {
    const Effects found = effects_of({{.key = "lstm", .title = "LSTM", .runners = names}}, baseline, c10::kCPU);
    return std::string(found.on_gpu ? "gpu " : "") + (found.scripted ? "scripted " : "") +
           (found.compiled ? "compiled" : "");
  };
  REQUIRE(effects({"py", "aten", "resnet18"}) == "");
  REQUIRE(effects({"py"}, "jit") == "scripted ");
  for (const char* const name : {"jit_premul", "vl_jit", "resnet18_jit"}) REQUIRE(effects({"py", name}) == "scripted ");
  REQUIRE(effects({"py_aot_inductor"}) == "compiled");
  REQUIRE(effects({"jit"}, "aot_inductor") == "scripted compiled");
  REQUIRE(effects_of({}, {}, c10::Device("cuda")).on_gpu);
  REQUIRE(effects_of({}, "py_graph", c10::Device("cuda")).graphed);
  REQUIRE_FALSE(effects_of({}, "py", c10::Device("cuda")).graphed);
}

TEST_CASE("a step in TorchScript is not compiled a second time") {
  REQUIRE_THAT(pace::test::why<pace::InputError>([] { check(find_planned("vl_jit_aot_inductor"), sizes(1, "cpu")); }),
               Catch::Matchers::ContainsSubstring("TorchScript is not compiled a second time"));
}

TEST_CASE("cuDNN's runners need a GPU, but not in fastrnns' own loop") {
  for (const char* const name : {"cudnn", "cudnn_dropout", "vl_cudnn"}) {
    Sizes of = sizes(1, "cpu");
    REQUIRE_THAT(pace::test::why<pace::Unsupported>([&] { check(find_planned(name), of); }),
                 Catch::Matchers::ContainsSubstring("runs on a GPU only"));
    of.original = true;
    REQUIRE_NOTHROW(check(find_planned(name), of));
    of.sequence = 3, of.input = 4, of.hidden = 5, of.batch = 2;
    ModelDef model = find_planned(name).runner->make(of);
    REQUIRE_NOTHROW(model.step.forward(model.inputs));
  }
}

}  // namespace
