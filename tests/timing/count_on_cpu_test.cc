// Events of the CPU, counted by Linux where this machine permits it.
#include "pace/timing/count_on_cpu.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::timing::count_on_cpu;
using pace::timing::EventCount;
namespace detail = pace::timing::detail;

/// One event alone.
EventCount count_one(const std::string& name, pace::FunctionRef<void()> work) {
  return count_on_cpu({name}, work).at(0);
}

/// Touches `count` new pages.
void fault(std::size_t count) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Otherwise the kernel may provide many pages at once.
  (void)::madvise(memory, count * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < count; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  ::munmap(memory, count * page);
}

TEST_CASE("each name has an entry, and each entry of the CPU a kind of event") {
  for (const auto& each : pace::counter_entries) {
    CHECK(pace::counter_entry(each.name) == &each);
    CHECK(detail::perf_kind(each.name).has_value() == !each.of_gpu);
  }
  CHECK(pace::counter_entry("branch misses") == nullptr);
  CHECK_THAT(pace::names_of_counters(), Catch::Matchers::StartsWith("cycles, instructions, "));
}

/// Whether this machine permits it; otherwise checks that the reason is given.
bool is_counted(const pace::timing::EventCount& count) {
  if (count.events) return true;
  CHECK_THAT(count.missing, ContainsSubstring("cannot be read"));
  return false;
}

TEST_CASE("page faults of the work are counted, or the reason is given") {
  const auto few = count_one("page_faults", [] { fault(1); });
  if (!is_counted(few)) return;
  const auto many = count_one("page_faults", [] { fault(1000); });
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
  const auto in_both = count_one("page_faults", [&] {
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
  const auto counts = count_on_cpu({"sighs", "dram_bytes"}, [&] { ran = true; });
  CHECK_FALSE(ran);
  REQUIRE(counts.size() == 2);
  CHECK_FALSE(counts[0].events);
  CHECK(counts[0].missing == "the CPU has no counter of sighs");
  CHECK(counts[1].missing == "a GPU counts it; expected operands on a CUDA GPU");
}

TEST_CASE("one turn counts all names, and a name without a counter does not stop the others") {
  int runs = 0;
  const auto counts = count_on_cpu({"sighs", "page_faults"}, [&] {
    ++runs;
    fault(1000);
  });
  REQUIRE(counts.size() == 2);
  CHECK_FALSE(counts[0].missing.empty());
  if (!is_counted(counts[1])) return;
  CHECK(runs == 1);
  CHECK(*counts[1].events >= 1000);
}

TEST_CASE("without a file left there is no count, and the reason names the files") {
  const auto with_files = [](rlim_t most) {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{.rlim_cur = most, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto count = count_one("page_faults", [] {});
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK_FALSE(count.events);
    return count.missing;
  };
  CHECK_THAT(with_files(0), ContainsSubstring("the threads of the process are unknown, since /proc/self/task"));
  CHECK_THAT(detail::why_no_counter_in("page faults", EMFILE, 7),
             ContainsSubstring("a counter takes a file for each of 7 threads; expected a higher ulimit -n"));
}

TEST_CASE("threads that cannot be listed are an error") {
  CHECK_THROWS_WITH(detail::threads_of_process("/proc/none"),
                    ContainsSubstring("since /proc/none cannot be read: No such file"));
  CHECK(detail::threads_of_process().back() == ::gettid());
}

TEST_CASE("a counter without permission names the setting, and one that is not there the virtual machine") {
  CHECK_THAT(detail::why_no_counter_in("cycles", EACCES, 1),
             ContainsSubstring("cannot be read: Permission denied; expected permission") &&
                 ContainsSubstring("kernel.perf_event_paranoid"));
  CHECK_THAT(detail::why_no_counter_in("cycles", ENOENT, 1), ContainsSubstring("; virtual machines often have none"));
}

TEST_CASE("a counter that one thread of several lost has no count") {
  EventCount sum;
  detail::add_thread(sum, [] { return 5; }, "; or fewer");
  detail::add_thread(sum, [] { return 7; }, "; or fewer");
  CHECK(sum.events == 12.0);
  detail::add_thread(
      sum, [] { return detail::whole_count({.value = 1, .enabled = 1000, .running = 250}, "cycles"); }, "; or fewer");
  detail::add_thread(sum, [] { return 7; }, "; or fewer");
  CHECK_FALSE(sum.events);
  CHECK_THAT(sum.missing, ContainsSubstring("ran for 250 of 1000 ns") && Catch::Matchers::EndsWith("; or fewer"));
}

TEST_CASE("what the work throws is thrown") {
  CHECK_THROWS_AS(count_one("page_faults", [] { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
