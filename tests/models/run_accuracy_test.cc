// Accuracy runs: every status, provoked by models and back ends that go wrong in one way each.
#include "benches/models/run/run_model.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <ATen/ops/full_like.h>

#include "pace/os/folders.hpp"
#include "tests/models/run_fakes.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using pace::test::AddedBackend;
using pace::test::eager_but;
using pace::test::run_out_of_memory;

struct Found {
  std::string status, message, log;
  RowResult result = RowResult::failed;
  double tolerance = 0;
  bool cosine = false;
};

Settings accuracy(bool training = false, std::string backend = "torchscript") {
  Settings settings;
  settings.mode = Mode::accuracy;
  settings.training = training;
  settings.backends = {std::move(backend)};
  settings.optimizer_on_cpu = true;
  return settings;
}

Found check(const ModelEntry& entry, const Settings& settings, const Config& config = {}) {
  std::ostringstream log;
  const auto rows = run_model(entry, settings, config, log);
  REQUIRE(rows.size() == 1);
  Found found{.status = {}, .message = rows[0].message, .log = log.str(), .result = rows[0].result};
  for (const auto& [name, cell] : rows[0].values) {
    if (name == "accuracy") found.status = std::get<std::string>(cell);
    if (name == "tolerance") found.tolerance = std::get<double>(cell);
    if (name == "cosine") found.cosine = std::get<std::int64_t>(cell) == 1;
  }
  REQUIRE(rows[0].values[0].first == "accuracy");
  return found;
}

/// A model whose n-th forward call, of all its instances, does something else first.
ModelEntry restless(
    std::function<void(int call)> before,
    std::function<c10::IValue(int call, c10::IValue)> change = [](int, c10::IValue value) { return value; }) {
  auto entry = pace::test::mlp("restless");
  entry.make = [make = entry.make, before, change, calls = std::make_shared<int>(0)](const ModelRequest& request) {
    auto model = make(request);
    model.forward = [calls, before, change, forward = model.forward](const torch::jit::Stack& inputs) {
      before(++*calls);
      return change(*calls, forward(inputs));
    };
    return model;
  };
  return entry;
}

void fail(const char* words) { throw std::runtime_error(words); }

// Calls of a model with two iterations a run: 1 when it is loaded, 2 and 3 in float64. Calls 4 and 5 are eager's first
// run, 6 and 7 its second.
constexpr int in_float64 = 2, in_first_run = 4, in_second_run = 6;

TEST_CASE("pass, in inference and training, in every precision", "[models]") {
  for (const bool training : {false, true}) {
    for (const auto precision : {Precision::as_made, Precision::float32, Precision::bfloat16, Precision::amp}) {
      for (const auto& entry : {pace::test::small_net(), pace::test::mlp()}) {
        auto settings = accuracy(training);
        settings.precision = precision;
        settings.use_eval_mode = false;
        const auto found = check(entry, settings);
        INFO(entry.name << ' ' << training << ' ' << static_cast<int>(precision) << ": " << found.message << found.log);
        REQUIRE(found.status == "pass");
        REQUIRE(found.result == RowResult::passed);
        REQUIRE_FALSE(found.cosine);
      }
    }
  }
}

TEST_CASE("training: predictions are compared, and not the loss and the gradients alone", "[models]") {
  // The loss is of the first output; the second one is wrong.
  const AddedBackend other("other", [](Instance instance, const MakeOptions& options) {
    instance.model.forward = [forward = instance.model.forward](const torch::jit::Stack& inputs) -> c10::IValue {
      const c10::IValue output = forward(inputs);
      const auto& parts = output.toTupleRef().elements();
      return c10::ivalue::Tuple::create({parts[0], c10::IValue(parts[1].toTensor() + 1)});
    };
    return pace::benches::models::detail::make_eager(std::move(instance), options);
  });
  for (const bool training : {false, true}) {
    const auto found = check(pace::test::mlp(), accuracy(training, "other"));
    INFO(training << ' ' << found.message);
    REQUIRE(found.status == "fail_accuracy");
  }
}

