// fastrnns' loop: the order of its steps, its units, and a runner that fails.
#include <cmath>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "benches/rnn/step_timer.hpp"
#include "benches/rnn/train_bench.hpp"
#include "pace/base/error.hpp"
#include "tests/gpu/fake_device.hpp"
#include "tests/support/operator_observer.hpp"
// After LibTorch's headers, whose CHECK is another one.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using namespace pace::benches::rnn;
using pace::Nanoseconds;

struct Log {
  std::vector<std::string> lines;
  /// A step passes so much time on the fake clock.
  Nanoseconds now{};
};

template <bool host>
class FakeTimer {
 public:
  using Event = int;
  static constexpr bool on_host = host;

  explicit FakeTimer(Log& log) : log_(log) {}
  [[nodiscard]] Event make_event() {
    log_.lines.push_back("make");
    moments_.emplace_back();
    return static_cast<int>(moments_.size()) - 1;
  }
  void record(Event& event) {
    log_.lines.push_back("record " + std::to_string(event % 4));
    moments_.at(static_cast<std::size_t>(event)) = log_.now;
  }
  void synchronise() { log_.lines.push_back("synchronise"); }
  [[nodiscard]] Nanoseconds elapsed(const Event& start, const Event& end) {
    log_.lines.push_back("elapsed " + std::to_string(start % 4) + ' ' + std::to_string(end % 4));
    return moments_.at(static_cast<std::size_t>(end)) - moments_.at(static_cast<std::size_t>(start));
  }
  [[nodiscard]] Nanoseconds now() { return log_.now; }

 private:
  Log& log_;
  std::vector<Nanoseconds> moments_;
};

static_assert(StepTimer<FakeTimer<true>> && StepTimer<FakeTimer<false>>);

/// Doubles its input; forward takes 2 ms, the setup 50 ms, backward 3 ms. Adds 7 to the gradient of its parameter.
ModelDef model(Log& log) {
  ModelDef def;
  def.inputs = {at::full({2}, 21.0)};
  at::Tensor weight = at::zeros({3}).requires_grad_(true);
  def.step.parameters = {weight};
  def.step.forward = [&log](Stack& inputs) -> c10::IValue {
    log.lines.push_back("forward");
    log.now += Nanoseconds(2e6);
    return inputs.at(0).toTensor().mul(2);
  };
  def.step.backward_setup = [&log](const c10::IValue& output) -> c10::IValue {
    log.lines.push_back("setup " + std::to_string(output.toTensor()[0].item<int>()));
    log.now += Nanoseconds(50e6);
    return 5;
  };
  def.step.backward = [&log, weight](const c10::IValue& prepared) mutable {
    const bool zero = !weight.grad().defined() || weight.grad().sum().item<double>() == 0;
    log.lines.push_back("backward " + std::to_string(prepared.toInt()) + (zero ? " on zeros" : " on something"));
    log.now += Nanoseconds(3e6);
    if (!weight.grad().defined()) weight.mutable_grad() = at::zeros({3});
    weight.mutable_grad() += 7;
  };
  return def;
}

TEST_CASE("a step: four events, forward, setup untimed, backward, gradients zeroed, wait, read") {
  Log log;
  FakeTimer<false> timer(log);
  auto def = model(log);
  const auto times = train_batch(timer, "x", def);
  REQUIRE(log.lines == std::vector<std::string>{"make", "make", "make", "make", "record 0", "forward", "record 1",
                                                "setup 42", "record 2", "backward 5 on zeros", "record 3",
                                                "synchronise", "elapsed 0 1", "elapsed 2 3"});
  REQUIRE(times.forward == Nanoseconds(2e6));
  REQUIRE(times.backward == Nanoseconds(3e6));
}

