// Rank: one process of several that measure together. run: forks them, and looks after them.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/ranks/meeting.hpp"
#include "pace/ranks/watch.hpp"
#include "pace/result/result.hpp"
#include "pace/run/planned_case.hpp"
#include "pace/run/run_context.hpp"

namespace pace::ranks {

namespace detail {

/// Tells the runner before main(), which would ask CUDA for the names of GPUs.
inline const bool program_forks_ranks = (run_context().forks_ranks = true);

}  // namespace detail

/// One of the processes that run() forks.
class Rank {
 public:
  /// For run(): `results` is the descriptor of a file without a name.
  Rank(int number, detail::Meeting& meeting, int results) : number_(number), meeting_(meeting), results_(results) {}
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// Number of this rank, from 0 on.
  [[nodiscard]] int number() const { return number_; }
  /// Number of all ranks.
  [[nodiscard]] int count() const { return meeting_.ranks(); }
  /// Returns once all ranks have called it.
  void barrier() { meeting_.wait(number_, detail::Use::body); }
  /// Returns rank 0's `bytes` on all ranks, such as the identity of a communicator. Throws Error above 4096 bytes.
  [[nodiscard]] std::string from_first(std::string_view bytes);
  /// Path of a new, empty file that all ranks share, for a c10d::FileStore. All ranks call it together. The file has no
  /// name, so none stays behind. Throws Error if it cannot be made or opened.
  [[nodiscard]] std::string store_path();
  /// Returns the GPU of this rank's number, and makes it the current device. Throws DeviceMissing with the reason if
  /// LibTorch has no CUDA, or if there are fewer GPUs than ranks.
  [[nodiscard]] at::Device gpu() const;

  /// For Comparison: the shared memory.
  [[nodiscard]] detail::Meeting& meeting() { return meeting_; }
  /// For Comparison: hands a result of rank 0 to the first process.
  void hand_over(const Result& result) const;
  /// The same for a comparison before it is measured.
  void hand_over(const PlannedCase& planned) const;

 private:
  void hand_over_line(const std::string& line) const;

  int number_;
  detail::Meeting& meeting_;
  int results_;
  /// Files of store_path().
  std::vector<FileDescriptor> stores_;
};

/// Number of GPUs that ranks can use; 0: none, or a program without CUDA. Asks CUDA in another process, once, so that
/// run() can still fork. Throws Error if that process fails, or does not answer within a minute.
[[nodiscard]] int number_of_gpus();

/// What all ranks run.
using Body = std::function<void(Rank&)>;

/// Forks `ranks` processes, and runs `body` in each. All make the same comparisons (ranks::compare) in one order.
/// Publishes each result as it comes, as pace::compare does, and returns all of them once every rank has finished.
///
/// Throws if a rank throws, ends, or reaches no barrier for `patience.silence`; the message has its number and the
/// reason. All other ranks, and what they started, are ended first. Throws Error as well for fewer than one rank, and
/// for options that ranks cannot follow. So it does in a process with other threads, or in one that has used a GPU,
/// which a forked process could not use. `--call-timeout` takes the place of `patience.silence`.
[[nodiscard]] std::vector<Result> run(int ranks, const Body& body, const Patience& patience = {});

}  // namespace pace::ranks

#ifdef PACE_HEADER_ONLY
#include "pace/ranks/rank-inl.hpp"
#endif
