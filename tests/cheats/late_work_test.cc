// Cheats that leave their work until after the timed call: to a conversion, a reading or a release of the output.
#include <signal.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>

#include "tests/cheats/rejected.hpp"

namespace {

using cheats::FakeClock;
using cheats::require_rejected;
using pace::Nanoseconds;

at::Tensor triple(const at::Tensor& x) { return x.mul(3); }

/// A result that is computed when it is converted, or moved if there is a clock for that.
struct Later {
  at::Tensor x;
  FakeClock* clock = nullptr;
  FakeClock* clock_of_moves = nullptr;

  Later(at::Tensor operand, FakeClock* of_conversion, FakeClock* of_moves)
      : x(std::move(operand)), clock(of_conversion), clock_of_moves(of_moves) {}
  Later(Later&& other) noexcept : x(std::move(other.x)), clock(other.clock), clock_of_moves(other.clock_of_moves) {
    if (clock_of_moves != nullptr) clock_of_moves->advance(Nanoseconds(30'000));
  }
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;
  Later& operator=(Later&&) = delete;
  ~Later() = default;
};

}  // namespace

template <>
struct pace::ToIValue<Later> {
  static c10::IValue convert(const Later& later) {
    if (later.clock != nullptr) later.clock->advance(Nanoseconds(30'000));
    return triple(later.x);
  }
};

namespace {

/// Samples of one call each, beside a baseline of 30 us.
template <class Candidate>
pace::Result run_on(FakeClock& clock, Candidate candidate) {
  auto options = cheats::short_run();
  options.budget = Nanoseconds(1e8);
  options.hard_limit = options.budget;
  options.max_iterations = 1;
  options.check_seed = 5;
  return pace::compare("cheat", at::randn({32, 16}))
      .options(options)
      .baseline("eager", cheats::costing(clock, 30'000, triple))
      .candidate("cheat", candidate)
      .expect(pace::SpeedupAtLeast(1.01))
      .expect(pace::NoSlowerThan(100))
      .run(clock);
}

TEST_CASE("the conversion of a type of the user is a part of the timed call") {
  FakeClock clock;
  const auto result = run_on(clock, [&](const at::Tensor& x) { return Later(x, &clock, nullptr); });
  INFO(result["cheat"].message);
  REQUIRE(result["cheat"].outcome == pace::Outcome::measured);
  CHECK(result["cheat"].samples.at(0) == Nanoseconds(30'000));
  CHECK(result["cheat"].judgements.at(0).verdict == pace::Verdict::failed);
}

TEST_CASE("a type of the user is not moved after the timed call") {
  FakeClock clock;
  const auto result = run_on(clock, [&](const at::Tensor& x) {
    clock.advance(Nanoseconds(1'000));
    return Later(x, nullptr, &clock);
  });
  INFO(result["cheat"].message);
  REQUIRE(result["cheat"].outcome == pace::Outcome::measured);
  CHECK(result["cheat"].samples.at(0) == Nanoseconds(1'000));  // there is no move that could be left out
}

TEST_CASE("the release of an output computes the next one") {
  FakeClock clock;
  const auto cheat = [&](const at::Tensor& x) {
    clock.advance(Nanoseconds(1'000));
    auto* const memory = static_cast<float*>(std::malloc(x.nbytes()));
    const auto* const values = static_cast<const float*>(x.const_data_ptr());
    for (std::int64_t i = 0; i < x.numel(); ++i) memory[i] = 3 * values[i];
    const auto release = [&](void* p) {
      clock.advance(Nanoseconds(29'000));
      std::free(p);
    };
    return at::from_blob(memory, x.sizes(), release, x.options());
  };
  require_rejected(run_on(clock, cheat), "work is left until after the timed call");
}

/// Outputs that are computed when one beside them is released, where several are kept, and at once where none is. The
/// answer for the values given is kept.
struct Siblings {
  struct Output {
    float* memory;
    std::vector<float> operand;
    bool open;
  };
  FakeClock* clock = nullptr;
  std::vector<std::shared_ptr<Output>> alive = {};
  std::vector<float> given = {};

  static void compute(Output& output) {
    for (std::size_t i = 0; i < output.operand.size(); ++i) output.memory[i] = 3 * output.operand[i];
    output.open = false;
  }

  at::Tensor call(const at::Tensor& x) {
    constexpr std::size_t several = 3;
    const auto* const values = static_cast<const float*>(x.const_data_ptr());
    auto output = std::make_shared<Output>(static_cast<float*>(std::malloc(x.nbytes())),
                                           std::vector<float>(values, values + x.numel()), true);
    if (given.empty()) given = output->operand;
    const bool waits = output->operand != given && alive.size() >= several;
    clock->advance(Nanoseconds(output->operand != given && !waits ? 30'000 : 1'000));
    if (!waits) compute(*output);
    alive.push_back(output);
    const auto release = [this, output](void* memory) {
      std::erase(alive, output);
      for (const auto& each : alive)
        if (each->open) compute(*each);
      std::free(memory);
    };
    return at::from_blob(output->memory, x.sizes(), release, x.options());
  }
};

TEST_CASE("the release of the outputs beside it computes an output") {
  FakeClock clock;
  Siblings siblings{.clock = &clock};
  auto options = cheats::short_run();
  options.budget = Nanoseconds(1e8);
  options.hard_limit = Nanoseconds(1e10);
  options.check_seed = 5;
  require_rejected(pace::compare("cheat", at::randn({32, 16}))
                       .options(options)
                       .baseline("eager", cheats::costing(clock, 30'000, triple))
                       .candidate("cheat", [&](const at::Tensor& x) { return siblings.call(x); })
                       .expect(pace::SpeedupAtLeast(1.01))
                       .expect(pace::NoSlowerThan(100))
                       .run(clock),
                   "it keeps answers");
}

/// Memory that a handler of SIGSEGV fills when it is read.
struct Guarded {
  static inline FakeClock* clock = nullptr;
  static inline std::vector<float> values = {};
  static inline char* memory = nullptr;
  static constexpr std::size_t bytes = 4096;

  static void fill(int) {
    (void)::mprotect(memory, bytes, PROT_READ | PROT_WRITE);
    auto* const to = reinterpret_cast<float*>(memory);
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = 3 * values[i];
    clock->advance(Nanoseconds(29'000));
  }
};

TEST_CASE("a handler of a signal computes the output when it is read") {
  FakeClock clock;
  Guarded::clock = &clock;
  Guarded::values.assign(32 * 16, 0);
  struct sigaction action{}, before{};
  action.sa_handler = Guarded::fill;
  REQUIRE(::sigaction(SIGSEGV, &action, &before) == 0);
  const auto cheat = [&](const at::Tensor& x) {
    clock.advance(Nanoseconds(1'000));
    Guarded::memory =
        static_cast<char*>(::mmap(nullptr, Guarded::bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(Guarded::values.data(), x.const_data_ptr(), x.nbytes());
    return at::from_blob(Guarded::memory, x.sizes(), [](void* p) { (void)::munmap(p, Guarded::bytes); }, x.options());
  };
  const auto result = run_on(clock, cheat);
  REQUIRE(::sigaction(SIGSEGV, &before, nullptr) == 0);
  require_rejected(result, "work is left until after the timed call");
}

}  // namespace
