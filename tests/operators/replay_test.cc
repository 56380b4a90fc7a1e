#include "benches/operators/replay.hpp"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/full_like.h>
#include <ATen/record_function.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "benches/operators/backends/eager.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using pace::Outcome;
namespace operators = pace::benches::operators;

/// Runs eager's code, adds `error` to the first element, and counts its requests.
class OffBy : public pace::benches::operators::Backend {
 public:
  OffBy(std::string name, double error) : name_(std::move(name)), error_(error) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<pace::benches::operators::Executable> prepare(
      const pace::benches::operators::OperatorCall& call) override {
    class Run : public pace::benches::operators::Executable {
     public:
      Run(std::unique_ptr<pace::benches::operators::Executable> eager, double error)
          : eager_(std::move(eager)), error_(error) {}
      c10::IValue run(const std::vector<at::Tensor>& tensors) override {
        auto result = eager_->run(tensors);
        if (error_ != 0) result.toTensor().view({-1})[0].add_(error_);
        return result;
      }

     private:
      std::unique_ptr<pace::benches::operators::Executable> eager_;
      double error_;
    };
    if (call.name() == "aten.neg.default") throw pace::Unsupported("no negatives here");
    return std::make_unique<Run>(eager_.prepare(call), error_);
  }
  void prepare_all(std::span<const pace::benches::operators::OperatorCall* const> calls) override {
    batches.push_back(calls.size());
    for (const auto* call : calls)
      for (const auto& tensor : call->tensors()) CHECK(tensor.storage().data() == nullptr);
  }
  std::vector<std::size_t> batches;

 private:
  pace::benches::operators::EagerBackend eager_;
  std::string name_;
  double error_;
};

class Fixture {
 public:
  explicit Fixture(const std::string& text) {
    const auto file = std::filesystem::temp_directory_path() / ("pace_replay_" + std::to_string(getpid()) + ".txt");
    std::ofstream(file) << text;
    corpus = pace::corpus::Corpus::from_file(file);
    std::filesystem::remove(file);
    registry.add(std::make_unique<pace::benches::operators::EagerBackend>());
    good = static_cast<OffBy*>(&registry.add(std::make_unique<OffBy>("good", 0)));
    registry.add(std::make_unique<OffBy>("bad", 1));
    auto& measuring = pace::run_context().options;
    measuring.budget = std::chrono::milliseconds(2);
    measuring.warm_up = std::chrono::milliseconds(1);
  }
  std::vector<pace::Result> run(operators::ReplayOptions options, std::size_t samples_at_once = 128) {
    if (options.backends == operators::ReplayOptions().backends) options.backends = "eager,good,bad";
    const auto selection = operators::select(corpus, options, [](const std::string&) {});
    operators::Replay replay(options, registry, samples_at_once);
    struct Listener : operators::ReplayListener {
      std::vector<pace::Result> results;
      std::vector<std::string> order;
      void begin(const operators::Selected& selected) override { order.push_back("begin " + selected.op->name); }
      void result(const operators::Selected& selected, std::size_t offset, const pace::Result& result) override {
        order.push_back(operators::case_name(selected, offset));
        results.push_back(result);
      }
      void end(const operators::Selected& selected, pace::Nanoseconds) override {
        order.push_back("end " + selected.op->name);
      }
    } listener;
    replay.run(selection, listener);
    order = listener.order;
    CHECK(replay.making_inputs().count() > 0);
    return listener.results;
  }
  std::vector<std::string> order;
  pace::corpus::Corpus corpus;
  pace::benches::operators::BackendRegistry registry;
  OffBy* good = nullptr;
};

TEST_CASE("every back end is a row, and a wrong one is found out") {
  Fixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([64], f16),), {})\n"
      "Operator: aten.neg.default\n"
      "cnt: 1, ((T([64], f32),), {})\n");
  const auto results = fixture.run({});
  REQUIRE(results.size() == 2);
  CHECK(results[0].name == "aten.relu.default[0]");
  CHECK(results[0]["eager"].is_baseline);
  CHECK(results[0]["good"].outcome == Outcome::measured);
  CHECK(results[0]["good"].speedup);
  CHECK(results[0]["bad"].outcome == Outcome::wrong);
  CHECK_FALSE(results[0]["bad"].speedup);
  // Converted to the type of the run.
  CHECK_THAT(results[0].notes.at(0), ContainsSubstring("Float[64]"));
  // For failures that do not name it themselves, such as memory that ran out in pace's own work.
  CHECK_THAT(results[0].notes.at(0), ContainsSubstring(") at ") && EndsWith(".txt:2:9"));
  CHECK(results[1]["good"].outcome == Outcome::refused);
  CHECK(results[1]["good"].message == "no negatives here");
  CHECK(results[1]["eager"].outcome == Outcome::measured);
}

