// Definitions of variables.hpp; see base/config.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "pace/base/utf8.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/variables.hpp"

namespace pace::report {
namespace detail {

/// Beginnings of names. A whole name is the beginning of itself.
inline constexpr std::array families{
    // CUDA, its libraries, MPS and TF32
    std::string_view("CUDA_"), std::string_view("CUBLAS"), std::string_view("CUDNN"), std::string_view("CUFFT"),
    std::string_view("CUSOLVER"), std::string_view("CUSPARSE"), std::string_view("NCCL_"),
    std::string_view("NVIDIA_TF32_OVERRIDE"),
    // LibTorch (PYTORCH_CUDA_ALLOC_CONF, TORCH_..., TORCHINDUCTOR_...), its settings of oneDNN, and Triton
    std::string_view("ATEN_"), std::string_view("DNNL_"), std::string_view("LRU_CACHE_CAPACITY"),
    std::string_view("ONEDNN_"), std::string_view("PYTORCH_"), std::string_view("TORCH"), std::string_view("TRITON_"),
    // threads and BLAS
    std::string_view("BLIS_"), std::string_view("GOMP_"), std::string_view("KMP_"), std::string_view("MKL_"),
    std::string_view("OMP_"), std::string_view("OPENBLAS_"),
    // allocators and the dynamic linker
    std::string_view("GLIBC_TUNABLES"), std::string_view("LD_AUDIT"), std::string_view("LD_BIND_NOW"),
    std::string_view("LD_PRELOAD"), std::string_view("MALLOC_"), std::string_view("MIMALLOC_"),
    std::string_view("TCMALLOC_")};

/// Ends of names of places, versions, devices, logs and options of compilers.
inline constexpr std::array elsewhere{
    std::string_view("_ARCH_LIST"), std::string_view("_DEVICE_ORDER"), std::string_view("_DIR"),
    std::string_view("_DIRECTORY"), std::string_view("_FILE"),         std::string_view("_FLAGS"),
    std::string_view("_HOME"),      std::string_view("_LOGS"),         std::string_view("_PATH"),
    std::string_view("_ROOT"),      std::string_view("_VERSION"),      std::string_view("_VISIBLE_DEVICES")};

/// The words of a list of libraries, without comments.
[[nodiscard]] inline std::string preloaded(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

}  // namespace detail

PACE_INLINE bool changes_times(std::string_view name) {
  // The place of its pipe decides whether a process is a client of MPS.
  if (name == "CUDA_MPS_PIPE_DIRECTORY") return true;
  return std::ranges::any_of(detail::families, [&](std::string_view each) { return name.starts_with(each); }) &&
         std::ranges::none_of(detail::elsewhere, [&](std::string_view each) { return name.ends_with(each); });
}

PACE_INLINE std::map<std::string, std::string> read_variables(const char* const* environment, const std::string& root) {
  std::map<std::string, std::string> found;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view each(*environment);
    const auto end = each.find('=');
    if (end != std::string_view::npos && changes_times(each.substr(0, end)))
      found.emplace(valid_utf8(std::string(each.substr(0, end))), valid_utf8(std::string(each.substr(end + 1))));
  }
  const std::string everywhere = "/etc/ld.so.preload";
  if (const auto libraries = detail::preloaded(root + everywhere); !libraries.empty())
    found.emplace(everywhere, valid_utf8(libraries));
  return found;
}

PACE_INLINE std::string changed_variables(const std::map<std::string, std::string>& then,
                                          const std::map<std::string, std::string>& now) {
  std::set<std::string> names;
  for (const auto* each : {&then, &now})
    for (const auto& [name, value] : *each) names.insert(name);
  const auto text_in = [](const std::map<std::string, std::string>& variables, const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string("unset") : '"' + found->second + '"';
  };
  std::string text;
  for (const auto& name : names) {
    const auto was = text_in(then, name), is = text_in(now, name);
    if (was != is) text += (text.empty() ? "" : "; ") + name + " was " + was + " and is " + is;
  }
  return text;
}

PACE_INLINE std::string variables_text(const std::map<std::string, std::string>& variables) {
  std::string text;
  for (const auto& [name, value] : variables)
    text += (text.empty() ? "" : " ") + name + '=' + (value.empty() ? "" : detail::quoted_for_shell(value));
  return text;
}

}  // namespace pace::report
