// Models compiled by AOTInductor, for inference and for training: slow (minutes on two cores, once).
#include "benches/models/run/run_model.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "benches/files/aot/package_options.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using pace::test::cell;
using pace::test::run;

std::vector<std::string> phases(const Row& row) {
  std::vector<std::string> names;
  for (const auto& phase : row.compilation) names.push_back(phase.first);
  return names;
}

TEST_CASE("exported programs answer as eager does, by NativeRT", "[models]") {
  const pace::test::PackageCache cache;
  if (pace::benches::aot::default_python().empty()) SKIP("no Python with torch is known: set PACE_PYTHON");
  Settings settings;
  settings.backends = {"nativert"};
  settings.repeat = 4;
  settings.warm_up_iterations = 2;
  for (const auto& entry : {pace::test::small_net(), pace::test::reader()}) {
    std::string log;
    const auto row = run(entry, settings, &log).at(0);
    INFO(entry.name << ": " << row.message << '\n' << log);
    REQUIRE(cell<std::string>(row, "status") == "pass");
    REQUIRE(cell<double>(row, "speedup") > 0);
    REQUIRE(cell<double>(row, "compile_seconds") > 0);
    REQUIRE(cell<std::int64_t>(row, "unique_graphs") == 1);
    // Found again, and given other values.
    settings.randomize_input = true;
    const auto again = run(entry, settings, &log).at(0);
    INFO(again.message << '\n' << log);
    REQUIRE(cell<std::string>(again, "status") == "pass");
    REQUIRE(cell<double>(again, "compile_seconds") == 0);
    settings.randomize_input = false;
  }
  settings.mode = Mode::accuracy;
  REQUIRE(cell<std::string>(run(pace::test::small_net(), settings).at(0), "accuracy") == "pass");
  settings.dynamic_batch = true;
  REQUIRE_THAT(run(pace::test::small_net(), settings).at(0).message, ContainsSubstring("for one size of batch"));
  settings.dynamic_batch = false;
  settings.training = true;
  REQUIRE_THAT(run(pace::test::small_net(), settings).at(0).message, ContainsSubstring("a forward alone"));
}

