// CUDA source compiled by NVRTC, which is loaded when it is needed: nothing links against it.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"

namespace pace::benches::loaders {

/// NVRTC's output for a source.
struct CompiledSource {
  std::string image = {};   ///< a cubin, or PTX where NVRTC is older than the device
  std::string kernel = {};  ///< the name of the kernel, mangled for C++; empty: none was asked for
  std::string log = {};     ///< warnings; empty: none
};

/// The source to compile.
struct SourceToCompile {
  std::string text;
  std::string path;                       ///< for messages; includes are looked up in its folder
  std::string kernel = {};                ///< such as `scale<float>` or `scale`; empty: not known
  std::vector<std::string> options = {};  ///< of NVRTC
};

/// NVRTC, as its functions in `nvrtc.h`.
class Nvrtc {
 public:
  /// Throws Unsupported if there is no such library.
  Nvrtc() {
    // The versions of LibTorch's toolkits. A toolkit for developers has the plain name.
    std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    for (const auto& name : std::vector<std::string>(names)) names.push_back(toolkit() + "/lib64/" + name);
    for (const auto& name : names)
      if (library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); library_ != nullptr) break;
    if (library_ == nullptr)
      throw Unsupported(
          "CUDA sources are compiled by NVRTC, and there is no libnvrtc.so.13 or libnvrtc.so.12; expected "
          "it in the loader's path (LD_LIBRARY_PATH) or in the toolkit of CUDA_HOME");
    find(error_text_, "nvrtcGetErrorString");
    find(architecture_count_, "nvrtcGetNumSupportedArchs");
    find(architectures_, "nvrtcGetSupportedArchs");
    find(create_, "nvrtcCreateProgram");
    find(destroy_, "nvrtcDestroyProgram");
    find(name_, "nvrtcAddNameExpression");
    find(lowered_, "nvrtcGetLoweredName");
    find(compile_, "nvrtcCompileProgram");
    find(log_size_, "nvrtcGetProgramLogSize");
    find(log_, "nvrtcGetProgramLog");
    find(cubin_size_, "nvrtcGetCUBINSize");
    find(cubin_, "nvrtcGetCUBIN");
    find(ptx_size_, "nvrtcGetPTXSize");
    find(ptx_, "nvrtcGetPTX");
  }

  /// Compute capabilities that it compiles for, such as 90, in ascending order.
  [[nodiscard]] std::vector<int> architectures() const {
    int count = 0;
    check(architecture_count_(&count), "asking NVRTC for its architectures");
    std::vector<int> all(static_cast<std::size_t>(count));
    check(architectures_(all.data()), "asking NVRTC for its architectures");
    std::ranges::sort(all);
    return all;
  }

  /// Compiles for a device of compute capability `device`: machine code, or PTX of the newest architecture that NVRTC
  /// knows, which the driver compiles for a newer device. An option for an architecture takes the place of that. Throws
  /// InputError with the path and NVRTC's messages, and Unsupported for a device that is too old for this NVRTC.
  [[nodiscard]] CompiledSource compile(const SourceToCompile& source, int device) const {
    std::vector<std::string> options = source.options;
    const bool chosen = std::ranges::any_of(options, [](const std::string& option) {
      return option.starts_with("-arch") || option.starts_with("--gpu-architecture");
    });
    if (!chosen) options.push_back("--gpu-architecture=" + architecture_for(device, source.path));
    const auto folder = std::filesystem::absolute(source.path).parent_path().string();
    for (const auto& each : {folder, toolkit() + "/include"})
      if (std::filesystem::is_directory(each)) options.push_back("--include-path=" + each);
    void* raw = nullptr;
    check(create_(&raw, source.text.c_str(), source.path.c_str(), 0, nullptr, nullptr), source.path);
    const std::unique_ptr<void, Destroy> program(raw, Destroy{destroy_});
    if (!source.kernel.empty())
      check(name_(raw, source.kernel.c_str()), source.path + ": kernel '" + source.kernel + '\'');
    std::vector<const char*> texts;
    for (const auto& option : options) texts.push_back(option.c_str());
    const int code = compile_(raw, static_cast<int>(texts.size()), texts.data());
    CompiledSource compiled{.log = text_of(raw, log_size_, log_)};
    if (code != 0)
      throw InputError({source.path}, std::string("NVRTC does not compile the source: ") + error_text_(code) +
                                          (compiled.log.empty() ? "" : "\n" + compiled.log));
    if (!source.kernel.empty()) {
      const char* name = nullptr;
      check(lowered_(raw, source.kernel.c_str(), &name), source.path + ": kernel '" + source.kernel + '\'');
      compiled.kernel = name;
    }
    // With an architecture that begins with `compute` there is no cubin.
    std::size_t size = 0;
    if (cubin_size_(raw, &size) == 0 && size > 0)
      compiled.image = bytes_of(raw, size, cubin_);
    else
      compiled.image = text_of(raw, ptx_size_, ptx_);
    return compiled;
  }

 private:
  using Program = void*;
  using SizeOf = int (*)(Program, std::size_t*);
  using BytesOf = int (*)(Program, char*);
  struct Destroy {
    int (*function)(Program*);
    void operator()(void* program) const { static_cast<void>(function(&program)); }
  };

  [[nodiscard]] static std::string toolkit() {
    const char* const home = std::getenv("CUDA_HOME");
    return home == nullptr || *home == '\0' ? "/usr/local/cuda" : home;
  }
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr)
      throw Unsupported(std::string("this NVRTC has no ") + name + "; expected one of CUDA 12 or 13");
  }
  void check(int code, const std::string& what) const {
    if (code != 0) throw Unsupported(what + ": NVRTC: " + error_text_(code));
  }
  [[nodiscard]] std::string architecture_for(int device, const std::string& path) const {
    const auto all = architectures();
    if (std::ranges::find(all, device) != all.end()) return "sm_" + std::to_string(device);
    int newest = 0;
    std::string names;
    for (const int each : all) {
      if (each < device) newest = each;
      names += (names.empty() ? "" : ", ") + std::to_string(each);
    }
    if (newest == 0)
      throw Unsupported(path + ": this NVRTC compiles nothing for a GPU of architecture sm_" + std::to_string(device) +
                        "; it compiles for " + names);
    return "compute_" + std::to_string(newest);
  }
  [[nodiscard]] std::string bytes_of(Program program, std::size_t size, BytesOf bytes) const {
    std::string text(size, '\0');
    check(bytes(program, text.data()), "asking NVRTC for what it compiled");
    return text;
  }
  /// A text that ends with a zero.
  [[nodiscard]] std::string text_of(Program program, SizeOf size_of, BytesOf bytes) const {
    std::size_t size = 0;
    check(size_of(program, &size), "asking NVRTC for what it compiled");
    std::string text = bytes_of(program, size, bytes);
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  void* library_ = nullptr;
  const char* (*error_text_)(int) = nullptr;
  int (*architecture_count_)(int*) = nullptr;
  int (*architectures_)(int*) = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*name_)(Program, const char*) = nullptr;
  int (*lowered_)(Program, const char*, const char**) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  SizeOf log_size_ = nullptr, cubin_size_ = nullptr, ptx_size_ = nullptr;
  BytesOf log_ = nullptr, cubin_ = nullptr, ptx_ = nullptr;
};

}  // namespace pace::benches::loaders
