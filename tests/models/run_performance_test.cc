// Performance runs: their rows, and the fate of models and back ends that fail.
#include "benches/models/run/run_model.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include "benches/models/run/batch_invariance.hpp"
#include "benches/models/run/performance.hpp"
#include "tests/models/run_fakes.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using pace::test::AddedBackend;
using pace::test::eager_but;
using pace::test::number;
using pace::test::quick;
using pace::test::run;
using pace::test::text;

std::vector<std::string> columns(const Row& row) {
  std::vector<std::string> names;
  for (const auto& [name, cell] : row.values) names.push_back(name);
  return names;
}

TEST_CASE("times that cannot be true pass in no row, with a guard and without", "[models]") {
  pace::Result result;
  result.implementations.resize(2);
  for (auto& each : result.implementations) each.outcome = pace::Outcome::measured;
  result.implementations[0].name = "eager";
  result.implementations[0].is_baseline = true;
  result.implementations[1].name = "other";
  const auto take = [&] {
    Row row;
    PerformanceFigures figures;
    pace::benches::models::detail::take_figures(result, "other", row, figures);
    CHECK(figures.status == "pass");
    return std::pair(row, figures.verdict);
  };
  CHECK(take().first.result == RowResult::passed);
  CHECK(take().second == "none");
  const std::string why = "the baseline is slower than before";
  result.implementations[1].context.enter({pace::Severity::impossible, why});
  CHECK(take().first.result == RowResult::failed);
  CHECK(take().first.message == "the times cannot be true: " + why);
  CHECK(take().second == "invalid");
  result.implementations[1].judgements.push_back(
      {.verdict = pace::Verdict::invalid, .acceptable = false, .message = "1.2 times, which cannot be: " + why});
  CHECK(take().first.result == RowResult::failed);
  CHECK(take().first.message == "1.2 times, which cannot be: " + why);
  CHECK(take().second == "invalid");
  // Of several gates the worst one.
  result.implementations[1].judgements = {
      {.verdict = pace::Verdict::passed, .acceptable = true, .message = "fast enough"},
      {.verdict = pace::Verdict::undecided, .acceptable = true, .message = "no regression is proven"}};
  CHECK(take().second == "undecided");
  result.implementations[1].judgements.push_back({.verdict = pace::Verdict::failed, .message = "too much memory"});
  CHECK(take().second == "failed");
  CHECK(take().first.message == "too much memory");
}

TEST_CASE("inference: a row for each back end, in the order asked for", "[models]") {
  const auto entry = pace::test::small_net();
  const auto rows = run(entry, quick({"torchscript", "eager", "cuda_graph", "aot_inductor_cuda_graph"}));
  REQUIRE(rows.size() == 4);
  for (const auto& row : rows) {
    REQUIRE(row.device == "cpu");
    REQUIRE(row.name == "small_net");
    REQUIRE(row.batch_size == 2);
    REQUIRE(columns(row) == columns(rows[0]));
  }
  const auto names = columns(rows[0]);
  const std::vector<std::string> first{"speedup",           "abs_latency",    "compilation_latency",
                                       "compression_ratio", "eager_peak_mem", "dynamo_peak_mem",
                                       "calls_captured",    "unique_graphs",  "autograd_captures",
                                       "autograd_compiles", "interval_low"};
  REQUIRE(std::vector<std::string>(names.begin(), names.begin() + 11) == first);
  // No back end counts any; a zero would be a figure that was not measured.
  for (const char* constant : {"graph_breaks", "unique_graph_breaks", "cudagraph_skips"})
    REQUIRE(std::ranges::find(names, constant) == names.end());

  REQUIRE(rows[0].backend == "torchscript");
  REQUIRE(rows[0].result == RowResult::passed);
  REQUIRE(text(rows[0], "status") == "pass");
  REQUIRE(number(rows[0], "speedup") > 0);
  REQUIRE(number(rows[0], "abs_latency") > 0);
  REQUIRE(number(rows[0], "eager_latency") > 0);
  REQUIRE(number(rows[0], "interval_low") <= number(rows[0], "interval_high"));
  REQUIRE(number(rows[0], "unique_graphs") == 1);
  REQUIRE(number(rows[0], "autograd_captures") == 0);
  REQUIRE(number(rows[0], "calls_captured") >= 5);
  REQUIRE(number(rows[0], "compression_ratio") > 0);
  REQUIRE_THAT(rows[0].message, ContainsSubstring("x"));

  REQUIRE(number(rows[1], "speedup") == 1);
  REQUIRE(text(rows[1], "status") == "pass");

  REQUIRE(rows[2].backend == "cuda_graph");
  REQUIRE(rows[3].backend == "aot_inductor_cuda_graph");
  for (const auto* row : {&rows[2], &rows[3]}) {
    REQUIRE(row->result == RowResult::failed);
    REQUIRE(text(*row, "status") == "fail_to_run");
    REQUIRE(number(*row, "speedup") == 0);
    // Before a package is compiled for it.
    REQUIRE_THAT(row->message, ContainsSubstring("CUDA"));
  }
}

