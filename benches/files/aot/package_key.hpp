// The dependencies of a compiled package, and the name of its files.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/core/Device.h>
#include <c10/util/hash.h>
#include <torch/version.h>

#include "benches/files/aot/device.hpp"
#include "benches/files/aot/toolchain.hpp"

namespace pace::benches::aot {

/// Options of Inductor by name, such as `max_autotune`, each with its value as JSON text (`true`, `"O1"`, `3`).
using InductorOptions = std::map<std::string, std::string>;

namespace detail {

/// The program that compiles. Each file is a Python script and, between its first line and its last, a raw string.
inline constexpr std::string_view compile_script_body =
#include "benches/files/aot/compile_packages.py"
    ;
inline constexpr std::string_view record_script_body =
#include "benches/files/aot/record_kernels.py"
    ;
inline constexpr std::string_view share_script_body =
#include "benches/files/aot/share_runtime.py"
    ;

/// The processor's name and instruction sets: packages are compiled for the very machine.
[[nodiscard]] inline const std::string& processor() {
  static const std::string text = [] {
    std::string found;
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line) && !line.empty();) {  // the first processor's paragraph
      for (const std::string_view field : {"model name", "flags", "Features", "CPU part"}) {
        if (line.starts_with(field)) found += line + '\n';
      }
    }
    return found;
  }();
  return text;
}

}  // namespace detail

/// Returns the text of a Python script that is included as a raw string, as it stands in its file, without the last
/// line (a comment in Python). `body`: the text between the first line and the last.
[[nodiscard]] inline std::string whole_script(std::string_view body) { return "R\"\"\"py(" + std::string(body); }

/// Returns name and text of each file that all compiling starts from, the program last.
[[nodiscard]] inline std::vector<std::pair<std::string, std::string>> compile_script_files() {
  return {{"record_kernels.py", whole_script(detail::record_script_body)},
          {"share_runtime.py", whole_script(detail::share_script_body)},
          {"compile_packages.py", whole_script(detail::compile_script_body)}};
}

/// Returns the scripts that all compiling starts from as one text, for package_key().
[[nodiscard]] inline std::string compile_script_text() {
  return std::string(detail::record_script_body) + std::string(detail::share_script_body) +
         std::string(detail::compile_script_body);
}

/// Returns the version of the LibTorch that this program was compiled with, such as `2.11.0`.
[[nodiscard]] inline std::string torch_version() {
  const std::string_view version = TORCH_VERSION;
  return std::string(version.substr(0, version.find('+')));
}

/// Returns one name for everything that the compiled code depends on; 40 hexadecimal digits (SHA-1). `subject`
/// describes the compiled code in full; `scripts` are all that compile it.
[[nodiscard]] inline std::string package_key(const std::string& subject, const InductorOptions& options,
                                             const c10::Device& device, const std::string& scripts) {
  std::string text = "pace package 2\n" + subject + '\n';
  for (const auto& [name, value] : options) text += name + '=' + value + '\n';
  text += torch_version() + '\n' + at::get_cpu_capability() + '\n' + detail::processor() + toolchain();
  // Inductor compiles the number in, for the CPU.
  if (device.is_cpu()) text += std::to_string(at::get_num_threads()) + " threads\n";
  text += device_model(device) + '\n' + scripts;
  return c10::sha1(text).str();
}

}  // namespace pace::benches::aot
