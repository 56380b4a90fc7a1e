// Whether two files keep the same between calls, so that calls of both can start from the same values.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/program_facts.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::loaders {

/// Throws Unsupported unless calls of both sides write to the same buffers, which both have in the order of their
/// names. `baseline` and `side`: how the two are called; `state` and `own`: the buffers of each.
inline void require_same_state(const std::string& baseline, const std::vector<Buffer>& state, const std::string& side,
                               const std::vector<Buffer>& own) {
  const auto text = [](const at::Tensor& tensor) { return detail::tensor_text(tensor, tensor.device()); };
  const auto refuse = [](const std::string& what) {
    throw Unsupported(what +
                      "; why: calls of both have to start from the same buffers; try: export both files from "
                      "one module");
  };
  for (const auto& buffer : own) {
    const auto found = std::ranges::find(state, buffer.name, &Buffer::name);
    if (found == state.end())
      refuse(side + " writes to its buffer '" + buffer.name + "', and " + baseline + " does not");
    if (text(found->value) != text(buffer.value))
      refuse("the buffer '" + buffer.name + "' of " + side + " is " + text(buffer.value) + ", and " + baseline +
             " has " + text(found->value));
  }
  for (const auto& buffer : state)
    if (std::ranges::find(own, buffer.name, &Buffer::name) == own.end())
      refuse(baseline + " writes to its buffer '" + buffer.name + "', and " + side + " does not");
}

}  // namespace pace::benches::loaders