TEST_CASE("training: the step's phases are timed apart, with dropout and batch norm", "[models]") {
  auto settings = quick({"torchscript"}, true);
  settings.no_slower_than = 1e6;
  std::string log;
  const auto rows = run(pace::test::small_net(), settings, &log);
  REQUIRE(rows.size() == 1);
  INFO(rows[0].message);
  REQUIRE(text(rows[0], "status") == "pass");
  REQUIRE(rows[0].batch_size == 4);
  REQUIRE(number(rows[0], "forward_speedup") > 0);
  REQUIRE(number(rows[0], "backward_speedup") > 0);
  REQUIRE(number(rows[0], "autograd_captures") == 1);
  REQUIRE(number(rows[0], "autograd_compiles") == 0);
  REQUIRE(text(rows[0], "verdict") != "none");
  REQUIRE_THAT(log, ContainsSubstring("draws random numbers"));
}

TEST_CASE("training with the optimiser: its step is a phase, and weights stay what they are", "[models]") {
  auto settings = quick({"torchscript"}, true);
  REQUIRE(number(run(pace::test::small_net(), settings)[0], "update_speedup") == 0);
  settings.optimizer_on_cpu = true;
  for (const bool sgd : {false, true}) {
    settings.optimizer_code = sgd ? "fused" : "foreach";
    Config config;
    if (sgd) config.optimizer.sgd = {"small_net"};
    std::string log;
    const auto rows = run(pace::test::small_net(), settings, &log, config);
    INFO(rows[0].message << '\n' << log);
    REQUIRE(text(rows[0], "status") == "pass");
    REQUIRE(number(rows[0], "update_speedup") > 0);
  }
  settings.optimizer_code = GENERATE("single", "foreach", "fused");
  std::vector<std::shared_ptr<torch::nn::Module>> made;
  auto entry = pace::test::mlp();
  entry.make = [make = entry.make, &made](const ModelRequest& request) {
    auto model = make(request);
    made.push_back(model.module);
    return model;
  };
  REQUIRE(text(run(entry, settings)[0], "status") == "pass");
  const auto first = made.at(0)->parameters();
  for (const auto& module : made)
    for (std::size_t i = 0; i < first.size(); ++i) REQUIRE(module->parameters()[i].equal(first[i]));
  Config none;
  none.optimizer.none = {"small_net"};
  REQUIRE(number(run(pace::test::small_net(), settings, nullptr, none)[0], "update_speedup") == 0);
}

