// Corresponding: outputs brought into the declared correspondence, to compare them element by element.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "pace/check/allclose.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/chunks.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/declared.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/check/match_tensor.hpp"
#include "pace/check/structure.hpp"
#include "pace/check/tolerance.hpp"

namespace pace::check::detail {

/// Tensors of a value, and replacements for them.
class Replacements {
 public:
  void add(const at::Tensor& original, at::Tensor replacement) {
    originals_.push_back(original);
    replacements_.push_back(std::move(replacement));
  }
  [[nodiscard]] at::Tensor of(const at::Tensor& tensor) const {
    for (std::size_t i = 0; i < originals_.size(); ++i)
      if (originals_[i].is_same(tensor)) return replacements_[i];
    return tensor;
  }

 private:
  std::vector<at::Tensor> originals_, replacements_;
};

/// Two outputs whose elements correspond, with the learned tolerances of the first.
struct Corresponding {
  c10::IValue expected, actual;
  LearnedTolerances learned;
};

/// Tolerance for elements of `expected`, wherever they end up.
[[nodiscard]] inline Tolerance tolerance_anywhere(const at::Tensor& expected, const at::Tensor& actual,
                                                  const CheckOptions& options, const LearnedTolerance* learned) {
  if (learned == nullptr || options.rtol || options.atol) return tolerance_for(expected, actual, options);
  const at::ScalarType dtype = expected.scalar_type();
  Tolerance tolerance{learned_rtol(dtype, learned->terms), 0, options.equal_nan};
  if (precision_of(dtype).epsilon > 0)
    tolerance.atol = learned_atol(dtype, typical_magnitude(expected), learned->terms);
  if (learned->slack.defined() && learned->slack.numel() > 0)
    tolerance.atol += learned->slack.max().to(at::kDouble).item<double>();
  return tolerance;
}

/// Pairs the rows `actual` with the rows `expected`, both ascending. Rounding in first elements may change their order.
///
/// If all first elements are right within a tolerance t, elements of equal rank differ by at most t. So a gap of more
/// than 2 t divides both sides alike into runs, and rows only change places within a run. There we pair them by
/// augmenting paths (H. W. Kuhn, The Hungarian method, 1955, for zeros and ones) or, in long runs, one by one as they
/// fit.
class RowPairs {
 public:
  RowPairs(const JointRows& expected, const JointRows& actual, const std::vector<Tolerance>& tolerances)
      : expected_(expected),
        actual_(actual),
        tolerances_(tolerances),
        of_expected_(expected.ascending()),
        of_actual_(actual.ascending()) {
    const std::size_t rows = of_expected_.size();
    for (std::size_t begin = 0, end = 0; begin < rows; begin = end) {
      for (end = begin + 1; end < rows && in_one_run(end - 1, end);) ++end;
      pair(begin, end);
    }
  }

  /// Rows of the expected outputs, and the actual ones paired with them.
  [[nodiscard]] const std::vector<std::int64_t>& of_expected() const { return of_expected_; }
  [[nodiscard]] const std::vector<std::int64_t>& of_actual() const { return of_actual_; }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  static constexpr std::size_t longest_by_paths = 512, most_one_by_one = 4096;

  [[nodiscard]] bool in_one_run(std::size_t earlier, std::size_t later) const {
    return expected_.first_within(of_expected_[earlier], of_expected_[later], tolerances_.front());
  }
  [[nodiscard]] bool close(std::size_t e, std::size_t a) const {
    return expected_.close(of_expected_[e], actual_, of_actual_[a], tolerances_);
  }

  void pair(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> unpaired;
    for (std::size_t i = begin; i < end; ++i)
      if (!close(i, i)) unpaired.push_back(i);
    if (unpaired.empty() || end - begin < 2) return;
    if (end - begin <= longest_by_paths) {
      pair_by_paths(begin, end, unpaired);
    } else if (unpaired.size() <= most_one_by_one) {
      for (std::size_t i = 0; i < unpaired.size(); ++i)
        for (std::size_t j = i; j < unpaired.size(); ++j)
          if (close(unpaired[i], unpaired[j])) {
            std::swap(of_actual_[unpaired[i]], of_actual_[unpaired[j]]);
            break;
          }
    }
  }

  void pair_by_paths(std::size_t begin, std::size_t end, const std::vector<std::size_t>& unpaired) {
    // The expected row paired with each actual row.
    std::vector<std::size_t> partner(end - begin);
    std::iota(partner.begin(), partner.end(), begin);
    for (const std::size_t i : unpaired) partner[i - begin] = none;
    std::vector<std::size_t> left;
    for (const std::size_t i : unpaired) {
      std::vector<bool> tried(end - begin, false);
      if (!find_path(begin, i, partner, tried)) left.push_back(i);
    }
    for (auto& each : partner)
      if (each == none) {
        each = left.back();
        left.pop_back();
      }
    const std::vector<std::int64_t> before(of_actual_.begin() + static_cast<std::ptrdiff_t>(begin),
                                           of_actual_.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t a = 0; a < partner.size(); ++a) of_actual_[partner[a]] = before[a];
  }

