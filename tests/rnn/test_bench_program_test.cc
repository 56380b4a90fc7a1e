// The program that measures halves of steps: its runs, its files, and its handling of failures.
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/zeros.h>

#include "benches/rnn/test_bench_program.hpp"
#include "pace/base/error.hpp"
// After LibTorch's headers, whose CHECK is another one.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::IsEmpty;
using Catch::Matchers::StartsWith;
using namespace pace::benches::rnn;
using pace::Nanoseconds;

/// A forward takes 50 ms, a backward 100 ms.
struct Dependencies {
  Nanoseconds time{};
  struct Clock {
    Dependencies* dependencies;
    [[nodiscard]] Nanoseconds now() const { return dependencies->time; }
  };
  std::string fuser, executor;
  std::vector<std::int64_t> hidden;
  std::ostringstream out, err;

  Runner runner(const std::string& name, bool needs_cuda = false, bool has_backward = true) {
    Runner each;
    each.name = name;
    each.needs_cuda = needs_cuda;
    each.make = [this, needs_cuda, has_backward](const Sizes& sizes) {
      if (needs_cuda && !sizes.device.is_cuda()) throw pace::Unsupported("it runs on a GPU only");
      hidden.push_back(sizes.hidden);
      ModelDef def;
      def.step.forward = [this](Stack&) -> c10::IValue { return time += Nanoseconds(50e6), 1; };
      def.step.backward_setup = [](const c10::IValue&) -> c10::IValue {
        return c10::ivalue::Tuple::create({at::zeros({1}), at::zeros({1})});
      };
      if (has_backward) def.step.backward = [this](const c10::IValue&) { time += Nanoseconds(100e6); };
      return def;
    };
    return each;
  }

  std::vector<Runner> all() {
    auto broken = runner("broken");
    broken.make = [](const Sizes&) -> ModelDef { throw std::runtime_error("cannot be made"); };
    std::vector<Runner> list = {std::move(broken), runner("forward_only", false, false)};
    for (const auto& name : default_rnns) list.push_back(runner(name, name == "cudnn"));
    for (const auto& name : default_cnns) list.push_back(runner(name));
    return list;
  }

  int run(std::vector<std::string> words) {
    words.insert(words.begin(), "test_bench");
    std::vector<char*> argv;
    for (auto& each : words) argv.push_back(each.data());
    return test_bench(
        static_cast<int>(argv.size()), argv.data(), all(),
        [](const std::optional<std::string>& asked) { return c10::Device(asked.value_or("cpu")); },
        [this](const std::string& one, const std::string& other) { fuser = one, executor = other; },
        [this](const c10::Device&, const auto& use) {
          HostTimer timer(Clock{this});
          use(timer);
        },
        out, err);
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    const auto json = nlohmann::json::parse(out.str());
    for (const auto& each : json.at("benchmarks")) all.push_back(each.at("name"));
    return all;
  }
};

TEST_CASE("both halves of those that were named, under the fuser and executor of fastrnns' tests") {
  Dependencies dependencies;
  REQUIRE(dependencies.run({"--rnns", "aten", "jit", "--cnns", "none", "--hiddenSize", "7"}) == 0);
  REQUIRE(dependencies.names() ==
          std::vector<std::string>{"test_forward[aten-legacy-old]", "test_backward[aten-legacy-old]",
                                   "test_forward[jit-legacy-old]", "test_backward[jit-legacy-old]"});
  REQUIRE(dependencies.fuser == "old");
  REQUIRE(dependencies.executor == "legacy");
  REQUIRE(dependencies.hidden == std::vector<std::int64_t>{7, 7});
  REQUIRE(dependencies.err.str() ==
          "test_forward[aten]: 50.0 ms, 5 rounds\ntest_backward[aten]: 100 ms, 5 rounds\n"
          "test_forward[jit]: 50.0 ms, 5 rounds\ntest_backward[jit]: 100 ms, 5 rounds\n");
}

TEST_CASE("by default all of the bench, as far as the device has them") {
  Dependencies dependencies;
  REQUIRE(dependencies.run({"--fuser", "te", "--executor", "profiling"}) == 0);
  REQUIRE(dependencies.names().size() == 2 * 11);
  REQUIRE(dependencies.names().front() == "test_forward[aten-profiling-te]");
  REQUIRE(dependencies.names().back() == "test_backward[resnet50_jit-profiling-te]");
  REQUIRE_THAT(dependencies.err.str(), StartsWith("cudnn is left out: it needs a GPU\n"));
}

TEST_CASE("a model without a backward has no such test") {
  Dependencies dependencies;
  REQUIRE(dependencies.run({"--rnns", "forward_only", "--cnns", "none"}) == 0);
  REQUIRE(dependencies.names() == std::vector<std::string>{"test_forward[forward_only-legacy-old]"});
}

TEST_CASE("those that fail are told of, the others are measured, and the exit code says so") {
  Dependencies dependencies;
  REQUIRE(dependencies.run({"--rnns", "broken", "cudnn", "py", "--cnns", "none"}) == 1);
  REQUIRE(dependencies.names().size() == 2);
  REQUIRE_THAT(dependencies.err.str(),
               StartsWith("test_bench: broken: cannot be made\ntest_bench: cudnn: it runs on a GPU only\n"));
}

TEST_CASE("a bad command line ends before anything runs") {
  Dependencies dependencies;
  REQUIRE(dependencies.run({"--rnns", "py", "warp"}) == 1);
  REQUIRE_THAT(dependencies.err.str(),
               StartsWith("test_bench: --rnns: there is no runner 'warp'; expected some of broken, "));
  REQUIRE(dependencies.out.str() == "");
  REQUIRE_THAT(dependencies.hidden, IsEmpty());
  Dependencies nothing;
  REQUIRE(nothing.run({"--rnns", "none", "--cnns", "none"}) == 1);
  REQUIRE(nothing.err.str() == "test_bench: there is nothing to run; expected runners in --rnns, --cnns or both\n");
  Dependencies other;
  REQUIRE(other.run({"--miniBatch", "-1"}) == 1);
  REQUIRE(other.err.str() ==
          "test_bench: --mini-batch: invalid value '-1'; expected a whole number from 1 to 1000000\n");
}

}  // namespace
