// UntouchedProcess: a copy of this process as it was before any candidate was called, which answers questions.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <type_traits>

#include "pace/base/units.hpp"
#include "pace/subject/forked.hpp"

namespace pace::detail {

/// A child process that shares the memory of this one until either of them writes to it. It sleeps until it is asked,
/// answers, sleeps again, and ends without what exit() runs: after a question without an answer, or with this object.
/// It ends with this process, prints nothing, and reports nothing to a supervisor.
template <class Question, class Answer>
class UntouchedProcess {
  static_assert(std::is_trivially_copyable_v<Question> && std::is_trivially_copyable_v<Answer>);

 public:
  /// Forks. `work` runs in the child for each question, and returns nothing if there is no answer. Without memory, or
  /// processes, for a child there is none.
  explicit UntouchedProcess(const std::function<std::optional<Answer>(const Question&)>& work) {
    int question[2], answer[2];
    if (::pipe2(question, O_CLOEXEC) != 0) return;
    if (::pipe2(answer, O_CLOEXEC) != 0) {
      ::close(question[0]);
      ::close(question[1]);
      return;
    }
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ == 0) {
      ::close(question[1]);
      ::close(answer[0]);
      answer_and_exit(parent, question[0], answer[1], work);
    }
    ::close(question[0]);
    ::close(answer[1]);
    question_ = question[1];
    answer_ = answer[0];
  }
  UntouchedProcess(const UntouchedProcess&) = delete;
  UntouchedProcess& operator=(const UntouchedProcess&) = delete;
  ~UntouchedProcess() {
    end();
    if (question_ >= 0) ::close(question_);
    if (answer_ >= 0) ::close(answer_);
  }

  /// Waits for the answer for `longest` at most. Returns nothing if there is none by then, which ends the child: it
  /// would go on working beside others.
  [[nodiscard]] std::optional<Answer> ask(const Question& question, Nanoseconds longest) {
    auto answer = child_ > 0 && !was_ended() ? exchange(question, longest) : std::nullopt;
    if (!answer) end();
    return answer;
  }

  /// Returns whether the child was ended while it had no question, which it never does by itself.
  [[nodiscard]] bool was_ended() {
    // Not a child any more: another part of this process has waited for its end.
    if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) != 0) {
      child_ = -1;
      was_ended_ = true;
    }
    return was_ended_;
  }

 private:
  void end() {
    if (child_ <= 0) return;
    if (::waitpid(child_, nullptr, WNOHANG) == 0) {
      (void)::kill(child_, SIGKILL);
      while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    child_ = -1;
  }

  [[nodiscard]] std::optional<Answer> exchange(const Question& question, Nanoseconds longest) const {
    // The child may be gone, which must not end this process by SIGPIPE.
    struct sigaction ignore = {}, before = {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before);
    const bool sent = ::write(question_, &question, sizeof question) == static_cast<ssize_t>(sizeof question);
    ::sigaction(SIGPIPE, &before, nullptr);
    if (!sent) return std::nullopt;
    ::pollfd wait{answer_, POLLIN, 0};
    constexpr double nanoseconds = 1e6;  // in a millisecond
    int ready;
    // A negative time would be none at all to poll().
    do ready = ::poll(&wait, 1, static_cast<int>(std::max(0.0, longest.count() / nanoseconds)));
    while (ready < 0 && errno == EINTR);
    Answer answer;
    if (ready != 1 || ::read(answer_, &answer, sizeof answer) != static_cast<ssize_t>(sizeof answer))
      return std::nullopt;
    return answer;
  }

  [[noreturn]] static void answer_and_exit(pid_t parent, int question, int answer,
                                           const std::function<std::optional<Answer>(const Question&)>& work) {
    begin_forked_process(parent, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    while (true) {
      Question asked;
      ssize_t got;
      do got = ::read(question, &asked, sizeof asked);
      while (got < 0 && errno == EINTR);
      if (got != static_cast<ssize_t>(sizeof asked)) ::_exit(0);
      try {
        const auto found = work(asked);
        if (!found || ::write(answer, &*found, sizeof *found) < 0) ::_exit(0);
      } catch (...) {
        ::_exit(1);
      }
    }
  }

  pid_t child_ = -1;
  bool was_ended_ = false;
  int question_ = -1, answer_ = -1;
};

}  // namespace pace::detail