TEST_CASE("a sample that cannot be run is a row of refusals with operator, file and line; the replay goes on") {
  Fixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([64], f32), 1, 2, 3), {})\n"
      "cnt: 1, ((T([4000000000, 4000000], f32),), {})\n"
      "cnt: 1, ((ST([3], f32, torch.sparse_coo, False, nnz=1),), {})\n"
      "cnt: 1, ((T([64], f32),), {})\n");
  const auto results = fixture.run({});
  REQUIRE(results.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(results[i].implementations.size() == 3);
    // The facts of all rows that stand in a table's head.
    CHECK(results[i].confidence == pace::run_context().options.confidence);
    for (const auto& each : results[i].implementations) CHECK(each.outcome == Outcome::refused);
    const auto& message = results[i]["eager"].message;
    CHECK_THAT(message,
               ContainsSubstring("aten.relu.default") && ContainsSubstring(".txt:" + std::to_string(i + 2) + ":"));
  }
  CHECK_THAT(results[1]["good"].message, ContainsSubstring("memory"));
  CHECK(results[3]["good"].outcome == Outcome::measured);
}

TEST_CASE("what a run would refuse shows without a measurement") {
  Fixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([64], f32),), {})\n"
      "cnt: 1, ((T([4000000000, 4000000], f32),), {})\n"
      "Operator: aten.relu.nope\n"
      "cnt: 1, ((T([64], f32),), {})\n"
      "Operator: aten.frobnicate.default\n"
      "cnt: 1, ((T([64], f32),), {})\n");
  operators::ReplayOptions options;
  const auto selection = operators::select(fixture.corpus, options, [](const std::string&) {});
  options.backends = "eager,good";
  const operators::Replay replay(options, fixture.registry);
  std::map<std::string, std::string> problems;
  for (const auto& selected : selection)
    for (std::size_t offset = 0; offset < selected.samples.size(); ++offset)
      problems[operators::case_name(selected, offset)] = replay.problem(selected, offset);
  REQUIRE(problems.size() == 4);
  CHECK(problems["aten.relu.default[0]"] == "");
  CHECK_THAT(problems["aten.relu.default[1]"],
             ContainsSubstring(".txt:3:9: aten.relu.default: not enough memory for the inputs: "));
  CHECK_THAT(problems["aten.relu.nope[0]"],
             ContainsSubstring(".txt:5:9: aten.relu.nope: this LibTorch has no operator 'aten.relu.nope'"));
  CHECK_THAT(problems["aten.frobnicate.default[0]"], ContainsSubstring("has no operator 'aten.frobnicate.default'"));
}

TEST_CASE("a dtype that no tensor can have is refused with the operator and the dtype's place alone") {
  Fixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([64], torch.uint4),), {})\n"
      "cnt: 1, ((T([64], f32),), {})\n");
  const auto results = fixture.run({});
  REQUIRE(results.size() == 2);
  CHECK(results[0]["good"].outcome == Outcome::refused);
  const std::string message = results[0]["good"].message;
  CHECK_THAT(message,
             EndsWith(".txt:2:19: aten.relu.default: no tensor of the dtype uint4 can be made: LibTorch has no "
                      "kernels that copy its values"));
  CHECK(message.find("aten.relu.default") == message.rfind("aten.relu.default"));
}

TEST_CASE("tensors of a type that names bits are compared") {
  Fixture fixture(
      "Operator: aten.clone.default\n"
      "cnt: 1, ((T([64], torch.bits16),), {})\n"
      "cnt: 1, ((T([64], b1x8),), {})\n"
      "cnt: 1, ((T([64], torch.bits8),), {})\n"
      "cnt: 1, ((T([64], bits2x4),), {})\n"
      "cnt: 1, ((T([64], bits4x2),), {})\n"
      "cnt: 1, ((T([64], f4e2m1fnx2),), {})\n"
      "cnt: 1, ((T([64], f8e8m0fnu),), {})\n");
  const auto results = fixture.run({});
  REQUIRE(results.size() == 7);
  for (const auto& result : results) {
    INFO(result["good"].message);
    CHECK(result["good"].outcome == Outcome::measured);
    CHECK(result["good"].checked);
  }
}