TEST_CASE("memory on a CPU is what a back end allocates itself, whatever ran before it", "[models]") {
  constexpr std::int64_t elements = 1 << 24;  // 64 MiB of float32
  std::vector<at::Tensor> kept;
  const AddedBackend hungry("hungry", eager_but([](int) { const auto block = at::empty({elements}); }));
  const AddedBackend hoarding("hoarding", eager_but([&kept](int call) {
                                if (call == 1) kept.push_back(at::ones({elements}));
                              }));
  const double block = 4e-9 * static_cast<double>(elements);
  const auto peaks = [&](const std::vector<std::string>& backends) {
    std::map<std::string, double> found;
    auto settings = quick(backends);
    settings.repeat = 4;
    for (const auto& row : run(pace::test::small_net(), settings)) {
      INFO(row.message);
      REQUIRE(text(row, "status") == "pass");
      REQUIRE(number(row, "compression_ratio") == number(row, "eager_peak_mem") / number(row, "dynamo_peak_mem"));
      found[row.backend] = number(row, "dynamo_peak_mem");
    }
    return found;
  };
  const auto one = peaks({"hungry", "hoarding", "torchscript", "eager"});
  const auto other = peaks({"eager", "torchscript", "hoarding", "hungry"});
  REQUIRE(one == other);
  REQUIRE(one.at("hungry") > block);
  REQUIRE(one.at("hungry") < 1.01 * block);
  REQUIRE(one.at("hoarding") > block);
  REQUIRE(one.at("eager") > 0);
  REQUIRE(one.at("eager") < 0.01 * block);
  REQUIRE(one.at("torchscript") < 0.01 * block);
  // torchbench's figure is the whole process's.
  auto settings = quick({"eager"});
  settings.compat = true;
  REQUIRE(number(run(pace::test::small_net(), settings)[0], "eager_peak_mem") > block);
}

TEST_CASE("products may be TF32 as in torchbench, but for runs that are deterministic", "[models]") {
  std::vector<bool> seen;
  auto entry = pace::test::mlp();
  entry.suite = Suite::torchbench;
  entry.make = [make = entry.make, &seen](const ModelRequest& request) {
    auto model = make(request);
    model.forward = [&seen, forward = model.forward](const torch::jit::Stack& inputs) {
      seen.push_back(at::globalContext().allowTF32CuBLAS());
      return forward(inputs);
    };
    return model;
  };
  const auto allowed = [&](const Settings& settings) {
    seen.clear();
    (void)run(entry, settings);
    REQUIRE_FALSE(seen.empty());
    REQUIRE(std::ranges::count(seen, seen[0]) == static_cast<std::ptrdiff_t>(seen.size()));
    REQUIRE_FALSE(at::globalContext().allowTF32CuBLAS());
    return seen[0];
  };
  auto settings = quick({"eager"});
  REQUIRE(allowed(settings));
  settings.compat = true;
  REQUIRE(allowed(settings));
  settings.compat = false;
  settings.deterministic = true;
  REQUIRE_FALSE(allowed(settings));
  settings.deterministic = false;
  settings.mode = Mode::accuracy;
  REQUIRE_FALSE(allowed(settings));
  settings.mode = Mode::tolerance;
  REQUIRE(allowed(settings));
  // The other suites' programs leave LibTorch's default; --tf32 is for all.
  for (const auto suite : {Suite::huggingface, Suite::timm}) {
    entry.suite = suite;
    settings.tf32 = "default";
    REQUIRE_FALSE(allowed(settings));
    settings.tf32 = "on";
    REQUIRE(allowed(settings));
  }
  entry.suite = Suite::torchbench;
  settings.tf32 = "off";
  REQUIRE_FALSE(allowed(settings));
}

TEST_CASE("inputs of every structure, in every kind of run", "[models]") {
  const auto entry = pace::test::structured();
  for (const bool training : {false, true}) {
    for (const bool compat : {false, true}) {
      auto settings = quick({"torchscript"}, training);
      settings.compat = settings.randomize_input = compat;
      const auto rows = run(entry, settings);
      INFO(rows[0].message);
      CHECK(text(rows[0], "status") == "pass");
      CHECK(number(rows[0], "speedup") > 0);
    }
    auto settings = quick({"torchscript"}, training);
    settings.mode = Mode::accuracy;
    CHECK(text(run(entry, settings)[0], "accuracy") == "pass");
  }
  auto settings = quick({"torchscript"});
  settings.dynamic_batch = true;
  const auto any_batch = run(entry, settings)[0];
  INFO(any_batch.message);
  CHECK(text(any_batch, "status") == "pass");
  CHECK(text(any_batch, "batch_sizes") == "4 3 5");
  // A smaller batch is one in lists and tuples, too.
  const auto instance = make_instance(entry, {.batch_size = 8});
  const auto cut = tensors_of_inputs(first_of_batch(instance.model.inputs, 8, 2));
  REQUIRE(cut.size() == 7);
  for (std::size_t i = 0; i < 6; ++i) CHECK(cut[i].sizes() == at::IntArrayRef({2, 6}));
  CHECK(cut[6].sizes() == at::IntArrayRef({6}));
  settings = quick({"eager"});
  settings.mode = Mode::batch_invariance;
  const auto row = run(entry, settings)[0];
  INFO(row.message);
  CHECK_THAT(text(row, "accuracy"), !ContainsSubstring("fail_to_run") && !ContainsSubstring("skip"));
}

