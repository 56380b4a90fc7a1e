// A data-parallel training step, as an example: each rank has a batch of its own, and gradients are averaged by an
// all-reduce of each parameter or by one of all. By LibTorch's own process group.
#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

// LibTorch's CHECK ends the program, Catch2's a test.
#undef CHECK
#include <catch2/catch_test_macros.hpp>

#include "pace/catch2.hpp"
#include "pace/ranks.hpp"

namespace {

constexpr std::int64_t layers = 24, width = 512, batch = 256;
constexpr double learning_rate = 0.01;

/// Deep and narrow: its all-reduces take longer to start than to send.
std::vector<at::Tensor> parameters_on(at::Device device) {
  torch::manual_seed(0x9ace);  // the same on all ranks
  std::vector<at::Tensor> parameters;
  for (std::int64_t i = 0; i < layers; ++i) {
    parameters.push_back(torch::randn({width, width}, device).mul_(0.04).requires_grad_());
    parameters.push_back(torch::zeros({width}, device).requires_grad_());
  }
  return parameters;
}

std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters, const at::Tensor& x,
                                     const at::Tensor& target) {
  at::Tensor y = x;
  for (std::size_t i = 0; i < parameters.size(); i += 2)
    y = torch::relu(torch::addmm(parameters[i + 1], y, parameters[i]));
  return torch::autograd::grad({torch::mse_loss(y, target)}, parameters);
}

/// The parameters after a step by these sums of all ranks' gradients.
std::vector<at::Tensor> step(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& sums,
                             int ranks) {
  const torch::NoGradGuard no_gradients;
  std::vector<at::Tensor> next;
  for (std::size_t i = 0; i < parameters.size(); ++i) next.push_back(parameters[i].sub(sums[i], learning_rate / ranks));
  return next;
}

void add_up(c10d::ProcessGroupNCCL& group, const at::Tensor& tensor) {
  std::vector<at::Tensor> all{tensor};
  // Makes the current stream wait for NCCL's; the host goes on.
  group.allreduce(all)->wait();
}

void compare(pace::ranks::Rank& rank) {
  const at::Device device = rank.gpu();
  const auto store = c10::make_intrusive<c10d::FileStore>(rank.store_path(), rank.count());
  c10d::ProcessGroupNCCL group(store, rank.number(), rank.count());
  const auto parameters = parameters_on(device);
  torch::manual_seed(static_cast<std::uint64_t>(rank.number()));
  const at::Tensor x = torch::randn({batch, width}, device), target = torch::randn({batch, width}, device);

  const auto each_alone = [&](const at::Tensor& x, const at::Tensor& target) {
    const auto gradients = gradients_of(parameters, x, target);
    for (const auto& gradient : gradients) add_up(group, gradient);
    return step(parameters, gradients, rank.count());
  };
  const auto in_one_bucket = [&](const at::Tensor& x, const at::Tensor& target) {
    const auto gradients = gradients_of(parameters, x, target);
    std::vector<at::Tensor> flat;
    std::vector<std::int64_t> sizes;
    for (const auto& gradient : gradients) {
      flat.push_back(gradient.flatten());
      sizes.push_back(gradient.numel());
    }
    const at::Tensor bucket = torch::cat(flat);
    add_up(group, bucket);
    auto sums = bucket.split_with_sizes(sizes);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sums[i].view(gradients[i].sizes());
    return step(parameters, sums, rank.count());
  };
  auto comparison = pace::ranks::compare(rank, "training step", x, target);
  comparison.baseline("an all-reduce per parameter", each_alone).candidate("one bucket", in_one_bucket);
  if (rank.count() > 1) comparison.expect(pace::FasterThan("an all-reduce per parameter"));
  comparison.run();
  // All together, since none can use a communicator that another has left.
  rank.barrier();
  group.shutdown();
}

TEST_CASE("one bucket of gradients is faster than an all-reduce per parameter", "[ranks]") {
  const int gpus = pace::ranks::number_of_gpus();
  if (gpus == 0) SKIP("no GPU that this program can use");
  for (const auto& result : pace::ranks::run(gpus, compare)) CHECK_THAT(result, pace::AsExpected());
}

}  // namespace