  [[nodiscard]] bool find_path(std::size_t begin, std::size_t e, std::vector<std::size_t>& partner,
                               std::vector<bool>& tried) const {
    for (std::size_t a = 0; a < partner.size(); ++a) {
      if (tried[a] || !close(e, begin + a)) continue;
      tried[a] = true;
      if (partner[a] != none && !find_path(begin, partner[a], partner, tried)) continue;
      partner[a] = e;
      return true;
    }
    return false;
  }

  const JointRows &expected_, &actual_;
  const std::vector<Tolerance>& tolerances_;
  std::vector<std::int64_t> of_expected_, of_actual_;
};

/// Both outputs with their rows ascending, compared from their first tensor on. Tensors with equal numbers of rows
/// share one order. Throws Error for scalars and complex numbers.
[[nodiscard]] inline Corresponding with_rows_in_order(const c10::IValue& expected, const c10::IValue& actual,
                                                      const CheckOptions& options, const LearnedTolerances* learned) {
  Corresponding result{expected, actual, learned == nullptr ? LearnedTolerances{} : *learned};
  const auto es = tensors_in_order(expected), as = tensors_in_order(actual);
  if (es.size() != as.size()) return result;
  std::vector<bool> done(es.size(), false);
  Replacements of_expected, of_actual;
  for (std::size_t first = 0; first < es.size(); ++first) {
    JointRows e, a;
    std::vector<Tolerance> tolerances;
    std::vector<std::size_t> members;
    for (std::size_t i = first; i < es.size(); ++i) {
      // Tensors with a wrong shape, dtype, device or layout fail in any order.
      if (done[i] || es[i].is_nested() || as[i].is_nested() || es[i].sizes() != as[i].sizes() ||
          !metadata_problem(es[i], as[i], options).empty())
        continue;
      if (i > first && (es[i].dim() == 0 || es[i].size(0) != es[first].size(0) || !done[first])) continue;
      done[i] = true;
      members.push_back(i);
      e.add(es[i]);
      a.add(as[i]);
      tolerances.push_back(tolerance_anywhere(es[i], as[i], options, find_learned(learned, es[i])));
    }
    if (members.empty() || e.rows() == 0) continue;
    const RowPairs pairs(e, a, tolerances);
    for (const std::size_t i : members) {
      const at::Tensor sorted = rows_of(es[i], pairs.of_expected());
      if (const auto* known = find_learned(learned, es[i]); known != nullptr) {
        // Elements change places, so only the number of terms and the largest slack still hold.
        LearnedTolerance in_order{.output = sorted, .terms = known->terms};
        if (known->slack.defined() && known->slack.numel() > 0)
          in_order.slack = known->slack.max().expand(sorted.sizes());
        result.learned.push_back(std::move(in_order));
      }
      of_expected.add(es[i], sorted);
      of_actual.add(as[i], rows_of(as[i], pairs.of_actual()));
    }
  }
  result.expected = with_clones(expected, of_expected);
  result.actual = with_clones(actual, of_actual);
  return result;
}

/// `actual` with each vector multiplied by 1 or -1, so that it points as in `expected`. Vectors of equal index have one
/// sign in all outputs, since a decomposition determines them up to a common sign.
[[nodiscard]] inline c10::IValue with_expected_signs(const c10::IValue& expected, const c10::IValue& actual,
                                                     const CheckOptions& options) {
  const auto es = tensors_in_order(expected), as = tensors_in_order(actual);
  if (es.size() != as.size()) return actual;
  const auto vectors = vectors_among(es, options);
  at::Tensor products;
  for (const auto& each : vectors) {
    if (each.output >= es.size()) return actual;
    const at::Tensor &e = es[each.output], &a = as[each.output];
    if (a.is_nested() || e.sizes() != a.sizes() || !metadata_problem(e, a, options).empty()) return actual;
    const at::Tensor one = products_of_vectors(strided(e), strided(a), each.dim);
    if (products.defined() && products.sizes() != one.sizes()) return actual;
    products = products.defined() ? products.add(one) : one;
  }
  Replacements turned;
  for (const auto& each : vectors) {
    const at::Tensor negative = products.lt(0).unsqueeze(each.dim == -1 ? -2 : -1);
    const at::Tensor values = strided(as[each.output]);
    turned.add(as[each.output], values.neg().where(negative, values));
  }
  return with_clones(actual, turned);
}

}  // namespace pace::check::detail
