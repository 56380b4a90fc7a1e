// Meeting: memory that all ranks of a run share, with a barrier.
#pragma once

#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/os/wait_a_moment.hpp"

namespace pace::ranks::detail {

/// How far a rank's process has come.
enum class Progress : std::uint32_t { works, finished, failed };

/// Which exception ended a rank, so that the first process can throw the same.
enum class Fault : std::uint32_t { error, input, missing_device };

/// Copies `text` into an array of characters, cut to its size.
template <std::size_t N>
void write_text(char (&to)[N], std::string_view text) {
  to[text.copy(to, N - 1)] = '\0';
}

/// What one rank tells the others and the first process. No other rank writes to it.
struct alignas(64) RankMemory {
  /// The barrier and its use at which the rank waits, see number_of(); 0: it is at work.
  std::atomic<std::uint64_t> waits_at{0};
  /// Grows with each barrier that the rank leaves.
  std::atomic<std::uint64_t> beats{0};
  std::atomic<Progress> progress{Progress::works};
  Fault fault = Fault::error;
  /// When the rank, or an implementation on it, threw last, by the steady clock; 0: neither did.
  std::atomic<double> failed_at{0};
  /// Why the rank failed.
  char message[4096] = {};
  /// What the rank does, such as `a call of 'mine'`, for a rank that hangs.
  char doing[512] = {};
  /// What an implementation threw or got wrong in the last step; empty: nothing.
  char problem[2048] = {};
  bool threw = false;
  /// Time of the rank's last sample, and when it left the last barrier, in nanoseconds.
  double sample = 0, left_barrier = 0;
};

/// A step that all ranks take together.
enum class Step : std::uint32_t { call, sample, end };

/// What rank 0 wants of the others.
struct Command {
  Step step = Step::end;
  std::size_t side = 0, set = 0;
  std::int64_t calls = 0;
};

/// A barrier of two counters. All ranks use it in turn.
struct alignas(64) Barrier {
  std::atomic<std::uint32_t> arrived{0};
  alignas(64) std::atomic<std::uint64_t> uses{0};  ///< so far
};

/// The barriers of a run.
enum class Use : std::uint64_t {
  steps,  ///< between the steps of a comparison
  body,   ///< Rank::barrier(): in the user's code, which a rank that throws leaves without it
};

/// Names the next use of a barrier; never 0.
[[nodiscard]] inline std::uint64_t number_of(Use use, std::uint64_t uses) {
  return 2 * (uses + 1) + static_cast<std::uint64_t>(use);
}

/// The part of the memory that belongs to no rank.
struct alignas(64) Table {
  Barrier barriers[2];
  alignas(64) Command command = {};
  /// What rank 0 gives to all.
  std::size_t given_bytes = 0;
  char given[4096] = {};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<double>::is_always_lock_free);

/// The time of the steady clock, which all processes of a machine share.
[[nodiscard]] inline Nanoseconds steady_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

/// Memory that the ranks share with the process that forks them. It has no name that could stay behind.
class Meeting {
 public:
  /// Throws Error if there is no memory.
  explicit Meeting(int ranks)
      : ranks_(ranks), bytes_(sizeof(Table) + static_cast<std::size_t>(ranks) * sizeof(RankMemory)) {
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error(std::string("no memory that ranks could share: ") + std::strerror(errno));
    table_ = new (memory) Table;
    places_ = reinterpret_cast<RankMemory*>(table_ + 1);
    for (int i = 0; i < ranks; ++i) new (places_ + i) RankMemory;
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  ~Meeting() { ::munmap(table_, bytes_); }

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] Table& table() const { return *table_; }
  [[nodiscard]] RankMemory& place(int rank) const { return places_[rank]; }

  /// Returns once all ranks are here. Waits without sleeping, since a wake-up takes longer than many samples. After
  /// some 0.1 ms it lets other threads of the core run.
  void wait(int rank, Use use = Use::steps) {
    RankMemory& own = place(rank);
    Barrier& barrier = table_->barriers[static_cast<std::size_t>(use)];
    const std::uint64_t before = barrier.uses.load(std::memory_order_acquire);
    own.waits_at.store(number_of(use, before), std::memory_order_release);
    if (barrier.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(ranks_)) {
      barrier.arrived.store(0, std::memory_order_relaxed);
      barrier.uses.store(before + 1, std::memory_order_release);
    } else {
      constexpr int spins = 4096;
      for (int i = 0; barrier.uses.load(std::memory_order_acquire) == before; ++i) {
        if (i < spins)
          pace::detail::wait_a_moment();
        else
          (void)::sched_yield();
      }
    }
    own.waits_at.store(0, std::memory_order_relaxed);
    own.beats.fetch_add(1, std::memory_order_relaxed);
  }

  /// Whether the rank waits at a barrier that not all have reached.
  [[nodiscard]] bool waits(int rank) const {
    const std::uint64_t at = place(rank).waits_at.load(std::memory_order_acquire);
    for (const Use use : {Use::steps, Use::body}) {
      const auto& barrier = table_->barriers[static_cast<std::size_t>(use)];
      if (at == number_of(use, barrier.uses.load(std::memory_order_acquire))) return true;
    }
    return false;
  }

 private:
  int ranks_;
  std::size_t bytes_;
  Table* table_ = nullptr;
  RankMemory* places_ = nullptr;
};

}  // namespace pace::ranks::detail
