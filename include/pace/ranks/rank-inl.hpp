// Forking ranks, looking after them, and what they hand over.
#pragma once

#include "pace/ranks/rank.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "pace/base/error.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/cuda_driver.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/orphans.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/report/json.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/run/progress.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/background.hpp"
#include "pace/subject/forked.hpp"
#include "pace/subject/implementation.hpp"
#ifdef PACE_CUDA
#include "pace/gpu/cuda/names.hpp"
#endif

namespace pace::ranks {

namespace detail {

/// First characters of a line that rank 0 hands over.
inline constexpr char measured_line = 'm', recalled_line = 'r', passed_over_line = 'o', planned_line = 'p';

/// The names of threads of this process, as `ps -L` shows them.
[[nodiscard]] inline std::string names_of(const std::set<std::string>& threads) {
  std::string names;
  for (const auto& thread : threads) {
    std::string name;
    std::getline(std::ifstream("/proc/self/task/" + thread + "/comm"), name);
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

/// Throws Error where forked ranks would not work.
inline void refuse_to_fork(int ranks) {
  const auto refuse = [](const std::string& what) { throw Error("ranks::run: " + what); };
  if (ranks < 1) refuse(std::to_string(ranks) + " ranks were asked for; expected 1 or more");
  if (run_context().options.isolate == Isolate::sides)
    refuse("does not go with --isolate sides; why: each rank runs all sides; try: without it");
  if (run_context().suite_budget != nullptr)
    refuse("does not go with --suite-alpha; why: a rank cannot count the gates of the run; try: without it");
  if (const auto threads = pace::detail::threads_in("/proc/self/task"); threads.size() > 1) {
    const int of_operators = at::get_num_threads();
    refuse("this process has " + std::to_string(threads.size()) + " threads (" + names_of(threads) + ")" +
           (of_operators > 1 ? ", as --threads " + std::to_string(of_operators) + " starts a pool" : "") +
           "; why: forked ranks would have one, and wait for the others; try: --threads 1 (a body may call "
           "at::set_num_threads), and nothing that starts threads before");
  }
  if (pace::detail::has_initialised_cuda())
    refuse(
        "this process has used a GPU; why: ranks are forked, and CUDA does not work in a fork of such a process; "
        "try: use GPUs only inside of ranks");
}

/// An open file without a name.
[[nodiscard]] inline FileDescriptor unnamed_file(const char* what) {
  FileDescriptor file(::memfd_create(what, MFD_CLOEXEC));
  if (!file) throw Error(std::string("ranks::run: no memory for a file: ") + std::strerror(errno));
  return file;
}

/// Enters the exception being handled as the reason why a rank ends.
inline void enter_failure(RankMemory& place) {
  place.fault = Fault::error;
  try {
    throw;
  } catch (const DeviceMissing&) {
    place.fault = Fault::missing_device;
  } catch (const InputError&) {
    place.fault = Fault::input;
  } catch (...) {
  }
  write_text(place.message, pace::detail::current_message());
  place.failed_at.store(steady_now().count());
  place.progress.store(Progress::failed, std::memory_order_release);
}

/// The whole life of a rank's process after the fork.
[[noreturn]] inline void live_as_rank(pid_t parent, Rank& rank, const Body& body) {
  auto* const recollection = run_context().recollection;
  pace::detail::begin_forked_process(parent, {STDIN_FILENO});
  // Exit handlers belong to the first process. Here they would write or remove its files a second time.
  (void)::on_exit([](int status, void*) { ::_exit(status); }, nullptr);
  // The first process shows and publishes what rank 0 finds. Never destroyed: listeners may own files.
  static auto& of_first_process = *new RunContext;
  run_context().swap_listeners(of_first_process);
  run_context().completion = nullptr;
  if (rank.number() == 0) run_context().recollection = recollection;
  progress() = nullptr;
  RankMemory& place = rank.meeting().place(rank.number());
  int code = EXIT_SUCCESS;
  try {
    body(rank);
    place.progress.store(Progress::finished, std::memory_order_release);
  } catch (...) {
    enter_failure(place);
    code = EXIT_FAILURE;
  }
  std::fflush(nullptr);
  ::_exit(code);
}

/// Reads what rank 0 has handed over since the last call.
class HandedOver {
 public:
  explicit HandedOver(int file) : file_(file) {}

  /// Calls `take` with each complete line.
  template <class F>
  void read(const F& take) {
    char buffer[1 << 16];
    for (ssize_t count; (count = ::pread(file_, buffer, sizeof buffer, at_)) > 0; at_ += count)
      pending_.append(buffer, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
      take(std::string_view(pending_).substr(begin, end - begin));
    pending_.erase(0, begin);
  }

 private:
  int file_;
  off_t at_ = 0;
  std::string pending_;
};

[[nodiscard]] inline std::string text_of(const PlannedCase& planned) {
  report::Json json;
  json["name"] = planned.name;
  json["implementations"] = planned.implementations;
  json["inputs"] = planned.inputs;
  json["expectations"] = planned.expectations;
  json["budget"] = planned.budget.count();
  if (planned.audit) json["audit"] = static_cast<int>(*planned.audit);
  return report::text_of(json);
}

[[nodiscard]] inline PlannedCase planned_from(const report::Json& json) {
  PlannedCase planned{.name = json.at("name"), .inputs = json.at("inputs")};
  planned.implementations = json.at("implementations").get<std::vector<std::string>>();
  planned.expectations = json.at("expectations").get<std::vector<std::string>>();
  planned.budget = Nanoseconds(json.at("budget").get<double>());
  if (json.contains("audit")) planned.audit = static_cast<Audit>(json.at("audit").get<int>());
  return planned;
}

/// Publishes the result that rank 0 has handed over, and returns it; or returns that of a comparison passed over.
[[nodiscard]] inline std::optional<Result> take_line(std::string_view line) {
  const auto json = parse_json<report::Json>(line.substr(1));
  if (line.front() == planned_line) {
    // The first process selects what rank 0 has selected.
    (void)run_context().cases->passes_over(planned_from(json));
    return std::nullopt;
  }
  Result result = report::result_from(json);
  if (line.front() == passed_over_line) {
    result.passed_over = json.at("passed_over");
    return result;
  }
  if (line.front() == recalled_line) {
    Result known;
    if (auto* const earlier = run_context().recollection) (void)earlier->recall(result.name, known);
    result.recalled = true;
  }
  run_context().publish(result);
  return result;
}

/// Ends the processes of ranks that have not ended.
inline void end_all(std::vector<pid_t>& processes) {
  for (pid_t& process : processes) {
    if (process < 0) continue;
    (void)::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
    process = -1;
  }
}

[[noreturn]] inline void throw_ending(const Ending& ending) {
  if (ending.fault == Fault::missing_device) throw DeviceMissing(ending.message);
  if (ending.fault == Fault::input) throw InputError({}, ending.message);
  throw Error(ending.message);
}

}  // namespace detail

PACE_INLINE std::string Rank::from_first(std::string_view bytes) {
  auto& table = meeting_.table();
  if (bytes.size() > sizeof table.given)
    throw Error("from_first: " + std::to_string(bytes.size()) + " bytes; expected at most " +
                std::to_string(sizeof table.given));
  if (number_ == 0) {
    table.given_bytes = bytes.size();
    std::memcpy(table.given, bytes.data(), bytes.size());
  }
  barrier();
  std::string given(table.given, table.given_bytes);
  // Nobody may write before all have read.
  barrier();
  return given;
}

PACE_INLINE std::string Rank::store_path() {
  std::string path;
  FileDescriptor own;
  if (number_ == 0) {
    own = detail::unnamed_file("store");
    path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(own.get());
  }
  path = from_first(path);
  if (number_ != 0) own = FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!own) throw Error("store_path: cannot open rank 0's file: " + std::string(std::strerror(errno)));
  // Rank 0's process has to last until all have opened the file.
  barrier();
  stores_.push_back(std::move(own));
  return "/proc/self/fd/" + std::to_string(stores_.back().get());
}

PACE_INLINE at::Device Rank::gpu() const {
  const auto& hooks = at::detail::getCUDAHooks();
  const int gpus = hooks.hasCUDA() ? static_cast<int>(hooks.deviceCount()) : 0;
  if (gpus == 0)
    throw DeviceMissing(
        "no GPU; why: this LibTorch was built without CUDA, or this machine has no GPU that it can use");
  if (count() > gpus)
    throw DeviceMissing(std::to_string(count()) + " ranks need as many GPUs, and this machine has " +
                        std::to_string(gpus) + "; expected at most " + std::to_string(gpus) + " ranks");
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(number_));
  c10::impl::getDeviceGuardImpl(at::kCUDA)->setDevice(device);
  return device;
}

PACE_INLINE void Rank::hand_over(const Result& result) const {
  report::Json json = report::to_json(result);
  char line = result.recalled ? detail::recalled_line : detail::measured_line;
  if (!result.passed_over.empty()) {
    line = detail::passed_over_line;
    json["passed_over"] = result.passed_over;
  }
  hand_over_line(line + report::text_of(json));
}

PACE_INLINE void Rank::hand_over(const PlannedCase& planned) const {
  hand_over_line(detail::planned_line + detail::text_of(planned));
}

PACE_INLINE void Rank::hand_over_line(const std::string& line) const {
  const std::string all = line + '\n';
  for (std::size_t done = 0; done < all.size();) {
    const ssize_t written = ::write(results_, all.data() + done, all.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(std::string("cannot hand over a result: ") + std::strerror(errno));
    done += static_cast<std::size_t>(written);
  }
}

PACE_INLINE int number_of_gpus() {
#ifdef PACE_CUDA
  const auto& found = cuda::device_names_from_fork();
  if (!found.fault.empty()) throw Error("ranks::number_of_gpus: " + found.fault);
  return static_cast<int>(found.names.size());
#else
  return 0;
#endif
}

PACE_INLINE std::vector<Result> run(int ranks, const Body& body, const Patience& given) {
  detail::refuse_to_fork(ranks);
  Patience patience = given;
  patience.silence = run_context().call_timeout.value_or(given.silence);
  detail::Meeting meeting(ranks);
  const auto results = detail::unnamed_file("results");
  const Orphans orphans;
  std::vector<pid_t> processes;
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  for (int number = 0; number < ranks; ++number) {
    const pid_t process = ::fork();
    if (process == 0) {
      Rank rank(number, meeting, results.get());
      detail::live_as_rank(parent, rank, body);
    }
    if (process < 0) {
      const int error = errno;
      detail::end_all(processes);
      throw Error("ranks::run: no process for rank " + std::to_string(number) + ": " + std::strerror(error));
    }
    processes.push_back(process);
  }

  std::vector<Result> found;
  detail::HandedOver handed_over(results.get());
  const auto take = [&](std::string_view line) {
    if (auto result = detail::take_line(line)) found.push_back(*std::move(result));
  };
  try {
    detail::Watch watch(meeting, processes, patience);
    while (true) {
      const auto ending = watch.look();
      handed_over.read(take);
      if (ending) detail::throw_ending(*ending);
      if (watch.all_finished()) break;
      // For a supervisor of this process: Watch finds ranks that hang.
      activity()->running(-1);
      patience.pause();
    }
  } catch (...) {
    detail::end_all(processes);
    orphans.end_all();
    throw;
  }
  orphans.end_all();
  return found;
}

}  // namespace pace::ranks
