// Services that the kernels' bench needs from outside: open packages, profile, reach a GPU, start programs. Tests
// supply fakes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benches/files/aot/package_facts.hpp"
#include "benches/kernels/command_line.hpp"
#include "benches/kernels/profile.hpp"
#include "pace/base/units.hpp"
#include "pace/kernels/report.hpp"
#include "pace/os/pages.hpp"

namespace pace::benches::kernels {

/// A package that was opened.
struct OpenPackage {
  /// `cpu` or `cuda`.
  std::string device = "cpu";
  std::optional<aot::PackageFacts> facts = {};
  std::function<void()> call = {};
  /// Until the device is idle; before each reading, the seed of random numbers.
  std::function<void()> synchronise = {}, set_seed = {};
};

struct Dependencies {
  std::function<OpenPackage(const CommandLine&)> open;
  std::function<kernel::KernelReport(const CommandLine&)> kernels;
  /// Runs `body` under the profiler, and writes its trace.
  std::function<Profile(const std::function<void()>& body, const std::string& trace)> profile;
  std::function<Nanoseconds()> now;
  /// Bytes of the GPU's memory at most since the reset; not set in programs without CUDA.
  std::function<void()> reset_peak = {};
  std::function<double()> peak_bytes = {};
  /// Runs `body` while memory's history is recorded, and writes it; not set in programs without CUDA.
  std::function<void(const std::function<void()>& body, const std::string& file)> snapshot = {};
  /// Runs a program. Its lines go to `printed`, or without it to standard error. Returns the error, or nothing.
  std::function<std::string(const std::vector<std::string>&, std::string* printed)> spawn;
  /// `20240131_235959`.
  std::function<std::string()> date;
  std::string program;
  std::string temporary_folder;
  bool colour = false;
  /// Returns the pages of a program for this value of `--html`.
  std::function<Pages(const std::string& html)> pages = [](const std::string& html) { return Pages(html, "", ""); };
};

}  // namespace pace::benches::kernels
