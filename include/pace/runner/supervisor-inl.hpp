// A process that only starts the one that measures, and starts another when that dies.
#pragma once

#include "pace/runner/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/inherited_signals.hpp"
#include "pace/os/memory.hpp"
#include "pace/os/orphans.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/continuation.hpp"
#include "pace/runner/hand_over.hpp"
#include "pace/runner/time_limit.hpp"

namespace pace::runner {

namespace detail {

/// A shell's exit code for a signal is this and the signal's number.
inline constexpr int signal_exit = 128;

[[nodiscard]] inline Activity* map_activity(int file) {
  void* memory = ::mmap(nullptr, sizeof(Activity), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Activity*>(memory);
}

/// Returns number and name of a signal, such as `signal 11 (Segmentation fault)`.
[[nodiscard]] inline std::string name_of_signal(int number) {
  return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ')';
}

/// Returns whether a signal comes from outside of the process, or from writing its output: measuring again would end in
/// the same way.
[[nodiscard]] inline bool ends_the_run(int number) {
  for (const int each : {SIGPIPE, SIGXFSZ, SIGXCPU, SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    if (number == each) return true;
  return false;
}

/// The signal that ended the run; 0: there was none.
inline volatile sig_atomic_t end_wanted = 0;
inline volatile sig_atomic_t watched_process = 0;

/// The supervisor's handler of signals passes them on to the watched process, so that a signal to either ends the run.
inline void end_run(int number) {
  end_wanted = number;
  if (watched_process > 0) ::kill(static_cast<pid_t>(watched_process), number);
}

/// One run of supervise().
class Supervisor {
 public:
  Supervisor(Nanoseconds call_timeout, std::optional<std::int64_t> memory_limit, bool has_files,
             std::function<Nanoseconds()> now, std::ostream& errors)
      : call_timeout_(call_timeout),
        memory_limit_(memory_limit),
        has_files_(has_files),
        now_(std::move(now)),
        errors_(errors) {}
  Supervisor(const Supervisor&) = delete;

  [[nodiscard]] std::optional<int> run() {
    std::string trouble;
    if (!prepare(trouble)) {
      errors_ << "pace: an implementation that crashes will end the run: " << trouble << '\n' << std::flush;
      return std::nullopt;
    }
    const Orphans orphans;
    for (;;) {
      shared_->comparison[0] = shared_->unseen_values[0] = '\0';
      shared_->implementation = -1;
      shared_->watched = shared_->finished = shared_->called_exit = shared_->is_mute = false;
      std::fflush(nullptr);
      // A signal stays pending until `watched_process` is set here, and until the new process has reset its handlers.
      const EndSignalsHeld held;
      if (end_wanted != 0) return interrupted();
      const pid_t child = ::fork();
      if (child == 0) return be_watched(), std::nullopt;
      if (child < 0) return fail(std::string("cannot start a process: ") + std::strerror(errno));
      watched_process = child;
      held.release();
      const int status = wait_for(child);
      watched_process = 0;
      // The processes that it started, such as a compiler, would take time from the next measurement, and a copy of the
      // process holds the locks on the results files.
      orphans.end_all();
      if (end_wanted != 0) return interrupted();
      const bool at_work = shared_->comparison[0] != '\0';
      if (WIFEXITED(status) && !at_work) {
        if (shared_->is_mute)
          errors_ << "pace: the measured code closed the standard error of its process, so messages are lost, and "
                     "results may be\n"
                  << std::flush;
        // A handler of exit() that an implementation has registered may have replaced the code by 0.
        if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
        if (shared_->finished) return shared_->exit_code;
        return fail("the process ended with exit code 0 outside of any comparison, before its tests were through");
      }
      if (WIFSIGNALED(status) && ends_the_run(WTERMSIG(status)))
        return fail("the process was killed by " + name_of_signal(WTERMSIG(status)) +
                    ", which is no fault of an implementation" + where_results_are()),
               code_of(status);
      const RunContext::PriorFailure fate = fate_of(status);
      if (!at_work) return fail(add_to_reason(fate.message, " outside of any comparison")), code_of(status);
      const std::string line = line_of({shared_->comparison, fate});
      if (trouble = keep(line); !trouble.empty())
        return fail(std::string(shared_->comparison) + ": " + add_to_reason(fate.message, ", " + trouble)),
               code_of(status);
      errors_ << "pace: " << shared_->comparison << ": " << to_string(fate.outcome) << ": "
              << add_to_reason(fate.message, "; a fresh process goes on") << '\n'
              << std::flush;
    }
  }

 private:
  /// Signals that end the run stay pending while the object lives, or until release().
  class EndSignalsHeld {
   public:
    EndSignalsHeld() {
      sigset_t all;
      ::sigemptyset(&all);
      for (const int number : numbers) ::sigaddset(&all, number);
      ::sigprocmask(SIG_BLOCK, &all, &before_);
    }
    EndSignalsHeld(const EndSignalsHeld&) = delete;
    ~EndSignalsHeld() { release(); }
    void release() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

    static constexpr int numbers[] = {SIGINT, SIGTERM, SIGHUP};

   private:
    sigset_t before_;
  };

  [[nodiscard]] bool prepare(std::string& trouble) {
    file_ = open_unnamed_file(trouble);
    if (file_ < 0) return false;
    memory_ = ::memfd_create("pace-activity", 0);
    if (memory_ >= 0 && ::ftruncate(memory_, sizeof(Activity)) == 0) shared_ = map_activity(memory_);
    if (shared_ == nullptr) {
      trouble = std::string("no shared memory: ") + std::strerror(errno);
      return false;
    }
    new (shared_) Activity();
    for (const int number : EndSignalsHeld::numbers) {
      if (stays_ignored(number)) continue;
      struct sigaction action{};
      action.sa_handler = &end_run;
      ::sigaction(number, &action, nullptr);
    }
    return true;
  }

  void be_watched() const {
    for (const int number : EndSignalsHeld::numbers) ::signal(number, stays_ignored(number) ? SIG_IGN : SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    activity() = shared_;
    const std::string own = std::to_string(::getpid());
    ::setenv(supervised_variable, own.c_str(), 1);
    ::setenv(continuing_variable, own.c_str(), 1);
    ::setenv(activity_variable, std::to_string(memory_).c_str(), 1);
    ::setenv(continuation_variable, ("/proc/self/fd/" + std::to_string(file_)).c_str(), 1);
    if (!memory_limit_) return;
    rlimit limit{};
    // The limit is on data: reservations that are never touched do not count.
    if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
    limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(*memory_limit_));
    ::setrlimit(RLIMIT_DATA, &limit);
  }

  /// Waits until the process has ended, by itself or because it hung, and returns its status.
  [[nodiscard]] int wait_for(pid_t child) {
    hung_ = false;
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    std::uint64_t beats = shared_->beats;
    auto since = now_();
    int status = 0;
    for (;;) {
      const pid_t ended = ::waitpid(child, &status, WNOHANG);
      if (ended == child || (ended < 0 && errno != EINTR)) break;
      const std::uint64_t found = __atomic_load_n(&shared_->beats, __ATOMIC_RELAXED);
      if (found != std::exchange(beats, found) || !__atomic_load_n(&shared_->watched, __ATOMIC_RELAXED)) since = now_();
      if (now_() - since > call_timeout_ && !std::exchange(hung_, true)) ::kill(child, SIGKILL);
      // It wakes once a second, so as not to disturb the timing.
      pollfd waiting{handle, POLLIN, 0};
      ::poll(&waiting, handle >= 0 ? 1 : 0, 1000);
    }
    if (handle >= 0) ::close(handle);
    return status;
  }

  [[nodiscard]] RunContext::PriorFailure fate_of(int status) const {
    RunContext::PriorFailure fate;
    fate.implementation = shared_->implementation;
    if (hung_) {
      fate.outcome = Outcome::timed_out;
      fate.message = "no call began or ended for " + format_time(call_timeout_) + ", so the process was ended";
    } else if (WIFEXITED(status) && shared_->called_exit) {
      fate.message = "it called exit() or quick_exit(), which ended the process";
    } else if (WIFEXITED(status)) {
      fate.message = "it ended the process with exit code " + std::to_string(WEXITSTATUS(status));
    } else {
      const int number = WTERMSIG(status);
      fate.message = "the process was killed by " + name_of_signal(number);
      // Only the system sends SIGKILL on its own.
      if (number == SIGKILL) {
        fate.outcome = Outcome::out_of_memory;
        fate.message += ", as the system does when memory runs out";
        return fate;
      }
    }
    fate.message = UnseenValuesInUse::add_to(std::move(fate.message), *shared_);
    return fate;
  }

  /// Removes a line that the process had not completed when it died, and adds `line`. Returns why that failed; empty:
  /// it did not. It fails if `line` is the last one already: that process has added no finding to the earlier ones, and
  /// the next one would end in the same way. After a result, equal failures belong to another comparison of the same
  /// name.
  [[nodiscard]] std::string keep(const std::string& line) const {
    try {
      const std::string text = read_all(file_);
      const auto whole = static_cast<off_t>(text.rfind('\n') + 1);  // 0 if there is none
      if (std::string_view(text).substr(0, static_cast<std::size_t>(whole)).ends_with(line)) return "again";
      if (::ftruncate(file_, whole) != 0 || ::lseek(file_, whole, SEEK_SET) < 0)
        return std::string("and what was found cannot be cut: ") + std::strerror(errno);
    } catch (const Error& error) {
      return std::string("and what was found ") + error.what();
    }
    return append_all(file_, line);
  }

  [[nodiscard]] int interrupted() const {
    errors_ << "\npace: interrupted" << where_results_are() << '\n' << std::flush;
    return signal_exit + end_wanted;
  }

  /// Returns the clause about the results before the run ended; empty if no file keeps them.
  [[nodiscard]] const char* where_results_are() const {
    return has_files_ ? "; what was measured so far is in the result files" : "";
  }

  int fail(const std::string& what) const {
    errors_ << "pace: " << what << '\n' << std::flush;
    return 1;
  }

  [[nodiscard]] static int code_of(int status) {
    if (WIFSIGNALED(status)) return signal_exit + WTERMSIG(status);
    return WEXITSTATUS(status) == 0 ? 1 : WEXITSTATUS(status);
  }

  Nanoseconds call_timeout_;
  std::optional<std::int64_t> memory_limit_;
  const bool has_files_;
  std::function<Nanoseconds()> now_;
  std::ostream& errors_;
  int file_ = -1, memory_ = -1;
  Activity* shared_ = nullptr;
  bool hung_ = false;
};

}  // namespace detail

PACE_INLINE bool is_supervised() {
  if (!names_this_process(supervised_variable)) return false;
  if (Activity* shared = detail::map_activity(std::atoi(environment_variable(detail::activity_variable).c_str())))
    activity() = shared;
  return true;
}

PACE_INLINE Nanoseconds run_age() {
  if (!names_this_process(supervised_variable)) return process_age();
  return process_age("", std::to_string(::getppid()));
}

PACE_INLINE std::optional<int> supervise(Nanoseconds call_timeout, std::optional<std::int64_t> memory_limit,
                                         bool has_files, std::function<Nanoseconds()> now, std::ostream& errors) {
  return detail::Supervisor(call_timeout, memory_limit, has_files, std::move(now), errors).run();
}

}  // namespace pace::runner
