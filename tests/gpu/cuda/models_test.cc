// Whole models on a GPU: as CUDA graphs, for inference and training; memory; snapshots.
#include "benches/models/run/run_model.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "pace/os/folders.hpp"
#include "tests/gpu/cuda/gpu.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using pace::test::cell;
using pace::test::run;

/// For tests that have nothing to do with random numbers.
ModelEntry without_dropout() { return pace::test::small_net(0); }

TEST_CASE("models as CUDA graphs are timed and right", "[models]") {
  (void)pace::testing::on_gpu();
  const auto folder = pace::detail::make_folder_in(std::filesystem::temp_directory_path());
  for (const bool training : {false, true}) {
    Settings settings;
    settings.device = "cuda";
    settings.training = training;
    settings.backends = {"cuda_graph", "torchscript"};
    settings.repeat = 12;
    settings.memory_snapshot = folder.string();
    std::string log;
    const auto rows = run(without_dropout(), settings, &log);
    for (const auto& row : rows) {
      INFO(row.backend << ": " << row.message << '\n' << log);
      REQUIRE(cell<std::string>(row, "status") == "pass");
      REQUIRE(cell<double>(row, "speedup") > 0);
      REQUIRE(cell<double>(row, "eager_peak_mem") > 0);
      // Like torchbench's steps, those on a GPU have their optimiser; in a graph where the step is one.
      const bool says_so = log.find("cuda_graph: the optimiser (adam, foreach) is a CUDA graph") != std::string::npos;
      REQUIRE(says_so == training);
      REQUIRE((cell<double>(row, "update_speedup") > 0) == training);
      // A graph's memory counts, too.
      if (row.backend == "cuda_graph")
        REQUIRE(cell<double>(row, "dynamo_peak_mem") > 0.8 * cell<double>(row, "eager_peak_mem"));
    }
    REQUIRE(std::filesystem::exists(folder / "eager_small_net.pickle"));
    settings.compat = true;
    const auto compatible = run(without_dropout(), settings, &log);
    for (const auto& row : compatible) {
      INFO(row.backend << ": " << row.message << '\n' << log);
      REQUIRE(cell<std::string>(row, "status") == "pass");
    }
  }
  pace::detail::remove_tree(folder);
}

TEST_CASE("models as CUDA graphs train as eager does, with the optimiser", "[models]") {
  (void)pace::testing::on_gpu();
  for (const bool training : {false, true}) {
    for (const auto precision : {Precision::float32, Precision::amp}) {
      Settings settings;
      settings.mode = Mode::accuracy;
      settings.device = "cuda";
      settings.training = training;
      settings.use_eval_mode = false;
      settings.precision = precision;
      settings.backends = {"cuda_graph", "torchscript"};
      settings.iterations = 3;
      std::string log;
      for (const auto& row : run(without_dropout(), settings, &log)) {
        INFO(training << ' ' << row.backend << ": " << row.message << '\n' << log);
        REQUIRE(cell<std::string>(row, "accuracy") == "pass");
      }
    }
  }
}

/// Compiled code in CUDA graphs, as PyTorch's dashboard runs it. Needs a Python that can compile packages.
TEST_CASE("compiled models as CUDA graphs are right, and timed beside both", "[models][compiled]") {
  (void)pace::testing::on_gpu();
  if (std::getenv("PACE_PYTHON") == nullptr) SKIP("PACE_PYTHON names no Python to compile with");
  for (const bool training : {false, true}) {
    Settings settings;
    settings.device = "cuda";
    settings.training = training;
    settings.backends = {"cuda_graph", "torchscript_cuda_graph", "aot_inductor", "aot_inductor_cuda_graph"};
    settings.repeat = 12;
    std::string log;
    for (const auto& row : run(without_dropout(), settings, &log)) {
      INFO(training << ' ' << row.backend << ": " << row.message << '\n' << log);
      REQUIRE(cell<std::string>(row, "status") == "pass");
      CHECK(cell<double>(row, "speedup") > 0);
      // Parameters and inputs are in both peaks, which are of one back end each.
      CHECK(cell<double>(row, "eager_peak_mem") > 0);
      CHECK(cell<double>(row, "dynamo_peak_mem") > 0.2 * cell<double>(row, "eager_peak_mem"));
    }
    settings.mode = Mode::accuracy;
    settings.use_eval_mode = false;
    settings.iterations = 3;
    for (const auto& row : run(without_dropout(), settings, &log)) {
      INFO(training << ' ' << row.backend << ": " << row.message << '\n' << log);
      REQUIRE(cell<std::string>(row, "accuracy") == "pass");
    }
  }
}

TEST_CASE("training steps of compiled models have their optimiser compiled", "[models][compiled]") {
  (void)pace::testing::on_gpu();
  if (std::getenv("PACE_PYTHON") == nullptr) SKIP("PACE_PYTHON names no Python to compile with");
  // Without a bias before a batch norm: Adam makes whole steps of the rounding that is left of its gradient.
  Settings settings;
  settings.device = "cuda";
  settings.training = true;
  settings.compile_optimizer = true;
  settings.backends = {"aot_inductor", "aot_inductor_cuda_graph"};
  settings.repeat = 12;
  for (const auto mode : {Mode::performance, Mode::accuracy}) {
    settings.mode = mode;
    settings.use_eval_mode = mode == Mode::performance;
    settings.iterations = 3;
    std::string log;
    for (const auto& row : run(pace::test::mlp(), settings, &log)) {
      INFO(row.backend << ": " << row.message << '\n' << log);
      CHECK(cell<std::string>(row, mode == Mode::performance ? "status" : "accuracy") == "pass");
      if (mode != Mode::performance) continue;
      CHECK(log.find(row.backend + ": the optimiser (adam, foreach) is compiled into a package of its own") !=
            std::string::npos);
      CHECK(cell<double>(row, "update_speedup") > 0);
    }
  }
}

TEST_CASE("dropout in a CUDA graph draws what eager draws", "[models]") {
  (void)pace::testing::on_gpu();
  Settings settings;
  settings.device = "cuda";
  settings.training = true;
  settings.backends = {"cuda_graph"};
  settings.repeat = 4;
  std::string log;
  const auto rows = run(pace::test::small_net(0.5), settings, &log);
  INFO(rows[0].message << '\n' << log);
  REQUIRE(cell<std::string>(rows[0], "status") == "pass");
  REQUIRE(rows[0].result == RowResult::passed);
}

TEST_CASE("a share of the memory is all there is", "[models]") {
  (void)pace::testing::on_gpu();
  Settings settings;
  settings.device = "cuda";
  settings.backends = {"torchscript"};
  settings.repeat = 2;
  settings.memory_fraction = 1e-7;
  // A small one would fit where tensors that are still alive keep a segment open.
  settings.batch_size = 1 << 16;
  std::string log;
  const auto rows = run(without_dropout(), settings, &log);
  REQUIRE(rows[0].result == RowResult::unmeasured);
  REQUIRE_THAT(rows[0].message, Catch::Matchers::ContainsSubstring("out of memory"));
}

}  // namespace
