// The halves of a step for 0.1 s each, and pytest-benchmark's JSON, which the comparison reads.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "benches/rnn/compare_fastrnns.hpp"
#include "benches/rnn/test_bench.hpp"
#include "pace/base/error.hpp"
#include "tests/support/operator_observer.hpp"
// After LibTorch's headers, whose CHECK is another one.
#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pace::benches::rnn;
using pace::Nanoseconds;

/// Its time passes when something is waited for.
struct Dependencies {
  struct Timer {
    using Event = int;
    static constexpr bool on_host = false;
    Dependencies* dependencies;
    [[nodiscard]] Event make_event() const { return 0; }
    void record(Event&) const {}
    void synchronise() const {
      dependencies->time += dependencies->queued;
      dependencies->queued = Nanoseconds(0);
    }
    [[nodiscard]] Nanoseconds elapsed(Event, Event) const { return {}; }
    [[nodiscard]] Nanoseconds now() const { return dependencies->time; }
  };

  Nanoseconds time{}, queued{}, forward_time{10e6}, backward_time{30e6};
  int forwards = 0, backwards = 0;
  bool keeps_graph = true;
  std::vector<double> gradients_before;
  Timer timer{this};

  ModelDef model() {
    ModelDef def;
    at::Tensor weight = at::zeros({1}).requires_grad_(true);
    def.step.parameters = {weight};
    def.step.forward = [this](Stack&) -> c10::IValue {
      ++forwards;
      queued += forward_time;
      return 1;
    };
    def.step.backward_setup = [this](const c10::IValue&) -> c10::IValue {
      queued += Nanoseconds(7e9);
      return c10::ivalue::Tuple::create({at::empty({1}), at::Tensor()});
    };
    def.step.backward = [this, weight](const c10::IValue& prepared) mutable {
      ++backwards;
      keeps_graph = keeps_graph && prepared.toTupleRef().elements().at(2).toBool();
      queued += backward_time;
      if (!weight.grad().defined()) weight.mutable_grad() = at::zeros({1});
      gradients_before.push_back(weight.grad().item<double>());
      weight.mutable_grad() += 1;
    };
    return def;
  }
};

static_assert(StepTimer<Dependencies::Timer>);

TEST_CASE("forward: four calls to see how long it takes, three to warm up, as many as fit into 0.1 s") {
  Dependencies dependencies;
  auto model = dependencies.model();
  const auto stats = test_forward(dependencies.timer, model);
  // 0.1 s / 10 ms.
  REQUIRE(stats.rounds == 10);
  REQUIRE(dependencies.forwards == 4 + 3 + 10);
  REQUIRE(dependencies.backwards == 0);
  REQUIRE(stats.median == 0.01);
}

TEST_CASE("a first call that takes long does not cost rounds, and none is counted that warms up") {
  Dependencies dependencies;
  auto model = dependencies.model();
  model.step.forward = [&dependencies](Stack&) -> c10::IValue {
    dependencies.queued += Nanoseconds(++dependencies.forwards == 1 ? 60e9 : dependencies.forwards <= 7 ? 50e6 : 20e6);
    return 1;
  };
  const auto stats = test_forward(dependencies.timer, model);
  // 0.1 s / 50 ms, but five at least. Two calls of 50 ms use the time for warming up before the third.
  REQUIRE(dependencies.forwards == 3 + 3 + 5);
  REQUIRE(stats.rounds == 5);
  REQUIRE(stats.max == 0.05);
  REQUIRE(stats.median == 0.02);
}

TEST_CASE("slow calls have five rounds; a call without a time does not go on for ever") {
  Dependencies slow;
  slow.forward_time = Nanoseconds(40e6);
  auto model = slow.model();
  REQUIRE(test_forward(slow.timer, model).rounds == 5);

  Dependencies fast;
  fast.forward_time = Nanoseconds(0);
  auto other = fast.model();
  // 0.1 s / 5 us.
  REQUIRE(test_forward(fast.timer, other).rounds == 20000);
}

