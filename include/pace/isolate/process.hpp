// SideProcess: the process of one implementation, seen from the process with the clock.
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/spelling.hpp"
#include "pace/base/units.hpp"
#include "pace/isolate/message.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/wait_a_moment.hpp"
#include "pace/subject/forked.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/machine_counters.hpp"

namespace pace::detail {

/// Memory that the two processes share. Each sample has a number, and a step holds the number of the last sample that
/// reached it.
struct SideMemory {
  // Written by the side. The two writers use separate cache lines.
  alignas(64) std::atomic<std::uint64_t> ready{0};  ///< prepared: waits for `go`
  std::atomic<std::uint64_t> done{0};               ///< the calls have returned
  std::atomic<std::uint64_t> finished{0};           ///< waits for the next request
  std::atomic<bool> failed{false};                  ///< it threw; a message has the reason
  std::atomic<bool> lost_socket{false};             ///< its calls closed the socket of its messages
  /// Counters since the process began, as of its last sample.
  timing::ThreadCounters used = {};
  // Written by the process that has the clock.
  alignas(64) std::atomic<std::uint64_t> go{0};  ///< the sample's time starts
  std::int64_t iterations = 0;                   ///< calls of the sample; 0: none, to time the handshake alone
  /// What the side is doing, as a supervisor would see it.
  alignas(64) Activity activity = {};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// A step that a side shall carry out.
struct SideRequest {
  enum class Kind { verify, begin_pass, begin_rounds, sample, audit, check };
  Kind kind = Kind::verify;
  /// For `verify`: the CPU to run on; below 0: the present one.
  int cpu = -1;
  /// For `sample`: its number, its operand set, OperandSets::kept_call and round_seed.
  std::uint64_t number = 0;
  std::size_t set = 0;
  std::optional<std::uint64_t> kept_call = {}, round_seed = {};
  /// For `begin_rounds`: calls of a sample.
  std::int64_t iterations = 0;
  /// For `check`: the time of the rounds, the shortest call of this implementation and of the baseline, the baseline's
  /// median call, and the median speed-up.
  Nanoseconds elapsed{}, shortest{}, shortest_of_baseline{}, median_of_baseline{};
  double speedup = 0;
};

/// First value of a side's answer.
enum class SideAnswer : char { result, failure, error };

/// A forked process that runs one implementation. It serves requests until end(), and ends with this process.
class SideProcess {
 public:
  /// Code of the process: reads requests from the socket, and answers there and in the shared memory.
  using Serve = std::function<void(SideMemory&, int socket)>;

  /// Forks. The new process gives up the memory and sockets of `earlier` sides, so that implementations cannot reach
  /// each other. Throws Error if memory, a socket or a process is unavailable.
  SideProcess(timing::Clock& clock, std::size_t index, const std::vector<SideProcess*>& earlier, const Serve& serve)
      : clock_(clock), index_(index) {
    void* const memory = ::mmap(nullptr, sizeof(SideMemory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw Error(option_text("isolate", "sides") + ": there is no memory: " + std::strerror(errno));
    memory_ = new (memory) SideMemory;
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
      const int error = errno;
      release();
      throw Error(option_text("isolate", "sides") + ": there is no socket: " + std::strerror(error));
    }
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0) {
      ::close(sockets[0]);
      for (auto* each : earlier) each->release();
      begin(parent, sockets[1], serve);
    }
    const int error = errno;
    ::close(sockets[1]);
    socket_ = sockets[0];
    if (process_ < 0) {
      release();
      throw Error(option_text("isolate", "sides") + ": there is no further process: " + std::strerror(error));
    }
  }
  SideProcess(const SideProcess&) = delete;
  SideProcess& operator=(const SideProcess&) = delete;
  ~SideProcess() { end(); }

  [[nodiscard]] SideMemory& memory() const { return *memory_; }
  [[nodiscard]] bool runs() const { return process_ > 0; }
  /// CPU time of the process so far. 0 once it has ended, since this process's own time then includes it.
  [[nodiscard]] Nanoseconds cpu_time() const {
    clockid_t id;
    if (!runs() || ::clock_getcpuclockid(process_, &id) != 0) return {};
    return timing::detail::read_clock(id).value_or(Nanoseconds(0));
  }

  /// Counters of the process as of its last sample; 0 if it was ended.
  [[nodiscard]] timing::ThreadCounters used() const {
    return memory_ != nullptr ? memory_->used : timing::ThreadCounters{};
  }

  /// Ends the process.
  void end() {
    if (runs()) end_process_alone();
    release();
  }

  /// Resumes the process, and sends a request. Throws ImplementationThrew if the process has ended.
  void send(const SideRequest& request) {
    begin_wait();
    if (runs()) (void)::kill(process_, SIGCONT);
    // Without SIGPIPE, which would end this process after the other.
    if (::send(socket_, &request, sizeof request, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof request)) return;
    while (true) look_after_process(), sleep_a_moment();
  }

  /// Stops all threads of the process until the next request, so that none runs during others' samples. Throws
  /// ImplementationThrew if the process has ended.
  void stop() {
    if (!runs()) fail("its process has ended");
    (void)::kill(process_, SIGSTOP);
    int status = 0;
    pid_t changed;
    do changed = ::waitpid(process_, &status, WUNTRACED);
    while (changed < 0 && errno == EINTR);
    if (changed != process_) fail_ended();
    if (!WIFSTOPPED(status)) fail_ended(status);
  }

