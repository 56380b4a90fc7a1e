// Dependencies that show the work of the compatible flows: simulated time, back ends that say when they run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/compat/run.hpp"
#include "benches/operators/compat/timer.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/os/folders.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"

namespace pace::test {

namespace compat = pace::benches::operators::compat;

/// Keeps the published results, and hands them to later flows.
struct Earlier : RunContext::Checkpoint {
  Earlier() {
    run_context().on_result([this](const Result& result) {
      if (!result.recalled) kept.push_back(result);
    });
    run_context().recollection = this;
  }
  ~Earlier() override {
    run_context().recollection = nullptr;
    run_context().clear_listeners();
  }
  Earlier(const Earlier&) = delete;
  Earlier& operator=(const Earlier&) = delete;

  bool knows(const std::string& name) const override {
    for (const auto& each : kept)
      if (each.name == name) return true;
    return name == ended;
  }
  bool recall(const std::string& name, Result& result) override {
    for (const auto& each : kept)
      if (each.name == name) {
        result = each;
        result.recalled = true;
        return true;
      }
    return false;
  }
  bool next_fate(const std::string& name, RunContext::PriorFailure& fate) override {
    if (name != ended) return false;
    ended.clear();
    fate = {1, Outcome::crashed, "killed by signal 11"};
    return true;
  }

  std::vector<Result> kept;
  /// The sample during which an earlier process died.
  std::string ended;
};

/// Simulated seconds, and all that happened.
struct Dependencies {
  double now = 0;
  std::vector<std::string> log;
};

/// Runs the operator itself. A call takes `cost` of its first tensor's number of elements.
class StubBackend final : public pace::benches::operators::Backend {
 public:
  using Cost = std::function<double(std::int64_t)>;
  using Run = std::function<c10::IValue(const pace::benches::operators::OperatorCall&, const std::vector<at::Tensor>&)>;

  StubBackend(Dependencies& dependencies, std::string name, Cost cost)
      : cost(std::move(cost)), dependencies_(dependencies), name_(std::move(name)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<pace::benches::operators::Executable> prepare(
      const pace::benches::operators::OperatorCall& call) override {
    dependencies_.log.push_back("prepare " + name_);
    dependencies_.now += prepare_cost;
    return std::make_unique<Stub>(*this, call);
  }
  void prepare_all(std::span<const pace::benches::operators::OperatorCall* const> calls) override {
    dependencies_.log.push_back("prepare " + std::to_string(calls.size()) + " on " + name_);
    dependencies_.now += prepare_all_cost;
  }
  [[nodiscard]] std::optional<double> compile_seconds(const pace::benches::operators::OperatorCall& call) override {
    const auto own = compiled_by_operator.find(call.name());
    return own == compiled_by_operator.end() ? compiled : own->second;
  }

  Cost cost;
  Run run = [](const pace::benches::operators::OperatorCall& call, const std::vector<at::Tensor>& tensors) {
    return call.run(tensors);
  };
  double prepare_cost = 0, prepare_all_cost = 0;
  std::optional<double> compiled;
  std::map<std::string, double> compiled_by_operator;

 private:
  class Stub final : public pace::benches::operators::Executable {
   public:
    Stub(StubBackend& backend, pace::benches::operators::OperatorCall call)
        : backend_(backend), call_(std::move(call)) {}
    [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) override {
      const std::int64_t size = tensors.at(0).numel();
      backend_.dependencies_.log.push_back(backend_.name_ + ' ' + std::to_string(size));
      backend_.dependencies_.now += backend_.cost(size);
      return backend_.run(call_, tensors);
    }

   private:
    StubBackend& backend_;
    pace::benches::operators::OperatorCall call_;
  };

  Dependencies& dependencies_;
  std::string name_;
};

/// Reads the simulated clock around one call on the CPU, and around two on the GPU.
class FakeTimer final : public compat::Timer {
 public:
  explicit FakeTimer(Dependencies& dependencies) : dependencies_(dependencies) {}
  [[nodiscard]] compat::Seconds cpu(const Call& call) override {
    dependencies_.log.push_back("time");
    const double start = dependencies_.now;
    call();
    return compat::Seconds(dependencies_.now - start);
  }
  [[nodiscard]] compat::Milliseconds gpu(const Call& call, compat::Generation generation) override {
    dependencies_.log.push_back(generation == compat::Generation::old ? "time mean on GPU" : "time median on GPU");
    const double start = dependencies_.now;
    call();
    call();
    return compat::Seconds(dependencies_.now - start) / 2;
  }
  [[nodiscard]] compat::Seconds now() override { return compat::Seconds(dependencies_.now); }
  void synchronise() override { dependencies_.log.push_back("wait"); }

 private:
  Dependencies& dependencies_;
};

/// A folder, recorded inputs in it, and stub back ends `eager` and `aot_inductor`.
class CompatFixture {
 public:
  explicit CompatFixture(const std::string& recorded) {
    std::ofstream(folder / "inputs.log") << recorded;
    corpus = corpus::Corpus::from_file(folder / "inputs.log");
    eager = &add("eager", [](std::int64_t) { return 2.0; });
    inductor = &add("aot_inductor", [](std::int64_t) { return 1.0; });
    options.op = "all";
    options.dtype = "float32";
    options.device = "cpu";
    options.output_directory = folder / "out";
    options.repeats = 1;
  }
  CompatFixture(const CompatFixture&) = delete;
  CompatFixture& operator=(const CompatFixture&) = delete;
  ~CompatFixture() { pace::detail::remove_tree(folder); }

  StubBackend& add(const std::string& name, StubBackend::Cost cost) {
    return static_cast<StubBackend&>(registry.add(std::make_unique<StubBackend>(dependencies, name, std::move(cost))));
  }
  compat::Summary run(compat::Generation generation) {
    return compat::run(generation, corpus, options, registry, timer, out, err);
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ifstream stream(options.output_directory / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// The runs, in order, without the rest of the log.
  [[nodiscard]] std::vector<std::string> runs_of(const std::string& name) const {
    std::vector<std::string> runs;
    for (const auto& entry : dependencies.log)
      if (entry.starts_with(name + ' ')) runs.push_back(entry.substr(name.size() + 1));
    return runs;
  }

  std::filesystem::path folder = pace::detail::make_folder_in(std::filesystem::temp_directory_path());
  Dependencies dependencies;
  corpus::Corpus corpus;
  pace::benches::operators::BackendRegistry registry;
  StubBackend *eager = nullptr, *inductor = nullptr;
  FakeTimer timer{dependencies};
  compat::CompatOptions options;
  std::ostringstream out, err;
};

/// The text that a flow writes to its error stream before everything else.
[[nodiscard]] inline std::string notice() { return std::string("--compat: ") + compat::differences + '\n'; }

/// `aten.relu.default` on vectors of those sizes.
[[nodiscard]] inline std::string relu_of(std::initializer_list<int> sizes) {
  std::string text = "Operator: aten.relu.default\n";
  for (const int size : sizes) text += "cnt: 1, ((T([" + std::to_string(size) + "], f32),), {})\n";
  return text;
}

inline StubBackend::Cost costs(std::vector<double> by_size) {
  return [by_size](std::int64_t size) { return by_size.at(static_cast<std::size_t>(size)); };
}

/// By the size of the input: eager 2, 6, 4; inductor 1, 2, 4: speed-ups 2, 3, 1, whose quantiles are 1.4, 2 and 2.6.
inline void give_costs(CompatFixture& fixture) {
  fixture.eager->cost = costs({0, 2, 6, 4});
  fixture.inductor->cost = costs({0, 1, 2, 4});
}

}  // namespace pace::test
