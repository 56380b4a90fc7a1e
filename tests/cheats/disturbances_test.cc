// Cheats that disturb the rest of the process: settings, threads, and the end of the program.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/library.h>
#include <catch2/generators/catch_generators_range.hpp>

#include "pace/settings/libtorch_settings.hpp"
#include "pace/settings/process_settings.hpp"
#include "pace/subject/background.hpp"
#include "pace/values/unseen_values.hpp"
#include "tests/cheats/rejected.hpp"

namespace {

using cheats::require_rejected;
using cheats::run;

at::Tensor honest(const at::Tensor& x) { return at::sigmoid(x); }
at::Tensor input() { return at::randn({32, 16}); }

/// Allocates as another one does.
class OtherAllocator final : public c10::Allocator {
 public:
  explicit OtherAllocator(c10::Allocator* base) : base_(base) {}
  c10::DataPtr allocate(std::size_t bytes) override { return base_->allocate(bytes); }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return base_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { base_->copy_data(to, from, bytes); }

 private:
  c10::Allocator* base_;
};

struct Change {
  const char* name;
  void (*make)();
};

const Change changes[] = {
    {"number of threads", [] { at::set_num_threads(at::get_num_threads() + 2); }},
#if defined(__x86_64__)
    {"denormals", [] { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); }},
#endif
    {"rounding mode", [] { std::fesetround(FE_UPWARD); }},
    {"default dtype", [] { c10::set_default_dtype(c10::scalarTypeToTypeMeta(at::kDouble)); }},
    {"gradient mode", [] { c10::GradMode::set_enabled(false); }},
    {"dispatch", [] { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, false); }},
    {"interval timers",
     [] {
       const itimerval often{{1000, 0}, {1000, 0}};
       ::setitimer(ITIMER_REAL, &often, nullptr);
     }},
    {"timer_create",
     [] {
       timer_t timer;
       sigevent event{};
       event.sigev_notify = SIGEV_NONE;
       if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) throw std::runtime_error("no timer");
     }},
    {"handlers of the signals", [] { (void)::signal(SIGPROF, [](int) {}); }},
    {"scheduling class",
     [] {
       const sched_param none{};
       (void)::sched_setscheduler(0, SCHED_BATCH, &none);
     }},
    {"slack of timers", [] { (void)::prctl(PR_SET_TIMERSLACK, 12345678); }},
    {"use of huge pages", [] { (void)::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }},
    {"deterministic algorithms", [] { at::globalContext().setDeterministicAlgorithms(true, true); }},
    {"memory that is not initialised",
     [] {
       at::globalContext().setDeterministicFillUninitializedMemory(
           !at::globalContext().deterministicFillUninitializedMemory());
     }},
    {"oneDNN", [] { at::globalContext().setUserEnabledMkldnn(false); }},
    {"kinds of attention", [] { at::globalContext().setSDPUseFlash(false); }},
    {"precision of float32 products", [] { at::globalContext().setFloat32MatmulPrecision("medium"); }},
    {"observers of operators",
     [] {
       (void)at::addGlobalCallback(at::RecordFunctionCallback(
           [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; }));
     }},
    {"observers of operators",
     [] {
       (void)at::addThreadLocalCallback(at::RecordFunctionCallback(
           [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; }));
     }},
    {"CPU allocator",
     [] {
       static auto* const allocator = new OtherAllocator(c10::GetCPUAllocator());
       if (c10::GetCPUAllocator() != allocator) c10::SetCPUAllocator(allocator, 255);
     }},
    {"priority", [] { (void)::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + 1); }},
};

TEST_CASE("settings of LibTorch are put back to what they were, not to its defaults") {
  auto& context = at::globalContext();
  const auto at_first = pace::detail::LibTorchSettings::now();
  for (const char* const precision : {"high", "medium", "highest"})
    for (const bool efficient : {false, true}) {
      CAPTURE(precision, efficient);
      context.setFloat32MatmulPrecision(precision);
      context.setSDPUseMemEfficient(efficient);
      const auto before = pace::detail::LibTorchSettings::now();
      context.setFloat32MatmulPrecision(std::string(precision) == "high" ? "medium" : "high");
      context.setSDPUseMemEfficient(!efficient);
      std::vector<std::string> changes;
      before.add_changes(pace::detail::LibTorchSettings::now(), changes);
      CHECK(changes ==
            std::vector<std::string>{"the kinds of attention that are enabled", "the precision of float32 products"});
      before.restore();
      changes.clear();
      before.add_changes(pace::detail::LibTorchSettings::now(), changes);
      CHECK(changes.empty());
    }
  at_first.restore();
}

