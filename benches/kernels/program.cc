// Every kernel of a compiled module: bazel run //benches/kernels -- --package FILE.pt2 --benchmark-kernels
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include "benches/files/aot/libtorch_parts.hpp"
#include "benches/files/aot/profiler_trace.hpp"
#include "benches/kernels/package.hpp"
#include "benches/kernels/package_provider.hpp"
#include "benches/kernels/run_program.hpp"
#include "benches/kernels/source_provider.hpp"
#include "pace/base/error.hpp"
#include "pace/kernels/kernels.hpp"
#include "pace/kernels/record_ranges.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/folders.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/os/pages.hpp"
#include "pace/os/process.hpp"
#include "pace/os/terminal.hpp"
#include "pace/report/program_output.hpp"
#include "pace/report/text.hpp"
#include "pace/runner/current_directory.hpp"
#include "pace/runner/hand_over.hpp"
#include "pace/runner/this_program.hpp"

#ifdef PACE_CUDA
#include <c10/cuda/CUDACachingAllocator.h>

#include "pace/gpu/cuda/device.hpp"
#endif
#if PACE_HAS_MEMORY_SNAPSHOT
#include <torch/csrc/cuda/memory_snapshot.h>
#endif

namespace {

using pace::Nanoseconds;
using pace::benches::kernels::CommandLine;
using pace::benches::kernels::Package;

std::unique_ptr<Package> package;

void synchronise() {
  if (package->device().is_cuda()) at::detail::getCUDAHooks().deviceSynchronize(package->device().index());
}

pace::benches::kernels::OpenPackage open_package(const CommandLine& line) {
  if (line.threads > 0) at::set_num_threads(line.threads);
  std::cerr << "kernels: the compiled code of " << pace::report::printable(line.package) << " runs with your rights\n";
  package = std::make_unique<Package>(line.package, line.model, line.inputs, line.device);
  pace::benches::kernels::OpenPackage opened;
  opened.device = package->device().is_cuda() ? "cuda" : "cpu";
  opened.facts = package->facts();
  opened.call = [] { static_cast<void>(package->run()); };
  opened.synchronise = synchronise;
  opened.set_seed = pace::benches::aot::reset_rng_state;
  return opened;
}

pace::kernel::KernelReport list(const CommandLine& line) {
  pace::KernelsOptions options;
  options.configurations = line.all_configs;
  for (const auto& [text, category] : line.categories) pace::kernel::register_category_pattern(text, category);
  if (package->device().is_cuda()) {
    options.on = c10::DeviceType::CUDA;
    options.device = package->device().has_index() ? package->device().index() : 0;
#ifdef PACE_CUDA
    if (const auto timer = pace::benches::kernels::timer_of(line))
      options.compatible = [timer = *timer, device = std::make_shared<pace::cuda::CudaDevice>(options.device)](
                               const std::function<void()>& launch) {
        return pace::benches::kernels::compat::time_launch(*device, timer, launch);
      };
#endif
  }
  pace::kernel::Provider provider;
  if (package->facts()) provider = pace::benches::kernels::package_provider(*package->facts());
  if (!line.kernel_sources.empty())
    provider = pace::benches::kernels::with_sources(pace::benches::kernels::KernelSources(line.kernel_sources),
                                                    std::move(provider));
  if (provider) options.providers.push_back(std::move(provider));
  return pace::kernels(
      options, line.name, [](const std::vector<at::Tensor>&) { return package->run(); }, package->operands());
}

#if PACE_HAS_PROFILER
/// `[4, 8], []` of two operands.
std::string shapes_of(const torch::autograd::profiler::KinetoEvent& event) {
  std::string text;
  if (!event.hasShapes()) return text;
  for (const auto& sizes : event.shapes()) {
    std::string one;
    for (const auto size : sizes) one += (one.empty() ? "" : ", ") + std::to_string(size);
    text += (text.empty() ? "[" : ", [") + one + ']';
  }
  return text;
}

#endif

pace::benches::kernels::Profile record(const std::function<void()>& body, const std::string& trace) {
  const char* const around = "pace: the module";
  pace::benches::aot::ProfilerTrace recording(/*with_shapes=*/true);
  {
    const pace::benches::aot::TraceRange range(around);
    body();
  }
  pace::benches::kernels::Profile profile;
#if PACE_HAS_PROFILER
  const auto result = recording.save(trace);
  const auto origin = static_cast<std::int64_t>(result->trace_start_ns());
  for (const auto& event : result->events()) {
    if (event.name() == around) {
      profile.thread = event.startThreadId();
      continue;
    }
    const auto scope = static_cast<at::RecordScope>(event.scope());
    profile.events.push_back(
        {.name = event.name(),
         .shapes = shapes_of(event),
         .thread = event.startThreadId(),
         .start = Nanoseconds(static_cast<double>(static_cast<std::int64_t>(event.startNs()) - origin)),
         .duration = Nanoseconds(static_cast<double>(event.durationNs())),
         .on_device = event.deviceType() != c10::DeviceType::CPU,
         .frame = pace::kernel::is_frame(scope)});
  }
#else
  recording.save(trace);
#endif
  return profile;
}

std::string spawn(const std::vector<std::string>& command, std::string* printed) {
  const auto status = pace::detail::run_process(command, [printed](std::string_view line) {
    if (printed == nullptr)
      std::cerr << line << '\n';
    else
      printed->append(line) += '\n';
  });
  return status.ok() ? "" : command.front() + ' ' + status.to_string();
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y%m%d_%H%M%S", &parts));
  return text;
}

#ifdef PACE_CUDA
void add_cuda(pace::benches::kernels::Dependencies& dependencies) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  const auto device = [] {
    const auto index = package->device().index();
    return index < 0 ? c10::DeviceIndex(0) : index;
  };
  dependencies.reset_peak = [device] { allocator::resetPeakStats(device()); };
  dependencies.peak_bytes = [device] {
    constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return static_cast<double>(allocator::getDeviceStats(device()).allocated_bytes[all].peak);
  };
  dependencies.snapshot = []([[maybe_unused]] const std::function<void()>& body,
                             [[maybe_unused]] const std::string& path) {
#if PACE_HAS_MEMORY_SNAPSHOT
    constexpr std::size_t entries = 100000;
    torch::cuda::_record_memory_history("all", "all", "all", entries);
    body();
    const std::string text = torch::cuda::_memory_snapshot_pickled();
    torch::cuda::_record_memory_history(std::nullopt);
    pace::detail::write_file(path, text);
#else
    throw pace::Unsupported("--cuda-memory-snapshot: this LibTorch was installed without memory_snapshot.h");
#endif
  };
}
#endif

