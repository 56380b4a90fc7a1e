// InstructionCounter: instructions of calls, counted by Callgrind or by the CPU's own counter.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define PACE_HAS_CALLGRIND 1
#endif

#include "pace/base/error.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/os/read_file.hpp"
#include "pace/timing/perf_event.hpp"

namespace pace::timing {

/// Counts the instructions of a piece of work.
class InstructionCounter {
 public:
  InstructionCounter() = default;
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  virtual ~InstructionCounter() = default;

  /// Returns the name of the counter, such as `callgrind`.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns how many instructions `work` executes outside of the kernel, plus a few to start and stop the count.
  /// Throws Error if the count is lost. Throws what `work` throws, and then counts nothing.
  [[nodiscard]] virtual std::int64_t count(FunctionRef<void()> work) = 0;
  /// Called after the last of several counts, or if one throws. Gives up what only counts need, until the next one.
  /// Must not throw.
  virtual void rest() {}
};

namespace detail {

/// Calls a function at the end of a scope, also after an exception.
template <class F>
class AtEnd {
 public:
  explicit AtEnd(F function) : function_(std::move(function)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { function_(); }

 private:
  F function_;
};

}  // namespace detail

/// Instructions of one call, by several counts: the fewest and the most, which are equal if the counts agree.
struct InstructionsPerCall {
  std::int64_t low = 0;   ///< fewest instructions of one call
  std::int64_t high = 0;  ///< most instructions of one call

  /// Whether both ends are equal.
  [[nodiscard]] bool operator==(const InstructionsPerCall&) const = default;
};

/// Returns the instructions of one call by `repeats` counts. A count is the difference between `2 * calls` and `calls`
/// calls, divided by `calls` and rounded. So whatever does not grow with the number of calls cancels. `run(n)` makes n
/// calls. `prepare(n)` comes before it and is not counted. After torch.utils.benchmark (Timer.collect_callgrind), which
/// subtracts a count of an empty statement. Throws Error for less than one call or repeat, and as `counter` does.
[[nodiscard]] inline InstructionsPerCall instructions_per_call(InstructionCounter& counter, std::int64_t calls,
                                                               int repeats, FunctionRef<void(std::int64_t)> prepare,
                                                               FunctionRef<void(std::int64_t)> run) {
  if (calls < 1 || repeats < 1) throw Error("a count of instructions needs at least one call and one repeat");
  const auto count = [&](std::int64_t number) {
    prepare(number);
    return counter.count([&] { run(number); });
  };
  // Also if a call throws.
  const detail::AtEnd rest([&] { counter.rest(); });
  InstructionsPerCall found;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const std::int64_t few = count(calls), many = count(2 * calls);
    const std::int64_t each = std::llround(static_cast<double>(many - few) / static_cast<double>(calls));
    found.low = repeat == 0 ? each : std::min(found.low, each);
    found.high = repeat == 0 ? each : std::max(found.high, each);
  }
  return found;
}

/// Reads the sum from a profile of Callgrind: the number in its line `totals: NUMBER`, or else in `summary: NUMBER`.
/// Throws InputError naming `where` if there is no such line.
[[nodiscard]] inline std::int64_t read_callgrind_total(std::string_view text, const std::string& where) {
  for (const std::string_view key : {"\ntotals:", "\nsummary:"}) {
    const std::size_t found = text.rfind(key);
    if (found == std::string_view::npos) continue;
    const std::string number(text.substr(found + key.size(), 32));
    char* end = nullptr;
    errno = 0;
    const long long total = std::strtoll(number.c_str(), &end, 10);
    if (end != number.c_str() && errno == 0 && total >= 0) return total;
  }
  throw InputError({where}, "expected a profile of Callgrind with a line 'totals: NUMBER'");
}

/// Whether this process runs under Valgrind; false if compiled without Valgrind's headers.
[[nodiscard]] inline bool runs_under_valgrind() {
#ifdef PACE_HAS_CALLGRIND
  return RUNNING_ON_VALGRIND != 0;
#else
  return false;
#endif
}

/// Counts all threads of the process together, by Callgrind. The process must run under `valgrind --tool=callgrind
/// --instr-atstart=no --combine-dumps=no --callgrind-out-file=PREFIX.%p`.
class CallgrindCounter final : public InstructionCounter {
 public:
  /// `prefix`: PREFIX of the option above. Throws Unsupported outside of Valgrind.
  explicit CallgrindCounter(std::string prefix) : prefix_(std::move(prefix)) {
    if (!runs_under_valgrind())
      throw Unsupported("instructions cannot be counted: this process is not under Callgrind");
  }

  [[nodiscard]] std::string name() const override { return "callgrind"; }
  [[nodiscard]] std::int64_t count([[maybe_unused]] FunctionRef<void()> work) override {
#ifdef PACE_HAS_CALLGRIND
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    try {
      work();
    } catch (...) {
      rest();
      throw;
    }
    CALLGRIND_DUMP_STATS;
#endif
    // A forked process has a file of its own, and each dump adds one.
    const std::string path = prefix_ + '.' + std::to_string(::getpid()) + '.' + std::to_string(++dumps_);
    const std::int64_t total = read_callgrind_total(read_file(path, "the profile that Callgrind has written"), path);
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return total;
  }
  /// Stops the instrumentation, which makes code several times slower. Each start costs, since Valgrind then translates
  /// all code again.
  void rest() override {
#ifdef PACE_HAS_CALLGRIND
    CALLGRIND_STOP_INSTRUMENTATION;
#endif
  }

 private:
  std::string prefix_;
  int dumps_ = 0;
};

/// Counts the calling thread by the CPU's own counter, which Linux reads (`perf_event_open`). It counts retired
/// instructions, so interrupts may add a few.
class PerfCounter final : public InstructionCounter {
 public:
  /// Throws Unsupported, with the remedy, if the kernel does not permit it or the CPU has no such counter.
  PerfCounter() {
    if (!event_.open({PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}, {}))
      throw Unsupported(why_no_counter(what_, errno, "; virtual machines often have none: expected Callgrind there"));
  }

  [[nodiscard]] std::string name() const override { return "perf"; }
  [[nodiscard]] std::int64_t count(FunctionRef<void()> work) override {
    {
      const detail::AtEnd stop([this] { event_.stop(); });
      event_.prepare(what_);
      event_.start();
      work();
    }
    return event_.counted(what_);
  }

 private:
  std::string what_ = "instructions";
  PerfEvent event_;
};

}  // namespace pace::timing
