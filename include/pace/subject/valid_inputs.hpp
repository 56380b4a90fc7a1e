// Random values would not do for every operator: indices out of range end in an error, or in a crash.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <c10/util/Exception.h>

#include "pace/core/error.hpp"
#include "pace/subject/index_fixes.hpp"
#include "pace/subject/indices.hpp"
#include "pace/subject/operator_call.hpp"
#include "pace/subject/value_fixes.hpp"

namespace pace::subject {

namespace detail {

/// Names that schemas give to integer tensors that are used as positions or lengths, so that not every value will do.
inline constexpr std::array<std::string_view, 20> index_parameters = {
    "index",       "indices",      "target",        "targets",        "offsets",    "offset2bag",  "bag_size",
    "lengths",     "input_lengths", "target_lengths", "batch_sizes",   "pivots",     "LU_pivots",   "maximum_indices",
    "sorter",      "crow_indices", "col_indices",   "ccol_indices",   "row_indices", "compressed_indices"};

/// The first integer tensor whose parameter's name says that it holds indices.
[[nodiscard]] inline std::optional<std::string> index_argument(const OperatorCall& call) {
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    const std::string& name = call.schema().arguments()[i].name();
    if (std::find(index_parameters.begin(), index_parameters.end(), name) == index_parameters.end()) continue;
    for (const std::int32_t position : call.arguments()[i].positions) {
      if (position == BoundArgument::hole) continue;
      if (holds_indices(call.tensors()[static_cast<std::size_t>(position)])) return name;
    }
  }
  return std::nullopt;
}

/// Why running the call again and again, in several implementations, would not be the same computation each time.
[[nodiscard]] inline std::optional<std::string> why_not_repeatable(const OperatorCall& call) {
  const std::string& name = call.schema().name();
  constexpr std::array<std::string_view, 3> replacing = {"aten::set_", "aten::resize_", "aten::resize_as_"};
  if (std::find(replacing.begin(), replacing.end(), name) != replacing.end()) {
    return "it changes the memory of its own argument, so that no two calls are the same";
  }
  return std::nullopt;
}

/// What the tables of fixes know the operator by: `gather` for `aten::gather_`. Empty for those of other libraries.
[[nodiscard]] inline std::string_view base_name(const OperatorCall& call) {
  std::string_view name = call.schema().name();
  constexpr std::string_view space = "aten::";
  if (!name.starts_with(space)) return {};
  name.remove_prefix(space.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

[[noreturn]] inline void refuse_inputs(const OperatorCall& call, const std::string& why) {
  throw Refused("cannot run " + call.name() + ": " + why);
}

/// Sets what value_fixes() has for the operator. Where that is not possible, because the arguments do not fit each other
/// or share memory, they keep their random values: if these will not do, the run says so.
inline void fix_values(const OperatorCall& call, std::string_view base) {
  const auto fix = value_fixes().find(base);
  if (fix == value_fixes().end()) return;
  try {
    fix->second(call);
  } catch (const c10::Error&) {
  }
}

}  // namespace detail

/// Whether the call computes nothing: what it returns is memory as it was found, of which no two implementations agree.
[[nodiscard]] inline bool result_is_uninitialised(const OperatorCall& call) {
  constexpr std::array<std::string_view, 5> names = {"aten::empty", "aten::empty_like", "aten::empty_strided",
                                                     "aten::new_empty", "aten::new_empty_strided"};
  return std::find(names.begin(), names.end(), call.schema().name()) != names.end();
}

/// Throws `Refused` with the reason for calls that can have no valid values, as far as the operator and the types of its
/// arguments tell: an argument holds indices and pace does not know which are valid; the call gives its argument other
/// memory. Looks at no tensor's values.
inline void require_valid_inputs(const OperatorCall& call) {
  if (const std::optional<std::string> why = detail::why_not_repeatable(call)) detail::refuse_inputs(call, *why);
  const std::string_view base = detail::base_name(call);
  if (base.empty() || detail::index_fixes().contains(base)) return;
  if (const std::optional<std::string> index = detail::index_argument(call))
    detail::refuse_inputs(call, "its argument '" + *index + "' holds indices, and pace does not know which are valid");
}

/// Makes the values of the call's own tensors such that a run is defined, and refuses calls that can have no such
/// values. Indices become scattered numbers in range; what a forward call saves for its backward comes from there
/// (indices of a pooling, statistics of a normalisation, outputs of a softmax); probabilities lie between 0 and 1;
/// integers are not divided by 0. All other tensors keep their values, and all of them their metadata.
/// Throws `Refused` as require_valid_inputs() does, and where a dimension of size 0 is indexed, or the arguments do not
/// fit each other.
inline void make_inputs_valid(const OperatorCall& call) {
  require_valid_inputs(call);
  const std::string_view base = detail::base_name(call);
  const auto fix = detail::index_fixes().find(base);
  if (fix == detail::index_fixes().end()) return detail::fix_values(call, base);
  try {
    fix->second(call);
    detail::fix_values(call, base);
  } catch (const Refused& refused) {
    detail::refuse_inputs(call, refused.what());
  } catch (const c10::Error& error) {
    detail::refuse_inputs(call, std::string("no valid indices can be made: ") + error.what_without_backtrace());
  } catch (const std::out_of_range&) {  // more dimensions are indexed than there are
    detail::refuse_inputs(call, "no valid indices can be made: its arguments do not fit each other");
  }
}

}  // namespace pace::subject