TEST_CASE("in every precision", "[models]") {
  for (const auto precision : {Precision::float32, Precision::bfloat16, Precision::amp}) {
    for (const bool training : {false, true}) {
      auto settings = quick({"torchscript"}, training);
      settings.precision = precision;
      settings.repeat = 4;
      settings.grad_scaler = training;
      const auto rows = run(pace::test::mlp(), settings);
      INFO(rows[0].message);
      REQUIRE(text(rows[0], "status") == "pass");
    }
  }
}

TEST_CASE("--compat: torchbench's figures, with its optimiser", "[models]") {
  auto settings = quick({"torchscript", "eager", "cuda_graph"}, true);
  settings.compat = true;
  settings.optimizer_on_cpu = true;
  const auto rows = run(pace::test::small_net(), settings);
  REQUIRE(rows.size() == 3);
  REQUIRE(text(rows[0], "status") == "pass");
  REQUIRE(number(rows[0], "speedup") == number(rows[0], "eager_latency") / number(rows[0], "abs_latency"));
  REQUIRE(number(rows[0], "p_value") >= 0);
  REQUIRE(number(rows[0], "p_value") <= 1);
  REQUIRE_THAT(rows[0].message, ContainsSubstring("x SAME") || ContainsSubstring("x p="));
  REQUIRE(rows[1].backend == "eager");
  REQUIRE(text(rows[2], "status") == "fail_to_run");
  const auto names = columns(rows[0]);
  const std::vector<std::string> counters{"calls_captured",      "unique_graphs",     "graph_breaks",
                                          "unique_graph_breaks", "autograd_captures", "autograd_compiles",
                                          "cudagraph_skips"};
  REQUIRE(std::vector<std::string>(names.begin() + 6, names.begin() + 13) == counters);
}

TEST_CASE("back ends that fail, each in its own way, and leave the others alone", "[models]") {
  const AddedBackend unmade("unmade",
                            [](Instance, const MakeOptions&) -> Runnable { throw pace::Unsupported("it is Sunday"); });
  const AddedBackend greedy("greedy",
                            [](Instance, const MakeOptions&) -> Runnable { pace::test::run_out_of_memory(); });
  const AddedBackend cold("cold", eager_but([](int call) {
                            if (call == 2) throw std::runtime_error("the second call is one too many");
                          }));
  const AddedBackend late("late", eager_but([](int call) {
                            if (call == 6) throw std::runtime_error("tired");
                          }));
  const AddedBackend wrong("wrong",
                           eager_but([](int) {}, [](c10::IValue value) { return c10::IValue(value.toTensor() * -1); }));
  const auto rows = run(pace::test::small_net(), quick({"unmade", "greedy", "cold", "late", "wrong", "torchscript"}));
  REQUIRE(rows.size() == 6);
  const std::vector<std::string> statuses{"fail_to_run", "OOM",           "warmup_failed",
                                          "fail_to_run", "fail_accuracy", "pass"};
  const std::vector<std::string> messages{"it is Sunday", "no memory is left", "one too many", "tired", "output", "x"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].backend << ": " << rows[i].message);
    REQUIRE(text(rows[i], "status") == statuses[i]);
    REQUIRE_THAT(rows[i].message, ContainsSubstring(messages[i]));
    REQUIRE(rows[i].result == (i == 5 ? RowResult::passed : RowResult::failed));
    REQUIRE((number(rows[i], "speedup") > 0) == (i == 5));
  }
}

