// The bytes that every correct call must read and write, and times that are too short for them.
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/_lazy_clone.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>

#include "pace/audit/least_traffic.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "pace/judge/memory_limits.hpp"
#include "pace/subject/callable.hpp"
#include "pace/verify/expected.hpp"
#include "tests/support/comparisons.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using pace::Nanoseconds;
using pace::test::costing;
using pace::test::FakeClock;
using pace::timing::LeastTraffic;

using Function = std::function<c10::IValue(const at::Tensor&, const at::Tensor&)>;

constexpr double operand_bytes = 64 * 64 * sizeof(float);

LeastTraffic traffic_of(Function function) {
  FakeClock clock;
  const pace::detail::TypedOperands<at::Tensor, at::Tensor> given({at::randn({64, 64}), at::randn({64, 64})});
  pace::detail::OperandSets sets;
  sets.sets.push_back(given.clone());
  sets.tensors.push_back(sets.sets[0]->tensors());
  sets.given = given.tensors();
  pace::detail::CallableImplementation<Function, at::Tensor, at::Tensor> baseline(std::move(function), sets);
  const auto expected = pace::detail::expected_of(baseline, sets, 1);
  sets.random = expected.random;
  return pace::detail::find_least_traffic(clock, baseline, sets, given, expected.output, pace::Options());
}

at::Tensor& kept() {
  static at::Tensor output = at::zeros_like(at::ones({64, 64}));
  return output;
}

/// These count: outputs in full, and half of each operand.
const std::vector<std::pair<const char*, Function>> in_full{
    {"elementwise", [](const auto& x, const auto& y) { return at::add(x, y); }},
    {"product", [](const auto& x, const auto& y) { return at::mm(x, y); }},
};

const std::vector<std::pair<const char*, Function>> nothing_at_all{
    {"a view", [](const auto& x, const auto&) { return x.t(); }},
    {"an expanded view", [](const auto& x, const auto&) { return x.unsqueeze(0).expand({8, 64, 64}); }},
    {"its operand", [](const auto& x, const auto&) { return x.contiguous(); }},
    {"a copy on write", [](const auto& x, const auto&) { return at::_lazy_clone(x); }},
    {"a constant", [](const auto& x, const auto&) { return at::zeros_like(x); }},
    {"an output that is kept", [](const auto&, const auto&) { return kept(); }},
    {"nothing", [](const auto&, const auto&) { return c10::IValue(); }},
    {"a number", [](const auto&, const auto&) { return 3.0; }},
};

}  // namespace

TEST_CASE("outputs that change with the operands, and operands that the outputs depend on") {
  const auto& [name, function] = in_full[GENERATE(range(std::size_t{0}, in_full.size()))];
  INFO(name);
  const auto found = traffic_of(function);
  CHECK(found.read == operand_bytes);
  CHECK(found.written <= operand_bytes);
  CHECK(found.written > 0.99 * operand_bytes);
}

TEST_CASE("what needs no memory to be read or written does not count") {
  const auto& [name, function] = nothing_at_all[GENERATE(range(std::size_t{0}, nothing_at_all.size()))];
  INFO(name);
  const auto found = traffic_of(function);
  CHECK(found.read == 0);
  CHECK(found.written == 0);
}

TEST_CASE("a table is not read in full where some rows are looked up") {
  const auto found =
      traffic_of([](const auto& x, const auto&) { return at::index_select(x, 0, at::arange(0, 64, 16)); });
  CHECK(found.read == 0);
  CHECK(found.written <= 4 * 64 * sizeof(float));
}

TEST_CASE("an output whose memory is kept is no new memory, but its operands are read") {
  const auto found = traffic_of([](const auto& x, const auto& y) { return at::add_out(kept(), x, y); });
  CHECK(found.written == 0);
}

TEST_CASE("a reduction reads") {
  const auto found = traffic_of([](const auto& x, const auto&) { return x.sum(); });
  CHECK(found.read == 0.5 * operand_bytes);
  CHECK(found.written == sizeof(float));
}

TEST_CASE("memory that several outputs share counts once") {
  const auto found = traffic_of([](const auto& x, const auto& y) {
    const auto sum = at::add(x, y);
    return std::vector<at::Tensor>{sum, sum.t()};
  });
  CHECK(found.written <= operand_bytes);
}

TEST_CASE("an operand that is written to counts by the elements that change") {
  const auto found = traffic_of([](const auto& x, const auto& y) {
    at::Tensor(y).select(0, 0).copy_(x.select(0, 0));
    return c10::IValue();
  });
  CHECK(found.read == 0);
  CHECK(found.written <= 64 * sizeof(float));
  CHECK(found.written > 0);
}

TEST_CASE("a baseline that refuses other values has no least traffic") {
  int calls = 0;
  const auto found = traffic_of([&](const auto& x, const auto& y) {
    if (++calls > 3) throw std::runtime_error("no");
    return at::add(x, y);
  });
  CHECK(found.empty());
}

namespace {

/// A byte a nanosecond.
class SlowMemory final : public FakeClock {
 public:
  [[nodiscard]] pace::timing::HostBandwidth* host_bandwidth() override { return &bandwidth_; }
  int measured = 0;

