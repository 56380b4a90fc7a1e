#include "pace/kernels/call_kernels.hpp"
#include "pace/kernels/kernels.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>

#include "tests/support/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::kernel::detail::observe_kernels;

namespace {

/// A body takes the time that it names.
struct FakeClock {
  Nanoseconds takes = 1ms;
  template <class Body>
  Nanoseconds time(Body&& body) {
    body();
    return takes;
  }
};

/// Every call takes four times as long as the fourth one.
struct Interrupted {
  int calls = 0;
  Nanoseconds time(const auto& body) {
    body();
    return ++calls == 4 ? 1ms : 4ms;
  }
};

/// The times of a body, one after another.
struct Steps {
  std::array<double, 15> milliseconds{50, 40, 60, 50, 70, 90, 60, 80, 70, 90, 20, 10, 30, 20, 40};
  std::size_t next = 0;
  Nanoseconds time(const auto&) { return Nanoseconds(1e6 * milliseconds.at(next++)); }
};

/// Two kernels in each call; the second takes longer from call to call.
struct FakeRecorder {
  int recorded = 0;
  std::size_t other_from = 0;
  [[nodiscard]] static pace::kernel::RangeCost cost() { return {.inside = 10ns, .all = 50ns}; }
  [[nodiscard]] static std::size_t elsewhere() { return 0; }
  template <class Call>
  std::vector<pace::kernel::RangeEvent> record(Call&& call) {
    call();
    const Nanoseconds longer = static_cast<double>(recorded++) * 1us;
    const bool other = other_from > 0 && recorded >= static_cast<int>(other_from);
    return {{.begins = true, .at = 0us, .name = "graph_0_cpp_fused_add_0"},
            {.begins = false, .at = 400us},
            {.begins = true, .at = 410us, .name = other ? "aten::bmm" : "aten::mm"},
            {.begins = false, .at = 910us + longer}};
  }
};

}  // namespace

TEST_CASE("calls take turns, times are summed up, and operands have their values before each") {
  FakeClock clock;
  FakeRecorder recorder;
  pace::KernelsOptions options;
  options.budget = 10ms;  // ten calls of a millisecond: five pairs
  options.least_calls = 2;
  options.providers = {[](const pace::kernel::Kernel& kernel) -> std::optional<pace::kernel::Knowledge> {
    if (kernel.name != "cpp_fused_add_0") return std::nullopt;
    return pace::kernel::Knowledge{pace::kernel::Category::pointwise, 4e3};
  }};
  int calls = 0, restored = 0;
  const auto report = observe_kernels(options, "block", [&] { ++calls; }, [&] { ++restored; }, clock, recorder);
  CHECK(recorder.recorded == 5);
  CHECK(calls == 3 + 10);
  CHECK(restored == calls);
  CHECK(report.by_ranges);
  REQUIRE(report.kernels.size() == 2);
  const auto& add = report.kernels[0];
  CHECK(add.name == "cpp_fused_add_0");
  CHECK(add.symbol == "graph_0_cpp_fused_add_0");
  CHECK(to_string(add.category) == "pointwise");
  CHECK_FALSE(add.launch);
  REQUIRE(add.profiled);
  CHECK(add.profiled->median == 399990ns);
  CHECK_THAT(*add.bandwidth(), WithinRel(4e3 / 399.99e-6));
  const auto& product = report.kernels[1];
  CHECK(product.profiled->least == 499990ns);
  CHECK(product.profiled->median == 501990ns);
  CHECK(product.profiled->most == 503990ns);
  CHECK_FALSE(product.bytes);
  CHECK(report.whole == 1ms);
  CHECK(report.recording == 100ns);
  CHECK_THAT(report.explained(), WithinRel(0.90198));
}

TEST_CASE("where other work interrupts calls, a note says so") {
  Interrupted clock;
  FakeRecorder recorder;
  const auto nothing = [] {};
  const auto report = observe_kernels({}, "block", nothing, nothing, clock, recorder);
  CHECK(report.whole == 4ms);
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], ContainsSubstring("the fastest call took 1.00 ms, half of them 4.00 ms or more; why: "));
  FakeClock steady;
  CHECK(observe_kernels({}, "block", nothing, nothing, steady, recorder).notes.empty());
}

TEST_CASE("a provider that fails on one kernel costs no other its figures") {
  FakeClock clock;
  FakeRecorder recorder;
  pace::KernelsOptions options;
  options.providers = {[](const pace::kernel::Kernel& kernel) -> std::optional<pace::kernel::Knowledge> {
    if (kernel.name == "cpp_fused_add_0") throw pace::Error("its record cannot be read");
    return pace::kernel::Knowledge{pace::kernel::Category::template_, 8e3};
  }};
  const auto nothing = [] {};
  const auto report = observe_kernels(options, "block", nothing, nothing, clock, recorder);
  REQUIRE(report.kernels.size() == 2);
  CHECK_FALSE(report.kernels[0].bytes);
  CHECK(report.kernels[0].profiled);
  CHECK(report.kernels[1].bytes == 8e3);
  CHECK(report.notes == std::vector<std::string>{"cpp_fused_add_0: its record could not be read: its record "
                                                 "cannot be read"});
}