TEST_CASE("a call that throws is a row with the operator, the file and the line") {
  Fixture fixture(
      "Operator: aten.mm.default\n"
      "cnt: 1, ((T([4, 5], f32), T([4, 5], f32)), {})\n");
  const auto results = fixture.run({});
  REQUIRE(results.size() == 1);
  CHECK(results[0]["eager"].outcome == Outcome::threw);
  CHECK_THAT(results[0]["eager"].message, StartsWith("mat1 and mat2 shapes cannot be multiplied (4x5 and 4x5)") &&
                                              ContainsSubstring("(aten.mm.default at ") && EndsWith(".txt:2:9)"));
}

TEST_CASE("back ends hear of all calls before the first is measured, which hold no memory") {
  Fixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([256], f32),), {})\n"
      "cnt: 1, ((T([257], f32),), {})\n"
      "cnt: 1, ((T([258], f32),), {})\n");
  (void)fixture.run({});
  CHECK(fixture.good->batches == std::vector<std::size_t>{3});
}

TEST_CASE("some operators at a time are compiled, then measured") {
  Fixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([256], f32),), {})\n"
      "cnt: 1, ((T([257], f32),), {})\n"
      "Operator: aten.abs.default\n"
      "cnt: 1, ((T([256], f32),), {})\n"
      "Operator: aten.exp.default\n"
      "cnt: 1, ((T([256], f32),), {})\n");
  (void)fixture.run({}, /*samples_at_once=*/3);
  CHECK(fixture.good->batches == std::vector<std::size_t>{3, 1});
  CHECK(fixture.order == std::vector<std::string>{"begin aten.relu.default", "aten.relu.default[0]",
                                                  "aten.relu.default[1]", "end aten.relu.default",
                                                  "begin aten.abs.default", "aten.abs.default[0]",
                                                  "end aten.abs.default", "begin aten.exp.default",
                                                  "aten.exp.default[0]", "end aten.exp.default"});
}

TEST_CASE("what an earlier process found, or ended with, is not prepared or run again") {
  struct Earlier : pace::RunContext::Checkpoint {
    Earlier() { pace::run_context().recollection = this; }
    ~Earlier() override { pace::run_context().recollection = nullptr; }
    bool knows(const std::string& name) const override { return name != "aten.relu.default[3]"; }
    bool recall(const std::string& name, pace::Result& result) override {
      if (name != "aten.relu.default[0]") return false;
      result.name = "known";
      result.recalled = true;
      return true;
    }
    bool next_fate(const std::string& name, pace::RunContext::PriorFailure& fate) override {
      if (name == std::exchange(told, name) || name == "aten.relu.default[3]") return false;
      fate = {name == "aten.relu.default[1]" ? 1 : -1, Outcome::crashed, "died"};
      return true;
    }
    std::string told;
  } earlier;
  Fixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([256], f32),), {})\n"
      "cnt: 1, ((T([257], f32),), {})\n"
      "cnt: 1, ((T([258], f32),), {})\n"
      "cnt: 1, ((T([259], f32),), {})\n");
  const auto results = fixture.run({});
  CHECK(fixture.good->batches == std::vector<std::size_t>{1});
  REQUIRE(results.size() == 4);
  CHECK(results[0].name == "known");
  CHECK_THAT(results[3].inputs, Catch::Matchers::StartsWith("aten.relu.default ((T([259], f32),), {}) as "));
  CHECK(results[1]["eager"].outcome == Outcome::measured);
  CHECK(results[1]["good"].outcome == Outcome::crashed);
  CHECK_THAT(results[1]["good"].message, StartsWith("died (aten.relu.default at ") && EndsWith(".txt:3:9)"));
  for (const auto& each : results[2].implementations) {
    CHECK(each.outcome == Outcome::crashed);
    CHECK_THAT(each.message, StartsWith("died (aten.relu.default at ") && EndsWith(".txt:4:9)"));
  }
  CHECK(results[3]["good"].outcome == Outcome::measured);
}

TEST_CASE("for accuracy alone there are as few rounds as make a time, and a cosine decides") {
  Fixture fixture("Operator: aten.relu.default\ncnt: 1, ((T([64], f32),), {})\n");
  operators::ReplayOptions options;
  options.accuracy_only = true;
  const auto result = fixture.run(options).at(0);
  CHECK(result["bad"].outcome == Outcome::measured);  // one of 64 elements off by 1: the direction is nearly the same
  CHECK(result.rounds <= 3);
  options.accuracy_only = false;
  options.repeats = 2;
  const auto repeated = fixture.run(options).at(0);
  CHECK(repeated.rounds == 6);  // two cycles of three back ends
}