TEST_CASE("backward: through the kept graph of one forward, which is not timed; gradients are zeroed behind the last") {
  Dependencies dependencies;
  auto model = dependencies.model();
  model.step.parameters[0].mutable_grad() = at::zeros({1});
  int zeroed = 0;
  const pace::test::OperatorObserver observer([&](std::string_view op) {
    if (op != "aten::zero_") return;
    ++zeroed;
    dependencies.queued += Nanoseconds(60e9);
  });
  const auto stats = test_backward(dependencies.timer, "x", model, {.warmup = 2, .min_rounds = 1});
  REQUIRE(stats.has_value());
  // 0.1 s / 30 ms, rounded up.
  REQUIRE(stats->rounds == 4);
  REQUIRE(dependencies.backwards == 3 + 2 + 4);
  REQUIRE(dependencies.forwards == 1);
  REQUIRE(dependencies.keeps_graph);
  REQUIRE(std::abs(stats->max - 0.03) < 1e-6);
  REQUIRE(dependencies.gradients_before == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  REQUIRE(zeroed == 1);
  REQUIRE(model.step.parameters[0].grad().item<double>() == 0);

  auto forward_only = dependencies.model();
  forward_only.step.backward = {};
  REQUIRE_FALSE(test_backward(dependencies.timer, "x", forward_only).has_value());

  auto lacking = dependencies.model();
  lacking.step.parameters.push_back(at::zeros({1}).requires_grad_(true));
  REQUIRE_THROWS_AS(test_backward(dependencies.timer, "x", lacking), pace::Error);
}

TEST_CASE("statistics of rounds") {
  const auto even = stats_of({4, 1, 3, 2});
  REQUIRE(even.min == 1);
  REQUIRE(even.max == 4);
  REQUIRE(even.mean == 2.5);
  REQUIRE(even.median == 2.5);
  REQUIRE(even.rounds == 4);
  // 2.25 + 0.25 + 0.25 + 2.25 = 5, over 3.
  REQUIRE(even.stddev == std::sqrt(5.0 / 3.0));
  REQUIRE(stats_of({5, 1, 3}).median == 3);
  REQUIRE(stats_of({5}).stddev == 0);
  REQUIRE_THROWS_AS(stats_of({}), pace::Error);
}

TEST_CASE("pytest-benchmark's JSON has the figures, and is what the comparison reads") {
  const std::vector<TestBenchResult> results = {
      {"aten", false, {.min = 0.5, .max = 2, .mean = 1, .stddev = 0.25, .median = 0.75, .rounds = 7}},
      {"aten", true, {.mean = 3}}};
  std::ostringstream out;
  print_pytest_json(results, {{"executor", "legacy"}, {"fuser", "old"}}, {}, out,
                    std::chrono::system_clock::time_point(std::chrono::seconds(86400)));
  const auto json = nlohmann::json::parse(out.str());
  REQUIRE(json.at("datetime") == "1970-01-02T00:00:00+00:00");
  REQUIRE(json.at("machine_info").contains("node"));
  const auto& first = json.at("benchmarks").at(0);
  REQUIRE(first.at("group") == "fastrnns");
  REQUIRE(first.at("name") == "test_forward[aten-legacy-old]");
  REQUIRE(first.at("params") == nlohmann::json({{"net_name", "aten"}, {"executor", "legacy"}, {"fuser", "old"}}));
  REQUIRE(first.at("stats") == nlohmann::json({{"min", 0.5},
                                               {"max", 2.0},
                                               {"mean", 1.0},
                                               {"stddev", 0.25},
                                               {"rounds", 7},
                                               {"median", 0.75},
                                               {"iterations", 1}}));
  REQUIRE(json.at("benchmarks").at(1).at("name") == "test_backward[aten-legacy-old]");

  std::string path = (std::filesystem::temp_directory_path() / "test_bench_XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  REQUIRE(descriptor >= 0);
  ::close(descriptor);
  std::ofstream(path) << out.str();
  const auto times = read_times(path);
  std::filesystem::remove(path);
  REQUIRE(times == Times{{"fastrnns[aten]:fwd", 1}, {"fastrnns[aten]:bwd", 3}});
}

}  // namespace
