#include "benches/selftest/subjects.hpp"

#include <cstdint>
#include <cstring>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

#include "benches/selftest/product.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/timing/do_not_optimize.hpp"

namespace pace::benches::selftest {
namespace {

// In each, `extra` is Candidate's.

/// A chain of multiplications and branches: no memory to speak of.
struct Arithmetic {
  static constexpr const char* name = "arithmetic";
  double extra = 0;

  [[gnu::noinline]] static std::uint64_t chain(std::uint64_t state, std::int64_t trips) {
    for (std::int64_t i = 0; i < trips; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if ((state & 0x10000) != 0)
        state ^= static_cast<std::uint64_t>(i);
      else
        state += 3;
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

/// A small matrix product.
struct MatrixProduct {
  static constexpr const char* name = "product";
  double extra = 0;

  void operator()(const at::Tensor& a, const at::Tensor& b, at::Tensor& c) const {
    float* const to = c.mutable_data_ptr<float>();
    const auto* const left = a.const_data_ptr<float>();
    const auto* const right = b.const_data_ptr<float>();
    Product::multiply(left, right, to, Product::rows);
    clobber_memory();
    Product::multiply(left, right, to, static_cast<std::int64_t>(extra * Product::rows));
  }
  static Comparison<at::Tensor, at::Tensor, at::Tensor> compare() {
    return pace::compare(name, at::rand({Product::rows, Product::inner}), at::rand({Product::inner, Product::columns}),
                         at::empty({Product::rows, Product::columns}));
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

template <class Subject>
Result run(const Options& options, const Candidate& candidate) {
  auto comparison = Subject::compare();
  comparison.options(options).baseline("baseline", Subject{}).candidate(candidate.name, Subject{candidate.extra});
  if (candidate.expectation) comparison.expect(*candidate.expectation);
  return comparison.run();
}

}  // namespace

Result compare_subject(std::size_t which, const Options& options, const Candidate& candidate) {
  switch (which % subjects) {
    case 0:
      return run<Arithmetic>(options, candidate);
    case 1:
      return run<MatrixProduct>(options, candidate);
    default:
      return run<Copy>(options, candidate);
  }
}

Result compare_layouts(const ShiftedFunctions& functions, const Options& options) {
  constexpr std::int64_t size = 72;
  auto comparison = pace::compare("layout", at::rand({size, size}), at::rand({size, size}), at::empty({size, size}));
  comparison.options(options);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const auto call = [function = functions[i]](const at::Tensor& a, const at::Tensor& b, at::Tensor& c) {
      function(a.const_data_ptr<float>(), b.const_data_ptr<float>(), c.mutable_data_ptr<float>(), size);
    };
    if (i == 0)
      comparison.baseline("0", call);
    else
      comparison.candidate(std::to_string(paddings[i]), call);
  }
  return comparison.run();
}

Result compare_placements(const std::string& subject, const Options& options) {
  const auto compare = [&](auto same, auto... operands) {
    return pace::compare(subject, operands...).options(options).baseline("one", same).candidate("other", same).run();
  };
  if (subject == "product")
    return compare([](const at::Tensor& a, const at::Tensor& b, at::Tensor& out) { at::mm_out(out, a, b); },
                   at::randn({128, 128}), at::randn({128, 128}), at::empty({128, 128}));
  return compare([](const at::Tensor& from, at::Tensor& to) { to.copy_(from); }, at::randn({4 << 20}),
                 at::empty({4 << 20}));
}

}  // namespace pace::benches::selftest
