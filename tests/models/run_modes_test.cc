// Tolerance, batch invariance, throughput, batch sizes, traces, snapshots, operator inputs: runs beside the measured
// ones.
#include "benches/models/run/run_model.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include "benches/models/run/batch_invariance.hpp"
#include "benches/models/run/modes.hpp"
#include "benches/models/run/tolerance_mode.hpp"
#include "pace/os/folders.hpp"
#include "tests/models/run_fakes.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/models/run_samples.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using pace::test::AddedBackend;
using pace::test::cell;
using pace::test::eager_but;
using pace::test::run;
namespace fs = std::filesystem;
using pace::test::Scratch;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Settings in_mode(Mode mode, std::vector<std::string> backends) {
  Settings settings;
  settings.mode = mode;
  settings.backends = std::move(backends);
  settings.repeat = 4;
  settings.warm_up_iterations = 1;
  return settings;
}

TEST_CASE("relative errors, by hand", "[models]") {
  const auto both = [](const at::Tensor& a) { return c10::IValue(c10::ivalue::Tuple::create({a, at::arange(3)})); };
  // |1-2|/2, |3-3|/4, |-1+2|/2: 0.5, 0, 0.5
  const auto errors = relative_errors(both(at::tensor({1.0, 3.0, -1.0})), both(at::tensor({2.0, 3.0, -2.0})));
  REQUIRE(errors.max == 0.5);
  REQUIRE(errors.mean == Approx(1.0 / 3));
  REQUIRE(errors.std == Approx(0.288675134));
  REQUIRE(errors.elements == 3);
  REQUIRE_THROWS_AS(relative_errors(both(at::ones({2})), at::ones({2})), pace::Error);
  REQUIRE_THROWS_AS(relative_errors(both(at::ones({2})), both(at::ones({3}))), pace::Error);
}

TEST_CASE("tolerance mode", "[models]") {
  const AddedBackend off("off", eager_but([](int) {},
                                          [](c10::IValue value) {
                                            const at::Tensor x = value.toTensor();
                                            return c10::IValue(x + (x.abs() + 1) * 0.25);
                                          }));
  const auto rows = run(pace::test::small_net(), in_mode(Mode::tolerance, {"off", "torchscript", "cuda_graph"}));
  REQUIRE(rows.size() == 3);
  REQUIRE(cell<double>(rows[0], "max") == Approx(0.25).epsilon(1e-4));
  REQUIRE(cell<double>(rows[0], "mean") == Approx(0.25).epsilon(1e-4));
  REQUIRE(cell<double>(rows[0], "std") < 1e-5);
  REQUIRE(cell<double>(rows[1], "max") < 1e-5);
  REQUIRE(cell<std::string>(rows[2], "status") == "fail_to_run");
  REQUIRE(rows[2].result == RowResult::failed);
}

TEST_CASE("batch invariance, of any function", "[models]") {
  std::string message;
  const auto check = [&](const torch::jit::Stack& inputs, std::int64_t batch, const auto& forward) {
    message.clear();
    return batch_invariance(inputs, batch, forward, message);
  };
  const torch::jit::Stack inputs{at::arange(16, at::kFloat).reshape({8, 2}), at::ones({3})};
  std::vector<std::int64_t> sizes;
  const auto twice = [&](const torch::jit::Stack& given) -> c10::IValue {
    sizes.push_back(given[0].toTensor().size(0));
    REQUIRE(given[1].toTensor().size(0) == 3);
    return given[0].toTensor() * 2;
  };
  REQUIRE(check(inputs, 8, twice) == "pass");
  REQUIRE(sizes == std::vector<std::int64_t>{8, 4, 2, 1});
  REQUIRE(check(inputs, 7, twice) == "pass_due_to_skip");
  REQUIRE(check({at::ones({1, 2})}, 1, twice) == "pass_due_to_skip");
  // Another rounding in batches of two.
  const auto rounds = [](const torch::jit::Stack& given) -> c10::IValue {
    const auto& x = given[0].toTensor();
    return x.size(0) == 2 ? x * (1 + 1e-6) : x * 1;
  };
  REQUIRE(check(inputs, 8, rounds) == "fail_batch_invariance_at_2");
  REQUIRE_THAT(message, ContainsSubstring("output 0 of 2 samples"));
  const auto throws_at = [](std::int64_t size) {
    return [size](const torch::jit::Stack& given) -> c10::IValue {
      if (given[0].toTensor().size(0) == size) throw std::runtime_error("not this size");
      return given[0];
    };
  };
  REQUIRE(check(inputs, 8, throws_at(4)) == "fail_to_run_at_batch_4");
  REQUIRE(message == "not this size");
  REQUIRE(check(inputs, 8, throws_at(8)) == "fail_to_run");
  // An output without a batch in front is not compared.
  REQUIRE(check(inputs, 8, [](const torch::jit::Stack& given) -> c10::IValue { return given[0].toTensor().sum(); }) ==
          "pass");
}

