// Makes the inputs of a recorded sample and binds them to its operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "pace/core/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/corpus/generate.hpp"
#include "pace/families/operators/options.hpp"
#include "pace/subject/device.hpp"
#include "pace/subject/memory.hpp"
#include "pace/subject/operator_call.hpp"
#include "pace/subject/valid_inputs.hpp"

namespace pace::families::operators {

/// Makes the inputs of a sample and binds them to its operator. Throws Refused or InputError, with operator, file and
/// line in the message, if the sample cannot be run here. `copies` is how many sets of the inputs the caller will hold.
[[nodiscard]] inline subject::OperatorCall make_call(const std::string& op, const corpus::Sample& sample,
                                                     const corpus::GenerateOptions& generate, std::size_t copies) {
  try {
    const corpus::Call parsed = corpus::parse_call(sample, op);
    subject::require_memory(corpus::input_bytes(parsed, generate.dtype) * static_cast<std::int64_t>(copies),
                            "the inputs", subject::available_memory_on(generate.device));
    auto call = subject::OperatorCall::bind(op, corpus::generate(parsed, generate), sample.where);
    subject::make_inputs_valid(call);
    return call;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw Refused(sample.where.to_string() + ": " + op + ": " + error.what());
  }
}

[[nodiscard]] inline subject::OperatorCall make_call(const std::string& op, const corpus::Sample& sample,
                                                     const ReplayOptions& options, std::uint64_t seed,
                                                     std::size_t copies) {
  corpus::GenerateOptions generate;
  generate.dtype = parse_dtype(options.dtype);
  generate.device = subject::parse_device(options.device);
  generate.seed = seed;
  return make_call(op, sample, generate, copies);
}

}  // namespace pace::families::operators