TEST_CASE("settings of the process that are changed, and left so, are named and put back") {
  const auto& [name, make] = changes[GENERATE(range(std::size_t{0}, std::size(changes)))];
  const auto before = pace::detail::ProcessSettings::now();
  SECTION(std::string("at once: ") + name) {
    const auto cheat = [&](const at::Tensor& x) {
      auto answer = honest(x);
      make();
      return answer;
    };
    require_rejected(run(honest, cheat, input()), name);
  }
  SECTION(std::string("in timed calls: ") + name) {
    int calls = 0;
    const auto cheat = [&](const at::Tensor& x) {
      auto answer = honest(x);
      if (++calls == 300) make();
      return answer;
    };
    require_rejected(run(honest, cheat, input()), name);
  }
  // A priority that was lowered can be raised again by root only, as can a class of scheduling.
  if (std::string(name) != "priority" && std::string(name) != "scheduling class")
    CHECK(before.changes_to(pace::detail::ProcessSettings::now()) == "");
}

TEST_CASE("the CPUs that the thread may use") {
  cpu_set_t all;
  CPU_ZERO(&all);
  REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
  if (CPU_COUNT(&all) < 2) SKIP("there is one CPU only");
  const auto cheat = [&](const at::Tensor& x) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &all) && CPU_COUNT(&one) == 0) CPU_SET(i, &one);
    (void)::sched_setaffinity(0, sizeof one, &one);
    return honest(x);
  };
  require_rejected(run(honest, cheat, input()), "CPUs that this thread may use");
}

/// Keeps a CPU busy until it goes.
class Burner {
 public:
  ~Burner() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void start() {
    if (!thread_.joinable())
      thread_ = std::thread([this] {
        while (!stop_) {
        }
      });
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST_CASE("a thread that goes on working, and so slows the others") {
  const int first = GENERATE(1, 300);
  Burner burner;
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (++calls >= first) burner.start();
    return honest(x);
  };
  require_rejected(run(honest, cheat, input()), "go on computing");
}

/// Forks a process that keeps a CPU busy until this object goes, or this process ends.
class BurningProcess {
 public:
  BurningProcess() = default;
  BurningProcess(const BurningProcess&) = delete;
  ~BurningProcess() {
    if (process_ <= 0) return;
    (void)::kill(process_, SIGKILL);
    (void)::waitpid(process_, nullptr, 0);
  }
  void start() {
    if (process_ > 0) return;
    const pid_t own = ::getpid();
    process_ = ::fork();
    if (process_ != 0) return;
    while (::kill(own, 0) == 0) {
    }
    ::_exit(0);
  }

 private:
  pid_t process_ = 0;
};

TEST_CASE("a process that goes on working, and so slows the others") {
  BurningProcess burning;
  const auto cheat = [&](const at::Tensor& x) {
    burning.start();
    return honest(x);
  };
  require_rejected(run(honest, cheat, input()), "go on computing");
}

TEST_CASE("a thread that goes on working is no thread of OpenMP because the environment says so now") {
  Burner burner;
  (void)::setenv("OMP_WAIT_POLICY", "active", 1);
  burner.start();
  const bool goes_on = pace::detail::background_work_goes_on();
  (void)::unsetenv("OMP_WAIT_POLICY");
  CHECK(goes_on);
}

at::Tensor& copy_by_another_kernel(at::Tensor& self, const at::Tensor& from, bool non_blocking) {
  return at::native::copy_(self, from, non_blocking);
}

/// Is called for each allocation of the thread.
struct AllocationObserver : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void*, std::int64_t, std::size_t, std::size_t, c10::Device) override {}
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
};

