// What surrounds backward passes that pace runs, such as the release of Python's lock.
#pragma once

#include "pace/base/function_ref.hpp"

namespace pace::detail {

/// Runs a backward pass.
using AroundBackward = void (*)(FunctionRef<void()>);

/// Returns what surrounds backward passes in this process, to read or to set; null: nothing. LibTorch refuses to run
/// one in a thread that holds Python's lock.
[[nodiscard]] inline AroundBackward& around_backward() {
  static AroundBackward around = nullptr;
  return around;
}

/// Runs a backward pass as this process does.
inline void run_around_backward(FunctionRef<void()> backward) {
  if (around_backward() != nullptr)
    around_backward()(backward);
  else
    backward();
}

}  // namespace pace::detail
