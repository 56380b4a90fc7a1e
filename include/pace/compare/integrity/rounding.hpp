// Whether rounding of operands accounts for the difference between two outputs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/check_options.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/restore.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/integrity/fresh_values.hpp"
#include "pace/compare/integrity/observed_call.hpp"
#include "pace/compare/operands.hpp"

namespace pace::detail {

/// The method in use, as far as it goes without a float64 reference.
[[nodiscard]] inline check::CheckOptions without_reference(check::CheckOptions options) {
  if (options.method == check::CheckOptions::Method::float64_reference)
    options.method = check::CheckOptions::Method::allclose;
  return options;
}

/// Values of operands, and what the baseline returns on them.
struct AnswerOnValues {
  const std::vector<at::Tensor>& values;
  const c10::IValue& output;
  /// Seed of the random numbers that the call draws.
  std::uint64_t seed = 0;
};

/// Whether the output of the baseline changes about as much as `output` is off, if operands change in their last places:
/// at values at which an output depends on the last digits of the operands, correct implementations differ. `like` are
/// operands of the same shapes, and `source` knows which of them are special. The operands of set 0 have their first
/// values afterwards. Throws only where the device is lost.
[[nodiscard]] inline bool rounding_explains(const c10::IValue& output, const AnswerOnValues& known,
                                            Implementation& baseline, const OperandSets& operands,
                                            const OperandSet& like, const FreshValues& source,
                                            const check::CheckOptions& check) {
  constexpr double as_much = 8;
  // One way may leave a sum that cancels nearly as it is, by chance.
  constexpr std::uint32_t ways = 4;
  const auto options = without_reference(check);
  if (output.isNone() || options.method != check::CheckOptions::Method::allclose) return false;
  const double error = check::outputs_match(known.output, output, options).max_abs_error;
  if (!std::isfinite(error)) return false;
  bool explains = false;
  try {
    const auto changed = like.clone();
    const auto tensors = changed->tensors();
    for (std::uint32_t way = 0; way < ways && !explains; ++way) {
      for (std::size_t i = 0; i < tensors.size(); ++i) check::restore_tensor(known.values[i], tensors[i]);
      source.perturb(tensors, way);
      const ObservedCall perturbed = observe_call(baseline, operands, &tensors, known.seed, known.output);
      const double change = check::outputs_match(known.output, perturbed.at_return, options).max_abs_error;
      explains = change > 0 && error <= as_much * change;
    }
  } catch (...) {
    if (current_failure().device != Failure::Device::fine) throw;
  }
  operands.restore_all(0);
  return explains;
}

}  // namespace pace::detail
