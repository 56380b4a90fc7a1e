// Nsight Compute around one run of a package.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "benches/kernels/command_line.hpp"

namespace pace::benches::kernels {

/// `program` runs the module of `line` once, and not once more to warm up: --compat has no such call.
[[nodiscard]] inline std::vector<std::string> once_command(const std::string& program, const CommandLine& line) {
  std::vector<std::string> words{program, "--package", line.package};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--model", line.model);
  add("--inputs", line.inputs);
  add("--device", line.device);
  add("--benchmark-name", line.name);
  if (line.threads > 0) add("--threads", std::to_string(line.threads));
  words.insert(words.end(), {"--compat", "--times", "1", "--repeat", "1"});
  return words;
}

/// As wrapper_benchmark calls it, around `command`. `report` is its output file. Caches are empty before each kernel,
/// which is Nsight Compute's default.
[[nodiscard]] inline std::vector<std::string> ncu_command(const NcuOptions& options, const std::string& report,
                                                          const std::vector<std::string>& command) {
  std::vector<std::string> words{"ncu",      "--target-processes",
                                 "all",      "--replay-mode",
                                 "kernel",   "--kernel-name-base",
                                 "function", "--print-units",
                                 "base",     "--import-source",
                                 "yes",      "--force-overwrite",
                                 "--export", report};
  if (!options.kernel_regex.empty()) words.insert(words.end(), {"--kernel-name", "regex:" + options.kernel_regex});
  if (options.metrics.empty())
    words.insert(words.end(), {"--set", "full"});
  else
    words.insert(words.end(), {"--metrics", options.metrics});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// Whether a program of that name is in one of `path`'s folders, which are separated by colons.
[[nodiscard]] inline bool is_in_path(const std::string& name, const char* path) {
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((std::filesystem::path(folder.empty() ? "." : folder) / name).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace pace::benches::kernels