TEST_CASE("pass_due_to_skip", "[models]") {
  Config config;
  config.accuracy.large_models = {"mlp"};
  auto found = check(pace::test::mlp(), accuracy(), config);
  REQUIRE(found.status == "pass_due_to_skip");
  REQUIRE_THAT(found.message, ContainsSubstring("large models"));
  REQUIRE(found.result == RowResult::passed);

  const AddedBackend wrong("wrong",
                           eager_but([](int) {}, [](c10::IValue value) { return c10::IValue(value.toTensor() + 1); }));
  auto settings = accuracy(false, "wrong");
  REQUIRE(check(pace::test::small_net(), settings).status == "fail_accuracy");
  settings.skip_accuracy_check = true;
  REQUIRE(check(pace::test::small_net(), settings).status == "pass_due_to_skip");

  // Models whose eager training is not deterministic are not compared once they have run.
  Config listed;
  listed.accuracy.eager_not_deterministic = {"restless"};
  const auto drifting =
      restless([](int) {},
               [](int call, c10::IValue value) {
                 const auto& parts = value.toTupleRef().elements();
                 return c10::ivalue::Tuple::create({parts[0].toTensor() * (1 + 0.1 * call), parts[1]});
               });
  REQUIRE(check(drifting, accuracy(true, "eager"), listed).status == "pass_due_to_skip");
  REQUIRE(check(drifting, accuracy(false, "eager"), listed).status == "eager_two_runs_differ");
}

TEST_CASE("model_fail_to_load and eager_fail_to_run", "[models]") {
  auto entry = pace::test::mlp();
  entry.make = [](const ModelRequest&) -> Model {
    throw c10::NotImplementedError({__func__, __FILE__, __LINE__}, "not for this device");
  };
  auto found = check(entry, accuracy());
  REQUIRE(found.status == "model_fail_to_load");
  REQUIRE_THAT(found.message, ContainsSubstring("not for this device"));
  REQUIRE(found.result == RowResult::unmeasured);

  entry.make = [](const ModelRequest&) -> Model { throw std::runtime_error("no weights"); };
  REQUIRE(check(entry, accuracy()).status == "eager_fail_to_run");
  found = check(restless([](int call) {
                  if (call == 1) fail("not even once");
                }),
                accuracy());
  REQUIRE(found.status == "eager_fail_to_run");
  REQUIRE_THAT(found.message, ContainsSubstring("not even once"));
  entry.make = [](const ModelRequest&) { return Model{}; };
  REQUIRE(check(entry, accuracy()).status == "eager_fail_to_run");
}

TEST_CASE("eager's first and second run fail, or run out of memory", "[models]") {
  const auto at_call = [](int which, const std::function<void()>& what) {
    return restless([which, what](int call) {
      if (call == which) what();
    });
  };
  auto found = check(at_call(in_first_run, [] { fail("first"); }), accuracy());
  REQUIRE(found.status == "eager_1st_run_fail");
  REQUIRE(found.message == "first");
  REQUIRE(found.result == RowResult::unmeasured);
  REQUIRE(check(at_call(in_first_run + 1, run_out_of_memory), accuracy()).status == "eager_1st_run_OOM");
  REQUIRE(check(at_call(in_second_run, [] { fail("second"); }), accuracy()).status == "eager_2nd_run_fail");
  REQUIRE(check(at_call(in_second_run, run_out_of_memory), accuracy()).status == "eager_2nd_run_OOM");
  REQUIRE(check(at_call(in_second_run, [] { throw std::bad_alloc(); }), accuracy(true)).status == "eager_2nd_run_OOM");
}

