// Subjects: real CPU work, and the same with a known share of work added, at other places in the code, or LibTorch's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "benches/selftest/layout_functions.hpp"
#include "pace/gate/times.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::selftest {

/// Kinds of work of 100 to 200 us: arithmetic, a product, a copy.
inline constexpr std::size_t subjects = 3;

/// Candidates for a "baseline" that does a subject's work once.
struct Candidate {
  const char* name = "candidate";
  /// The share of that work which is done once more; the result does not depend on it. Both sides are the same machine
  /// code, called with another number, so that nothing but the work differs.
  double extra = 0;
  std::optional<Expectation> expectation = std::nullopt;
};

/// Runs a comparison of the subject of kind `which` modulo `subjects`. The result has its name.
[[nodiscard]] Result compare_subject(std::size_t which, const Options& options, const Candidate& candidate = {});

/// One function at several places in the code: that at the first is the baseline; the others are named by their
/// padding.
[[nodiscard]] Result compare_layouts(const ShiftedFunctions& functions, const Options& options);

/// LibTorch's own "product" of 128 x 128 floats, or "copy" of 16 MB, twice: "one" and "other". The output is an
/// operand: a buffer that belongs to one side unless the sides swap.
[[nodiscard]] Result compare_placements(const std::string& subject, const Options& options);

}  // namespace pace::benches::selftest
