// Ordinary operators of LibTorch that return new tensors, each to be compared with itself.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sum.h>

#include "benches/selftest/compare_twins.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::selftest {

/// An operator of one tensor of float32.
struct TwinOperator {
  using Operand = at::Tensor (*)(std::int64_t bytes);
  using Call = at::Tensor (*)(const at::Tensor& operand);
  using Compare = Result (*)(const char* name, const at::Tensor& operand, const Options& options);

  const char* name;
  /// Makes a new operand. The operator returns that many bytes for it.
  Operand operand;
  Call call;
  /// Compares one function with itself.
  Compare one_function;
  /// Compares two copies of that function, each with a loop of its own, as two lambdas of the same text have.
  Compare two_copies;
};

namespace detail {

/// `Kind`'s operator as the function of one side.
template <class Kind, int side>
struct TwinSide {
  [[gnu::noinline]] at::Tensor operator()(const at::Tensor& x) const {
    // No instruction; without a difference between the two, the compiler merges them (-fipa-icf).
    asm volatile("" : : "i"(side));
    return Kind::call(x);
  }
};

template <class Kind, int side>
Result compare_sides(const char* name, const at::Tensor& operand, const Options& options) {
  return compare_twins(name, operand, options, TwinSide<Kind, 0>{}, TwinSide<Kind, side>{});
}

template <class Kind>
[[nodiscard]] TwinOperator twins() {
  return {Kind::name, Kind::operand, Kind::call, compare_sides<Kind, 0>, compare_sides<Kind, 1>};
}

struct RowsOf1024 {
  static at::Tensor operand(std::int64_t bytes) { return at::randn({bytes / 4096, 1024}); }
};

[[nodiscard]] inline std::int64_t edge_of_square(std::int64_t bytes) {
  return std::lround(std::sqrt(static_cast<double>(bytes / 4)));
}

struct Relu : RowsOf1024 {
  static constexpr const char* name = "relu";
  static at::Tensor call(const at::Tensor& x) { return at::relu(x); }
};

struct Add : RowsOf1024 {
  static constexpr const char* name = "add";
  static at::Tensor call(const at::Tensor& x) { return at::add(x, x); }
};

struct Gelu : RowsOf1024 {
  static constexpr const char* name = "gelu";
  static at::Tensor call(const at::Tensor& x) { return at::gelu(x); }
};

struct Softmax : RowsOf1024 {
  static constexpr const char* name = "softmax";
  static at::Tensor call(const at::Tensor& x) { return at::softmax(x, 1); }
};

struct LayerNorm : RowsOf1024 {
  static constexpr const char* name = "layer norm";
  static at::Tensor call(const at::Tensor& x) { return at::layer_norm(x, {1024}); }
};

/// Calls several operators. The allocator passes memory of one's outputs to the next.
struct RmsNorm : RowsOf1024 {
  static constexpr const char* name = "RMS norm, by steps";
  static at::Tensor call(const at::Tensor& x) {
    return at::mul(x, at::rsqrt(at::add(at::mul(x, x).mean({1}, true), 1e-6)));
  }
};

struct SumOfRows {
  static constexpr const char* name = "sum of 8 rows";
  static at::Tensor operand(std::int64_t bytes) { return at::randn({8, bytes / 4}); }
  static at::Tensor call(const at::Tensor& x) { return at::sum(x, {0}); }
};

struct Transpose {
  static constexpr const char* name = "transpose";
  static at::Tensor operand(std::int64_t bytes) { return at::randn({edge_of_square(bytes), edge_of_square(bytes)}); }
  static at::Tensor call(const at::Tensor& x) { return x.t().contiguous(); }
};

struct Cat {
  static constexpr const char* name = "cat";
  static at::Tensor operand(std::int64_t bytes) { return at::randn({bytes / 8}); }
  static at::Tensor call(const at::Tensor& x) { return at::cat({x, x}); }
};

/// Of 64 columns, so that even the largest takes no more than milliseconds.
struct GramMatrix {
  static constexpr const char* name = "product";
  static at::Tensor operand(std::int64_t bytes) { return at::randn({edge_of_square(bytes), 64}); }
  static at::Tensor call(const at::Tensor& x) { return at::mm(x, x.t()); }
};

}  // namespace detail

[[nodiscard]] inline std::vector<TwinOperator> twin_operators() {
  using namespace detail;
  return {twins<Relu>(),    twins<Add>(),       twins<Gelu>(),      twins<Softmax>(), twins<LayerNorm>(),
          twins<RmsNorm>(), twins<SumOfRows>(), twins<Transpose>(), twins<Cat>(),     twins<GramMatrix>()};
}

}  // namespace pace::benches::selftest