TEST_CASE("eager_two_runs_differ", "[models]") {
  const auto restless_once =
      restless([](int) {},
               [](int call, c10::IValue value) {
                 if (call < in_second_run) return value;
                 const auto& parts = value.toTupleRef().elements();
                 // The last bit is enough.
                 return c10::IValue(c10::ivalue::Tuple::create({parts[0].toTensor() * (1 + 1e-6), parts[1]}));
               });
  auto found = check(restless_once, accuracy(false, "eager"));
  REQUIRE(found.status == "eager_two_runs_differ");
  REQUIRE(found.result == RowResult::failed);

  // Counters of calls go on, so each check needs a model of its own.
  const auto noisy = [] {
    return restless([](int) {},
                    [](int call, c10::IValue value) {
                      const auto& parts = value.toTupleRef().elements();
                      return c10::IValue(c10::ivalue::Tuple::create({parts[0].toTensor() + call, parts[1]}));
                    });
  };
  Config config;
  config.non_deterministic = {"restless"};
  REQUIRE(check(noisy(), accuracy(false, "eager")).status == "eager_two_runs_differ");
  found = check(noisy(), accuracy(false, "eager"), config);
  REQUIRE(found.status == "pass");
  REQUIRE_THAT(found.message, ContainsSubstring("would be eager_two_runs_differ"));
}

TEST_CASE("fail_to_run and OOM", "[models]") {
  const AddedBackend unmade("unmade",
                            [](Instance, const MakeOptions&) -> Runnable { throw pace::Unsupported("no kernel"); });
  const AddedBackend tired("tired", eager_but([](int call) {
                             if (call == 2) fail("tired");
                           }));
  const AddedBackend greedy("greedy", eager_but([](int) { run_out_of_memory(); }));
  auto found = check(pace::test::small_net(), accuracy(false, "unmade"));
  REQUIRE(found.status == "fail_to_run");
  REQUIRE(found.message == "no kernel");
  REQUIRE(check(pace::test::small_net(), accuracy(false, "tired")).message == "tired");
  REQUIRE(check(pace::test::small_net(), accuracy(true, "greedy")).status == "OOM");
  REQUIRE(check(pace::test::small_net(), accuracy(true, "cuda_graph")).status == "fail_to_run");
  auto once = accuracy(false, "tired");
  once.iterations = 1;
  REQUIRE(check(pace::test::small_net(), once).status == "pass");
}

TEST_CASE("fail_accuracy", "[models]") {
  // By how much an answer is off, relative to its size.
  const auto off_by = [](double share) {
    return eager_but([](int) {}, [share](c10::IValue value) { return c10::IValue(value.toTensor() * (1 + share)); });
  };
  const AddedBackend near("near", off_by(1e-5));
  const AddedBackend far("far", off_by(1e-2));
  REQUIRE(check(pace::test::small_net(), accuracy(false, "near")).status == "pass");
  auto found = check(pace::test::small_net(), accuracy(false, "far"));
  REQUIRE(found.status == "fail_accuracy");
  REQUIRE_THAT(found.message, ContainsSubstring("RMSE (res-fp64)"));
  REQUIRE(found.tolerance == 1e-4);
  // The direction is the same.
  auto settings = accuracy(false, "far");
  settings.cosine = true;
  found = check(pace::test::small_net(), settings);
  REQUIRE(found.status == "pass");
  REQUIRE(found.cosine);

  Config config;
  config.non_deterministic = {"small_net"};
  found = check(pace::test::small_net(), accuracy(false, "far"), config);
  REQUIRE(found.status == "pass");
  REQUIRE_THAT(found.message, ContainsSubstring("would be fail_accuracy"));

  // A gradient that is wrong, with a loss that is right.
  const AddedBackend lazy("lazy", [](Instance instance, const MakeOptions& options) {
    auto made = pace::benches::models::detail::make_eager(std::move(instance), options);
    made.model.step.backward = [inner = made.model.step.backward,
                                parameters = made.model.step.parameters](const c10::IValue& prepared) {
      inner(prepared);
      (void)parameters.back().mutable_grad().zero_();
    };
    return made;
  });
  auto training = accuracy(true, "lazy");
  training.iterations = 1;
  found = check(pace::test::small_net(), training);
  REQUIRE(found.status == "fail_accuracy");
  REQUIRE_THAT(found.message, ContainsSubstring("head.bias"));

  // The expectations of the YAML file let a gate pass; anything else does not.
  Config expecting;
  expecting.expected["small_net"]["inference"] = {"fail_accuracy", "it is a test"};
  found = check(pace::test::small_net(), accuracy(false, "far"), expecting);
  REQUIRE(found.status == "fail_accuracy");
  REQUIRE(found.result == RowResult::passed);
  REQUIRE_THAT(found.message, ContainsSubstring("expected: it is a test"));
  expecting.expected["small_net"]["inference"].backend = "far";
  REQUIRE(check(pace::test::small_net(), accuracy(false, "far"), expecting).result == RowResult::passed);
  expecting.expected["small_net"]["inference"].backend = "near";
  REQUIRE(check(pace::test::small_net(), accuracy(false, "far"), expecting).result == RowResult::failed);
  expecting.expected["small_net"]["inference"].backend = {};
  expecting.expected["small_net"]["inference/float32"] = {"OOM", "another"};
  REQUIRE(check(pace::test::small_net(), accuracy(false, "far"), expecting).result == RowResult::failed);
}

