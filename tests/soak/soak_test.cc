// Thousands of comparisons in one process: memory, descriptors, threads, children and temporary files stay flat.
#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <ATen/ops/add.h>
#include <ATen/ops/rand.h>

#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/variable.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>

namespace {

namespace fs = std::filesystem;
using pace::Nanoseconds;
using pace::test::FakeClock;

std::size_t entries_of(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// What a process holds, once its freed memory has gone back to the system.
struct Held {
  std::size_t heap = 0;      ///< bytes
  std::size_t resident = 0;  ///< bytes
  std::size_t descriptors = 0, threads = 0, children = 0, files = 0;

  static Held now() {
    Held held;
    ::malloc_trim(0);
    const auto heap = ::mallinfo2();
    held.heap = heap.uordblks + heap.hblkhd;
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    held.resident = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    held.descriptors = entries_of("/proc/self/fd");
    held.threads = entries_of("/proc/self/task");
    for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
      std::ifstream children(thread.path() / "children");
      for (std::string child; children >> child;) ++held.children;
    }
    held.files = entries_of(fs::temp_directory_path());
    return held;
  }
};

/// Adds one after `time` of the clock.
auto taking(FakeClock& clock, Nanoseconds time) {
  return [&clock, time](const at::Tensor& x) {
    clock.advance(time);
    return at::add(x, 1);
  };
}

pace::Options options_of(std::size_t number) {
  constexpr std::size_t levels = 3;
  pace::Options options;
  options.audit = static_cast<pace::Audit>(number % levels);
  options.budget = Nanoseconds(5e6);
  options.least_duration = {};
  options.max_rounds = 40;
  return options;
}

/// One comparison of each kind in turn: gates, a wrong candidate and one that throws, at each level of the audit.
void compare(std::size_t number) {
  FakeClock clock;
  const Nanoseconds each(1e5);
  const at::Tensor x = at::rand({16});
  const auto options = options_of(number / 4);
  // Each name stays known, to tell repeated ones apart.
  auto comparison = pace::compare("soak/" + std::to_string(number % 60), x);
  comparison.options(options).baseline("one", taking(clock, each));
  switch (number % 4) {
    case 0:
      comparison.candidate("same", taking(clock, each)).expect(pace::NoSlowerThan(1.02));
      break;
    case 1:
      comparison.candidate("faster", taking(clock, 0.5 * each)).expect(pace::SpeedupAtLeast(1.2));
      break;
    case 2:
      comparison.candidate("wrong", [](const at::Tensor& value) { return at::add(value, 2); });
      break;
    default:
      comparison.candidate("throws", [](const at::Tensor&) -> at::Tensor { throw std::runtime_error("no"); });
      break;
  }
  const auto result = comparison.run(clock);
  REQUIRE(result.implementations.size() == 2);
}

/// Requires that a process holds as much as before, after as many comparisons again.
void require_flat(std::size_t number) {
  // Other processes write to the usual folder, too.
  const pace::test::Scratch folder;
  const pace::test::Variable temporary("TMPDIR", folder.path);
  Held before;
  for (std::size_t i = 0; i < 2 * number; ++i) {
    if (i == number) before = Held::now();
    compare(i);
  }
  const Held after = Held::now();
  const auto growth = [](std::size_t then, std::size_t now) { return now > then ? now - then : 0; };
  const std::size_t heap = growth(before.heap, after.heap), resident = growth(before.resident, after.resident);
  std::printf("%zu comparisons: heap +%zu bytes of %zu kB, resident +%zu kB of %zu MB; %zu descriptors, %zu threads\n",
              number, heap, before.heap >> 10, resident >> 10, before.resident >> 20, after.descriptors, after.threads);
  // Less than a word for each comparison, and 64 kB for what is made once.
  CHECK(heap < 8 * number + (64 << 10));
  // Pages that the allocator cannot give back may be some more.
  CHECK(resident < 8 * number + (4 << 20));
  CHECK(after.descriptors == before.descriptors);
  CHECK(after.threads == before.threads);
  CHECK(after.children == before.children);
  CHECK(after.files == 0);
}

}  // namespace

TEST_CASE("hundreds of comparisons leave memory, descriptors, threads and files as they were") { require_flat(300); }

TEST_CASE("thousands of comparisons do, too", "[long]") { require_flat(5000); }
