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

#include "benches/operators/backends/index_fixes.hpp"
#include "benches/operators/backends/indices.hpp"
#include "benches/operators/backends/value_fixes.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

namespace detail {

/// Names that LibTorch's schemas give to tensors of data: any integers in them are valid. Integers in other arguments
/// may be positions, lengths or sizes, and few values of those are valid.
inline constexpr std::array<std::string_view, 77> data_parameters = {"A",
                                                                     "B",
                                                                     "a",
                                                                     "append",
                                                                     "aweights",
                                                                     "b",
                                                                     "batch1",
                                                                     "batch2",
                                                                     "bias",
                                                                     "boundaries",
                                                                     "condition",
                                                                     "count",
                                                                     "counts",
                                                                     "dense",
                                                                     "dst",
                                                                     "dummy",
                                                                     "elements",
                                                                     "exponent",
                                                                     "fake_quant_enabled",
                                                                     "fake_quant_on",
                                                                     "fweights",
                                                                     "grad",
                                                                     "grad_out",
                                                                     "grad_output",
                                                                     "gradient",
                                                                     "growth_tracker",
                                                                     "i1",
                                                                     "i2",
                                                                     "i3",
                                                                     "input",
                                                                     "input1",
                                                                     "input2",
                                                                     "input3",
                                                                     "inputs",
                                                                     "like",
                                                                     "mask",
                                                                     "mat",
                                                                     "mat1",
                                                                     "mat2",
                                                                     "matrices",
                                                                     "max",
                                                                     "min",
                                                                     "n",
                                                                     "new_data",
                                                                     "observer_on",
                                                                     "other",
                                                                     "philox_offset",
                                                                     "philox_seed",
                                                                     "prepend",
                                                                     "repeats",
                                                                     "rng_state",
                                                                     "self",
                                                                     "sequences",
                                                                     "sorted_sequence",
                                                                     "source",
                                                                     "src",
                                                                     "tensor",
                                                                     "tensor1",
                                                                     "tensor2",
                                                                     "tensors",
                                                                     "tensors1",
                                                                     "test_elements",
                                                                     "the_template",
                                                                     "unused",
                                                                     "value",
                                                                     "values",
                                                                     "vec",
                                                                     "vec1",
                                                                     "vec2",
                                                                     "weight",
                                                                     "weights",
                                                                     "x",
                                                                     "x1",
                                                                     "x2",
                                                                     "y",
                                                                     "zero_point",
                                                                     "zero_points"};

/// Whether a run writes to the argument without reading it: `out=`.
[[nodiscard]] inline bool is_out_argument(const c10::Argument& parameter) {
  return parameter.kwarg_only() && parameter.alias_info() != nullptr && parameter.alias_info()->isWrite();
}

/// The first argument with integers of unknown range. For LibTorch's own operators, it is neither data nor set by
/// index_fixes(). For other libraries' operators, all integers count.
[[nodiscard]] inline std::optional<std::string> unknown_integers(const OperatorCall& call, std::string_view base) {
  const auto fix = index_fixes().find(base);
  const auto among = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    const c10::Argument& parameter = call.schema().arguments()[i];
    const std::string& name = parameter.name();
    if (is_out_argument(parameter) || (!base.empty() && among(data_parameters, name))) continue;
    if (fix != index_fixes().end() && among(fix->second.sets, name)) continue;
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

/// The operator's name in the tables of fixes: `gather` for `aten::gather_`. Empty for other libraries' operators.
[[nodiscard]] inline std::string_view base_name(const OperatorCall& call) {
  std::string_view name = call.schema().name();
  constexpr std::string_view space = "aten::";
  if (!name.starts_with(space)) return {};
  name.remove_prefix(space.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

[[noreturn]] inline void refuse_inputs(const OperatorCall& call, const std::string& why) {
  throw Unsupported("cannot run " + call.name() + ": " + why);
}

/// Sets the values that value_fixes() has for the operator. The arguments may not fit each other, or share memory. Then
/// they keep their random values: if these will not do, the run says so.
inline void fix_values(const OperatorCall& call, std::string_view base) {
  const auto fix = value_fixes().find(base);
  if (fix == value_fixes().end()) return;
  try {
    fix->second(call);
  } catch (const c10::Error&) {
  } catch (const Unsupported& refused) {
    refuse_inputs(call, refused.what());
  }
}

}  // namespace detail

/// Whether the operator computes nothing and returns memory as it was. No two implementations agree on that. `name`: as
/// recorded, such as aten.new_empty.default.
[[nodiscard]] inline bool result_is_uninitialised(std::string_view name) {
  constexpr std::array<std::string_view, 3> beginnings = {"aten.empty", "aten.new_empty", "aten._empty_"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

/// Throws `Unsupported` with the reason for calls without valid values, as far as the operator and the types of its
/// arguments tell. Either pace does not know which integers an argument takes, or the call gives its argument other
/// memory. Looks at no tensor's values.
inline void require_valid_inputs(const OperatorCall& call) {
  if (const std::optional<std::string> why = detail::why_not_repeatable(call)) detail::refuse_inputs(call, *why);
  const std::string_view base = detail::base_name(call);
  if (const std::optional<std::string> name = detail::unknown_integers(call, base))
    detail::refuse_inputs(call, "its argument '" + *name + "' holds integers, and pace does not know which " +
                                    (base.empty() ? "another library's operator takes" : "are valid"));
}

/// Whether the operator has arguments with few valid values, such as indices: make_indices_valid() sets them.
[[nodiscard]] inline bool takes_indices(const OperatorCall& call) {
  return detail::index_fixes().contains(detail::base_name(call));
}

/// Makes the indices of a call valid: scattered numbers in range, ascending boundaries, or the indices that a pooling's
/// forward call returns. All other values stay, and the metadata of all tensors. Throws `Unsupported` as
/// require_valid_inputs() does, and where a dimension of size 0 is indexed, or the arguments do not fit each other.
inline void make_indices_valid(const OperatorCall& call) {
  require_valid_inputs(call);
  const auto fix = detail::index_fixes().find(detail::base_name(call));
  if (fix == detail::index_fixes().end()) return;
  try {
    fix->second.apply(call);
  } catch (const Unsupported& refused) {
    detail::refuse_inputs(call, refused.what());
  } catch (const c10::Error& error) {
    detail::refuse_inputs(call, std::string("no valid indices can be made: ") + error.what_without_backtrace());
  } catch (const std::out_of_range&) {  // more dimensions are indexed than there are
    detail::refuse_inputs(call, "no valid indices can be made: its arguments do not fit each other");
  }
}

/// Makes the values of the call's own tensors valid, as in a training step. Indices are as make_indices_valid() makes
/// them. Values that a forward call saves for its backward come from a forward call: statistics of a normalisation,
/// outputs of a softmax. Probabilities lie between 0 and 1, and no integer is divided by 0. All other tensors keep
/// their values, and all of them their metadata. Throws `Unsupported` as make_indices_valid() does.
inline void make_inputs_valid(const OperatorCall& call) {
  make_indices_valid(call);
  detail::fix_values(call, detail::base_name(call));
}

}  // namespace pace::benches::operators