TEST_CASE("the majority of several runs decides", "[models]") {
  auto count = std::make_shared<int>(0);
  const AddedBackend moody("moody", [count](Instance instance, const MakeOptions& options) {
    const bool good = ++*count % 3 != 0;
    return eager_but([](int) {},
                     [good](c10::IValue value) { return good ? value : c10::IValue(value.toTensor() + 1); })(
        std::move(instance), options);
  });
  Config config;
  config.tolerance.accuracy_check_runs["small_net"] = 3;
  REQUIRE(check(pace::test::small_net(), accuracy(false, "moody"), config).status == "pass");  // 2 of 3
  REQUIRE(*count == 3);
  config.tolerance.accuracy_check_runs["small_net"] = 2;
  *count = 1;
  REQUIRE(check(pace::test::small_net(), accuracy(false, "moody"), config).status == "fail_accuracy");  // 1 of 2
}

TEST_CASE("without a float64 reference cosines are compared", "[models]") {
  const auto found = check(restless([](int call) {
                             if (call == in_float64) fail("float64 is not for me");
                           }),
                           accuracy(false, "eager"));
  REQUIRE(found.status == "pass");
  REQUIRE(found.cosine);
  REQUIRE_THAT(found.log, ContainsSubstring("float64 is not for me"));
}

TEST_CASE("not_bitwise_equivalent: outputs of another run", "[models]") {
  const std::filesystem::path folder = pace::detail::make_folder_in(std::filesystem::temp_directory_path());
  auto save = accuracy(true), compare = accuracy(true);
  save.save_outputs_to = compare.compare_outputs_with = (folder / "outputs").string();
  // Nothing saved yet: the settings are wrong.
  std::ostringstream log;
  REQUIRE_THROWS_AS(run_model(pace::test::small_net(), compare, {}, log), pace::InputError);
  REQUIRE(check(pace::test::small_net(), save).status == "pass");
  REQUIRE(std::filesystem::exists(folder / "outputs" / "small_net_torchscript_training.pt"));
  auto found = check(pace::test::small_net(), compare);
  INFO(found.message);
  REQUIRE(found.status == "pass");
  compare.seed = 5;
  found = check(pace::test::small_net(), compare);
  REQUIRE(found.status == "not_bitwise_equivalent");
  REQUIRE(found.result == RowResult::failed);
  {
    std::ofstream file(folder / "outputs" / "small_net_torchscript_training.pt");
    file << "something else";
  }
  REQUIRE_THROWS_AS(run_model(pace::test::small_net(), compare, {}, log), pace::InputError);
  pace::detail::remove_tree(folder);
}

