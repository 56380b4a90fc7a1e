// Events of the CPU, counted by Linux where this machine permits it.
#include "pace/timing/count_on_cpu.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using pace::timing::count_on_cpu;

/// Touches `count` new pages.
void fault(std::size_t count) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Otherwise the kernel may provide many pages at once.
  (void)::madvise(memory, count * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < count; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  ::munmap(memory, count * page);
}

TEST_CASE("each name has an entry, and each entry a kind of event") {
  for (const auto& each : pace::counter_entries) {
    CHECK(pace::counter_entry(each.name) == &each);
    CHECK(pace::timing::detail::perf_kind(each.name).has_value());
  }
  CHECK(pace::counter_entry("branch misses") == nullptr);
  CHECK_THAT(pace::names_of_counters(), Catch::Matchers::StartsWith("cycles, instructions, "));
}

/// Whether this machine permits it; otherwise checks that the reason is given.
bool is_counted(const pace::timing::EventCount& count) {
  if (count.events) return true;
  CHECK_THAT(count.missing, Catch::Matchers::ContainsSubstring("cannot be read"));
  return false;
}

TEST_CASE("page faults of the work are counted, or the reason is given") {
  const auto few = count_on_cpu("page_faults", [] { fault(1); });
  if (!is_counted(few)) return;
  const auto many = count_on_cpu("page_faults", [] { fault(1000); });
  CHECK(*few.events >= 1);
  CHECK(*many.events - *few.events >= 990);
  CHECK(*many.events - *few.events <= 1010);
}

TEST_CASE("events count of threads that were there, and of those that the work starts") {
  std::atomic<int> turn{0};
  std::thread before([&] {
    while (turn == 0) std::this_thread::yield();
    fault(1000);
    turn = 2;
    while (turn == 2) std::this_thread::yield();
  });
  const auto in_both = count_on_cpu("page_faults", [&] {
    turn = 1;
    while (turn == 1) std::this_thread::yield();
    std::thread([] { fault(2000); }).join();
  });
  turn = 3;
  before.join();
  if (is_counted(in_both)) CHECK(*in_both.events >= 3000);
}

TEST_CASE("a name without a counter has the reason, and the work does not run") {
  bool ran = false;
  const auto count = count_on_cpu("sighs", [&] { ran = true; });
  CHECK_FALSE(ran);
  CHECK_FALSE(count.events);
  CHECK(count.missing == "the CPU has no counter of sighs");
}

TEST_CASE("without a file left there is no count, and the reason names the files") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto count = count_on_cpu("page_faults", [] {});
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(count.events);
  CHECK_THAT(count.missing, Catch::Matchers::ContainsSubstring("cannot be read"));
}

TEST_CASE("what the work throws is thrown") {
  CHECK_THROWS_AS(count_on_cpu("page_faults", [] { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
