// find_state: whether a kernel works on memory that its own last launch left, and copies of the memory that it must
// find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/kept_bytes.hpp"
#include "pace/kernels/memory_digest.hpp"
#include "pace/kernels/replay.hpp"

namespace pace::kernel {

/// What launches of a kernel do to memory.
struct MemoryChanges {
  std::vector<MemoryRegion> changed;  ///< memory that has other values after the first launch
  bool goes_on = false;               ///< a second launch changes memory once more
};

/// Launches a kernel twice, and returns what that changes of the memory that `memory` watches. `prepare()` restores the
/// memory to its state before the kernel, `launch()` queues the kernel on the current stream.
[[nodiscard]] inline MemoryChanges changes_of(MemoryDigest& memory, const std::function<void()>& prepare,
                                              const std::function<void()>& launch) {
  prepare();
  const auto before = memory.take();
  launch();
  const auto once = memory.take();
  MemoryChanges changes{.changed = memory.changed(before, once)};
  if (changes.changed.empty()) return changes;
  launch();
  changes.goes_on = memory.take() != once;
  return changes;
}

/// Whether two launches on the same memory leave the same values. `restore()` restores what launches change.
[[nodiscard]] inline bool repeats(MemoryDigest& memory, const std::function<void()>& restore,
                                  const std::function<void()>& launch) {
  const auto result = [&] {
    restore();
    launch();
    return memory.take();
  };
  const auto once = result();
  return once == result();
}

/// The memory that a kernel must find before each of its launches.
struct KernelState {
  std::optional<KeptBytes> kept;  ///< copies that must be restored before each launch; absent: none
  std::string why_unknown;        ///< the reason if this is unknown, as a clause; else empty
  /// Launches on the same memory leave different values, so that it is not known whether the kernel works in place.
  bool varies = false;
};

/// Finds out whether a kernel works in place, and returns copies of the memory that it must find again.
///
/// Launches the kernel twice. If both launches change the memory, the kernel works in place, and the memory is copied.
/// Launches on the same memory may differ as well, such as by the order of floating-point atomics. Then the kernel may
/// work in place, and the memory is copied all the same. Memory that only the first launch changes is an output, or the
/// kernel uses it up, such as a counter that is zero afterwards. It is copied if restoring it changes the time of
/// launches. Arguments are as for Replayer::time() and changes_of(). Throws Unsupported if memory that a second launch
/// changes again cannot be copied.
template <gpu::TracesActivities D>
[[nodiscard]] KernelState find_state(MemoryDigest& memory, at::Device device, Replayer<D>& replayer,
                                     const std::function<void()>& prepare, const std::function<void()>& launch,
                                     const std::function<void()>& help = {}) {
  KernelState state;
  const std::function<void()> helped = detail::one_after_another(help, launch);
  const auto changes = changes_of(memory, prepare, helped);
  if (changes.changed.empty()) return state;
  prepare();
  const auto failure = failure_of([&] { state.kept.emplace(changes.changed, device, device); });
  if (!failure.empty() && changes.goes_on)
    throw Unsupported("its second launch changes memory again, and what it finds could not be copied: " + failure);
  if (!failure.empty()) {
    state.why_unknown = "what it changes could not be copied: " + failure;
    return state;
  }
  if (changes.goes_on) state.varies = !repeats(memory, [&] { state.kept->restore(); }, helped);
  if (!changes.goes_on && !replayer.takes_another_time(prepare, launch, help, [&] { state.kept->restore(); }))
    state.kept.reset();
  return state;
}

}  // namespace pace::kernel