TEST_CASE("NaNs are equal, but not where float32 is asked for, and NaN throughout is no accuracy", "[models]") {
  const auto with = [](auto change) {
    return restless([](int) {},
                    [change](int, c10::IValue value) {
                      auto output = value.toTupleRef().elements()[0].toTensor();
                      return c10::IValue(change(output));
                    });
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto some = with([](const at::Tensor& x) { return x.masked_fill(x.gt(x.median()), nan); });
  const auto all = with([](const at::Tensor& x) { return at::full_like(x, nan); });
  const auto none = with([](const at::Tensor& x) { return x.narrow(0, 0, 0); });
  auto settings = accuracy(false, "eager");
  REQUIRE(check(some, settings).status == "pass");
  REQUIRE(check(all, settings).status == "fail_accuracy");
  REQUIRE(check(all, settings).result == RowResult::failed);
  REQUIRE(check(all, settings).message.starts_with("eager's outputs are NaN throughout"));
  REQUIRE(check(none, settings).message.starts_with("eager's outputs have no elements"));
  settings.compat = true;
  REQUIRE(check(all, settings).status == "pass");
  settings.compat = false;
  settings.precision = Precision::float32;
  REQUIRE(check(some, settings).status == "eager_two_runs_differ");
}

TEST_CASE("a model that writes to its input is given the same one after it was traced", "[models]") {
  auto entry = pace::test::small_net(0);
  entry.make = [make = entry.make](const ModelRequest& request) {
    auto model = make(request);
    model.forward = [forward = model.forward](const torch::jit::Stack& inputs) {
      inputs[0].toTensor().mul_(0.5);
      return forward(inputs);
    };
    return model;
  };
  const auto found = check(entry, accuracy());
  INFO(found.message << found.log);
  REQUIRE(found.status == "pass");
}

TEST_CASE("determinism is put back", "[models]") {
  at::globalContext().setBenchmarkCuDNN(true);
  bool inside = false, benchmarks = true;
  (void)check(restless([&](int) {
                inside = at::globalContext().deterministicAlgorithms() && at::globalContext().deterministicMkldnn();
                benchmarks = at::globalContext().benchmarkCuDNN();
              }),
              accuracy(false, "eager"));
  REQUIRE(inside);
  REQUIRE_FALSE(benchmarks);

  // An operator without a deterministic kernel is an error, but for models that are known for it.
  bool only_warned = true;
  const auto model = [&] {
    return restless([&](int) { only_warned = at::globalContext().deterministicAlgorithmsWarnOnly(); });
  };
  (void)check(model(), accuracy(false, "eager"));
  REQUIRE_FALSE(only_warned);
  Config config;
  config.no_deterministic_kernels = {"restless"};
  (void)check(model(), accuracy(false, "eager"), config);
  REQUIRE(only_warned);
  REQUIRE(at::globalContext().benchmarkCuDNN());
  REQUIRE_FALSE(at::globalContext().deterministicAlgorithms());
}

TEST_CASE("in bfloat16 code with something folded into its weights may be further from the reference", "[models]") {
  const auto entry = pace::test::of_weights([](const at::Tensor& x, const at::Tensor& w) { return at::mul(x, w + x); });
  const auto status = [&](bool folded, Precision precision) {
    const AddedBackend added("off", [folded](Instance instance, const MakeOptions& options) {
      // Some seven times as far from the reference as eager is in bfloat16.
      auto made = pace::test::eager_but(
          [](int) {},
          [](c10::IValue value) {
            return c10::IValue(value.toTensor().to(at::kFloat).mul(1.012).to(value.toTensor().scalar_type()));
          })(std::move(instance), options);
      made.folded = folded;
      return made;
    });
    auto settings = accuracy(false, "off");
    settings.precision = precision;
    settings.batch_size = 400;
    return check(entry, settings).status;
  };
  CHECK(status(false, Precision::bfloat16) == "fail_accuracy");
  CHECK(status(true, Precision::bfloat16) == "pass");
  CHECK(status(true, Precision::float32) == "fail_accuracy");
}

}  // namespace
