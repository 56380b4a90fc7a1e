// A tensor-parallel MLP, as an example. Every rank has some columns of the first layer and the same rows of the second
// one. An all-reduce adds up what the ranks compute. Compared with one rank that computes everything.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/collectives/shared_memory.hpp"
#include "pace/catch2.hpp"
#include "pace/ranks.hpp"
#ifdef PACE_CUDA
#include "benches/collectives/nccl.hpp"
#endif

namespace {

namespace collectives = pace::benches::collectives;

struct Sizes {
  std::int64_t rows, width, hidden;
};

void compare(pace::ranks::Rank& rank, collectives::Communicator& with, const Sizes& sizes, at::Device device) {
  // All ranks draw the same numbers, and each takes its part of the weights.
  at::manual_seed(0x9ace);
  const auto draw = [&](std::int64_t in, std::int64_t out) {
    return at::randn({in, out}, device).mul_(1 / std::sqrt(static_cast<double>(in)));
  };
  const at::Tensor first = draw(sizes.width, sizes.hidden), second = draw(sizes.hidden, sizes.width);
  const at::Tensor x = at::randn({sizes.rows, sizes.width}, device);
  const std::int64_t part = sizes.hidden / rank.count(), begin = part * rank.number();
  const at::Tensor own_columns = first.narrow(1, begin, part).contiguous();
  const at::Tensor own_rows = second.narrow(0, begin, part).contiguous();

  auto comparison = pace::ranks::compare(rank, "MLP", x);
  comparison.baseline("one rank", [&](const at::Tensor& x) { return at::relu(at::matmul(x, first)).matmul(second); })
      .candidate("tensor parallel", [&](const at::Tensor& x) {
        const at::Tensor summand = at::relu(at::matmul(x, own_columns)).matmul(own_rows);
        at::Tensor sum = at::empty_like(summand);
        with.all_reduce(summand, sum);
        return sum;
      });
  // On the CPU the ranks share its cores, so there is nothing to gain.
  if (device.is_cuda() && rank.count() > 1) comparison.expect(pace::FasterThan("one rank"));
  comparison.run();
}

TEST_CASE("a tensor-parallel MLP is faster than one rank", "[ranks]") {
  const int gpus = pace::ranks::number_of_gpus();
  const int ranks = gpus == 0 ? 2 : gpus;
  const Sizes sizes = gpus == 0 ? Sizes{.rows = 32, .width = 64, .hidden = 256}
                                : Sizes{.rows = 4096, .width = 4096, .hidden = 2048 * std::int64_t{ranks}};
  // Made before the ranks are, which share it.
  std::unique_ptr<collectives::SharedBuffers> buffers;
  if (gpus == 0)
    buffers = std::make_unique<collectives::SharedBuffers>(
        ranks, static_cast<std::size_t>(sizes.rows * sizes.width) * sizeof(float));
  const auto results = pace::ranks::run(ranks, [&](pace::ranks::Rank& rank) {
    if (buffers != nullptr) {
      collectives::SharedMemoryCommunicator with(rank, *buffers);
      return compare(rank, with, sizes, at::kCPU);
    }
#ifdef PACE_CUDA
    const at::Device device = rank.gpu();
    collectives::NcclCommunicator with(rank);
    compare(rank, with, sizes, device);
#endif
  });
  for (const auto& result : results) CHECK_THAT(result, pace::AsExpected());
}

}  // namespace
