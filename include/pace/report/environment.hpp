// Environment: where and with what the figures were measured.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/core/build_info.hpp"
#include "pace/core/format.hpp"
#include "pace/report/commit.hpp"
#include "pace/report/machine.hpp"

namespace pace::report {

/// What is unknown is empty (texts, optionals) or 0.
struct Environment {
  std::string date_utc;  ///< ISO 8601, when this was read
  std::string hostname, command_line;
  std::string cpu;
  unsigned cores = 0;               ///< that the process may use
  std::optional<double> cpu_quota;  ///< cores' worth of time granted by a container
  std::string governor;
  std::optional<bool> turbo, aslr;
  std::optional<double> load;  ///< mean number of runnable threads over the last minute
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string compiler, build_flags;
  bool optimized = false;
  std::string commit;
  /// Whatever else is worth keeping: the LibTorch version, its threads, a GPU.
  std::map<std::string, std::string> extra;
};

namespace detail {

[[nodiscard]] inline std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[nodiscard]] inline std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  if (::gmtime_r(&now, &fields) == nullptr) return "";
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

/// So that it can be pasted into a shell.
[[nodiscard]] inline std::string quoted_for_shell(std::string_view word) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word)
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  return quoted += '\'';
}

}  // namespace detail

/// The compiler of the file that includes this.
[[nodiscard]] inline std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "";
#endif
}

[[nodiscard]] inline bool optimized() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

/// Reads everything anew; never throws for what is missing. `command_line` is argv; files are read under `root`. The
/// commit comes from the environment variable PACE_COMMIT, else from the checkout that `bazel run` was called in, or that
/// a pace_test was built in (PACE_CHECKOUT).
[[nodiscard]] inline Environment read_environment(const std::vector<std::string>& command_line = {},
                                                  const std::string& root = "") {
  Environment environment;
  environment.date_utc = detail::utc_now();
  environment.hostname = machine::hostname();
  for (const auto& word : command_line)
    environment.command_line += (environment.command_line.empty() ? "" : " ") + detail::quoted_for_shell(word);
  environment.cpu = machine::cpu(root);
  environment.cores = machine::cores();
  environment.cpu_quota = machine::cpu_quota(root);
  environment.governor = machine::governor(root);
  environment.turbo = machine::turbo(root);
  environment.aslr = machine::aslr(root);
  environment.load = machine::load(root);
  environment.memory_bytes = machine::memory_bytes(root);
  environment.kernel = machine::kernel();
  environment.compiler = compiler();
  environment.build_flags = build_info().flags;
  environment.optimized = optimized();
  environment.commit = detail::environment_variable("PACE_COMMIT");
  for (const char* const variable : {"BUILD_WORKSPACE_DIRECTORY", "PACE_CHECKOUT"})
    if (const auto folder = detail::environment_variable(variable); environment.commit.empty() && !folder.empty())
      environment.commit = commit_of(folder);
  return environment;
}

/// One line for the head of a table: CPU, cores, kernel, compiler, LibTorch, GPUs.
[[nodiscard]] inline std::string one_line(const Environment& environment) {
  std::string line = environment.cpu.empty() ? "unknown CPU" : environment.cpu;
  line += ", " + std::to_string(environment.cores) + (environment.cores == 1 ? " core" : " cores");
  for (const auto* part : {&environment.kernel, &environment.compiler})
    if (!part->empty()) line += ", " + *part;
  if (const auto torch = environment.extra.find("libtorch"); torch != environment.extra.end())
    line += ", LibTorch " + torch->second;
  for (const auto& [key, label] : {std::pair{"gpu", ", "}, {"gpu_driver", ", driver "}})
    if (const auto gpu = environment.extra.find(key); gpu != environment.extra.end()) line += label + gpu->second;
  return line;
}

/// What about this environment spoils figures, in full sentences.
[[nodiscard]] inline std::vector<std::string> cautions(const Environment& environment) {
  std::vector<std::string> found;
  if (!environment.optimized) found.emplace_back("Compiled without optimisation: the times mean little.");
  if (environment.governor == "powersave" || environment.governor == "ondemand")
    found.push_back("The CPU governor is '" + environment.governor +
                    "', which changes the frequency while measuring; 'performance' does not.");
  // One runnable thread is usually the build or the shell that has just started this process.
  if (environment.load && *environment.load >= environment.cores + 1.0)
    found.push_back("The load average is " + format_significant(*environment.load) + " on " +
                    std::to_string(environment.cores) + (environment.cores == 1 ? " core" : " cores") +
                    ": other work takes part in these times.");
  return found;
}

}  // namespace pace::report
