// A program with a clock_gettime() of its own, which hides a part of the time that the candidate takes.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>

#include "pace/timing/hardware_counter.hpp"
#include "pace/timing/wall.hpp"
#include "tests/cheats/rejected.hpp"

namespace {

std::atomic<long> hidden{0};

long kernel_time(clockid_t id) {
  timespec time{};
  ::syscall(SYS_clock_gettime, id, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* time) noexcept {
  const long now = kernel_time(id) - (id == CLOCK_MONOTONIC ? hidden.load() : 0);
  time->tv_sec = now / 1'000'000'000;
  time->tv_nsec = now % 1'000'000'000;
  return 0;
}

TEST_CASE("a clock that hides half of the candidate's time is seen by the CPU's own counter") {
  if (!pace::timing::has_steady_ticks()) SKIP("the CPU's counter does not tick at one rate");
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = options.hard_limit = pace::Nanoseconds(1e8);
  options.stop = pace::StopPolicy::budget;
  pace::timing::WallClock clock;
  const auto result = pace::compare("cheat", at::randn({64, 256}))
                          .options(options)
                          .baseline("eager", [](const at::Tensor& x) { return at::sigmoid(x); })
                          .candidate("cheat",
                                     [](const at::Tensor& x) {
                                       const long start = kernel_time(CLOCK_MONOTONIC);
                                       auto output = at::sigmoid(x);
                                       hidden += (kernel_time(CLOCK_MONOTONIC) - start) / 2;
                                       return output;
                                     })
                          .expect(pace::SpeedupAtLeast(1.01))
                          .run(clock);
  const auto& row = result["cheat"];
  CHECK_THAT(row.context.describe(pace::Severity::impossible),
             cheats::ContainsSubstring("; try: leave clock_gettime() as the system has it"));
  REQUIRE(row.judgements.size() == 1);
  // On a busy machine the speed-up on unseen values may disprove the claim first.
  CHECK_FALSE(row.judgements[0].acceptable);
}
