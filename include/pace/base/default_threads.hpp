// The number of threads that one operator uses where no option says otherwise.
#pragma once

namespace pace {

/// Default number of threads of one operator: one, as in torch.utils.benchmark. With several, an operator ends when the
/// last of them does: on a machine that does anything else at the same time each barrier waits for the scheduler, which
/// made calls of 3 us take 8 ms.
inline constexpr int default_threads = 1;

}  // namespace pace