TEST_CASE("batch invariance mode", "[models]") {
  const auto rows = run(pace::test::small_net(), in_mode(Mode::batch_invariance, {"torchscript", "cuda_graph"}));
  REQUIRE(rows[0].batch_size == 8);
  REQUIRE(rows[0].values.front().first == "accuracy");
  const auto status = cell<std::string>(rows[0], "accuracy");
  // oneDNN may choose another kernel for another batch: the mode finds that out.
  REQUIRE_THAT(status, Equals("pass") || StartsWith("fail_batch_invariance_at_"));
  REQUIRE(rows[0].result == (status == "pass" ? RowResult::passed : RowResult::failed));
  REQUIRE(cell<std::string>(rows[1], "accuracy") == "fail_to_run");

  // Whose fault it is: the back end's, which answers by the batch, or the fault of code that eager calls as well.
  const AddedBackend by_batch("by_batch", eager_but([](int) {},
                                                    [](c10::IValue value) {
                                                      const at::Tensor x = value.toTensor();
                                                      return c10::IValue(x + 0.25 * static_cast<double>(x.size(0)));
                                                    }));
  const auto told = [](const char* backend, const ModelEntry& entry) {
    return run(entry, in_mode(Mode::batch_invariance, {backend}))[0].message;
  };
  const auto exact = pace::test::of_weights([](const at::Tensor& x, const at::Tensor& w) { return x * 0 + w; });
  REQUIRE(told("torchscript", exact) == "");
  REQUIRE(told("by_batch", exact) == "output 0 of 4 samples differs by up to 1; eager is batch invariant");
  const auto inexact = pace::test::of_weights(
      [](const at::Tensor& x, const at::Tensor& w) { return x * 0 + w * static_cast<double>(x.size(0)); });
  REQUIRE(told("eager", inexact) == "output 0 of 4 samples differs by up to 8");
  REQUIRE(told("torchscript", inexact) == "output 0 of 4 samples differs by up to 8; so does eager's");

  auto training = in_mode(Mode::batch_invariance, {"eager"});
  training.training = true;
  REQUIRE_THROWS_AS(run(pace::test::small_net(), training), pace::InputError);
}

TEST_CASE("throughput: every call is made by one of the threads, after all have warmed up", "[models]") {
  std::atomic<int> calls{0};
  std::vector<int> by(3);
  std::vector<std::function<void()>> callers;
  for (std::size_t i = 0; i < by.size(); ++i)
    callers.push_back([&, i] {
      ++calls;
      ++by[i];
    });
  const auto found = measure_throughput(callers, 1000, 5);
  REQUIRE(calls == 1000 + 3 * 5);
  for (const int each : by) REQUIRE(each >= 5);
  REQUIRE(found.callers == 3);
  REQUIRE(found.seconds > 0);
  const Throughput known{.callers = 4, .iterations = 200, .seconds = 2};
  REQUIRE(known.latency_milliseconds() == 40);
  REQUIRE(known.calls_per_second() == 100);

  const std::function<void()> failing = [] { throw std::runtime_error("one caller fails"); };
  REQUIRE_THROWS_WITH(measure_throughput({failing, failing}, 10, 0), "one caller fails");
  callers.push_back(failing);
  REQUIRE_THROWS_WITH(measure_throughput(callers, 10, 2), "one caller fails");
  REQUIRE_THROWS_AS(measure_throughput({}, 10, 2), pace::InputError);
  REQUIRE_THROWS_AS(measure_throughput(callers, 0, 2), pace::InputError);
}