TEST_CASE("gradients are zeroed behind the end of backward, and no time of a step has it") {
  Log log;
  FakeTimer<true> timer(log);
  auto def = model(log);
  static_cast<void>(train_batch(timer, "x", def));
  log.lines.clear();
  const pace::test::OperatorObserver observer([&log](std::string_view op) {
    if (op != "aten::zero_") return;
    log.lines.push_back("zero");
    log.now += Nanoseconds(1e9);
  });
  const auto times = train_batch(timer, "x", def);
  REQUIRE(log.lines == std::vector<std::string>{"make", "make", "make", "make", "record 0", "forward", "record 1",
                                                "setup 42", "record 2", "backward 5 on zeros", "record 3", "zero",
                                                "synchronise", "elapsed 0 1", "elapsed 2 3"});
  REQUIRE(times.forward == Nanoseconds(2e6));
  REQUIRE(times.backward == Nanoseconds(3e6));
}

TEST_CASE("inference: forwards record nothing for a backward; without it even those that have none do") {
  Log log;
  FakeTimer<true> timer(log);
  auto def = model(log);
  def.step.backward = {};
  std::vector<bool> recorded;
  const at::Tensor weight = at::zeros({2}).requires_grad_(true);
  def.step.forward = [&recorded, weight](Stack& inputs) -> c10::IValue {
    at::Tensor output = inputs.at(0).toTensor().mul(weight);
    recorded.push_back(output.requires_grad());
    return output;
  };
  def.step.backward_setup = {};
  static_cast<void>(train_bench(timer, "py", def, {.nloops = 2, .warmup = 1, .inference = true}));
  REQUIRE(recorded == std::vector<bool>{false, false, false});
  REQUIRE(at::GradMode::is_enabled());
  static_cast<void>(train_bench(timer, "py", def, {.nloops = 1, .warmup = 0}));
  REQUIRE(recorded.back());
}

TEST_CASE("gradients are zeroed in place, not taken away") {
  Log log;
  FakeTimer<false> timer(log);
  auto def = model(log);
  static_cast<void>(train_batch(timer, "x", def));
  const void* const memory = def.step.parameters[0].grad().data_ptr();
  REQUIRE(def.step.parameters[0].grad().sum().item<double>() == 0);
  log.lines.clear();
  static_cast<void>(train_batch(timer, "x", def));
  REQUIRE(log.lines.at(9) == "backward 5 on zeros");
  REQUIRE(def.step.parameters[0].grad().data_ptr() == memory);
}

TEST_CASE("without a setup the output goes to backward; without a backward there is a time all the same") {
  Log log;
  FakeTimer<false> timer(log);
  auto def = model(log);
  def.step.backward_setup = {};
  bool same = false;
  const auto weight = def.step.parameters[0];
  def.step.backward = [&same, weight](const c10::IValue& prepared) mutable {
    same = prepared.toTensor()[0].item<double>() == 42;
    weight.mutable_grad() = at::zeros({3});
  };
  static_cast<void>(train_batch(timer, "x", def));
  REQUIRE(same);

  auto forward_only = model(log);
  forward_only.step.backward = {};
  // No gradient is asked for, either.
  REQUIRE(train_batch(timer, "x", forward_only).backward == Nanoseconds(0));
}

TEST_CASE("a parameter without a gradient is an error that says which") {
  Log log;
  FakeTimer<false> timer(log);
  auto def = model(log);
  def.step.parameters.push_back(at::zeros({1}).requires_grad_(true));
  REQUIRE_THROWS_WITH(train_batch(timer, "jit", def),
                      "runner 'jit': parameter 1 has no gradient after the backward step; expected one for each of its "
                      "2 parameters");
}

TEST_CASE("warm-up steps are made and not counted; times are milliseconds") {
  Log log;
  FakeTimer<true> timer(log);
  auto def = model(log);
  int calls = 0;
  auto forward = def.step.forward;
  def.step.forward = [&](Stack& inputs) {
    // The first two take longer.
    if (++calls <= 2) log.now += Nanoseconds(1e9);
    return forward(inputs);
  };
  const auto result = train_bench(timer, "py", def, {.nloops = 3, .warmup = 2});
  REQUIRE(calls == 5);
  REQUIRE(result.name == "py");
  REQUIRE(result.info_fwd == std::vector<float>{2, 2, 2});
  REQUIRE(result.info_bwd == std::vector<float>{3, 3, 3});
  REQUIRE(result.avg_fwd == 2);
  REQUIRE(result.std_bwd == 0);
}

