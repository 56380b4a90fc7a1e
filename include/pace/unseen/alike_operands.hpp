// AlikeOperands: operands that change together, since they are equal, share memory or describe each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/raw_memory.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/unseen/value_changes.hpp"
#include "pace/values/quantized_values.hpp"
#include "pace/values/unseen_values.hpp"

namespace pace::detail {

class AlikeOperands {
 public:
  /// All must outlive it.
  AlikeOperands(const OperandSets& operands, const UnseenValues& source, const ValueChanges& value_changes)
      : operands_(operands), source_(source), value_changes_(value_changes) {}

  /// The groups of operands that may change. All integers are one group.
  [[nodiscard]] std::vector<std::vector<std::size_t>> find_groups() const {
    const auto& tensors = operands_.given;
    std::vector<std::vector<std::size_t>> groups;
    const auto belong_together = [&](std::size_t one, std::size_t other) {
      return (value_changes_.is_integer(one) && value_changes_.is_integer(other)) || are_alike(one, other);
    };
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].defined() || tensors[i].numel() == 0 || operands_.may_change(i) ||
          !(check::detail::is_plain(tensors[i]) || is_changeable_quantized(tensors[i])))
        continue;
      const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return std::any_of(group.begin(), group.end(), [&](std::size_t other) { return belong_together(i, other); });
      });
      if (known == groups.end())
        groups.push_back({i});
      else
        known->push_back(i);
    }
    return groups;
  }

  /// Operands of `group` that are equal to operand `i` or share its memory, in order.
  [[nodiscard]] std::vector<std::size_t> alike(const std::vector<std::size_t>& group, std::size_t i) const {
    std::vector<std::size_t> found;
    for (const std::size_t other : group)
      if (are_alike(i, other)) found.push_back(other);
    return found;
  }
  [[nodiscard]] bool first_alike(const std::vector<std::size_t>& group, std::size_t i) const {
    return alike(group, i).front() == i;
  }

 private:
  [[nodiscard]] bool are_alike(std::size_t one, std::size_t other) const {
    return source_.same_as(one) == source_.same_as(other) ||
           shares_memory(operands_.tensors[0][one], operands_.tensors[0][other]);
  }

  [[nodiscard]] static bool shares_memory(const at::Tensor& one, const at::Tensor& other) {
    return one.has_storage() && other.has_storage() && one.storage().data() != nullptr &&
           one.storage().data() == other.storage().data();
  }

  const OperandSets& operands_;
  const UnseenValues& source_;
  const ValueChanges& value_changes_;
};

}  // namespace pace::detail