TEST_CASE("how often a call runs follows from its time, within bounds") {
  FakeRecorder recorder;
  pace::KernelsOptions options;
  FakeClock slow{10s}, fast{1ns};
  const auto nothing = [] {};
  (void)observe_kernels(options, "slow", nothing, nothing, slow, recorder);
  CHECK(recorder.recorded == static_cast<int>(options.least_calls / 2));
  recorder.recorded = 0;
  (void)observe_kernels(options, "fast", nothing, nothing, fast, recorder);
  CHECK(recorder.recorded == static_cast<int>(options.most_calls / 2));
}

TEST_CASE("a call that runs other kernels each time, or none, is refused") {
  FakeClock clock;
  FakeRecorder recorder;
  recorder.other_from = 3;
  const auto nothing = [] {};
  CHECK_THROWS_MATCHES(
      observe_kernels({}, "fickle", nothing, nothing, clock, recorder), pace::Unsupported,
      MessageMatches(ContainsSubstring(
          "fickle: kernel 1 is aten::mm in its first call and aten::bmm in call 3; expected a call that "
          "runs the same kernels each time")));
  CHECK_THROWS_MATCHES(pace::kernels("idle", [] {}), pace::Unsupported,
                       MessageMatches(ContainsSubstring("idle: no kernel was seen in this call of ")));
}

TEST_CASE("eager code on the CPU: each operator, and operands as they were") {
  at::Tensor x = at::ones({64, 64});
  pace::KernelsOptions options;
  options.budget = 5ms;
  options.peak_bandwidth = false;
  const auto report = pace::kernels(
      options, "three",
      [](at::Tensor& t) {
        t.add_(1);
        return at::relu(at::mm(t, t));
      },
      x);
  REQUIRE(report.kernels.size() == 3);
  CHECK(report.kernels[0].name == "aten::add_");
  CHECK(report.kernels[1].name == "aten::mm");
  CHECK(report.kernels[2].name == "aten::relu");
  CHECK(report.whole.count() > 0);
  CHECK(report.peak_bandwidth == 0);
  CHECK_THAT(report.device, ContainsSubstring("thread"));
  CHECK(x.equal(at::ones({64, 64})));
}

#ifndef PACE_CUDA
TEST_CASE("kernels on CUDA need a program with CUDA") {
  pace::KernelsOptions options;
  options.on = c10::DeviceType::CUDA;
  CHECK_THROWS_MATCHES(pace::kernels(options, "block", [] {}), pace::Unsupported,
                       MessageMatches(ContainsSubstring("block: this program was built without CUDA")));
}
#endif

TEST_CASE("a write to an operand is noticed") {
  const at::Tensor x = at::ones({4}), copy = x.clone();
  CHECK(pace::kernel::detail::same_values(x, copy));
  CHECK(pace::kernel::detail::same_values(at::Tensor(), at::Tensor()));
  at::Tensor written = x.clone();
  written[2] = 3;
  CHECK_FALSE(pace::kernel::detail::same_values(written, copy));
}

TEST_CASE("the memory's rate counts what each loop reads and writes") {
  Steps clock;
  const auto memory = pace::kernel::measure_host_memory(clock, 1 << 20);
  const double bytes = 64 << 20;
  CHECK_THAT(memory.copy, WithinRel(2 * bytes / 40e-3));
  CHECK_THAT(memory.add, WithinRel(3 * bytes / 60e-3));
  CHECK_THAT(memory.read, WithinRel(bytes / 10e-3));
  CHECK(memory.most() == memory.read);
}

TEST_CASE("the largest cache of a processor, as Linux reports it") {
  CHECK(pace::kernel::detail::cache_bytes("48K") == 48 << 10);
  CHECK(pace::kernel::detail::cache_bytes("260M") == 260 << 20);
  CHECK(pace::kernel::detail::cache_bytes("") == 0);
  const pace::test::Scratch folder;
  CHECK(pace::kernel::last_level_cache_bytes(folder.path) == 32 << 20);
  const auto add = [&](const std::string& index, const std::string& size) {
    const std::string cache = "sys/devices/system/cpu/cpu0/cache/" + index;
    std::filesystem::create_directories(folder.path / cache);
    (void)folder.write(cache + "/size", size + '\n');
  };
  add("index0", "32K");
  add("index3", "36608K");
  CHECK(pace::kernel::last_level_cache_bytes(folder.path) == 36608 << 10);
}
