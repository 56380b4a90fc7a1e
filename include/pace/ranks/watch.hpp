// Watch: finds ranks that ended, failed or hang, and says which and why.
#pragma once

#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/ranks/meeting.hpp"

namespace pace::ranks {

/// How long ranks may be silent, and how time passes. A test gives a clock of its own.
struct Patience {
  /// Ranks that reach no barrier for so long hang.
  Nanoseconds silence = std::chrono::minutes(5);
  /// The same once a rank has noted a problem: the others may wait in vain for it.
  Nanoseconds after_problem = std::chrono::seconds(10);
  /// The time, and a pause between two looks.
  std::function<Nanoseconds()> now = detail::steady_now;
  /// Waits a moment; by default 5 ms.
  std::function<void()> pause = [] {
    const timespec moment{.tv_sec = 0, .tv_nsec = 5'000'000};
    (void)::nanosleep(&moment, nullptr);
  };
};

namespace detail {

/// What ended a run.
struct Ending {
  Fault fault = Fault::error;
  std::string message = {};
};

/// Looks after the processes of the ranks, from the process that forked them.
class Watch {
 public:
  /// `processes` are the ranks' by number; ended ones become -1.
  Watch(Meeting& meeting, std::vector<pid_t>& processes, const Patience& patience)
      : meeting_(meeting), processes_(processes), patience_(patience), since_(patience.now()) {}

  /// Whether all ranks have finished.
  [[nodiscard]] bool all_finished() const {
    return std::ranges::all_of(processes_, [](pid_t process) { return process < 0; });
  }

  /// Looks at each rank once. Returns what ends the run; nothing while all is well.
  [[nodiscard]] std::optional<Ending> look() {
    std::optional<Ending> died;
    for (int rank = 0; rank < meeting_.ranks(); ++rank)
      if (auto found = look_at(rank); found && !died) died = std::move(found);
    // A rank that threw may have ended others, such as by a collective that it left. So the first failure counts.
    if (auto failed = first_failure()) return failed;
    if (died) return died;
    if (auto left = find_left_alone()) return left;
    return find_silence();
  }

 private:
  [[nodiscard]] static std::string name_of(int rank) { return "rank " + std::to_string(rank); }

  [[nodiscard]] std::optional<Ending> look_at(int rank) {
    pid_t& process = processes_[static_cast<std::size_t>(rank)];
    if (process < 0) return std::nullopt;
    int status = 0;
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
    process = -1;
    if (meeting_.place(rank).progress.load(std::memory_order_acquire) == Progress::finished) return std::nullopt;
    std::string how = " has ended";
    if (ended > 0 && WIFSIGNALED(status))
      how = " was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ')';
    else if (ended > 0)
      how = " ended its process with exit code " + std::to_string(WEXITSTATUS(status));
    return Ending{.message = name_of(rank) + how + during(rank)};
  }

  [[nodiscard]] std::string during(int rank) const {
    const std::string doing = meeting_.place(rank).doing;
    return doing.empty() ? "" : " in " + doing;
  }

  [[nodiscard]] std::optional<Ending> first_failure() const {
    const RankMemory* first = nullptr;
    int number = 0;
    for (int rank = 0; rank < meeting_.ranks(); ++rank) {
      const RankMemory& place = meeting_.place(rank);
      if (place.progress.load(std::memory_order_acquire) != Progress::failed) continue;
      if (first != nullptr && first->failed_at.load() <= place.failed_at.load()) continue;
      first = &place;
      number = rank;
    }
    if (first == nullptr) return std::nullopt;
    return Ending{first->fault, name_of(number) + ": " + first->message};
  }

  /// A rank that has finished comes to no further barrier, at which others would wait for ever.
  [[nodiscard]] std::optional<Ending> find_left_alone() const {
    std::string finished, waiting;
    const auto add = [](std::string& names, int rank) { names += (names.empty() ? "" : ", ") + std::to_string(rank); };
    for (int rank = 0; rank < meeting_.ranks(); ++rank)
      if (meeting_.place(rank).progress.load(std::memory_order_acquire) == Progress::finished) add(finished, rank);
    // Read after that: a rank may have let the others go just before it finished.
    for (int rank = 0; rank < meeting_.ranks(); ++rank)
      if (meeting_.waits(rank)) add(waiting, rank);
    if (finished.empty() || waiting.empty()) return std::nullopt;
    return Ending{.message = "rank " + waiting + " waits for rank " + finished +
                             ", which has finished; expected all ranks to make the same comparisons in one order"};
  }

  [[nodiscard]] std::optional<Ending> find_silence() {
    std::uint64_t beats = 0;
    std::string problem;
    for (int rank = 0; rank < meeting_.ranks(); ++rank) {
      const RankMemory& place = meeting_.place(rank);
      beats += place.beats.load(std::memory_order_relaxed);
      if (place.failed_at.load(std::memory_order_acquire) > 0 && problem.empty())
        problem = name_of(rank) + ": " + place.problem;
    }
    const Nanoseconds now = patience_.now();
    if (beats != beats_) {
      beats_ = beats;
      since_ = now;
    }
    const Nanoseconds limit =
        problem.empty() ? patience_.silence : std::min(patience_.silence, patience_.after_problem);
    if (now - since_ <= limit) return std::nullopt;
    std::string message;
    for (int rank = 0; rank < meeting_.ranks(); ++rank) {
      if (meeting_.waits(rank) || meeting_.place(rank).progress.load() != Progress::works) continue;
      message +=
          (message.empty() ? "" : "; ") + name_of(rank) + " did not return within " + format_time(limit) + during(rank);
    }
    if (message.empty()) message = "no rank went on within " + format_time(limit);
    if (!problem.empty()) message = problem + "; then " + message;
    return Ending{.message = message};
  }

  Meeting& meeting_;
  std::vector<pid_t>& processes_;
  const Patience& patience_;
  Nanoseconds since_;
  std::uint64_t beats_ = 0;
};

}  // namespace detail
}  // namespace pace::ranks
