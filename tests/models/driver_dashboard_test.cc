// The dashboard, on numbers worked out by hand.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <optional>
#include <sstream>
#include <string>

#include "pace/core/error.hpp"
#include "pace/families/models/driver/dashboard_report.hpp"
#include "tests/support/scratch.hpp"

namespace {

using namespace pace::families::models;
using pace::test::Scratch;

const std::string performance =
    "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio\n"
    "cpu,fast,4,4.0,1,10,1.0\n"
    "cpu,slow,4,0.25,1,121,0.5\n"
    "cpu,wrong,4,9.0,1,1,1\n"
    "cpu,unloaded,0,0,0,0,0\n"
    "cpu,crashed,0,0,0,0,0\n";
const std::string accuracy =
    "dev,name,batch_size,accuracy\ncpu,fast,4,pass\ncpu,slow,4,pass_due_to_skip\ncpu,wrong,4,fail_accuracy\n"
    "cpu,unloaded,0,model_fail_to_load\ncpu,crashed,4,pass\n";

TEST_CASE("the name of a file says what it is of") {
  const auto key = dashboard_key("aot_inductor_torchbench_float32_inference_cpu_accuracy.csv");
  REQUIRE(key);
  CHECK(key->first == DashboardKey{"float32", "inference", "cpu", "torchbench", "aot_inductor"});
  CHECK(key->second);
  CHECK(dashboard_key("x_timm_models_amp_training_cuda_performance.csv")->first.suite == "timm_models");
  CHECK(dashboard_key("x_timm_as_made_training_cuda:1_performance.csv")->first.dtype == "as_made");
  for (const char* other :
       {"geomean.csv", "x_other_amp_training_cuda_performance.csv", "x_timm_amp_training_cuda_speed.csv"})
    CHECK_FALSE(dashboard_key(other));
}

TEST_CASE("figures of a run") {
  const DashboardKey key{"float32", "inference", "cpu", "timm", "aot"};
  const DashboardRun run{pace::report::parse_csv(performance, "p"), pace::report::parse_csv(accuracy, "a")};
  const auto figures = dashboard_figures(key, run, {});
  // Clipped: 4 and 1. The wrong one does not count, the crashed one fails, and the unloaded one is not there at all.
  CHECK(figures.geomean == "2.00x");
  CHECK(figures.pass_rate == "50%, 2/4");
  CHECK(figures.compile_time == "65.50");
  CHECK(figures.memory == "0.75x");
  CHECK(dashboard_figures(key, run, {.include_slowdowns = true}).geomean == "1.00x");
  std::string warnings;
  for (const auto& each : figures.warnings) warnings += each.metric + ' ' + each.model + ' ' + each.value + '\n';
  CHECK(warnings ==
        "accuracy wrong fail_accuracy\nspeedup slow 0.250\ncompilation_latency slow 121.000\n"
        "compression_ratio slow 0.500\n");
  const auto alone = dashboard_figures(key, {pace::report::parse_csv(performance, "p"), std::nullopt}, {});
  CHECK(alone.pass_rate == "60%, 3/5");
  const auto only_accuracy = dashboard_figures(key, {std::nullopt, pace::report::parse_csv(accuracy, "a")}, {});
  CHECK(only_accuracy.pass_rate == "75%, 3/4");
  CHECK(only_accuracy.geomean == "-");
}

TEST_CASE("limits are not warned about") {
  const DashboardRun run{
      pace::report::parse_csv("name,speedup,compilation_latency,compression_ratio\na,0.95,120,0.9\n", "p"), std::nullopt};
  CHECK(dashboard_figures({}, run, {}).warnings.empty());
}

TEST_CASE("the report") {
  const Scratch scratch, old;
  (void)scratch.write("aot_torchbench_float32_inference_cpu_performance.csv", performance);
  (void)scratch.write("aot_torchbench_float32_inference_cpu_accuracy.csv", accuracy);
  (void)scratch.write("aot_timm_float32_inference_cpu_performance.csv", "name,speedup\na,3\n");
  (void)scratch.write("graph_torchbench_float32_inference_cpu_performance.csv", "name,speedup\na,0.5\n");
  (void)scratch.write("unrelated.csv", "x\n");
  (void)old.write("graph_torchbench_float32_inference_cpu_performance.csv", "name,speedup\na,0.4\nb,0.1\n");
  std::ostringstream out;
  report_dashboard(read_dashboard(scratch.path.string()), read_dashboard(old.path.string()), {}, scratch / "out", out);
  CHECK(scratch.read("out/geomean.csv") == "Compiler,timm,torchbench\naot,3.00x,2.00x\ngraph,-,1.00x\n");
  CHECK(scratch.read("out/passrate.csv") ==
        "Compiler,timm,torchbench\naot,\"100%, 1/1\",\"50%, 2/4\"\ngraph,-,\"100%, 1/1\"\n");
  CHECK(scratch.read("out/comp_time.csv") == "Compiler,timm,torchbench\naot,-,65.50\ngraph,-,-\n");
  CHECK(scratch.read("out/memory.csv") == "Compiler,timm,torchbench\naot,-,0.75x\ngraph,-,-\n");
  const std::string warned = scratch.read("out/gh_warnings.txt"), changed = scratch.read("out/gh_regression.txt");
  CHECK(warned.find("| torchbench | graph | float32 inference cpu | speedup | a | 0.500 |") != std::string::npos);
  // That one was there before; the other one has gone.
  CHECK(changed.substr(0, changed.find("## No more")).find("graph") == std::string::npos);
  CHECK(changed.find("| torchbench | graph | float32 inference cpu | speedup | b | 0.100 |") >
        changed.find("## No more"));
  CHECK(out.str() == scratch.read("out/gh_executive_summary.txt") + warned + changed);
  CHECK_THROWS_AS(read_dashboard(scratch / "out"), pace::InputError);
  CHECK_THROWS_AS(read_dashboard(scratch / "nowhere"), pace::InputError);
}

TEST_CASE("the commands of a dashboard write files that it reads") {
  const auto text = dashboard_commands(
      {.suites = {"timm"}, .dtypes = {"amp"}, .compilers = {"aot_inductor", "cuda_graph"}, .extra_args = "-k x"});
  CHECK(
      text ==
      "bazel run //benches/models -- --performance --suite timm --inference --amp --device cuda --backend aot_inductor "
      "--dashboard --cold-start-latency --output benchmark_logs/aot_inductor_timm_amp_inference_cuda_performance.csv "
      "-k x\n"
      "bazel run //benches/models -- --performance --suite timm --inference --amp --device cuda --backend cuda_graph "
      "--dashboard --output benchmark_logs/cuda_graph_timm_amp_inference_cuda_performance.csv -k x\n"
      "bazel run //benches/models -- --accuracy --suite timm --inference --amp --device cuda --backend aot_inductor "
      "--dashboard --cold-start-latency --output benchmark_logs/aot_inductor_timm_amp_inference_cuda_accuracy.csv -k "
      "x\n"
      "bazel run //benches/models -- --accuracy --suite timm --inference --amp --device cuda --backend cuda_graph "
      "--dashboard --output benchmark_logs/cuda_graph_timm_amp_inference_cuda_accuracy.csv -k x\n");
  CHECK(dashboard_key("cuda_graph_timm_amp_inference_cuda_accuracy.csv"));
}

}  // namespace