TEST_CASE("compiled models do what eager does, forward, backward and step after step", "[models]") {
  const pace::test::PackageCache cache;
  if (pace::benches::aot::default_python().empty()) SKIP("no Python with torch is known: set PACE_PYTHON");
  const auto entry = pace::test::small_net();

  // In train mode: dropout draws eager's numbers, batch norm's averages are written to, Adam goes on from there.
  Settings accuracy;
  accuracy.mode = Mode::accuracy;
  accuracy.backends = {"aot_inductor"};
  accuracy.training = true;
  accuracy.use_eval_mode = false;
  accuracy.optimizer_on_cpu = true;
  accuracy.iterations = 3;
  for (const auto precision : {Precision::float32, Precision::amp}) {
    accuracy.precision = precision;
    const auto rows = run(entry, accuracy);
    INFO("precision " << static_cast<int>(precision) << ": " << rows[0].message);
    REQUIRE(cell<std::string>(rows[0], "accuracy") == "pass");
    REQUIRE(cell<std::int64_t>(rows[0], "cosine") == 0);
  }

  // An LSTM has its dropout between layers, too, and draws eager's numbers on batches that do not lie first in memory.
  accuracy.precision = Precision::float32;
  {
    const auto rows = run(pace::test::reader(), accuracy);
    INFO(rows[0].message);
    REQUIRE(cell<std::string>(rows[0], "accuracy") == "pass");
  }

  // Timed, and right. Accuracy runs have the predictions among their outputs: this is another package, which is found
  // compiled by the run after this one.
  Settings performance;
  performance.backends = {"aot_inductor", "torchscript"};
  performance.training = true;
  performance.precision = Precision::float32;
  performance.repeat = 12;
  performance.warm_up_iterations = 2;
  std::string log;
  auto rows = run(entry, performance, &log);
  INFO(rows[0].message << '\n' << log);
  REQUIRE(cell<std::string>(rows[0], "status") == "pass");
  REQUIRE(cell<double>(rows[0], "speedup") > 0);
  REQUIRE(cell<double>(rows[0], "compile_seconds") > 0);
  REQUIRE(cell<double>(rows[0], "load_seconds") > 0);
  REQUIRE(phases(rows[0]) == std::vector<std::string>{"export_seconds", "forward_seconds", "backward_seconds",
                                                      "optimizer_seconds", "compile_seconds"});
  for (const auto& [phase, seconds] : rows[0].compilation) REQUIRE((seconds > 0) == (phase != "optimizer_seconds"));
  REQUIRE(rows[1].compilation.empty());
  REQUIRE(cell<std::int64_t>(rows[0], "autograd_compiles") == 1);
  REQUIRE(cell<double>(rows[0], "forward_speedup") > 0);
  REQUIRE(cell<double>(rows[0], "backward_speedup") > 0);
  REQUIRE(cell<std::string>(rows[1], "status") == "pass");
  REQUIRE_THAT(log, ContainsSubstring("compiled with fallback_random"));
  rows = run(entry, performance);
  REQUIRE(cell<std::string>(rows[0], "status") == "pass");
  REQUIRE(cell<double>(rows[0], "compile_seconds") == 0);
  REQUIRE(rows[0].compilation.empty());

  // Inductor's own random numbers are others: their answers are not eager's, and get no number.
  performance.backends = {"aot_inductor"};
  performance.inductor_config = {"fallback_random=false"};
  rows = run(entry, performance);
  REQUIRE(cell<std::string>(rows[0], "status") == "fail_accuracy");
  REQUIRE(cell<double>(rows[0], "speedup") == 0);

  // Inference, compiled now; then by several callers, each with a loaded package of its own.
  performance.inductor_config = {};
  performance.training = false;
  rows = run(entry, performance);
  INFO(rows[0].message);
  REQUIRE(cell<std::string>(rows[0], "status") == "pass");
  REQUIRE(cell<double>(rows[0], "compile_seconds") > 0);
  performance.mode = Mode::throughput;
  performance.callers = 3;
  rows = run(entry, performance);
  INFO(rows[0].message);
  REQUIRE(cell<std::int64_t>(rows[0], "iterations") == 36);

  // A package of its own takes any batch: it was compiled for two, and is checked at three before it is timed.
  performance.mode = Mode::performance;
  performance.dynamic_batch = true;
  rows = run(entry, performance);
  INFO(rows[0].message);
  REQUIRE(cell<std::string>(rows[0], "status") == "pass");
  REQUIRE(cell<double>(rows[0], "compile_seconds") > 0);
  REQUIRE(cell<std::string>(rows[0], "batch_sizes") == "2 3");
  // A number that was made of the batch is a constant of its code.
  const auto baked =
      pace::test::of_weights([](const at::Tensor& x, const at::Tensor& w) { return (x * w).view({x.size(0) * 3}); });
  rows = run(baked, performance);
  REQUIRE(cell<std::string>(rows[0], "status") == "fail_to_run");
  INFO(rows[0].message);
  REQUIRE_THAT(rows[0].message, ContainsSubstring("one size of batch") || ContainsSubstring("batch of 4"));
  performance.dynamic_batch = false;

  // Lists, tuples and dicts of tensors are operands one by one, and answers have their structure again.
  for (const bool training : {false, true}) {
    performance.training = training;
    rows = run(pace::test::structured(), performance);
    INFO(rows[0].message);
    REQUIRE(cell<std::string>(rows[0], "status") == "pass");
  }
  performance.training = false;

  // Packages of one run serve another, which has no compiler: as --packages.
  performance.mode = Mode::performance;
  performance.packages = {cache.path.string()};
  const pace::test::PackageCache empty;
  ::setenv("PACE_PYTHON", "/no/such/python", 1);
  REQUIRE(cell<std::string>(run(entry, performance)[0], "status") == "pass");
  performance.batch_size = 3;
  rows = run(entry, performance);
  REQUIRE(cell<std::string>(rows[0], "status") == "fail_to_run");
  REQUIRE_THAT(rows[0].message, ContainsSubstring("/no/such/python"));
}

}  // namespace
