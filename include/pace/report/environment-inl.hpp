// Definitions of environment.hpp; see base/config.hpp.
#pragma once

#include <unistd.h>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/build_info.hpp"
#include "pace/base/format.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/machine.hpp"
#include "pace/report/variables.hpp"

extern char** environ;  // POSIX leaves its declaration to the program

namespace pace::report {
namespace detail {

[[nodiscard]] inline bool is_commit(std::string_view text) {
  constexpr std::size_t sha1 = 40, sha256 = 64;
  return (text.size() == sha1 || text.size() == sha256) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns the rest of `text` after `prefix`; empty if `text` does not start with it.
[[nodiscard]] inline std::string after(std::string_view prefix, const std::string& text) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : "";
}

/// Returns `path` if it is absolute, else `path` in `folder`.
[[nodiscard]] inline std::string seen_from(const std::string& folder, const std::string& path) {
  return path.starts_with('/') ? path : folder + '/' + path;
}

[[nodiscard]] inline std::string packed_reference(const std::string& git, const std::string& reference) {
  std::ifstream file(git + "/packed-refs");
  for (std::string line; std::getline(file, line);) {
    const auto space = line.find(' ');
    if (space != std::string::npos && std::string_view(line).substr(space + 1) == reference)
      return line.substr(0, space);
  }
  return "";
}

/// Returns the nearest of `folder` and the folders around it that has a `.git`; `folder` itself if none has.
[[nodiscard]] inline std::string checkout_around(const std::string& folder) {
  for (std::string around = folder; around.starts_with('/'); around.resize(around.rfind('/')))
    if (::access((around + "/.git").c_str(), F_OK) == 0) return around;
  return folder;
}

}  // namespace detail
}  // namespace pace::report

namespace pace::report {

PACE_INLINE std::string commit_of(const std::string& folder) {
  const std::string checkout = detail::checkout_around(folder);
  std::string git = checkout + "/.git";
  if (const auto pointer = machine::first_line(git))
    if (const auto elsewhere = detail::after("gitdir: ", *pointer); !elsewhere.empty())
      git = detail::seen_from(checkout, elsewhere);
  std::string head = machine::first_line(git + "/HEAD").value_or("");
  if (detail::is_commit(head)) return head;
  const std::string reference = detail::after("ref: ", head);
  if (reference.empty()) return "";
  // A worktree keeps its own HEAD; its branches are with the main checkout.
  std::string common = git;
  if (const auto other = machine::first_line(git + "/commondir")) common = detail::seen_from(git, *other);
  auto commit = machine::first_line(common + '/' + reference).value_or("");
  if (!detail::is_commit(commit)) commit = detail::packed_reference(common, reference);
  return detail::is_commit(commit) ? commit : "";
}

}  // namespace pace::report

namespace pace::report {
namespace detail {

[[nodiscard]] inline std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

PACE_INLINE std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  if (::gmtime_r(&now, &fields) == nullptr) return "";
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

PACE_INLINE std::string quoted_for_shell(std::string_view word) {
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
}  // namespace pace::report

namespace pace::report {

PACE_INLINE Environment read_environment(const std::vector<std::string>& command_line, const std::string& root) {
  Environment environment;
  environment.date_utc = detail::utc_now();
  environment.hostname = machine::hostname(root);
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
  environment.variables = read_variables(environ, root);
  if (auto pool = detail::environment_variable("PACE_POOL"); !pool.empty()) environment.extra["pool"] = std::move(pool);
  environment.commit = detail::environment_variable("PACE_COMMIT");
  for (const char* const variable : {"BUILD_WORKSPACE_DIRECTORY", "PACE_CHECKOUT"})
    if (const auto folder = detail::environment_variable(variable); environment.commit.empty() && !folder.empty())
      environment.commit = commit_of(folder);
  return environment;
}

PACE_INLINE std::string one_line(const Environment& environment) {
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

namespace detail {

/// Variables that make times those of no usual process, and how.
inline constexpr std::array effects{
    std::pair("CUDA_LAUNCH_BLOCKING", "the host waits for each kernel. Try: unset it."),
    std::pair("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "kernels get a part of the GPU's multiprocessors."),
    std::pair("MALLOC_CHECK_", "malloc checks each block. Try: unset it."),
    std::pair("MALLOC_PERTURB_", "malloc and free write to each block. Try: unset it."),
    std::pair("PYTORCH_NO_CUDA_MEMORY_CACHING", "the GPU's driver allocates each block. Try: unset it."),
};

/// Whether that variable has an effect on this run. CUDA's have none without a GPU. LibTorch looks only whether
/// PYTORCH_NO_CUDA_MEMORY_CACHING is set; 0 switches the others off.
[[nodiscard]] inline bool has_effect(std::string_view name, std::string_view value, bool on_gpu) {
  if (name.find("CUDA") != std::string_view::npos && !on_gpu) return false;
  return name == "PYTORCH_NO_CUDA_MEMORY_CACHING" || (!value.empty() && value != "0");
}

}  // namespace detail

PACE_INLINE std::vector<std::string> cautions(const Environment& environment) {
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
  for (const auto& [name, effect] : detail::effects)
    if (const auto set = environment.variables.find(name);
        set != environment.variables.end() && detail::has_effect(name, set->second, environment.extra.contains("gpu")))
      found.push_back(name + ('=' + set->second) + ": " + effect);
  return found;
}

}  // namespace pace::report