TEST_CASE("compat: seconds on the host, milliseconds on a device") {
  Log log;
  FakeTimer<true> host(log);
  FakeTimer<false> device(log);
  auto def = model(log);
  const LoopOptions options{.nloops = 1, .warmup = 0, .compat = true};
  REQUIRE(train_bench(host, "py", def, options).info_fwd == std::vector<float>{0.002F});
  REQUIRE(train_bench(device, "py", def, options).info_fwd == std::vector<float>{2});
}

TEST_CASE("compat: fastrnns' events are a GPU's for cuda and nothing else") {
  const c10::Device gpu("cuda:0"), cpu(c10::kCPU);
  REQUIRE(timed_device("cuda", gpu) == gpu);
  REQUIRE(timed_device("cuda:0", gpu) == cpu);
  REQUIRE(timed_device("cuda:1", c10::Device("cuda:1")) == cpu);
  REQUIRE(timed_device("cpu", cpu) == cpu);
}

struct Dependencies {
  Log log;
  FakeTimer<false> timer{log};
  std::ostringstream err;

  std::vector<Entry> runners() {
    return {{"good", [this] { return model(log); }},
            {"bad", []() -> ModelDef { throw std::runtime_error("no such thing"); }},
            {"torch",
             [this] {
               auto def = model(log);
               def.step.forward = [](Stack& inputs) -> c10::IValue { return inputs.at(0).toTensor().view({5}); };
               return def;
             }},
            {"late", [this] { return model(log); }}};
  }
  GroupOutcome run(const GroupOptions& options, std::vector<Entry> entries) {
    return bench_group(timer, "LSTM", "lstm", entries, options, err);
  }
};

GroupOptions group_options(bool compat, bool json) {
  GroupOptions options;
  options.nloops = 2;
  options.warmup = 0;
  options.compat = compat;
  options.print_json = json;
  return options;
}

const std::string header =
    "            name          avg_fwd          std_fwd         info_fwd"
    "          avg_bwd          std_bwd         info_bwd\n";
std::string row(const std::string& name) {
  return std::string(16 - name.size(), ' ') + name +
         "                2                0             None                3                0             None\n";
}
std::vector<std::string> names(const GroupOutcome& outcome) {
  std::vector<std::string> all;
  for (const auto& each : outcome.results.models) all.push_back(each.name);
  return all;
}

TEST_CASE("a group prints its title, the table and an empty line") {
  Dependencies dependencies;
  auto entries = dependencies.runners();
  const auto outcome = dependencies.run(group_options(false, false), {entries[0], entries[3]});
  REQUIRE(dependencies.err.str() == "Benchmarking LSTMs...\n" + header + row("good") + row("late") + "\n");
  REQUIRE(outcome.results.group == "lstm");
  REQUIRE(names(outcome) == std::vector<std::string>{"good", "late"});
  REQUIRE(outcome.failed == std::vector<std::string>{});
}

TEST_CASE("a runner that fails is told of, the others go on, and the outcome is a failure") {
  Dependencies dependencies;
  const auto outcome = dependencies.run(group_options(false, false), dependencies.runners());
  const std::string text = dependencies.err.str();
  const std::string before = "Benchmarking LSTMs...\n" + header + row("good") + "runner 'bad': no such thing\n";
  REQUIRE_THAT(text, StartsWith(before));
  REQUIRE_THAT(text, ContainsSubstring("runner 'torch': shape '[5]' is invalid for input of size 2"));
  REQUIRE_THAT(text, !ContainsSubstring("backtrace"));
  REQUIRE_THAT(text, EndsWith(row("late") + "\n"));
  REQUIRE(names(outcome) == std::vector<std::string>{"good", "late"});
  REQUIRE(outcome.failed == std::vector<std::string>{"bad", "torch"});
}

TEST_CASE("with JSON nothing but errors is printed") {
  Dependencies dependencies;
  auto entries = dependencies.runners();
  const auto outcome = dependencies.run(group_options(false, true), {entries[0], entries[1], entries[3]});
  REQUIRE(dependencies.err.str() == "runner 'bad': no such thing\n");
  REQUIRE(outcome.failed == std::vector<std::string>{"bad"});
}

