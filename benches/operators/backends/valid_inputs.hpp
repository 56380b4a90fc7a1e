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

/// Names that LibTorch's schemas give to tensors whose elements are data: a run with any integers in them is defined.
/// Integers in every other argument may be positions, lengths or sizes, of which few are valid.
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

/// The first argument that holds integers of which pace does not know which are valid. In LibTorch's own operators
/// those that neither are data nor get their values from index_fixes(); in other libraries' operators all of them.
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
  throw Unsupported("cannot run " + call.name() + ": " + why);
}

/// Sets what value_fixes() has for the operator. Where that is not possible, because the arguments do not fit each
/// other or share memory, they keep their random values: if these will not do, the run says so.
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

/// Whether the operator computes nothing: what it returns is memory as it was found, of which no two implementations
/// agree. `name`: as recorded, such as aten.new_empty.default.
[[nodiscard]] inline bool result_is_uninitialised(std::string_view name) {
  constexpr std::array<std::string_view, 3> beginnings = {"aten.empty", "aten.new_empty", "aten._empty_"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

/// Throws `Unsupported` with the reason for calls that can have no valid values, as far as the operator and the types
/// of its arguments tell: an argument holds integers and pace does not know which are valid; the call gives its
/// argument other memory. Looks at no tensor's values.
inline void require_valid_inputs(const OperatorCall& call) {
  if (const std::optional<std::string> why = detail::why_not_repeatable(call)) detail::refuse_inputs(call, *why);
  const std::string_view base = detail::base_name(call);
  if (const std::optional<std::string> name = detail::unknown_integers(call, base))
    detail::refuse_inputs(call, "its argument '" + *name + "' holds integers, and pace does not know which " +
                                    (base.empty() ? "another library's operator takes" : "are valid"));
}

/// Whether the operator has arguments of which most random values are out of range: make_indices_valid() sets them.
[[nodiscard]] inline bool takes_indices(const OperatorCall& call) {
  return detail::index_fixes().contains(detail::base_name(call));
}

/// Makes the indices of a call such that a run is defined: scattered numbers in range, boundaries that ascend, what a
/// pooling's forward call returns. All other values stay, and the metadata of all tensors.
/// Throws `Unsupported` as require_valid_inputs() does, and where a dimension of size 0 is indexed, or the arguments do
/// not fit each other.
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

/// Makes the values of the call's own tensors such that a run is defined, and computes what a training step would:
/// indices as make_indices_valid() has them; what a forward call saves for its backward comes from there (statistics of
/// a normalisation, outputs of a softmax); probabilities lie between 0 and 1; integers are not divided by 0. All other
/// tensors keep their values, and all of them their metadata. Throws `Unsupported` as make_indices_valid() does.
inline void make_inputs_valid(const OperatorCall& call) {
  make_indices_valid(call);
  detail::fix_values(call, detail::base_name(call));
}

}  // namespace pace::benches::operators
