// Batches of other sizes while a model is timed, as --dynamic-batch-only has them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include "benches/models/run/dynamic_batch.hpp"
#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/instance.hpp"
#include "pace/base/random.hpp"

namespace pace::benches::models {

/// The sizes that torchbench draws: the batch times a factor that is uniform in [0.8, 1.2), cut to a whole number of at
/// least 2.
class DrawnBatches {
 public:
  DrawnBatches(std::int64_t batch, std::uint64_t seed) : batch_(batch), random_(seed) {}

  [[nodiscard]] std::int64_t next() {
    const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
    return std::max<std::int64_t>(2, static_cast<std::int64_t>(static_cast<double>(batch_) * (0.8 + 0.4 * uniform)));
  }

 private:
  std::int64_t batch_;
  SplitMix64 random_;
};

/// The inputs as torchbench varies them: in each tensor the first dimension of size `batch` is cut to `size`, or its
/// last row is repeated up to that.
[[nodiscard]] inline torch::jit::Stack resized_batch(const torch::jit::Stack& inputs, std::int64_t batch,
                                                     std::int64_t size) {
  return map_tensors(inputs, [&](const at::Tensor& tensor) {
    const auto sizes = tensor.sizes();
    const auto* const found = std::find(sizes.begin(), sizes.end(), batch);
    if (found == sizes.end() || size == batch) return tensor;
    const auto dimension = found - sizes.begin();
    if (size < batch) return tensor.narrow(dimension, 0, size);
    auto repeated = sizes.vec();
    repeated[static_cast<std::size_t>(dimension)] = size - batch;
    return at::cat({tensor, tensor.narrow(dimension, batch - 1, 1).expand(repeated)}, dimension);
  });
}

/// Batches of up to five sizes, the model's own first, that the rounds of a comparison have in turn. They are operands
/// of the comparison, and so is the number of the batch in use. All sides of a round have the same batch, each in
/// memory of its own.
class BatchSchedule {
 public:
  /// The other sizes lie from 0.8 to 1.2 times the instance's, or are those next to it, and are among `taken`. A batch
  /// of one has none, and neither have inputs without a batch.
  BatchSchedule(const Instance& instance, const BatchRange& taken) {
    const std::int64_t own = instance.options.batch_size;
    add(own, instance.model.inputs);
    if (own < 2) return;
    for (const std::int64_t size : sizes_around(own, taken)) {
      auto inputs = inputs_of_batch(instance, size);
      if (sizes_in(inputs) != sizes_in(instance.model.inputs)) add(size, std::move(inputs));
    }
  }

  /// At most four sizes of `taken` beside `own`, which is one of them, evenly spread, in ascending order.
  [[nodiscard]] static std::vector<std::int64_t> sizes_around(std::int64_t own, const BatchRange& taken) {
    constexpr std::int64_t steps = 4;
    const auto wide = static_cast<double>(own);
    const std::int64_t least = std::max(
        {std::int64_t{2}, taken.low, std::min(static_cast<std::int64_t>(std::floor(0.8 * wide)), own - taken.step)});
    const std::int64_t most =
        std::min(taken.high, std::max(static_cast<std::int64_t>(std::ceil(1.2 * wide)), own + taken.step));
    if (least > own || most < own) return {};
    // Sizes that are taken are so many steps away from `own`.
    const std::int64_t below = (own - least) / taken.step, above = (most - own) / taken.step;
    std::vector<std::int64_t> sizes;
    for (std::int64_t step = 0; step <= steps; ++step) {
      const std::int64_t size = own + ((below + above) * step / steps - below) * taken.step;
      if (size != own && (sizes.empty() || sizes.back() != size)) sizes.push_back(size);
    }
    if (sizes.size() > steps) sizes.erase(sizes.begin() + steps / 2);
    return sizes;
  }

  /// In the order of the batches, the model's own first.
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }
  [[nodiscard]] const torch::jit::Stack& batch(std::size_t index) const { return batches_.at(index); }
  /// `4 3 5`.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::int64_t size : sizes_) text += (text.empty() ? "" : " ") + std::to_string(size);
    return text;
  }

  /// All batches one behind the other, and the number of the first.
  [[nodiscard]] torch::jit::Stack operands() const {
    torch::jit::Stack all;
    for (const auto& batch : batches_) all.insert(all.end(), batch.begin(), batch.end());
    all.emplace_back(at::zeros({1}, at::kLong));
    return all;
  }
  /// The batch that a call with such operands takes. Numbers that checks draw count modulo the batches.
  [[nodiscard]] torch::jit::Stack chosen(const torch::jit::Stack& operands) const {
    const auto count = static_cast<std::int64_t>(batches_.size());
    const std::int64_t number = *operands.back().toTensor().const_data_ptr<std::int64_t>() % count;
    const auto inputs = static_cast<std::ptrdiff_t>(batches_.front().size());
    const auto begin = operands.begin() + (number < 0 ? number + count : number) * inputs;
    return {begin, begin + inputs};
  }
  /// Sets the operands of the next round: each batch as often as the others.
  void advance(const torch::jit::Stack& operands) {
    next_ = (next_ + 1) % sizes_.size();
    operands.back().toTensor().fill_(static_cast<std::int64_t>(next_));
  }

 private:
  [[nodiscard]] static std::vector<std::vector<std::int64_t>> sizes_in(const torch::jit::Stack& inputs) {
    std::vector<std::vector<std::int64_t>> sizes;
    for (const auto& tensor : tensors_of_inputs(inputs)) sizes.push_back(tensor.sizes().vec());
    return sizes;
  }
  void add(std::int64_t size, torch::jit::Stack inputs) {
    sizes_.push_back(size);
    batches_.push_back(std::move(inputs));
  }

  std::vector<std::int64_t> sizes_;
  std::vector<torch::jit::Stack> batches_;
  std::size_t next_ = 0;
};

}  // namespace pace::benches::models
