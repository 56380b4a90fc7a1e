// The subjects of the accuracy bench: LibTorch's kernels from 2 us to 10 ms.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sum.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pace/timing/subject.hpp"

namespace pace::benches::accuracy {

/// One call on each of a few operand sets.
struct Subject final : timing::Subject {
  Subject(std::string named, std::vector<std::function<void()>> called, double moved = 0)
      : name(std::move(named)), calls(std::move(called)), bytes(moved) {}

  std::string name;
  std::vector<std::function<void()>> calls;
  double bytes = 0;

  void run(std::size_t set, std::int64_t iterations) override {
    const auto& call = calls[set];
    for (std::int64_t i = 0; i < iterations; ++i) call();
  }
};

[[nodiscard]] inline at::Tensor random(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  return at::randn(sizes, at::TensorOptions().device(at::kCUDA).dtype(type));
}

/// `sets` sets of operands, each of `elements` floats three times.
[[nodiscard]] inline Subject add(std::int64_t elements, std::size_t sets = 1) {
  Subject subject{"add " + (elements >= 1 << 20 ? std::to_string(elements >> 20) + " Mi" : std::to_string(elements)),
                  {},
                  12.0 * static_cast<double>(elements)};
  for (std::size_t set = 0; set < sets; ++set)
    subject.calls.push_back([a = random({elements}), b = random({elements}), out = random({elements})]() mutable {
      at::add_out(out, a, b);
    });
  return subject;
}

[[nodiscard]] inline Subject product(std::int64_t n, at::ScalarType type) {
  const char* const name = type == at::kFloat ? "float32" : type == at::kHalf ? "float16" : "bf16";
  return {std::string(name) + " product " + std::to_string(n),
          {[a = random({n, n}, type), b = random({n, n}, type), out = random({n, n}, type)]() mutable {
            at::mm_out(out, a, b);
          }}};
}

[[nodiscard]] inline Subject softmax(std::int64_t rows, std::int64_t columns) {
  return {
      "softmax " + std::to_string(rows) + "x" + std::to_string(columns),
      {[x = random({rows, columns}), out = random({rows, columns})]() mutable { at::_softmax_out(out, x, 1, false); }}};
}

[[nodiscard]] inline Subject layer_norm(std::int64_t rows, std::int64_t columns) {
  return {"layer norm " + std::to_string(rows) + "x" + std::to_string(columns),
          {[x = random({rows, columns}), w = random({columns}), b = random({columns}), columns] {
            static_cast<void>(at::native_layer_norm(x, {columns}, w, b, 1e-5));
          }}};
}

[[nodiscard]] inline Subject gelu(std::int64_t elements) {
  return {"gelu " + std::to_string(elements >> 20) + " Mi",
          {[x = random({elements}), out = random({elements})]() mutable { at::gelu_out(out, x); }}};
}

[[nodiscard]] inline Subject transpose(std::int64_t n) {
  return {"transpose " + std::to_string(n),
          {[x = random({n, n}), out = random({n, n})]() mutable { out.copy_(x.t()); }}};
}

[[nodiscard]] inline std::vector<std::function<Subject()>> accuracy_subjects() {
  std::vector<std::function<Subject()>> subjects;
  for (const std::int64_t mi : {1, 2, 4, 8, 16, 64, 256, 1024}) subjects.push_back([mi] { return add(mi << 20); });
  for (const std::int64_t n : {256, 512, 1024, 2048, 4096, 8192})
    subjects.push_back([n] { return product(n, at::kBFloat16); });
  for (const std::int64_t n : {512, 1024, 2048, 4096, 6144}) subjects.push_back([n] { return product(n, at::kFloat); });
  for (const auto& [rows, columns] : {std::pair{128, 1024}, {1024, 1024}, {8192, 1024}, {4096, 4096}})
    subjects.push_back([rows = rows, columns = columns] { return softmax(rows, columns); });
  for (const std::int64_t rows : {1024, 8192}) subjects.push_back([rows] { return layer_norm(rows, 4096); });
  for (const std::int64_t mi : {1, 32}) subjects.push_back([mi] { return gelu(mi << 20); });
  for (const std::int64_t n : {1024, 4096}) subjects.push_back([n] { return transpose(n); });
  return subjects;
}

[[nodiscard]] inline Subject sigmoid(std::int64_t elements) {
  return {"sigmoid " + std::to_string(elements >> 20) + " Mi",
          {[x = random({elements}), out = random({elements})]() mutable { at::sigmoid_out(out, x); }}};
}

[[nodiscard]] inline Subject greatest(std::int64_t elements) {
  return {"maximum " + std::to_string(elements >> 20) + " Mi",
          {[a = random({elements}), b = random({elements}), out = random({elements})]() mutable {
            at::maximum_out(out, a, b);
          }}};
}

[[nodiscard]] inline Subject row_means(std::int64_t rows, std::int64_t columns) {
  return {"row means " + std::to_string(rows) + "x" + std::to_string(columns),
          {[x = random({rows, columns}), out = random({rows})]() mutable { at::mean_out(out, x, {1}); }}};
}

/// These calibrate the time that a graph adds.
[[nodiscard]] inline std::vector<std::function<Subject()>> calibration_subjects() {
  std::vector<std::function<Subject()>> subjects;
  for (const std::int64_t mi : {1, 3, 5})
    subjects.push_back([mi] {
      return Subject{"neg " + std::to_string(mi) + " Mi",
                     {[x = random({mi << 20}), out = random({mi << 20})]() mutable { at::neg_out(out, x); }}};
    });
  subjects.push_back([] { return add(3 << 19); });
  subjects.push_back([] { return softmax(512, 512); });
  return subjects;
}

/// More kernels, which were not looked at while the clocks were made.
[[nodiscard]] inline std::vector<std::function<Subject()>> unseen_subjects() {
  std::vector<std::function<Subject()>> subjects;
  for (const std::int64_t mi : {1, 6, 24, 96, 384}) subjects.push_back([mi] { return sigmoid(mi << 20); });
  for (const std::int64_t mi : {3, 12, 48, 192}) subjects.push_back([mi] { return greatest(mi << 20); });
  for (const auto& [rows, columns] : {std::pair{512, 768}, {2048, 2048}, {16384, 1024}, {16384, 16384}})
    subjects.push_back([rows = rows, columns = columns] { return row_means(rows, columns); });
  for (const std::int64_t n : {384, 768, 1536, 3072, 6144}) subjects.push_back([n] { return product(n, at::kHalf); });
  for (const auto& [rows, columns] : {std::pair{256, 512}, {2048, 768}, {16384, 2048}})
    subjects.push_back([rows = rows, columns = columns] { return softmax(rows, columns); });
  return subjects;
}

}  // namespace pace::benches::accuracy