TEST_CASE("what an operator leaves uninitialised is not compared, whatever it holds, for accuracy alone neither") {
  Fixture fixture("Operator: aten.new_empty.default\ncnt: 1, ((T([64], f32), [64]), {})\n");
  class Filled final : public pace::benches::operators::Backend {
   public:
    Filled(std::string name, double value) : name_(std::move(name)), value_(value) {}
    [[nodiscard]] std::string name() const override { return name_; }
    [[nodiscard]] std::unique_ptr<pace::benches::operators::Executable> prepare(
        const pace::benches::operators::OperatorCall&) override {
      class Run : public pace::benches::operators::Executable {
       public:
        explicit Run(double value) : value_(value) {}
        c10::IValue run(const std::vector<at::Tensor>& tensors) override {
          return at::full_like(tensors.at(0), value_);
        }

       private:
        double value_;
      };
      return std::make_unique<Run>(value_);
    }

   private:
    std::string name_;
    double value_;
  };
  fixture.registry.add(std::make_unique<Filled>("above", 1));
  fixture.registry.add(std::make_unique<Filled>("below", -1));
  operators::ReplayOptions options;
  options.backends = "above,below";
  for (const bool accuracy_only : {false, true}) {
    options.accuracy_only = accuracy_only;
    const auto result = fixture.run(options).at(0);
    CHECK(result["below"].outcome == Outcome::measured);
    CHECK_FALSE(result["below"].checked);
  }
}

TEST_CASE("a back end named twice is refused") {
  Fixture fixture("Operator: aten.relu.default\ncnt: 1, ((T([4], f32),), {})\n");
  operators::ReplayOptions options;
  options.backends = "eager,good,eager";
  CHECK_THROWS_WITH(operators::Replay(options, fixture.registry), ContainsSubstring("'eager' is named twice"));
}

TEST_CASE("an unknown back end is named with those that exist") {
  Fixture fixture("Operator: aten.relu.default\ncnt: 1, ((T([4], f32),), {})\n");
  operators::ReplayOptions options;
  options.backends = "eager,quick";
  CHECK_THROWS_AS(operators::Replay(options, fixture.registry), pace::InputError);
}

TEST_CASE("rows have bytes, operations and their share of the peak, and listeners hear these") {
  Fixture fixture(
      "Operator: aten.mm.default\n"
      "cnt: 1, ((T([8, 16], f32), T([16, 4], f32)), {})\n"
      "Operator: aten.view.default\n"
      "cnt: 1, ((T([8, 16], f32), [128]), {})\n");
  std::vector<pace::Result> heard;
  pace::run_context().on_result([&](const pace::Result& result) { heard.push_back(result); });
  operators::ReplayOptions options;
  options.backends = "eager,good";
  const auto results = fixture.run(options);
  pace::run_context().clear_listeners();
  REQUIRE(results.size() == 2);
  REQUIRE(heard.size() == 2);
  for (const pace::Result* product : {&results[0], static_cast<const pace::Result*>(&heard[0])})
    for (const auto& row : product->implementations) {
      CHECK(row.bytes == 4 * (8 * 16 + 16 * 4 + 8 * 4));
      CHECK(row.flops == 2 * 8 * 16 * 4);
      CHECK(row.gigaflops_per_second());
      REQUIRE(row.share_of_peak);
      CHECK(*row.share_of_peak > 0);
    }
  for (const auto& row : heard[1].implementations) {
    CHECK_FALSE(row.bytes);
    CHECK_FALSE(row.share_of_peak);
  }
  CHECK(pace::run_context().completion == nullptr);
}

/// Counts the calls of the dispatcher that the work makes, a thousand instructions each, and a hundred for itself.
class FakeCounter final : public pace::timing::InstructionCounter {
 public:
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] std::int64_t count(pace::FunctionRef<void()> work) override {
    std::int64_t calls = 0;
    const at::CallbackHandle handle = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
          ++dispatched;
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
    dispatched = 0;
    work();
    calls = dispatched;
    at::removeCallback(handle);
    return 100 + 1000 * calls;
  }
  static inline std::int64_t dispatched = 0;
};

