// Inputs, weights and gradients, drawn so that equal sizes and seeds give equal bits to every runner on every device.
#pragma once

#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "benches/rnn/cells.hpp"
#include "benches/rnn/model_def.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::rnn {

/// Throws InputError naming the first option that is below 1.
inline void validate(const Sizes& sizes) {
  const std::pair<const char*, std::int64_t> options[] = {{"--seqLength", sizes.sequence},
                                                          {"--numLayers", sizes.layers},
                                                          {"--inputSize", sizes.input},
                                                          {"--hiddenSize", sizes.hidden},
                                                          {"--miniBatch", sizes.batch}};
  for (const auto& [name, value] : options)
    if (value < 1)
      throw InputError({},
                       name + std::string(": expected a whole number of at least 1, found ") + std::to_string(value));
}

/// While it lives, the CPU's default generator draws from `seed`; afterwards it goes on as if nothing had been drawn.
/// Without a seed it does nothing.
class SeededScope {
 public:
  explicit SeededScope(std::optional<std::uint64_t> seed) {
    if (!seed) return;
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    before_ = generator_.get_state();
    generator_.set_current_seed(*seed);
  }
  SeededScope(const SeededScope&) = delete;
  SeededScope& operator=(const SeededScope&) = delete;
  ~SeededScope() {
    if (!before_.defined()) return;
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    generator_.set_state(before_);
  }

 private:
  at::Generator generator_ = at::detail::getDefaultCPUGenerator();
  at::Tensor before_;
};

/// A leaf of its own on `device`.
[[nodiscard]] inline at::Tensor leaf_on(const c10::Device& device, const at::Tensor& drawn) {
  return drawn.to(device).set_requires_grad(true);
}

struct LstmData {
  at::Tensor x, hx, cx;             ///< hx and cx of [layers, batch, hidden]
  std::vector<at::Tensor> weights;  ///< leaves, per layer w_ih, w_hh, b_ih, b_hh

  [[nodiscard]] Weights layer(std::size_t index) const {
    return {weights[4 * index], weights[4 * index + 1], weights[4 * index + 2], weights[4 * index + 3]};
  }
};

namespace detail {

/// Uniform in +- 1 / sqrt(hidden), as torch::nn::LSTM has its weights.
[[nodiscard]] inline std::vector<at::Tensor> draw_weights(const Sizes& sizes) {
  const double bound = 1 / std::sqrt(static_cast<double>(sizes.hidden));
  const std::int64_t gates = 4 * sizes.hidden;
  std::vector<at::Tensor> weights;
  const auto draw = [&](at::IntArrayRef shape) {
    weights.push_back(leaf_on(sizes.device, at::empty(shape, at::kFloat).uniform_(-bound, bound)));
  };
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    draw({gates, layer == 0 ? sizes.input : sizes.hidden});
    draw({gates, sizes.hidden});
    draw({gates});
    draw({gates});
  }
  return weights;
}

}  // namespace detail

/// The tensors that all LSTM runners of one kind share. Throws InputError for sizes below 1.
[[nodiscard]] inline LstmData draw_lstm(const Sizes& sizes) {
  validate(sizes);
  const SeededScope scope(sizes.seed);
  LstmData data;
  data.x = at::randn({sizes.sequence, sizes.batch, sizes.input}, at::kFloat).to(sizes.device);
  data.hx = at::randn({sizes.layers, sizes.batch, sizes.hidden}, at::kFloat).to(sizes.device);
  data.cx = at::randn({sizes.layers, sizes.batch, sizes.hidden}, at::kFloat).to(sizes.device);
  data.weights = detail::draw_weights(sizes);
  return data;
}

/// Lengths of sequences: from `shortest` to `longest` - 1.
struct Lengths {
  std::int64_t shortest = 30, longest = 100;
};

struct VarlenData {
  std::vector<at::Tensor> sequences;  ///< one per element of the batch, each of [length, input]
  LstmData rest;                      ///< without x
};

/// As `draw_lstm`, with sequences of lengths of their own instead of x; `sizes.sequence` plays no part.
[[nodiscard]] inline VarlenData draw_varlen(const Sizes& sizes, const Lengths& lengths = {}) {
  validate(sizes);
  if (lengths.shortest < 1 || lengths.longest <= lengths.shortest)
    throw InputError({}, "lengths of sequences: expected 1 <= shortest < longest, found " +
                             std::to_string(lengths.shortest) + " and " + std::to_string(lengths.longest));
  const SeededScope scope(sizes.seed);
  VarlenData data;
  const at::Tensor drawn = at::randint(lengths.shortest, lengths.longest, {sizes.batch}, at::kLong);
  for (std::int64_t i = 0; i < sizes.batch; ++i) {
    const std::int64_t length = drawn.const_data_ptr<std::int64_t>()[i];
    data.sequences.push_back(at::randn({length, sizes.input}, at::kFloat).to(sizes.device));
  }
  data.rest.hx = at::randn({sizes.layers, sizes.batch, sizes.hidden}, at::kFloat).to(sizes.device);
  data.rest.cx = at::randn({sizes.layers, sizes.batch, sizes.hidden}, at::kFloat).to(sizes.device);
  data.rest.weights = detail::draw_weights(sizes);
  return data;
}

}  // namespace pace::benches::rnn
