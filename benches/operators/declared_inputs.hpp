// The cases that the program's source files declare, as the options choose them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benches/operators/cases.hpp"
#include "benches/operators/options.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/corpus/dtype.hpp"
#include "pace/inputs/scalar_type.hpp"

namespace pace::benches::operators {

/// Returns the declared cases on `device` (`cuda:1` is `cuda`) with one of `tags`, where `dtype` is the type that was
/// asked for; absent, or `recorded`: cases of all types. Throws as declared_corpus() and parse_dtype() do.
[[nodiscard]] inline corpus::Corpus declared_inputs(const std::string& device, const std::optional<std::string>& dtype,
                                                    const std::vector<std::string>& tags = {}) {
  const auto type = dtype ? parse_dtype(*dtype) : std::nullopt;
  const auto abbreviation = type ? inputs::dtype_from_scalar_type(*type) : std::nullopt;
  return declared_corpus(device.substr(0, device.find(':')), abbreviation ? corpus::abbreviation(*abbreviation) : "",
                         tags);
}

}  // namespace pace::benches::operators