TEST_CASE("instructions are counted in the place of times, and the outputs are checked all the same") {
  Fixture fixture(
      "Operator: aten.mul.Tensor\n"
      "cnt: 1, ((T([2], f32), T([2], f32)), {})\n"
      "Operator: aten.add_.Tensor\n"
      "cnt: 1, ((T([2], f32), T([2], f32)), {})\n");
  operators::ReplayOptions options;
  options.backends = "eager,good,bad";
  options.counter = std::make_shared<FakeCounter>();
  options.instructions_at_most = 1.5;
  const auto results = fixture.run(options);
  REQUIRE(results.size() == 2);
  for (const auto& result : results) {
    CAPTURE(result.name);
    CHECK(result.rounds == 0);
    CHECK_FALSE(result["eager"].time);
    REQUIRE(result["eager"].instructions);
    CHECK(result["eager"].instructions->low == 1000);
    CHECK(result["eager"].instructions->high == 1000);
    CHECK(result["eager"].instructions->counter == "fake");
    CHECK_FALSE(result["eager"].instructions->ratio_low);
    CHECK(result["eager"].judgements.empty());
    CHECK(result["good"].checked);
    REQUIRE(result["good"].instructions);
    CHECK(result["good"].instructions->ratio_low == 1);
    CHECK(result["good"].instructions->ratio_high == 1);
    REQUIRE(result["good"].judgements.size() == 1);
    CHECK(result["good"].judgements[0].verdict == pace::Verdict::passed);
    // One of two elements is off by 1.
    CHECK(result["bad"].outcome == Outcome::wrong);
    CHECK_FALSE(result["bad"].instructions);
    CHECK(result["bad"].judgements.at(0).verdict == pace::Verdict::failed);
  }
}

TEST_CASE("a back end that executes more instructions than the limit allows fails") {
  Fixture fixture("Operator: aten.mul.Tensor\ncnt: 1, ((T([64], f32), T([64], f32)), {})\n");
  class Twice final : public pace::benches::operators::Backend {
   public:
    [[nodiscard]] std::string name() const override { return "twice"; }
    [[nodiscard]] std::unique_ptr<pace::benches::operators::Executable> prepare(
        const pace::benches::operators::OperatorCall& call) override {
      class Run : public pace::benches::operators::Executable {
       public:
        explicit Run(std::unique_ptr<pace::benches::operators::Executable> eager) : eager_(std::move(eager)) {}
        c10::IValue run(const std::vector<at::Tensor>& tensors) override {
          static_cast<void>(eager_->run(tensors));
          return eager_->run(tensors);
        }

       private:
        std::unique_ptr<pace::benches::operators::Executable> eager_;
      };
      return std::make_unique<Run>(eager_.prepare(call));
    }

   private:
    pace::benches::operators::EagerBackend eager_;
  };
  fixture.registry.add(std::make_unique<Twice>());
  operators::ReplayOptions options;
  options.backends = "eager,twice";
  options.counter = std::make_shared<FakeCounter>();
  for (const double limit : {1.9, 2.0}) {
    options.instructions_at_most = limit;
    const auto result = fixture.run(options).at(0);
    REQUIRE(result["twice"].instructions);
    CHECK(result["twice"].instructions->low == 2000);
    CHECK(result["twice"].instructions->ratio_high == 2);
    CHECK(result["twice"].judgements.at(0).verdict == (limit < 2 ? pace::Verdict::failed : pace::Verdict::passed));
  }
}

TEST_CASE("a guard on speed is judged for every candidate") {
  Fixture fixture("Operator: aten.relu.default\ncnt: 1, ((T([64], f32),), {})\n");
  operators::ReplayOptions options;
  options.no_slower_than = 1e9;
  const auto result = fixture.run(options).at(0);
  CHECK(result["eager"].judgements.empty());
  REQUIRE(result["good"].judgements.size() == 1);
  CHECK(result["bad"].judgements.at(0).verdict == pace::Verdict::failed);
}

TEST_CASE("a limit on peak memory is judged for every candidate, of operators whose speed is only reported as well") {
  Fixture fixture("Operator: aten.relu.default\ncnt: 1, ((T([64], f32),), {})\n");
  operators::ReplayOptions options;
  options.backends = "eager,good";
  options.reported = {"aten.relu.default"};
  for (const double limit : {1000.0, 0.001}) {
    CAPTURE(limit);
    options.peak_memory_at_most = limit;
    const auto result = fixture.run(options).at(0);
    CHECK(result["eager"].judgements.empty());
    REQUIRE(result["good"].judgements.size() == 1);
    INFO(result["good"].judgements[0].message);
    CHECK(result["good"].judgements[0].verdict == (limit > 1 ? pace::Verdict::passed : pace::Verdict::failed));
  }
}

TEST_CASE("an operator whose speed is only reported has no guard on speed") {
  Fixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([64], f32),), {})\n"
      "Operator: aten.abs.default\n"
      "cnt: 1, ((T([64], f32),), {})\n");
  operators::ReplayOptions options;
  options.backends = "eager,good";
  options.no_slower_than = 1e9;
  options.reported = {"aten.relu.default"};
  for (const auto& result : fixture.run(options)) {
    CAPTURE(result.name);
    CHECK(result["good"].time);
    CHECK(result["good"].judgements.size() == (result.name == "aten.relu.default[0]" ? 0 : 1));
  }
}

}  // namespace
