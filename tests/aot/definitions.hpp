// Small differentiable definitions, of each kind that has caused trouble somewhere.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include "benches/files/aot/definition.hpp"

namespace pace::test {

using Tensors = std::vector<at::Tensor>;

inline at::Tensor parameter(std::vector<std::int64_t> sizes) { return at::randn(sizes).mul_(0.3).requires_grad_(); }

inline pace::benches::aot::Definition mlp() {
  return {.name = "mlp",
          .parameters = {parameter({32, 16}), parameter({32}), parameter({8, 32}), parameter({8})},
          .inputs = {at::randn({4, 16})},
          .forward = [](const Tensors& p, const Tensors& x) {
            return Tensors{at::linear(at::relu(at::linear(x[0], p[0], p[1])), p[2], p[3])};
          }};
}

/// The cell of an LSTM, step by step: all hidden states, and the last state twice.
inline pace::benches::aot::Definition lstm(std::int64_t steps, std::int64_t batch, std::int64_t size) {
  return {.name = "lstm",
          .parameters = {parameter({4 * size, size}), parameter({4 * size, size}), parameter({4 * size}),
                         parameter({4 * size})},
          .inputs = {at::randn({steps, batch, size}), at::randn({batch, size}), at::randn({batch, size})},
          .forward = [](const Tensors& p, const Tensors& x) {
            at::Tensor h = x[1], c = x[2];
            Tensors all;
            for (const at::Tensor& step : x[0].unbind(0)) {
              const auto gates = (at::linear(step, p[0], p[2]) + at::linear(h, p[1], p[3])).chunk(4, 1);
              c = at::sigmoid(gates[1]) * c + at::sigmoid(gates[0]) * at::tanh(gates[2]);
              h = at::sigmoid(gates[3]) * at::tanh(c);
              all.push_back(h);
            }
            return Tensors{at::stack(all), h, c};
          }};
}

/// LibTorch's own LSTM.
inline pace::benches::aot::Definition built_in_lstm() {
  return {.name = "built_in_lstm",
          .parameters = {parameter({16, 4}), parameter({16, 4}), parameter({16}), parameter({16})},
          .inputs = {at::randn({2, 3, 4}), at::randn({1, 3, 4}), at::randn({1, 3, 4})},
          .forward = [](const Tensors& p, const Tensors& x) {
            const auto [all, h, c] = at::lstm(x[0], {x[1], x[2]}, p, true, 1, 0.0, true, false, false);
            return Tensors{all, h, c};
          }};
}

/// Convolution, batch norm that keeps statistics, pooling, and a parameter that nothing depends on.
inline pace::benches::aot::Definition convolution() {
  return {.name = "convolution",
          .parameters = {parameter({8, 3, 3, 3}), parameter({8}), parameter({5}), parameter({8})},
          .inputs = {at::randn({2, 3, 10, 10}), at::zeros({8}), at::ones({8})},
          .forward = [](const Tensors& p, const Tensors& x) {
            const auto y = at::conv2d(x[0], p[0], {}, at::IntArrayRef({1, 1}), at::IntArrayRef({1, 1}));
            const auto z = at::relu(at::batch_norm(y, p[1], p[3], x[1], x[2], true, 0.1, 1e-5, false));
            return Tensors{at::max_pool2d(z, at::IntArrayRef({2, 2}))};
          }};
}

/// Two outputs that receive gradients, one of them a view of the other; outputs that are an input, a parameter,
/// integers. Further a transposed input, a constant, and an input that is overwritten while the backward still needs
/// its old value. One parameter's gradient is the incoming one.
inline pace::benches::aot::Definition odd() {
  const at::Tensor constant = at::arange(12, at::kFloat).reshape({3, 4});
  return {.name = "odd",
          .parameters = {parameter({3, 4}), parameter({3, 4})},
          .inputs = {at::randn({4, 3}).t(), at::arange(5), at::rand({3, 4})},
          .forward =
              [constant](const Tensors& p, const Tensors& x) {
                const at::Tensor y = p[0] * x[0] * x[2].clone() + constant * 0.5 + p[1];
                x[2].mul_(2);
                return Tensors{y, x[0], y.t(), p[0], x[1] + 1};
              },
          .differentiated = {0, 2}};
}

}  // namespace pace::test
