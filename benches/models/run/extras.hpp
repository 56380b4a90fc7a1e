// Runs apart from the measured ones: traces, memory snapshots, recorded operator inputs.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>

#include <ATen/core/grad_mode.h>

#include "benches/files/aot/libtorch_parts.hpp"
#include "benches/files/aot/profiler_trace.hpp"
#include "benches/files/aot/rand_strided.hpp"
#include "benches/models/run/iteration.hpp"
#include "benches/models/run/outcome.hpp"
#include "benches/models/run/whole_file.hpp"
#include "pace/base/error.hpp"
#include "pace/inputs/record.hpp"
#include "pace/os/new_folders.hpp"

#if PACE_HAS_MEMORY_SNAPSHOT
#include <torch/csrc/cuda/memory_snapshot.h>
#endif

namespace pace::benches::models {

namespace detail {

/// A step of the instance from the state that all runs start from.
inline void run_once(Iterating& iterating) {
  benches::aot::reset_rng_state();
  (void)iterate(iterating, iterating.runnable.instance.model.inputs, false);
  synchronise(iterating.runnable.instance.options.device);
}

}  // namespace detail

/// Where the trace of a back end of a model goes: `FOLDER/MODEL_BACKEND_training.pt.trace.json`.
[[nodiscard]] inline std::filesystem::path trace_path(const std::string& folder, const std::string& model,
                                                      const std::string& backend, bool training) {
  return std::filesystem::path(folder) /
         (model + '_' + backend + (training ? "_training" : "_inference") + ".pt.trace.json");
}

/// One iteration, recorded; it must have run before. Throws InputError if the folder cannot be made, Unsupported where
/// the profiler does not start, Error if the file cannot be written.
inline void trace_iteration(Iterating& iterating, const std::string& backend, const std::string& folder) {
  const auto& instance = iterating.runnable.instance;
  const auto path = trace_path(folder, instance.name(), backend, instance.options.training);
  const NewFolders folders(folder);
  benches::aot::ProfilerTrace trace;
  {
    const benches::aot::TraceRange range(instance.name() + '/' + backend);
    detail::run_once(iterating);
  }
  trace.save(path);
}

/// The allocator's history of one iteration on a GPU, as torch.cuda.memory._dump_snapshot writes it, into
/// `FOLDER/BACKEND_MODEL.pickle`. Throws Unsupported on a CPU, Error if the file cannot be written.
inline void snapshot_memory(Iterating& iterating, const std::string& backend, const std::string& folder) {
  const auto& instance = iterating.runnable.instance;
  if (!instance.options.device.is_cuda())
    throw Unsupported("memory snapshots are of a GPU's allocator; expected --device cuda, not " +
                      instance.options.device.str());
#if PACE_HAS_MEMORY_SNAPSHOT
  const NewFolders folders(folder);
  const auto path = std::filesystem::path(folder) / (backend + '_' + instance.name() + ".pickle");
  torch::cuda::_record_memory_history(std::string("all"));
  try {
    detail::run_once(iterating);
  } catch (...) {
    torch::cuda::_record_memory_history(std::nullopt);
    throw;
  }
  const std::string snapshot = torch::cuda::_memory_snapshot_pickled();
  torch::cuda::_record_memory_history(std::nullopt);
  write_whole(path, snapshot);
#else
  static_cast<void>(backend);
  static_cast<void>(folder);
#ifdef PACE_CUDA
  throw Unsupported("this LibTorch was installed without the header torch/csrc/cuda/memory_snapshot.h");
#else
  throw Unsupported("this program was built without CUDA: build it with --config=cuda");
#endif
#endif
}

/// The operators of one eager iteration with their inputs, into `FOLDER/MODEL_training.txt` or `..._eval.txt`, which
/// the operator bench replays. A file that exists stays. Throws Error where it cannot be written.
inline void record_operator_inputs(const Instance& base, const std::string& folder, std::ostream& log) {
  const std::string& name = base.name();
  Iterating iterating{.runnable = {.instance = base, .model = eager_step(base)}};
  const StateKept kept(base);
  inputs::Recorder recorder;
  detail::run_once(iterating);
  const bool written = recorder.write_as({.directory = folder, .model = name, .training = base.options.training});
  const std::string file = folder + '/' + std::string(inputs::log_file_name(name, base.options.training));
  for (const auto& [op, reason] : recorder.skipped())
    log << name << ": " << op << " is not recorded: " << reason << '\n';
  if (written)
    log << name << ": recorded " << file << '\n';
  else
    log << "Skipping " << name << ", " << file << " already exists\n";
}

}  // namespace pace::benches::models
