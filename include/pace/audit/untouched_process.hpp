// UntouchedProcess: a copy of this process from before any candidate, which answers requests.
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

/// A child process that shares memory with this one until either writes to it. It sleeps between requests. It ends
/// after one without an answer, with this object or with this process, and runs nothing of exit(). It prints nothing,
/// and reports nothing to a supervisor.
template <class Request, class Answer>
class UntouchedProcess {
  static_assert(std::is_trivially_copyable_v<Request> && std::is_trivially_copyable_v<Answer>);

 public:
  /// Forks. `work` runs in the child for each request, and returns nothing for no answer. Without memory or processes
  /// for one, there is no child.
  explicit UntouchedProcess(const std::function<std::optional<Answer>(const Request&)>& work) {
    int requests[2], answers[2];
    if (::pipe2(requests, O_CLOEXEC) != 0) return;
    if (::pipe2(answers, O_CLOEXEC) != 0) {
      ::close(requests[0]);
      ::close(requests[1]);
      return;
    }
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ == 0) {
      ::close(requests[1]);
      ::close(answers[0]);
      answer_and_exit(parent, requests[0], answers[1], work);
    }
    ::close(requests[0]);
    ::close(answers[1]);
    requests_ = requests[1];
    answers_ = answers[0];
  }
  UntouchedProcess(const UntouchedProcess&) = delete;
  UntouchedProcess& operator=(const UntouchedProcess&) = delete;
  ~UntouchedProcess() {
    end();
    if (requests_ >= 0) ::close(requests_);
    if (answers_ >= 0) ::close(answers_);
  }

  /// Waits for the answer for at most `longest`. Without one, returns nothing and ends the child, which would go on
  /// working.
  [[nodiscard]] std::optional<Answer> ask(const Request& request, Nanoseconds longest) {
    auto answer = child_ > 0 && !was_ended() ? exchange(request, longest) : std::nullopt;
    if (!answer) end();
    return answer;
  }

  /// Returns whether the child was ended between requests, which it never does by itself.
  [[nodiscard]] bool was_ended() {
    // Another part of this process has waited for its end.
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

  [[nodiscard]] std::optional<Answer> exchange(const Request& request, Nanoseconds longest) const {
    // The child may be gone, which must not end this process by SIGPIPE.
    struct sigaction ignore = {}, before = {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before);
    const bool sent = ::write(requests_, &request, sizeof request) == static_cast<ssize_t>(sizeof request);
    ::sigaction(SIGPIPE, &before, nullptr);
    if (!sent) return std::nullopt;
    ::pollfd wait{answers_, POLLIN, 0};
    constexpr double nanoseconds = 1e6;  // in a millisecond
    int ready;
    // A negative time would be none at all to poll().
    do ready = ::poll(&wait, 1, static_cast<int>(std::max(0.0, longest.count() / nanoseconds)));
    while (ready < 0 && errno == EINTR);
    Answer answer;
    if (ready != 1 || ::read(answers_, &answer, sizeof answer) != static_cast<ssize_t>(sizeof answer))
      return std::nullopt;
    return answer;
  }

  [[noreturn]] static void answer_and_exit(pid_t parent, int requests, int answers,
                                           const std::function<std::optional<Answer>(const Request&)>& work) {
    begin_forked_process(parent, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    while (true) {
      Request request;
      ssize_t got;
      do got = ::read(requests, &request, sizeof request);
      while (got < 0 && errno == EINTR);
      if (got != static_cast<ssize_t>(sizeof request)) ::_exit(0);
      try {
        const auto found = work(request);
        if (!found || ::write(answers, &*found, sizeof *found) < 0) ::_exit(0);
      } catch (...) {
        ::_exit(1);
      }
    }
  }

  pid_t child_ = -1;
  bool was_ended_ = false;
  int requests_ = -1, answers_ = -1;
};

}  // namespace pace::detail
