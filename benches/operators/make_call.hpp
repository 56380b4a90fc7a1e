// Makes the inputs of a recorded sample and binds them to its operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "benches/files/aot/device.hpp"
#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/calls/memory.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/channels_last.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/selection.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/inputs/generate.hpp"

namespace pace::benches::operators {

namespace detail {

/// Binds the sample to its operator, and gives the call to `finish`, which returns the one that is wanted.
template <class Finish>
[[nodiscard]] benches::operators::OperatorCall bind_sample(const std::string& op, const corpus::Sample& sample,
                                                           const inputs::GenerateOptions& generate, std::size_t copies,
                                                           Finish finish) {
  // Its errors name the operator and the column, which is nearer than the sample's.
  const corpus::Call parsed = corpus::parse_call(sample, op);
  try {
    benches::operators::require_memory(inputs::input_bytes(parsed, generate.dtype) * static_cast<std::int64_t>(copies),
                                       "the inputs", benches::aot::available_memory_on(generate.device));
    return finish(benches::operators::OperatorCall::bind(op, inputs::generate(parsed, generate), sample.where));
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw Unsupported(sample.where.to_string() + ": " + op + ": " + error.what());
  }
}

}  // namespace detail

/// Makes the inputs of a sample and binds them to its operator. Throws Unsupported or InputError, with operator, file
/// and line in the message, if the sample cannot be run here. `copies` is how many sets of the inputs the caller will
/// hold. `generate.compat`: values are as upstream draws them, but for indices, without which a run may write anywhere.
[[nodiscard]] inline benches::operators::OperatorCall make_call(const std::string& op, const corpus::Sample& sample,
                                                                const inputs::GenerateOptions& generate,
                                                                std::size_t copies) {
  return detail::bind_sample(op, sample, generate, copies, [&](benches::operators::OperatorCall call) {
    if (generate.compat)
      benches::operators::make_indices_valid(call);
    else
      benches::operators::make_inputs_valid(call);
    return call;
  });
}

/// The same call for a compiler, in channels-last memory format if it will run in that. Its tensors have no values and
/// take no memory, and compilers see no difference (equal signatures). Throws as make_call() does, but does not find
/// out that no valid values can be made for the shapes; that call is announced in vain.
[[nodiscard]] inline benches::operators::OperatorCall make_announced_call(const std::string& op,
                                                                          const corpus::Sample& sample,
                                                                          inputs::GenerateOptions generate,
                                                                          std::size_t copies, bool in_channels_last) {
  generate.metadata_only = true;
  return detail::bind_sample(op, sample, generate, copies, [&](const benches::operators::OperatorCall& call) {
    benches::operators::require_valid_inputs(call);
    return (in_channels_last ? channels_last(call) : call).without_memory(generate.device);
  });
}

[[nodiscard]] inline inputs::GenerateOptions generate_options(const ReplayOptions& options, std::uint64_t seed) {
  inputs::GenerateOptions generate;
  generate.dtype = parse_dtype(options.dtype);
  generate.device = benches::aot::parse_device(options.device);
  generate.seed = seed;
  return generate;
}

/// The call of a selected sample, in channels-last memory format if the options ask for it. Throws as make_call() does.
[[nodiscard]] inline OperatorCall make_selected_call(const Selected& selected, std::size_t offset,
                                                     const ReplayOptions& options, std::uint64_t seed,
                                                     std::size_t copies) {
  auto call = make_call(selected.op->name, selected.samples[offset], generate_options(options, seed), copies);
  return options.channels_last ? channels_last(call) : call;
}

}  // namespace pace::benches::operators
