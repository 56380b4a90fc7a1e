// Events of the CPU, counted by Linux where this machine permits it.
#include "pace/timing/count_on_cpu.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

TEST_CASE("page faults of the work are counted, or the reason is given") {
  const auto few = count_on_cpu({"page_faults"}, [] { fault(1); }).at(0);
  const auto many = count_on_cpu({"page_faults"}, [] { fault(1000); }).at(0);
  if (!few.events) {
    CHECK_THAT(few.missing, Catch::Matchers::ContainsSubstring("cannot be read"));
    return;
  }
  CHECK(*few.events >= 1);
  CHECK(*many.events - *few.events >= 990);
  CHECK(*many.events - *few.events <= 1010);
}

TEST_CASE("a name without a counter has the reason, and the others their counts") {
  bool ran = false;
  const auto counts = count_on_cpu({"page_faults", "sighs"}, [&] { ran = true; });
  CHECK(ran);
  REQUIRE(counts.size() == 2);
  CHECK(counts[0].events.has_value() != !counts[0].missing.empty());
  CHECK(counts[1].missing == "the CPU has no counter of sighs");
}

TEST_CASE("what the work throws is thrown") {
  CHECK_THROWS_AS(count_on_cpu({"page_faults"}, [] { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
