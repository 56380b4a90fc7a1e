// A comparison's use of the GPU's memory: outputs change hands, all of it is given back, and none left is a reason.
#include "pace/pace.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/gpu/cuda/cuda_graph.hpp"
#include "tests/gpu/cuda/gpu.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using pace::Outcome;
namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr auto all_pools = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

at::Tensor megabytes(std::int64_t count) { return at::randn({count << 8, 1024}, at::TensorOptions(at::kCUDA)); }

pace::Options quick(double milliseconds) {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = std::chrono::duration<double, std::milli>(milliseconds);
  options.max_interference = 1;
  return options;
}

std::int64_t reserved() {
  return allocator::getDeviceStats(pace::testing::on_gpu().index()).reserved_bytes[all_pools].current;
}
std::int64_t allocated() {
  return allocator::getDeviceStats(pace::testing::on_gpu().index()).allocated_bytes[all_pools].current;
}

pace::Result twins(const at::Tensor& x, double milliseconds) {
  const auto call = [](const at::Tensor& each) { return at::softmax(each, 1); };
  return pace::compare("twins", x).options(quick(milliseconds)).baseline("a", call).candidate("b", call).run();
}

/// Writes down where its outputs lie.
struct Recording {
  std::shared_ptr<std::vector<const void*>> addresses = std::make_shared<std::vector<const void*>>();

  at::Tensor operator()(const at::Tensor& x) const {
    at::Tensor y = at::relu(x);
    addresses->push_back(y.const_data_ptr());
    return y;
  }
  [[nodiscard]] std::set<const void*> places() const {
    return {addresses->begin() + static_cast<std::ptrdiff_t>(addresses->size() - addresses->size() / 4),
            addresses->end()};
  }
};

TEST_CASE("outputs change hands: by every clock, both sides write to the same memory") {
  static_cast<void>(pace::testing::on_gpu());
  using enum pace::ClockChoice;
  for (const auto clock : {hot, host, graph, cold}) {
    CAPTURE(pace::to_string(clock));
    auto options = quick(50);
    options.clock = clock;
    options.mode_share = 0;
    pace::check::CheckOptions unchecked;
    unchecked.method = pace::check::CheckOptions::Method::none;
    const Recording one, other;
    const auto result = pace::compare("relu", megabytes(16))
                            .options(options)
                            .check(unchecked)
                            .baseline("one", one)
                            .candidate("other", other)
                            .run();
    REQUIRE(result["other"].outcome == Outcome::measured);
    CHECK(one.places() == other.places());
  }
}

TEST_CASE("after a comparison its operands, outputs, graphs and their pools are gone") {
  static_cast<void>(pace::testing::on_gpu());
  const at::Tensor x = megabytes(64);
  // Once, for the memory that libraries take for good.
  REQUIRE(twins(x, 20)["b"].outcome == Outcome::measured);
  const std::int64_t in_use = allocated(), kept = reserved();
  for (int i = 0; i < 3; ++i) {
    REQUIRE(twins(x, 20)["b"].modes.size() == 4);
    CHECK(allocated() == in_use);
    CHECK(reserved() == kept);
  }
  // `x`, and the libraries' memory.
  CHECK(kept <= std::int64_t{128} << 20);
}

TEST_CASE("a hundred comparisons need no more memory than one") {
  static_cast<void>(pace::testing::on_gpu());
  REQUIRE(twins(megabytes(1), 2)["b"].outcome == Outcome::measured);
  // The memory that the operand, which was this test's, leaves behind.
  pace::cuda::give_back_unused_memory();
  const std::int64_t in_use = allocated(), kept = reserved();
  for (int i = 0; i < 100; ++i) REQUIRE(twins(megabytes(1 + i % 5), 2)["b"].outcome == Outcome::measured);
  pace::cuda::give_back_unused_memory();
  CHECK(allocated() == in_use);
  CHECK(reserved() == kept);
}

TEST_CASE("a graph that is gone gives its memory back, also when its capture failed") {
  auto& device = pace::testing::on_gpu();
  const at::Tensor x = megabytes(32);
  const auto own = [](const at::Tensor& each) { return at::relu(each); };
  static_cast<void>(pace::cuda::cuda_graph(device, own)(x));
  pace::cuda::give_back_unused_memory();
  const std::int64_t kept = reserved();
  {
    const auto graphed = pace::cuda::cuda_graph(device, own);
    static_cast<void>(graphed(x));
    CHECK(reserved() >= kept + (std::int64_t{32} << 20));
  }
  pace::cuda::give_back_unused_memory();
  CHECK(reserved() == kept);
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS(pace::gpu::capture(device, device.capture_stream(), [&] {
      static_cast<void>(at::relu(x));
      device.synchronise();
    }));
    CHECK(at::relu(x).cpu().numel() == x.numel());
    pace::cuda::give_back_unused_memory();
    CHECK(reserved() == kept);
  }
}

TEST_CASE("a device without memory left: rows say so, none is called wrong, and the next comparison is measured") {
  static_cast<void>(pace::testing::on_gpu());
  REQUIRE(twins(megabytes(1), 2)["b"].outcome == Outcome::measured);
  pace::cuda::give_back_unused_memory();
  // Takes the free memory, but for some MiB.
  struct Hog {
    explicit Hog(std::int64_t left) {
      std::size_t free = 0, total = 0;
      REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
      REQUIRE(cudaMalloc(&memory, free - (static_cast<std::size_t>(left) << 20)) == cudaSuccess);
    }
    ~Hog() { static_cast<void>(cudaFree(memory)); }
    void* memory = nullptr;
  };
  constexpr std::int64_t left = 1024;
  const auto chain = [](const at::Tensor& x) { return at::relu(at::add(at::mul(x, 2), x)); };
  int measured = 0, out_of_memory = 0;
  {
    const Hog hog(left);
    // From sizes that fit well to one that does not fit once.
    for (std::int64_t size = 8; size < left; size += 40) {
      CAPTURE(size);
      at::Tensor x;
      try {
        x = megabytes(size);
      } catch (const c10::OutOfMemoryError&) {
        break;
      }
      for (const auto clock : {pace::ClockChoice::automatic, pace::ClockChoice::graph}) {
        auto options = quick(4);
        options.clock = clock;
        const auto result =
            pace::compare("large", x).options(options).baseline("a", chain).candidate("b", chain).bytes(1).run();
        for (const auto& row : result.implementations) {
          INFO(row.name << ": " << pace::to_string(row.outcome) << ": " << row.message);
          const std::string outcome = pace::to_string(row.outcome);
          if (result["a"].time) {
            CHECK_THAT(outcome, Equals("measured") || Equals("out of memory"));
          } else {  // without a baseline the candidate is refused
            CHECK_THAT(outcome, Equals("measured") || Equals("out of memory") || Equals("refused"));
          }
          measured += row.outcome == Outcome::measured;
          out_of_memory += row.outcome == Outcome::out_of_memory;
        }
      }
    }
  }
  CHECK(measured > 0);
  CHECK(out_of_memory > 0);
  CHECK(twins(megabytes(64), 20)["b"].outcome == Outcome::measured);
}

}  // namespace
