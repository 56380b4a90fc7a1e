// Collectives of ranks on the CPU, their bandwidths, and the program's options.
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include "benches/collectives/bandwidth.hpp"
#include "benches/collectives/command_line.hpp"
#include "benches/collectives/operators.hpp"
#include "benches/collectives/shared_memory.hpp"
#include "benches/collectives/table.hpp"
#include "pace/ranks.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::collectives;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;

const std::vector<Kind> all_kinds = CommandLine().kinds;

TEST_CASE("bandwidths are the definitions of nccl-tests") {
  // 1 GB in 1 ms.
  const Nanoseconds time{1e6};
  CHECK_THAT(algorithm_bandwidth(1e9, time), WithinRel(1000.0, 1e-12));
  CHECK_THAT(bus_factor(Kind::all_reduce, 2), WithinRel(1.0, 1e-12));
  CHECK_THAT(bus_factor(Kind::all_reduce, 8), WithinRel(1.75, 1e-12));
  for (const Kind kind : {Kind::all_gather, Kind::reduce_scatter, Kind::all_to_all})
    CHECK_THAT(bus_factor(kind, 8), WithinRel(0.875, 1e-12));
  CHECK(bus_factor(Kind::send_receive, 8) == 1);
  // A rank alone sends nothing.
  CHECK(bus_factor(Kind::all_reduce, 1) == 0);
}

TEST_CASE("each rank has a part of equal size, so the bytes sent may differ from those asked for") {
  CHECK(bytes_of(1, 2) == 8);
  CHECK(bytes_of(1024, 3) == 1020);
  CHECK(bytes_of(1024, 4) == 1024);
}

TEST_CASE("every way to compute a collective gives the closed form on each rank") {
  const int ranks = GENERATE(1, 2, 3, 4);
  const std::int64_t bytes = GENERATE(1, 4096, 100'000);
  CAPTURE(ranks, bytes);
  const std::int64_t elements = elements_of(bytes, ranks);
  const SharedBuffers buffers(ranks, static_cast<std::size_t>(elements * ranks) * sizeof(float));
  void* const memory =
      ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& right = *new (memory) std::atomic<int>(0);
  (void)pace::ranks::run(ranks, [&](pace::ranks::Rank& rank) {
    SharedMemoryCommunicator with(rank, buffers);
    for (const Kind kind : all_kinds) {
      const Operator one(kind, with, elements, at::kCPU);
      const at::Tensor input = one.input(), expected = one.expected();
      const auto check = [&](const Way& way) {
        if (!at::equal(way.function(input), expected))
          throw pace::Error(std::string(name_of(kind)) + ": wrong: " + way.name);
        ++right;
      };
      check(one.baseline("shared memory"));
      for (const auto& way : one.candidates()) check(way);
    }
  });
  // Five baselines, two candidates of an all-reduce, one of an all-gather and one of a reduce-scatter.
  CHECK(right == 9 * ranks);
  ::munmap(memory, sizeof(std::atomic<int>));
}

TEST_CASE("tensors of any shape are added up and gathered") {
  const SharedBuffers buffers(2, 64);
  (void)pace::ranks::run(2, [&](pace::ranks::Rank& rank) {
    SharedMemoryCommunicator with(rank, buffers);
    const at::Tensor in = at::full({2, 3}, 1.0F + rank.number());
    const at::Tensor sum = at::empty({2, 3}), all = at::empty({2, 2, 3}), part = at::empty({1, 3});
    with.all_reduce(in, sum);
    with.all_gather(in, all);
    with.reduce_scatter(in, part);
    if (!at::equal(sum, at::full({2, 3}, 3.0F))) throw pace::Error("all-reduce");
    if (!at::equal(all, at::stack({at::full({2, 3}, 1.0F), at::full({2, 3}, 2.0F)}))) throw pace::Error("all-gather");
    if (!at::equal(part, at::full({1, 3}, 3.0F))) throw pace::Error("reduce-scatter");
  });
}

TEST_CASE("a tensor that does not fit into the shared memory is an error") {
  const SharedBuffers buffers(1, 64);
  CHECK(buffers.of(0, 16).numel() == 16);
  CHECK_THROWS_MATCHES(buffers.of(0, 17), pace::Error, MessageMatches(ContainsSubstring("expected at most 64 bytes")));
}

TEST_CASE("bytes are read with units and written as they are read") {
  CHECK(read_bytes("4096") == 4096);
  CHECK(read_bytes("16k") == 16 << 10);
  CHECK(read_bytes("1G") == 1 << 30);
  CHECK(read_bytes("64G") == most_bytes);
  for (const char* wrong : {"", "0", "65G", "1T", "1.5M", "-1", "K", "99999999999999999999"})
    CHECK(read_bytes(wrong) == std::nullopt);
  for (const char* text : {"1", "1000", "16K", "3M", "64G"}) CHECK(text_of_bytes(read_bytes(text).value()) == text);
}

TEST_CASE("sizes grow by the factor, and none is above the largest") {
  CommandLine line;
  line.least = 1 << 10;
  line.most = 40 << 10;
  line.factor = 4;
  CHECK(sizes_of(line) == std::vector<std::int64_t>{1 << 10, 4 << 10, 16 << 10});
  line.least = 1 << 20;
  CHECK_THROWS_MATCHES(sizes_of(line), pace::InputError,
                       MessageMatches(ContainsSubstring("--least 1M is more than --most 40K")));
}

TEST_CASE("the table has both bandwidths of what was measured, and the outcome of what was not") {
  pace::Result result;
  auto& measured = result.implementations.emplace_back();
  measured.name = "NCCL";
  measured.outcome = pace::Outcome::measured;
  measured.bytes = 1e9;
  measured.time.emplace().median = Nanoseconds{1e7};
  auto& wrong = result.implementations.emplace_back();
  wrong.name = "mine";
  wrong.outcome = pace::Outcome::wrong;
  std::ostringstream out;
  print_table({{Kind::all_gather, 1'000, result}}, 4, out);
  CHECK_THAT(out.str(), ContainsSubstring("10.0 ms") && ContainsSubstring(" 100.0 ") && ContainsSubstring(" 75.00 "));
  CHECK_THAT(out.str(), ContainsSubstring("mine") && ContainsSubstring("wrong"));
}

}  // namespace
