// --compile-optimizer: Adam's step as a package of its own.
#include "benches/models/run/compiled_update.hpp"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn_like.h>

#include "benches/files/aot/package_options.hpp"
#include "benches/models/run/compile_packages.hpp"
#include "benches/models/run/run_model.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using pace::test::cell;
using pace::test::run;

/// Trained on a CPU, with an optimiser.
Settings training() {
  Settings settings;
  settings.backends = {"aot_inductor"};
  settings.training = settings.optimizer_on_cpu = settings.compile_optimizer = true;
  settings.repeat = 4;
  settings.warm_up_iterations = 2;
  return settings;
}

TEST_CASE("the compiled step of Adam is eager's, step after step", "[models]") {
  const pace::test::PackageCache cache;
  if (pace::benches::aot::default_python().empty()) SKIP("no Python with torch is known: set PACE_PYTHON");
  const auto entry = pace::test::mlp();
  const auto made = [&] { return make_instance(entry, {.batch_size = 4, .training = true}); };
  const auto eager = made(), compiled = made();
  const auto options = optimizer_options(eager, {}, training());
  REQUIRE(options);
  pace::Updater updater(trained_parameters(eager), *options);
  pace::benches::aot::DefinitionStore store(package_options(training()));
  const CompiledUpdate update = compile_update(compiled, *options, store);
  CHECK(update.compiling->whole > 0);
  CHECK(update.state_bytes == updater.state_bytes());
  const auto expected = trained_parameters(eager), found = trained_parameters(compiled);
  // Tracing and compiling have changed neither parameters nor gradients.
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].equal(expected[i]));
    CHECK_FALSE(found[i].grad().defined());
  }
  const auto first = found.front().detach().clone(), last = found.back().detach().clone();
  for (int step = 0; step < 3; ++step) {
    CAPTURE(step);
    // The last parameter has no gradient. The first one's gradient has another order in memory in the second step.
    for (std::size_t i = 0; i + 1 < found.size(); ++i) {
      const at::Tensor gradient = at::randn_like(found[i].detach());
      expected[i].mutable_grad() = gradient.clone();
      found[i].mutable_grad() = i == 0 && step == 1 ? gradient.t().contiguous().t() : gradient;
    }
    updater.step();
    update.step();
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(at::allclose(found[i], expected[i], 1e-5, 1e-7));
  }
  CHECK_FALSE(at::allclose(found.front(), first));
  CHECK(found.back().equal(last));
}

TEST_CASE("training steps of compiled models have their optimiser compiled", "[models]") {
  const pace::test::PackageCache cache;
  if (pace::benches::aot::default_python().empty()) SKIP("no Python with torch is known: set PACE_PYTHON");
  auto settings = training();
  const auto entry = pace::test::mlp();
  std::string log;
  auto row = run(entry, settings, &log).at(0);
  INFO(row.message << '\n' << log);
  REQUIRE(cell<std::string>(row, "status") == "pass");
  CHECK(cell<double>(row, "update_speedup") > 0);
  REQUIRE(row.compilation.at(3).first == "optimizer_seconds");
  CHECK(row.compilation[3].second > 0);
  CHECK(row.compilation.at(4).second > row.compilation[3].second);
  CHECK_THAT(log, ContainsSubstring("the optimiser (adam, foreach) is compiled into a package of its own"));
  Config sgd;
  sgd.optimizer.sgd = {entry.name};
  log.clear();
  row = run(entry, settings, &log, sgd).at(0);
  CHECK(cell<std::string>(row, "status") == "pass");
  CHECK_THAT(log, ContainsSubstring("the optimiser (sgd, foreach) is not compiled"));
}

TEST_CASE("the packages of models and of their optimisers are compiled ahead", "[models]") {
  const pace::test::PackageCache cache;
  if (pace::benches::aot::default_python().empty()) SKIP("no Python with torch is known: set PACE_PYTHON");
  const auto settings = training();
  const auto entry = pace::test::mlp();
  PackageSet packages;
  std::ostringstream log;
  packages.add(entry, settings, {}, log);
  std::vector<Row> rows;
  packages.compile({}, [&](const Row& row) { rows.push_back(row); }, log);
  INFO(log.str());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].compilation.at(3).second == 0);
  CHECK(rows[1].compilation.at(3).second > 0);
  std::string words;
  const auto row = run(entry, settings, &words).at(0);
  INFO(row.message << '\n' << words);
  CHECK(cell<std::string>(row, "status") == "pass");
  CHECK(cell<double>(row, "compile_seconds") == 0);
}

}  // namespace