TEST_CASE("an observer of allocations, which would compute whenever pace copies an output") {
  bool pushed = false;
  const auto cheat = [&](const at::Tensor& x) {
    if (!std::exchange(pushed, true))
      c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<AllocationObserver>());
    return honest(x);
  };
  require_rejected(run(honest, cheat, input()), "the observers of this thread's allocations");
  CHECK(c10::ThreadLocalDebugInfo::current() == nullptr);
}

TEST_CASE("a kernel that is registered for an operator that writes operands is rejected") {
  std::optional<torch::Library> library;
  const auto cheat = [&](const at::Tensor& x) {
    auto answer = honest(x);
    if (!library) {
      library.emplace(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
      library->impl("copy_", &copy_by_another_kernel);
    }
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "the kernels of aten::copy_ (torch::Library)");
}

at::Tensor& left_alone(at::Tensor& self, const at::Tensor&) { return self; }
at::Tensor sigmoid_by_another_kernel(const at::Tensor& self) { return self.neg().exp().add(1).reciprocal(); }

TEST_CASE("a kernel that is registered for an operator that draws unseen values, or that the baseline calls") {
  std::optional<torch::Library> library;
  const bool draws = GENERATE(true, false);
  const auto cheat = [&](const at::Tensor& x) {
    auto answer = honest(x);
    if (library) return answer;
    library.emplace(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
    if (draws)
      library->impl("mul_.Tensor", &left_alone);
    else
      library->impl("sigmoid", &sigmoid_by_another_kernel);
    return answer;
  };
  const auto result = run(honest, cheat, input());
  library.reset();
  require_rejected(result, draws ? "the kernels of aten::mul_ (torch::Library)"
                                 : "the kernels of operators that the baseline calls (aten::sigmoid");
}

TEST_CASE("a draw that leaves the values as they are is found in memory") {
  torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
  library.impl("mul_.Tensor", &left_alone);
  const std::vector<at::Tensor> given{at::randn({32})};
  pace::detail::UnseenValues source(given, 1);
  source.draw(pace::detail::UnseenKind::vary, {given[0].clone()});
  CHECK(source.take_repeated_draw() == 0);
}

TEST_CASE("a kernel that is registered for another device affects no call") {
  std::optional<torch::Library> library;
  const auto loading = [&](const at::Tensor& x) {
    if (!library) {
      library.emplace(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
      library->impl("copy_", &copy_by_another_kernel);
    }
    return honest(x);
  };
  const auto result = run(honest, loading, input());
  INFO(result["cheat"].message);
  CHECK(result["cheat"].outcome == pace::Outcome::measured);
}

TEST_CASE("an output that another thread writes after the call has returned") {
  struct Late {
    std::promise<void> may_write;
    std::thread writer;
  };
  std::optional<Late> late;
  // Only once the next call begins, or all is over: no time is short enough for a machine that is busy.
  const auto finish = [&] {
    if (!late) return;
    late->may_write.set_value();
    late->writer.join();
    late.reset();
  };
  const auto cheat = [&](const at::Tensor& x) {
    finish();
    auto out = at::empty_like(x);
    auto& [may_write, writer] = late.emplace();
    writer = std::thread([x, out, now = may_write.get_future()]() mutable {
      now.wait();
      out.copy_(honest(x));
    });
    return out;
  };
  const auto result = run(honest, cheat, input());
  finish();
  require_rejected(result, "looks unwritten");
}

TEST_CASE("a handler of faults that one candidate leaves is not the fault of another one") {
  struct sigaction before{};
  REQUIRE(::sigaction(SIGFPE, nullptr, &before) == 0);
  cheats::FakeClock clock;
  const auto cheat = [](const at::Tensor& x) {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    (void)::sigaction(SIGFPE, &action, nullptr);
    return honest(x);
  };
  const auto result = pace::compare("handlers", input())
                          .options(cheats::short_run())
                          .baseline("eager", cheats::costing(clock, 300, honest))
                          .candidate("cheat", cheats::costing(clock, 100, cheat))
                          .candidate("innocent", cheats::costing(clock, 100, honest))
                          .run(clock);
  (void)::sigaction(SIGFPE, &before, nullptr);
  CHECK_THAT(result["cheat"].message, cheats::ContainsSubstring("the handlers of the signals that faults send"));
  INFO(result["innocent"].message);
  CHECK(result["innocent"].outcome == pace::Outcome::measured);
}

}  // namespace
