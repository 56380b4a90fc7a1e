// Operand values: the facts of each operand that a draw of unseen values needs. We look at the given values once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/raw_memory.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/values/changed_memory.hpp"
#include "pace/values/integer_places.hpp"
#include "pace/values/kept_integers.hpp"
#include "pace/values/padding.hpp"
#include "pace/values/quantized_values.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

/// The given values of one operand tensor.
struct OperandValues {
  /// Whether floating-point, complex or quantized values change.
  bool changeable = false;
  /// Whether they are quantized. Others have the same scale.
  bool quantized = false;
  /// None for integers, bools and quantized values.
  ValueStructure structure = {};
  /// Whether the structure needs a common factor.
  bool special = false;
  /// Whether values may change their signs.
  bool signs = false;
  /// Whether integers stay: another tensor's follow from them (follows_from()), or they describe its padding
  /// (relation_to_padding()).
  bool related = false;
  KeptIntegers integers = {};
  /// Index of the first tensor with the same values.
  std::size_t same_as = 0;

  /// Leaves the values as they are given, since they describe the padding of another tensor.
  void leave() {
    related = true;
    changeable = special = signs = integers.one_hot = false;
    integers.dim.reset();
    integers.replace_dim.reset();
  }
};

/// Looks at the values of one tensor, without any others.
[[nodiscard]] inline OperandValues look_at(const at::Tensor& given) {
  OperandValues found;
  found.quantized = is_changeable_quantized(given);
  found.changeable = found.quantized || is_changeable(given);
  if (found.changeable && !found.quantized) found.structure = structure_or_unknown(given);
  found.special = found.structure.needs_common_factor();
  found.signs = found.changeable && !found.special && found.structure.both_signs;
  auto& integers = found.integers;
  integers.dim = place_free_dim(given);
  integers.replace_dim = replace_dim(given, found.structure, integers.dim);
  integers.one_hot = integers.replace_dim && one_hot_dim(check::detail::distinct_values_of(given));
  return found;
}

/// Whether two tensors have the same type, sizes and values.
[[nodiscard]] inline bool have_same_values(const at::Tensor& one, const at::Tensor& other) {
  return one.defined() && other.defined() && one.sizes() == other.sizes() && one.scalar_type() == other.scalar_type() &&
         one.device() == other.device() && unchanged(one, other);
}

/// Looks for padding in tensor `i`, which other values have as well. Tensors that describe it stay. Rows change places
/// with their padding where no other tensor says anything of it and their lengths are not in order.
inline void keep_padding(const std::vector<at::Tensor>& given, std::size_t i, std::vector<OperandValues>& found) {
  try {
    const auto padding = padding_of(given[i]);
    if (!padding) return;
    bool alone = true;
    for (std::size_t other = 0; other < given.size(); ++other) {
      const auto relation = other == i ? PaddingRelation::none : relation_to_padding(given[other], *padding);
      alone = alone && relation == PaddingRelation::none;
      if (relation == PaddingRelation::description) found[other].leave();
    }
    auto& integers = found[i].integers;
    if (!integers.dim) return;
    const at::Tensor values = check::detail::distinct_values_of(given[i]).to(at::kCPU, at::kLong);
    const at::Tensor steps = padding->lengths.diff();
    const bool in_order = holds_for_all(steps.ge(0)) || holds_for_all(steps.le(0));
    integers.padding = padding->value;
    integers.moves_rows = alone && values.dim() == 2 && !in_order;
    // Parts of a sum might be the value of padding.
    const bool replaced = !integers.keeps_sum && may_replace(values.masked_select(padding->places.logical_not()), 0);
    integers.replace_dim = replaced ? std::optional<std::int64_t>(0) : std::nullopt;
  } catch (...) {  // a dtype without arithmetic
  }
}

/// Looks at the given values alone, together, and beside `known` sizes.
[[nodiscard]] inline std::vector<OperandValues> look_at_all(const std::vector<at::Tensor>& given,
                                                            const KnownSizes& known) {
  std::vector<OperandValues> found;
  for (std::size_t i = 0; i < given.size(); ++i) {
    found.push_back(look_at(given[i]));
    std::size_t same = 0;
    while (same < i && !have_same_values(given[same], given[i])) ++same;
    found[i].same_as = same < i ? found[same].same_as : i;
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (follows_from(given[earlier], given[i]) || follows_from(given[i], given[earlier]))
        found[earlier].related = found[i].related = true;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto& integers = found[i].integers;
    find_relations(given, i, known, integers);
    if (found[i].related) {
      integers.dim.reset();
      integers.one_hot = false;
    }
    if (found[i].related || integers.successors || integers.segments) integers.replace_dim.reset();
  }
  for (std::size_t i = 0; i < given.size(); ++i) keep_padding(given, i, found);
  return found;
}

}  // namespace pace::detail
