// The precision of float32 matrix products, for a while.
#pragma once

#include <string>

#include <ATen/Context.h>

#include "pace/base/error.hpp"

namespace pace::benches::operators::compat {

/// LibTorch's setting `highest`, `high` (TF32 on GPUs that have it) or `medium`, for the whole process until this is
/// destroyed.
class MatmulPrecision {
 public:
  explicit MatmulPrecision(const std::string& precision) : before_(name(at::globalContext().float32MatmulPrecision())) {
    at::globalContext().setFloat32MatmulPrecision(precision);
  }
  MatmulPrecision(const MatmulPrecision&) = delete;
  MatmulPrecision& operator=(const MatmulPrecision&) = delete;
  ~MatmulPrecision() { at::globalContext().setFloat32MatmulPrecision(before_); }

 private:
  [[nodiscard]] static std::string name(at::Float32MatmulPrecision precision) {
    switch (precision) {
      case at::Float32MatmulPrecision::HIGHEST:
        return "highest";
      case at::Float32MatmulPrecision::HIGH:
        return "high";
      case at::Float32MatmulPrecision::MEDIUM:
        return "medium";
    }
    throw Error("an unknown precision of float32 matrix products");
  }

  std::string before_;
};

}  // namespace pace::benches::operators::compat
