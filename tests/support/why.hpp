// The message of a refusal.
#pragma once

#include <string>

#include "pace/base/error.hpp"

namespace pace::test {

/// The message of the `E` that `function()` throws.
template <class E = Error, class F>
[[nodiscard]] std::string why(F&& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace pace::test
