// Index-bearing operators: random integers would be out of range, which ends in an error, or in a crash.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <ATen/core/enum_tag.h>

#include "pace/core/error.hpp"
#include "pace/subject/index_fixes.hpp"
#include "pace/subject/indices.hpp"
#include "pace/subject/operator_call.hpp"

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
  if (call.handle().hasTag(at::Tag::inplace_view)) {
    return "it changes the shape of its own argument, so that no two calls are the same";
  }
  const std::string& name = call.schema().name();
  constexpr std::array<std::string_view, 5> uninitialised = {"aten::empty", "aten::empty_like", "aten::empty_strided",
                                                             "aten::new_empty", "aten::new_empty_strided"};
  if (std::find(uninitialised.begin(), uninitialised.end(), name) != uninitialised.end()) {
    return "it computes nothing: its result is uninitialised memory";
  }
  return std::nullopt;
}

}  // namespace detail

/// Makes the values of the call's own tensors such that a run is defined, and refuses calls that can have no such
/// values or no result to compare. Indices become scattered numbers in range; those of a pooling's backward come from
/// its forward. Tensors without index arguments keep their values.
/// Throws `Refused` with the reason: a dimension of size 0 is indexed; an argument holds indices and pace does not know
/// which are valid; the call changes its argument's shape, or leaves its result uninitialised.
inline void make_inputs_valid(const OperatorCall& call) {
  const auto refuse = [&](const std::string& why) { throw Refused("cannot run " + call.name() + ": " + why); };
  if (const std::optional<std::string> why = detail::why_not_repeatable(call)) refuse(*why);
  std::string_view base = call.schema().name();
  if (!base.starts_with("aten::")) return;
  base.remove_prefix(std::string_view("aten::").size());
  if (base.ends_with('_')) base.remove_suffix(1);
  const auto fix = detail::index_fixes().find(base);
  if (fix == detail::index_fixes().end()) {
    const std::optional<std::string> index = detail::index_argument(call);
    if (index) refuse("its argument '" + *index + "' holds indices, and pace does not know which are valid");
    return;
  }
  try {
    fix->second(call);
  } catch (const Refused& refused) {
    refuse(refused.what());
  } catch (const c10::Error& error) {
    refuse(std::string("no valid indices can be made: ") + error.what_without_backtrace());
  } catch (const std::out_of_range&) {  // more dimensions are indexed than there are
    refuse("no valid indices can be made: its arguments do not fit each other");
  }
}

}  // namespace pace::subject