  /// Sends a request, returns the answer, and stops the process. Throws ImplementationThrew if the implementation
  /// threw, or if the process ended or hangs. Throws Error if the comparison is ill-formed.
  [[nodiscard]] MessageReader ask(const SideRequest& request) {
    send(request);
    auto answer = receive();
    stop();
    return answer;
  }

  /// Waits until a step of the shared memory has reached `number`. Throws as ask() does.
  void await(const std::atomic<std::uint64_t>& step, std::uint64_t number) {
    constexpr std::uint32_t between_looks = 1 << 14;
    for (std::uint32_t waits = 1; step.load(std::memory_order_acquire) != number; ++waits) {
      wait_a_moment();
      if (memory_->failed.load(std::memory_order_acquire)) (void)receive();
      if (waits % between_looks == 0) look_after_process();
    }
  }

 private:
  /// A longer call has hung, as by default with --isolation; or one that exceeds the program's time by this much.
  static constexpr Nanoseconds longest_call = std::chrono::minutes(5),
                               longest_after_deadline = std::chrono::seconds(10);

  [[noreturn]] void begin(pid_t parent, int socket, const Serve& serve) {
    begin_forked_process(parent, {STDIN_FILENO, STDOUT_FILENO});
    // Exit handlers belong to the copied process. Here they would write or remove its files a second time.
    (void)::on_exit([](int status, void*) { ::_exit(status); }, nullptr);
    try {
      serve(*memory_, socket);
    } catch (...) {
      ::_exit(EXIT_FAILURE);
    }
    ::_exit(EXIT_SUCCESS);
  }

  /// Gives up memory and socket, also in a forked process.
  void release() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    if (memory_ != nullptr) ::munmap(std::exchange(memory_, nullptr), sizeof(SideMemory));
  }

  void begin_wait() {
    limit_ = std::min<Nanoseconds>(longest_call,
                                   std::max<Nanoseconds>(time_left(clock_), Nanoseconds(0)) + longest_after_deadline);
    since_ = clock_.now();
  }

  /// Throws if the process has ended or hangs.
  void look_after_process() {
    if (!runs()) fail("its process has ended");
    // Passes the side's progress on to this process's supervisor.
    const auto beats = __atomic_load_n(&memory_->activity.beats, __ATOMIC_RELAXED);
    if (std::exchange(beats_, beats) != beats) {
      activity()->running(static_cast<std::int64_t>(index_));
      begin_wait();
    }
    int status = 0;
    const pid_t ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == process_) fail_ended(status);
    // If the program ignores SIGCHLD, the exit status is unknown.
    if (ended < 0 && errno == ECHILD) fail_ended();
    if (clock_.now() - since_ <= limit_) return;
    end_process_alone();
    fail("it did not return within " + format_time(limit_) + ", so its process was ended");
  }
  [[noreturn]] void fail_ended() {
    process_ = -1;
    fail("its process has ended");
  }
  [[noreturn]] void fail_ended(int status) {
    process_ = -1;
    if (memory_->lost_socket.load(std::memory_order_acquire))
      fail("it closed file descriptors that others had opened, with the socket to this process among them");
    fail(WIFSIGNALED(status) ? "its process was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                   ::strsignal(WTERMSIG(status)) + ')'
                             : "it ended its process with exit code " + std::to_string(WEXITSTATUS(status)));
  }
  void end_process_alone() {
    (void)::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
  }
  [[noreturn]] void fail(std::string message) const {
    if (memory_ != nullptr) message = UnseenValuesInUse::add_to(std::move(message), memory_->activity);
    throw ImplementationThrew(index_, Failure{.message = std::move(message)});
  }
  static void sleep_a_moment() {
    const timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};
    (void)::nanosleep(&moment, nullptr);
  }

  [[nodiscard]] std::string read_bytes(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t got = 0; got < size;) {
      constexpr int milliseconds_between_looks = 20;
      ::pollfd wait{socket_, POLLIN, 0};
      const int found = ::poll(&wait, 1, milliseconds_between_looks);
      const ssize_t now = found == 1 ? ::recv(socket_, bytes.data() + got, size - got, MSG_DONTWAIT) : 0;
      if (now > 0) {
        got += static_cast<std::size_t>(now);
        continue;
      }
      look_after_process();
      // The socket may close a moment before the process ends.
      if (found == 1) sleep_a_moment();
    }
    return bytes;
  }

  [[nodiscard]] MessageReader receive() {
    constexpr std::size_t most_bytes = std::size_t{1} << 28;
    const auto size = MessageReader(read_bytes(sizeof(std::size_t))).read<std::size_t>();
    if (size > most_bytes) fail("its process sent an answer that cannot be read");
    try {
      MessageReader answer(read_bytes(size));
      const auto kind = answer.read<SideAnswer>();
      if (kind == SideAnswer::result) return answer;
      Failure failure{.message = answer.read<std::string>()};
      if (kind == SideAnswer::error) throw Error(failure.message);
      answer >> failure.out_of_memory;
      throw ImplementationThrew(index_, std::move(failure));
    } catch (const MessageEndsEarly&) {
      fail("its process sent an answer that cannot be read");
    }
  }

  timing::Clock& clock_;
  std::size_t index_;
  SideMemory* memory_ = nullptr;
  int socket_ = -1;
  pid_t process_ = -1;
  std::uint64_t beats_ = 0;
  Nanoseconds since_{}, limit_{};
};

}  // namespace pace::detail