TEST_CASE("a limit on peak memory is judged beside no guard, and its row fails by it", "[models]") {
  const auto entry = pace::test::small_net();
  auto settings = quick({"torchscript"});
  for (const double limit : {1000.0, 0.001}) {
    CAPTURE(limit);
    settings.peak_memory_at_most = limit;
    const auto row = run(entry, settings).at(0);
    INFO(row.message);
    REQUIRE(row.result == (limit > 1 ? RowResult::passed : RowResult::failed));
  }
}

TEST_CASE("a guard is passed, undecided or failed, and so is its row", "[models]") {
  const auto entry = pace::test::small_net();
  auto settings = quick({"torchscript"});
  settings.no_slower_than = 1000;
  // No number of cycles this small proves anything.
  settings.repeat = 2;
  const auto row = run(entry, settings).at(0);
  INFO(row.message);
  REQUIRE(text(row, "verdict") == "undecided");
  REQUIRE(row.result == RowResult::undecided);

  pace::Result result;
  result.implementations.resize(2);
  result.implementations[0].is_baseline = true;
  for (auto& each : result.implementations) each.outcome = pace::Outcome::measured;
  auto& baseline = result.implementations[0];
  auto& own = result.implementations[1];
  REQUIRE(pace::benches::models::detail::result_of(result, own) == RowResult::passed);
  own.judgements = {{.verdict = pace::Verdict::passed, .acceptable = true}};
  REQUIRE(pace::benches::models::detail::result_of(result, own) == RowResult::passed);
  own.judgements.push_back({.verdict = pace::Verdict::undecided, .acceptable = true, .unresolved = true});
  REQUIRE(pace::benches::models::detail::result_of(result, own) == RowResult::undecided);
  own.judgements.push_back({.verdict = pace::Verdict::failed});
  REQUIRE(pace::benches::models::detail::result_of(result, own) == RowResult::failed);
  own.judgements.clear();
  for (const auto outcome : {pace::Outcome::wrong, pace::Outcome::threw, pace::Outcome::out_of_memory}) {
    own.outcome = outcome;
    REQUIRE(pace::benches::models::detail::result_of(result, own) == RowResult::failed);
  }
  own.outcome = pace::Outcome::unreached;
  REQUIRE(pace::benches::models::detail::result_of(result, own) == RowResult::unmeasured);
  own.outcome = pace::Outcome::refused;
  baseline.outcome = pace::Outcome::threw;
  REQUIRE(pace::benches::models::detail::result_of(result, own) == RowResult::unmeasured);
}

TEST_CASE("models that fail", "[models]") {
  auto entry = pace::test::mlp();
  entry.make = [](const ModelRequest&) -> Model {
    throw c10::NotImplementedError({__func__, __FILE__, __LINE__}, "not in this size");
  };
  auto rows = run(entry, quick({"torchscript", "eager"}));
  REQUIRE(rows.size() == 2);
  REQUIRE(text(rows[1], "status") == "model_fail_to_load");
  REQUIRE_THAT(rows[0].message, ContainsSubstring("not in this size"));
  // Nothing is known of a back end where the model itself does not run.
  REQUIRE(rows[0].result == RowResult::unmeasured);

  entry = pace::test::mlp();
  const auto make = entry.make;
  entry.make = [make](const ModelRequest& request) {
    auto model = make(request);
    model.loss = [](const c10::IValue& output) { return output.toTupleRef().elements()[0].toTensor(); };
    return model;
  };
  rows = run(entry, quick({"torchscript"}, true));
  REQUIRE(text(rows[0], "status") == "eager_fail_to_run");
  REQUIRE_THAT(rows[0].message,
               ContainsSubstring("expected a loss that is a scalar, found a tensor with sizes [4, 3]"));
  REQUIRE(text(run(entry, quick({"torchscript"}))[0], "status") == "pass");  // inference needs none

  // The first forward checks the model; the warm-up's come next.
  entry.make = [make, calls = std::make_shared<int>(0)](const ModelRequest& request) {
    auto model = make(request);
    model.forward = [calls, forward = model.forward](const torch::jit::Stack& inputs) {
      if (++*calls > 1) throw std::runtime_error("once and never again");
      return forward(inputs);
    };
    return model;
  };
  rows = run(entry, quick({"torchscript"}));
  REQUIRE(text(rows[0], "status") == "warmup_failed");
  REQUIRE_THAT(rows[0].message, ContainsSubstring("never again"));
  REQUIRE(rows[0].result == RowResult::unmeasured);
}