/// A folder that goes at the end where nothing was put into it.
class OwnFolder {
 public:
  OwnFolder() = default;
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  const std::string& make(const std::filesystem::path& parent) {
    return path_ = pace::detail::make_folder_in(parent).string();
  }

 private:
  std::string path_;
};

void resolve(CommandLine& line, pace::benches::kernels::Dependencies& dependencies, OwnFolder& own) {
  line.package = pace::user_path(line.package);
  line.kernel_sources = line.kernel_sources.empty() ? "" : pace::user_path(line.kernel_sources);
  line.csv = line.csv.empty() ? "" : pace::output_path(line.csv);
  line.json = line.json.empty() ? "" : pace::output_path(line.json);
  line.html = line.html.empty() ? "" : pace::output_path(line.html);
  line.bandwidth_output = line.bandwidth_output.empty() ? "" : pace::output_path(line.bandwidth_output);
  if (line.name.empty()) line.name = std::filesystem::path(line.package).stem().string();
  if (!line.output_directory.empty()) {
    dependencies.temporary_folder = pace::output_path(line.output_directory);
    static std::optional<pace::NewFolders> folders;
    try {
      folders.emplace(dependencies.temporary_folder);
    } catch (const pace::InputError& error) {
      throw pace::InputError({}, std::string("--output-directory: ") + error.what());
    }
  } else if (line.profile || line.memory_snapshot || line.ncu || line.count_bytes) {
    // A folder of its own: another user could have put links of these files' names into the common one.
    dependencies.temporary_folder = own.make(pace::runner::temporary_folder());
  }
}

}  // namespace

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  const at::NoGradGuard values_alone;
  OwnFolder own;
  pace::benches::kernels::Dependencies dependencies;
  dependencies.open = open_package;
  dependencies.kernels = list;
  dependencies.profile = record;
  dependencies.now = [] { return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); };
  dependencies.spawn = spawn;
  dependencies.date = date;
  dependencies.program = pace::runner::this_program();
  // `resolve` has made a path of it.
  dependencies.pages = [](const std::string& html) { return pace::Pages::at(html); };
  dependencies.colour = pace::wants_colour(STDOUT_FILENO);
#ifdef PACE_CUDA
  add_cuda(dependencies);
#endif
  const int code = pace::benches::kernels::run_program({argv + 1, argv + argc}, dependencies, std::cout, std::cerr,
                                                       [&](CommandLine& line) { resolve(line, dependencies, own); });
  package.reset();
  return output.exit_code(code, "kernels");
}
