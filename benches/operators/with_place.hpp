// with_place: exceptions of a recorded call name the line that it was recorded in.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <c10/util/Exception.h>

#include "benches/operators/selection.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

/// Returns `aten.relu.default at inputs.txt:2:9`, or the operator alone where the sample was in no file.
[[nodiscard]] inline std::string place_of(const Selected& selected, std::size_t offset) {
  const std::string place = selected.samples[offset].where.to_string();
  return selected.op->name + (place.empty() ? "" : " at " + place);
}

/// Returns a function that calls `run`, and adds `place` to the messages of its exceptions. Types of exceptions stay as
/// they are, since they tell apart a lost device, a lack of memory and a failure of the call. Without an exception it
/// costs nothing, so that it may be timed.
template <class Run>
[[nodiscard]] auto with_place(std::string place, Run run) {
  return [place = std::move(place), run = std::move(run)]<class... Operands>(
             Operands&&... operands) mutable -> std::invoke_result_t<Run&, Operands...> {
    try {
      return run(std::forward<Operands>(operands)...);
    } catch (c10::Error& error) {
      error.add_context(place);
      throw;
    } catch (const std::runtime_error& error) {
      // As compiled packages throw it. Other types, pace's own among them, have messages of their own.
      if (typeid(error) != typeid(std::runtime_error)) throw;
      throw std::runtime_error(std::string(error.what()) + " (" + place + ')');
    }
  };
}

}  // namespace pace::benches::operators
