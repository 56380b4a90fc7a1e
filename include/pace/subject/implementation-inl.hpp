// Members of OperandSets and Implementation.
#pragma once

#include "pace/subject/implementation.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

#include "pace/base/cut_text.hpp"
#include "pace/base/demangle.hpp"
#include "pace/base/error.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/out_of_memory.hpp"
#include "pace/check/poison.hpp"
#include "pace/check/restore.hpp"
#include "pace/os/activity.hpp"
#include "pace/subject/captured_output.hpp"
#include "pace/subject/output_copy.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"

namespace pace::detail {

PACE_INLINE bool OperandSets::is_scratch(std::size_t operand) const {
  return std::find(scratch.begin(), scratch.end(), operand) != scratch.end();
}

PACE_INLINE bool OperandSets::may_change(std::size_t operand) const {
  return is_scratch(operand) || std::find(mutated.begin(), mutated.end(), operand) != mutated.end();
}

PACE_INLINE bool OperandSets::aliases(const at::Tensor& tensor) const {
  if (!tensor.has_storage()) return false;  // sparse
  const auto in = [&](const auto& set) {
    return std::any_of(set.begin(), set.end(), [&](const auto& operand) { return operand.is_alias_of(tensor); });
  };
  return std::any_of(tensors.begin(), tensors.end(), in) ||
         std::any_of(spare_tensors.begin(), spare_tensors.end(),
                     [&](const auto& spares) { return std::any_of(spares.begin(), spares.end(), in); });
}

PACE_INLINE void OperandSets::restore(std::size_t set) const {
  for (const std::size_t i : mutated) check::restore_tensor(values()[i], tensors[set][i]);
  if (spares.empty()) return;
  for (const auto& spare : spare_tensors[set])
    for (const std::size_t i : mutated) check::restore_tensor(values()[i], spare[i]);
}

PACE_INLINE void OperandSets::restore_all(const std::vector<at::Tensor>& of_set) const { write_values(given, of_set); }

PACE_INLINE std::string current_message() {
  // Messages become parts of sentences.
  const auto without_end = [](std::string text) {
    while (!text.empty() && (text.back() == '.' || text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return cut_text(text, longest_kept);
  };
  try {
    throw;
  } catch (const c10::Error& error) {
    return without_end(as_reason(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    return without_end(message_of(error));
  } catch (...) {
    const auto* const type = abi::__cxa_current_exception_type();
    return "an exception that is no std::exception" +
           (type != nullptr ? ", of type " + demangled(type->name()) : std::string());
  }
}

PACE_INLINE Failure current_failure() {
  try {
    throw;
  } catch (const ImplementationThrew& thrown) {
    return thrown.failure;
  } catch (const DeviceMissing& error) {
    return {cut_text(error.what(), longest_kept), Failure::Device::missing};
  } catch (const DeviceLost& error) {
    return {cut_text(error.what(), longest_kept), Failure::Device::lost};
  } catch (const std::bad_alloc& error) {
    // The standard library's own text is the name of the type.
    const std::string text = error.what();
    return {.message = "memory ran out" + (text == "std::bad_alloc" ? "" : " (" + cut_text(text, longest_kept) + ')'),
            .out_of_memory = true};
  } catch (const std::exception& error) {
    return {.message = current_message(), .out_of_memory = check::means_out_of_memory(error)};
  } catch (...) {
    return {.message = current_message()};
  }
}

struct Implementation::Memory {
  OutputCopy copy;
  /// One for each output tensor whose memory comes from the allocator.
  std::vector<check::FreeBlock> fresh_outputs;
};

PACE_INLINE Implementation::Implementation(const OperandSets& operands)
    : operands_(operands), memory_(std::make_unique<Memory>()) {}

PACE_INLINE Implementation::~Implementation() = default;

PACE_INLINE void Implementation::expect_outputs_like(const c10::IValue& output) {
  // An output in an operand's memory is restored with the operand. Poison is for memory from the allocator.
  memory_->fresh_outputs.clear();
  for (const auto& tensor : check::tensors_of(output))
    if (tensor.layout() == at::kStrided && tensor.has_storage() && !operands_.aliases(tensor))
      memory_->fresh_outputs.push_back({static_cast<std::int64_t>(tensor.nbytes()), tensor.device()});
}

PACE_INLINE void Implementation::failed() {
  try {
    throw;
  } catch (const ImplementationThrew&) {
    throw;
  } catch (...) {
    Failure failure = current_failure();
    if (failure.device == Failure::Device::fine && !failure.out_of_memory)
      failure.message = UnseenValuesInUse::add_to(std::move(failure.message), *activity());
    throw ImplementationThrew{index, std::move(failure)};
  }
}

PACE_INLINE void Implementation::announce() const { activity()->running(static_cast<std::int64_t>(index)); }

PACE_INLINE void Implementation::start(std::size_t set) {
  announce();
  operands_.restore(set);
  if (operands_.random) reset_random_state(operands_.round_seed.value_or(operands_.seed));
  // The kept output holds its memory, so outputs of later calls lie elsewhere.
  check::poison_free_memory(memory_->fresh_outputs, operands_.kept_call ? 2 : 1);
}

PACE_INLINE c10::IValue Implementation::copy_of(const c10::IValue& output) {
  return memory_->copy.copy(output, [&](const auto& tensor) { return operands_.aliases(tensor); });
}

PACE_INLINE std::shared_ptr<void> Implementation::captured(c10::IValue output) {
  return std::make_shared<CapturedOutput>(std::move(output));
}

PACE_INLINE c10::IValue Implementation::replayed(const std::shared_ptr<void>& captured) {
  auto& output = *static_cast<CapturedOutput*>(captured.get());
  c10::IValue value = output.value();
  output.poison();
  return value;
}

}  // namespace pace::detail
