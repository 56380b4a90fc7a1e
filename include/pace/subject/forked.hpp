// reason_not_to_fork, begin_forked_process: when a fork is safe, and the first steps of a forked process.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <initializer_list>
#include <string>

#include <c10/macros/Export.h>

#include "pace/base/spelling.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/cuda_driver.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/background.hpp"

namespace at {
// Declared in <ATen/Parallel.h>, which takes a second to include.
TORCH_API int get_num_threads();
TORCH_API void set_num_threads(int);
}  // namespace at

namespace pace::detail {

/// Returns why a copy of this process would not work, as a clause; empty if it would. A forked process would wait for
/// ever for a pool's threads, which it lacks, as with GNU's OpenMP. CUDA does not work there either.
[[nodiscard]] inline std::string reason_not_to_fork() {
  if (has_initialised_cuda())
    return "this program has used a GPU, or counted them, which a copy of it could not; expected a program that has "
           "not before";
  if (const std::size_t all = threads_in("/proc/self/task").size(); all > 1)
    return "this process has " + std::to_string(all - 1) + (all > 2 ? " other threads" : " other thread") +
           ", such as a pool of OpenMP's, for which a copy of it would wait for ever; expected none before the first "
           "call of an implementation" +
           spelled("", "; try: OPENBLAS_NUM_THREADS=1 in the environment, without which NumPy has a pool");
  if (const int threads = at::get_num_threads(); threads > 1)
    return "an operator may use " + std::to_string(threads) +
           " threads, which a copy of this process would wait for; expected one (" + option_text("threads", "1") + ')';
  return {};
}

/// Call it first in a process that `parent` forked. The process then ends with its parent, handles no signals, silences
/// the streams `silenced`, and reports nothing to a supervisor. LibTorch's pool of threads, which did not come along,
/// is made anew. The process ends if that fails, as it must not go on in its parent's code.
inline void begin_forked_process(pid_t parent, std::initializer_list<int> silenced) noexcept {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  // A test framework would report a signal a second time.
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    (void)::signal(each, SIG_DFL);
  const rlimit none{};
  (void)::setrlimit(RLIMIT_CORE, &none);
  if (const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0)
    for (const int standard : silenced) (void)::dup2(null, standard);
  static Activity unwatched;
  activity() = &unwatched;
  run_context().recollection = nullptr;
  // Here, since LibTorch 2.11 aborts if two threads do it at the same time, as autograd's for two GPUs would.
  at::set_num_threads(at::get_num_threads());
}

}  // namespace pace::detail
