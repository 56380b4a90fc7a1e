// Subjects: real CPU work of 100 to 200 us, and the same with a known share of work added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>

#include "pace/compare/comparison.hpp"
#include "pace/measure/do_not_optimize.hpp"

namespace pace::selftest {

// `extra` is the share of loop trips that are made once more; what comes out does not depend on it. Both sides of a
// comparison are the same machine code, called with another number, so that nothing but the work differs.

/// A chain of multiplications and branches: no memory to speak of.
struct Arithmetic {
  static constexpr const char* name = "arithmetic";
  double extra = 0;

  [[gnu::noinline]] static std::uint64_t chain(std::uint64_t state, std::int64_t trips) {
    for (std::int64_t i = 0; i < trips; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if ((state & 0x10000) != 0) state ^= static_cast<std::uint64_t>(i);
      else state += 3;
    }
    return state;
  }
  std::int64_t operator()(std::int64_t start) const {
    constexpr std::int64_t trips = 80'000;
    const auto more = static_cast<std::int64_t>(extra * trips);
    const std::uint64_t state = chain(static_cast<std::uint64_t>(start), trips);
    do_not_optimize(chain(state, more));
    return static_cast<std::int64_t>(state);
  }
  static Comparison<std::int64_t> compare() { return pace::compare(name, std::int64_t{1}); }
};

/// A small matrix product: everything stays in the first and second cache.
struct Product {
  static constexpr const char* name = "product";
  double extra = 0;
  static constexpr std::int64_t rows = 600, inner = 48, columns = 48;

  [[gnu::noinline]] static void multiply(const float* a, const float* b, float* c, std::int64_t rows) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) c[i * columns + j] = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        const float factor = a[i * inner + k];
        for (std::int64_t j = 0; j < columns; ++j) c[i * columns + j] += factor * b[k * columns + j];
      }
    }
  }
  void operator()(const at::Tensor& a, const at::Tensor& b, at::Tensor& c) const {
    float* const to = c.mutable_data_ptr<float>();
    multiply(a.const_data_ptr<float>(), b.const_data_ptr<float>(), to, rows);
    clobber_memory();
    multiply(a.const_data_ptr<float>(), b.const_data_ptr<float>(), to, static_cast<std::int64_t>(extra * rows));
  }
  static Comparison<at::Tensor, at::Tensor, at::Tensor> compare() {
    return pace::compare(name, at::rand({rows, inner}), at::rand({inner, columns}), at::empty({rows, columns}));
  }
};

/// A copy that fits no first or second cache.
struct Copy {
  static constexpr const char* name = "copy";
  double extra = 0;
  static constexpr std::int64_t floats = 1 << 19;  // 2 MB

  void operator()(const at::Tensor& from, at::Tensor& to) const {
    const auto* const source = from.const_data_ptr<float>();
    auto* const target = to.mutable_data_ptr<float>();
    // In pieces of 4 KB, so that added work is more pieces and not another branch of memcpy.
    constexpr std::int64_t piece = 1024;
    const auto pieces = [&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(target + i * piece, source + i * piece, piece * sizeof(float));
        clobber_memory();
      }
    };
    pieces(floats / piece);
    pieces(static_cast<std::int64_t>(extra * (floats / piece)));
  }
  static Comparison<at::Tensor, at::Tensor> compare() {
    return pace::compare(name, at::rand({floats}), at::empty({floats}));
  }
};

/// Calls `f` with a default subject of kind number `which` modulo the three kinds.
template <class F>
auto with_subject(std::size_t which, F f) {
  switch (which % 3) {
    case 0: return f(Arithmetic{});
    case 1: return f(Product{});
    default: return f(Copy{});
  }
}
inline constexpr std::size_t subjects = 3;

}  // namespace pace::selftest
