// A suite of gates in shards, as a fleet runs it: see remote_test.sh.
#include <algorithm>
#include <chrono>

#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>
#include <pace/catch2.hpp>
#include <pace/pace.hpp>

namespace {

void gate(const char* name, std::int64_t size) {
  const at::Tensor x = at::randn({size}), y = at::randn({size});
  // Each shard has two of them, and remote_test.sh takes shards that begin less than four seconds apart for two at
  // once.
  pace::Options options = pace::run_context().options;
  options.stop = pace::StopPolicy::budget;
  options.budget = std::max<pace::Nanoseconds>(options.budget, std::chrono::seconds(3));
  const auto result = pace::compare(name, x, y)
                          .options(options)
                          .baseline("operator", [](const at::Tensor& a, const at::Tensor& b) { return a + b; })
                          .candidate("function", [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); })
                          .expect("function", pace::NoSlowerThan(3))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}

}  // namespace

TEST_CASE("add of 10,000 numbers") { gate("add/10000", 10'000); }
TEST_CASE("add of 20,000 numbers") { gate("add/20000", 20'000); }
TEST_CASE("add of 40,000 numbers") { gate("add/40000", 40'000); }
TEST_CASE("add of 80,000 numbers") { gate("add/80000", 80'000); }