TEST_CASE("an error that names its runner is not given the name again") {
  Dependencies dependencies;
  const Entry lacking{"lacking", [&dependencies] {
                        auto def = model(dependencies.log);
                        def.step.parameters.push_back(at::zeros({1}).requires_grad_(true));
                        return def;
                      }};
  static_cast<void>(dependencies.run(group_options(false, true), {lacking}));
  REQUIRE_THAT(dependencies.err.str(), StartsWith("runner 'lacking': parameter 1 has no gradient"));
}

TEST_CASE("compat: an exception ends everything, but with JSON the runner is left out without a word") {
  Dependencies dependencies;
  REQUIRE_THROWS_WITH(dependencies.run(group_options(true, false), dependencies.runners()), "no such thing");

  Dependencies silent;
  const auto outcome = silent.run(group_options(true, true), silent.runners());
  REQUIRE(silent.err.str() == "");
  REQUIRE(names(outcome) == std::vector<std::string>{"good", "late"});
  REQUIRE(outcome.failed == std::vector<std::string>{});
}

TEST_CASE("compat: gradients of a generator of parameters are zeroed after the first step, warm-up or not") {
  const auto starts = [](bool compat, bool zeroed_once, std::int64_t warmup) {
    Dependencies dependencies;
    GroupOptions options = group_options(compat, false);
    options.nloops = 3;
    options.warmup = warmup;
    static_cast<void>(dependencies.run(
        options,
        {{.name = "x", .make = [&dependencies] { return model(dependencies.log); }, .zeroed_once = zeroed_once}}));
    std::string text;
    for (const auto& line : dependencies.log.lines)
      if (line.starts_with("backward ")) text += line.ends_with("on zeros") ? '0' : '+';
    return text;
  };
  // The second step starts from the zeros that the first one left.
  REQUIRE(starts(true, true, 2) == "00+++");
  REQUIRE(starts(true, true, 0) == "00+");
  REQUIRE(starts(true, false, 2) == "00000");
  REQUIRE(starts(false, true, 2) == "00000");
}

TEST_CASE("a device that is lost ends everything") {
  Dependencies dependencies;
  const Entry fatal{"fatal", []() -> ModelDef { throw pace::DeviceLost("gone"); }};
  REQUIRE_THROWS_AS(dependencies.run(group_options(false, false), {fatal}), pace::DeviceLost);
}

TEST_CASE("the host's timer reads its clock; a device of a program without CUDA is refused") {
  struct Clock {
    Nanoseconds* time;
    [[nodiscard]] Nanoseconds now() const { return *time; }
  };
  Nanoseconds time{};
  HostTimer timer(Clock{&time});
  auto start = timer.make_event(), end = timer.make_event();
  time = Nanoseconds(10);
  timer.record(start);
  time = Nanoseconds(35);
  timer.record(end);
  REQUIRE(timer.elapsed(start, end) == Nanoseconds(25));
  REQUIRE(timer.now() == Nanoseconds(35));

  REQUIRE(with_step_timer(at::kCPU, [](auto& each) { return each.on_host; }));
#ifndef PACE_CUDA
  REQUIRE_THROWS_AS(with_step_timer(c10::Device("cuda:0"), [](auto& each) { return each.on_host; }), pace::Unsupported);
#endif
}

TEST_CASE("a device's timer has events in the current stream, and gives them back") {
  pace::testing::FakeDevice device;
  device.launch_cost = Nanoseconds(0);
  DeviceTimer timer(device);
  ModelDef def;
  def.step.forward = [&](Stack&) -> c10::IValue { return device.work(Nanoseconds(400)), 0; };
  def.step.backward_setup = [&](const c10::IValue&) -> c10::IValue { return device.work(Nanoseconds(5000)), 0; };
  def.step.backward = [&](const c10::IValue&) { device.work(Nanoseconds(700)); };
  const auto times = train_batch(timer, "x", def);
  REQUIRE(times.forward == Nanoseconds(400));
  REQUIRE(times.backward == Nanoseconds(700));
  REQUIRE(device.live == 0);
}

}  // namespace