 private:
  pace::timing::HostBandwidth bandwidth_{[this](std::size_t) -> std::optional<pace::timing::Bandwidths> {
    ++measured;
    return pace::timing::Bandwidths{1e9, 1e9};
  }};
};

pace::Result compare(SlowMemory& clock, double candidate) {
  at::set_num_threads(1);
  const auto add = [](const at::Tensor& x) { return at::add(x, 1); };
  auto options = pace::test::few_rounds();
  options.budget = options.hard_limit = Nanoseconds(1e8);
  options.stop = pace::StopPolicy::budget;
  return pace::compare("case", at::randn({64, 64}))
      .options(options)
      .baseline("old", costing(clock, 20'000, add))
      .candidate("new", costing(clock, candidate, add))
      .expect(pace::SpeedupAtLeast(1.2))
      .run(clock);
}

}  // namespace

TEST_CASE("a time below the least one is invalid, and the message has the figures") {
  SlowMemory clock;
  const auto result = compare(clock, 1000);
  const auto& row = result["new"];
  CHECK_THAT(row.context.describe(pace::Severity::impossible), ContainsSubstring("1.00 us") &&
                                                                   ContainsSubstring("0.0164 MB of outputs") &&
                                                                   ContainsSubstring("0.00819 MB of operands"));
  REQUIRE(row.judgements.size() == 1);
  CHECK(row.judgements[0].verdict == pace::Verdict::invalid);
  CHECK_FALSE(row.judgements[0].acceptable);
  CHECK(result["old"].context.describe(pace::Severity::impossible).empty());
  // Once and three times more, since other work may have slowed the measurement.
  CHECK(clock.measured == 4);
}

TEST_CASE("a time above the least one is judged as ever") {
  SlowMemory clock;
  const auto result = compare(clock, 9000);
  CHECK(result["new"].context.describe(pace::Severity::impossible).empty());
  CHECK(result["new"].judgements.at(0).verdict == pace::Verdict::passed);
}

TEST_CASE("an output that repeats its elements in memory is not written in full") {
  SlowMemory clock;
  const auto row = [](const at::Tensor& x) { return x.select(0, 0).add(1).expand({64, 64}); };
  const auto result =
      pace::compare("case", at::randn({64, 64}))
          .options(pace::test::few_rounds())
          .baseline("old", costing(clock, 20'000, [&](const at::Tensor& x) { return row(x).contiguous(); }))
          .candidate("new", costing(clock, 1000, row))
          .run(clock);
  INFO(result["new"].message);
  CHECK(result["new"].outcome == pace::Outcome::measured);
  CHECK(result["new"].context.describe(pace::Severity::impossible).empty());
}

TEST_CASE("an operand whose packed form is kept is not read") {
  SlowMemory clock;
  const auto row_sums = [](const at::Tensor& x, const at::Tensor& weight) { return x.mul(weight.sum()); };
  at::Tensor packed;
  std::int64_t version = -1;
  const void* of = nullptr;
  const auto packing = [&](const at::Tensor& x, const at::Tensor& weight) {
    if (of != weight.const_data_ptr() || version != weight._version()) packed = weight.sum();
    of = weight.const_data_ptr();
    version = weight._version();
    return x.mul(packed);
  };
  const auto result = pace::compare("case", at::randn({4}), at::rand({64, 64}).add(1))
                          .options(pace::test::few_rounds())
                          .baseline("old", costing(clock, 20'000, row_sums))
                          .candidate("new", costing(clock, 1000, packing))
                          .run(clock);
  INFO(result["new"].message);
  CHECK(result["new"].outcome == pace::Outcome::measured);
  CHECK(result["new"].context.keeps);
  CHECK(result["new"].context.describe(pace::Severity::impossible).empty());
}

namespace {

/// Needs a nanosecond for each byte of memory that calls move.
class SlowDevice final : public pace::timing::ModeClock {
 public:
  Nanoseconds time(pace::FunctionRef<void()> body) override { return body(), Nanoseconds(1); }
  [[nodiscard]] Nanoseconds now() const override { return {}; }
  [[nodiscard]] Nanoseconds resolution() override { return Nanoseconds(1); }
  [[nodiscard]] std::string name() const override { return "slow"; }
  void select(pace::ClockChoice) override {}
  [[nodiscard]] pace::ClockChoice selected() const override { return pace::ClockChoice::graph; }
  [[nodiscard]] bool usable() const override { return true; }
  void forget() override {}
  [[nodiscard]] std::optional<Nanoseconds> least_cold_time(const pace::timing::LeastTraffic& traffic,
                                                           Nanoseconds /*time*/) override {
    return Nanoseconds(traffic.read + traffic.written);
  }
};

pace::ImplementationResult timed(double median, std::optional<double> cold) {
  const auto of = [](double time) { return pace::TimeSummary{.median = Nanoseconds(time)}; };
  pace::ImplementationResult row;
  row.name = "new";
  row.time = of(median);
  row.modes.emplace_back().name = "hot";
  row.modes.back().time = of(1);
  if (cold) {
    row.modes.emplace_back().name = "cold";
    row.modes.back().time = of(*cold);
  }
  return row;
}

}  // namespace

TEST_CASE("on a device the cold time is held against the memory, since operands of other calls are in the L2") {
  SlowDevice clock;
  const auto found = [&](pace::ImplementationResult row) {
    pace::Result result;
    result.implementations = {std::move(row)};
    pace::detail::hold_against_memory(clock, {.read = 4000, .written = 2000}, result);
    CHECK(result.notes.size() ==
          (result.implementations[0].context.describe(pace::Severity::impossible).empty() ? 0 : 1));
    return result.implementations[0].context.describe(pace::Severity::impossible);
  };
  CHECK_THAT(found(timed(100, 5000)), ContainsSubstring("from an empty L2, 5.00 us") &&
                                          ContainsSubstring("needs 6.00 us") &&
                                          ContainsSubstring("0.00400 MB of operands"));
  CHECK(found(timed(100, 6000)).empty());
  CHECK(found(timed(100, {})).empty());
  auto keeps = timed(100, 5000);
  keeps.context.keeps = true;
  CHECK(found(keeps).empty());
}