TEST_CASE("settings that make no sense", "[models]") {
  const auto entry = pace::test::small_net();
  const auto complaint = [&](const std::function<void(Settings&)>& change) -> std::string {
    auto settings = quick({"torchscript"});
    change(settings);
    try {
      (void)run(entry, settings);
    } catch (const pace::InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  REQUIRE_THAT(complaint([](Settings& s) { s.batch_size = 0; }),
               ContainsSubstring("batch size of at least 1, found 0"));
  REQUIRE_THAT(
      complaint([](Settings& s) { s.backends = {"inductor"}; }),
      ContainsSubstring("expected one of eager, torchscript, cuda_graph, torchscript_cuda_graph, aot_inductor"));
  REQUIRE_THAT(complaint([](Settings& s) { s.backends = {}; }), ContainsSubstring("expected at least one"));
  REQUIRE_THAT(complaint([](Settings& s) { s.device = "toaster"; }),
               ContainsSubstring("no device is called 'toaster'"));
  REQUIRE_THAT(complaint([](Settings& s) { s.device = "mps"; }), ContainsSubstring("not on 'mps'"));
  REQUIRE_THAT(complaint([](Settings& s) { s.repeat = 0; }), ContainsSubstring("--repeat"));
  REQUIRE_THAT(complaint([](Settings& s) { s.threads = 0; }), ContainsSubstring("--threads"));
  REQUIRE_THAT(complaint([](Settings& s) {
                 s.inductor_config = {"max_autotune"};
                 s.inductor_config.push_back("what");
               }),
               ContainsSubstring("found 'what'"));
  REQUIRE_THAT(complaint([](Settings& s) {
                 s.precision = Precision::amp;
                 s.amp_dtype = "int8";
               }),
               ContainsSubstring("--amp-dtype"));
  REQUIRE_THAT(complaint([](Settings& s) { s.memory_fraction = 1.5; }), ContainsSubstring("at most 1, found 1.5"));
  REQUIRE_THAT(complaint([](Settings& s) { s.memory_fraction = 0.5; }), ContainsSubstring("--device cuda"));
  auto nowhere = quick({"torchscript"});
  nowhere.device = "cuda:77";
  const auto rows = run(entry, nowhere);
  REQUIRE(text(rows[0], "status") == "fail_to_run");
  REQUIRE_THAT(rows[0].message, ContainsSubstring("there is no device cuda:77"));
  REQUIRE(rows[0].result == RowResult::unmeasured);
}

TEST_CASE("options beside the figures reach the comparison", "[models]") {
  auto settings = quick({"torchscript"});
  settings.randomize_input = true;
  settings.warm_peak_memory = true;
  settings.deterministic = true;
  settings.iterations_per_run = 3;
  settings.threads = 1;
  const auto rows = run(pace::test::small_net(), settings);
  REQUIRE(text(rows[0], "status") == "pass");
  REQUIRE_FALSE(at::globalContext().deterministicAlgorithms());
  const auto options = performance_options(settings, c10::kCPU);
  REQUIRE(options.max_rounds == 12);
  REQUIRE(options.max_iterations == 3);
  REQUIRE(options.seed == 1337);
  REQUIRE(performance_options(settings, c10::Device("cuda:0")).clock == pace::ClockChoice::wall);

  Config config;
  config.dtype.fp32_only_models = {"small_net"};
  settings = quick({"torchscript"});
  settings.precision = Precision::bfloat16;
  std::string log;
  REQUIRE(text(run(pace::test::small_net(), settings, &log, config)[0], "status") == "pass");
  REQUIRE_THAT(log, ContainsSubstring("warning: small_net supports float32 only"));
}

}  // namespace