TEST_CASE("throughput mode", "[models]") {
  auto settings = in_mode(Mode::throughput, {"eager", "torchscript", "cuda_graph"});
  settings.callers = 3;
  const auto rows = run(pace::test::small_net(), settings);
  for (const int i : {0, 1}) {
    REQUIRE(cell<std::int64_t>(rows[static_cast<std::size_t>(i)], "callers") == 3);
    REQUIRE(cell<std::int64_t>(rows[static_cast<std::size_t>(i)], "iterations") == 12);
    REQUIRE(cell<double>(rows[static_cast<std::size_t>(i)], "latency_ms") > 0);
  }
  const auto calls = cell<double>(rows[0], "calls_per_second");
  REQUIRE(cell<double>(rows[0], "samples_per_second") == Approx(2 * calls));
  REQUIRE(cell<std::string>(rows[2], "status") == "fail_to_run");
  settings.callers = 0;
  REQUIRE_THROWS_AS(run(pace::test::small_net(), settings), pace::InputError);
  settings.callers = 1;
  settings.training = true;
  REQUIRE_THROWS_AS(run(pace::test::small_net(), settings), pace::InputError);
}

TEST_CASE("the largest batch that runs", "[models]") {
  auto entry = pace::test::small_net();
  entry.make = [make = entry.make](const ModelRequest& request) {
    if (request.batch_size > 20) throw std::runtime_error("only 20 fit");
    return make(request);
  };
  std::string log;
  auto settings = in_mode(Mode::find_batch_size, {"eager"});
  settings.batch_size = 64;
  settings.training = true;
  const auto rows = run(entry, settings, &log);
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].batch_size == 16);
  REQUIRE_THAT(log, ContainsSubstring("a batch of 64 does not run: only 20 fit"));
  REQUIRE_THAT(log, ContainsSubstring("a batch of 32 does not run"));
}

TEST_CASE("traces of a run of their own", "[models]") {
  const Scratch folder;
  auto settings = in_mode(Mode::performance, {"torchscript"});
  settings.profiler_trace = (folder.path / "traces").string();
  settings.memory_snapshot = (folder.path / "snapshots").string();
  settings.training = true;
  std::string log;
  const auto rows = run(pace::test::small_net(), settings, &log);
  REQUIRE(rows[0].result == RowResult::passed);
  for (const std::string backend : {"eager", "torchscript"}) {
    const auto trace = text_of(folder.path / "traces" / ("small_net_" + backend + "_training.pt.trace.json"));
    REQUIRE_THAT(trace, ContainsSubstring("small_net/" + backend));
    REQUIRE_THAT(trace, ContainsSubstring("aten::"));
  }
  REQUIRE_THAT(log, ContainsSubstring("memory snapshots are of a GPU's allocator"));
  REQUIRE_FALSE(fs::exists(folder.path / "snapshots"));
}

TEST_CASE("operator inputs of a model, for the operator bench", "[models]") {
  const Scratch folder;
  auto settings = in_mode(Mode::operator_inputs, {"aot_inductor"});
  REQUIRE_THROWS_AS(run(pace::test::small_net(), settings), pace::InputError);
  settings.log_operator_inputs = (folder.path / "inputs").string();
  std::string log;
  auto rows = run(pace::test::small_net(), settings, &log);
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].backend == "eager");
  REQUIRE(rows[0].result == RowResult::passed);
  const auto inference = text_of(folder.path / "inputs" / "small_net_eval.txt");
  REQUIRE_THAT(inference, ContainsSubstring("Operator: aten.convolution.default"));
  REQUIRE_THAT(inference, !ContainsSubstring("backward"));
  REQUIRE_THAT(log, ContainsSubstring("recorded "));
  settings.training = true;
  (void)run(pace::test::small_net(), settings);
  REQUIRE_THAT(text_of(folder.path / "inputs" / "small_net_training.txt"),
               ContainsSubstring("Operator: aten.convolution_backward.default"));
  (void)run(pace::test::small_net(), settings, &log);
  REQUIRE_THAT(log, ContainsSubstring("Skipping small_net"));
}

}  // namespace
