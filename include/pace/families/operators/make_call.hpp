// Makes the inputs of a recorded sample and binds them to its operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "pace/core/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/corpus/generate.hpp"
#include "pace/families/operators/channels_last.hpp"
#include "pace/families/operators/options.hpp"
#include "pace/subject/device.hpp"
#include "pace/subject/memory.hpp"
#include "pace/subject/operator_call.hpp"
#include "pace/subject/valid_inputs.hpp"

namespace pace::families::operators {

namespace detail {

/// Binds the sample to its operator, and gives the call to `finish`, which returns the one that is wanted.
template <class Finish>
[[nodiscard]] subject::OperatorCall bind_sample(const std::string& op, const corpus::Sample& sample,
                                                const corpus::GenerateOptions& generate, std::size_t copies,
                                                Finish finish) {
  try {
    const corpus::Call parsed = corpus::parse_call(sample, op);
    subject::require_memory(corpus::input_bytes(parsed, generate.dtype) * static_cast<std::int64_t>(copies),
                            "the inputs", subject::available_memory_on(generate.device));
    return finish(subject::OperatorCall::bind(op, corpus::generate(parsed, generate), sample.where));
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw Refused(sample.where.to_string() + ": " + op + ": " + error.what());
  }
}

}  // namespace detail

/// Makes the inputs of a sample and binds them to its operator. Throws Refused or InputError, with operator, file and
/// line in the message, if the sample cannot be run here. `copies` is how many sets of the inputs the caller will hold.
/// `generate.compat`: values are as upstream draws them, but for indices, without which a run may write anywhere.
[[nodiscard]] inline subject::OperatorCall make_call(const std::string& op, const corpus::Sample& sample,
                                                     const corpus::GenerateOptions& generate, std::size_t copies) {
  return detail::bind_sample(op, sample, generate, copies, [&](subject::OperatorCall call) {
    if (generate.compat) subject::make_indices_valid(call);
    else subject::make_inputs_valid(call);
    return call;
  });
}

/// The same call for a compiler, in channels-last memory format if it will be run in that: its tensors have no
/// values and take no memory, and compilers see no difference (equal signatures). Throws as make_call() does, but does
/// not find out that no valid values can be made for the shapes; that call is announced in vain.
[[nodiscard]] inline subject::OperatorCall make_announced_call(const std::string& op, const corpus::Sample& sample,
                                                               corpus::GenerateOptions generate, std::size_t copies,
                                                               bool in_channels_last) {
  generate.metadata_only = true;
  return detail::bind_sample(op, sample, generate, copies, [&](const subject::OperatorCall& call) {
    subject::require_valid_inputs(call);
    return (in_channels_last ? channels_last(call) : call).without_memory(generate.device);
  });
}

[[nodiscard]] inline corpus::GenerateOptions generate_options(const ReplayOptions& options, std::uint64_t seed) {
  corpus::GenerateOptions generate;
  generate.dtype = parse_dtype(options.dtype);
  generate.device = subject::parse_device(options.device);
  generate.seed = seed;
  return generate;
}

}  // namespace pace::families::operators
