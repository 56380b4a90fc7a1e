// Small tensors that tests write down, and Catch2.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

// Behind Torch's headers: <c10/util/Logging.h> has a CHECK of its own, and whichever comes last is in force.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <limits>
#include <vector>

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
inline at::Tensor floats(const std::vector<double>& values) { return doubles(values).to(at::kFloat); }
inline at::Tensor longs(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }
inline at::Tensor bools(const std::vector<std::int64_t>& values) { return longs(values).to(at::kBool); }
