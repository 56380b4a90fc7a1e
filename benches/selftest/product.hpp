// The work of a small matrix product: everything stays in the first and second cache.
#pragma once

#include <cstdint>

namespace pace::benches::selftest {

struct Product {
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
};

}  // namespace pace::benches::selftest
