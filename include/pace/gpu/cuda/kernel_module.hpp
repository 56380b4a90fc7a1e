// KernelModule: compiled kernels (a cubin, a fatbin or PTX), such as another build of a kernel, loaded to be launched.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/cuda/driver.hpp"
#include "pace/gpu/cuda/launch_kernel.hpp"
#include "pace/os/read_file.hpp"

namespace pace::cuda {

/// Compiled kernels, loaded into the context of the current device for the lifetime of the object. The driver compiles
/// PTX when it loads it.
class KernelModule {
 public:
  /// Loads a file. Throws InputError if it cannot be read or is empty, and Unsupported with the driver's message if it
  /// has no kernels for this device.
  explicit KernelModule(const std::filesystem::path& file)
      : KernelModule(file.string(), read_file(file.string(), "compiled kernels (a cubin, a fatbin or PTX)")) {}
  /// Loads `image`, the content of such a file; `name` is what messages call it. Throws as for a file.
  KernelModule(std::string name, const std::string& image) : name_(std::move(name)) {
    if (image.empty()) throw InputError({name_}, "is empty; expected compiled kernels (a cubin, a fatbin or PTX)");
    static const auto load = driver_function<Load>("cuModuleLoadDataEx");
    // What the compiler of PTX has to say.
    std::string log(std::size_t{1} << 14, '\0');
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log.data(), reinterpret_cast<void*>(std::uintptr_t{log.size() - 1})};
    const CUresult code = load(&module_, image.c_str(), 2, options, values);
    log.resize(log.find('\0'));
    require(code, "loading " + name_ + (log.empty() ? "" : " (" + log + ')'));
  }
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;
  ~KernelModule() {
    if (module_ == nullptr) return;
    static const auto unload = driver_function<Unload>("cuModuleUnload");
    static_cast<void>(unload(module_));
  }

  /// Names of all kernels, mangled for C++. Throws Unsupported with the driver's message.
  [[nodiscard]] std::vector<std::string> kernels() const {
    static const auto count_of = driver_function<Count>("cuModuleGetFunctionCount", 12040);
    static const auto list = driver_function<List>("cuModuleEnumerateFunctions", 12040);
    static const auto name_of = driver_function<GetName>("cuFuncGetName", 12030);
    unsigned int count = 0;
    require(count_of(&count, module_), "counting the kernels of " + name_);
    std::vector<CUfunction> functions(count);
    if (count > 0) require(list(functions.data(), count, module_), "listing the kernels of " + name_);
    std::vector<std::string> names;
    for (const CUfunction function : functions) {
      const char* name = nullptr;
      require(name_of(&name, function), "asking for a kernel's name");
      names.emplace_back(name);
    }
    return names;
  }

  /// Returns the kernel `symbol`, prepared for a launch with `shared_bytes` bytes of dynamic shared memory. Throws
  /// Unsupported if there is no such kernel, or if the device has less shared memory.
  [[nodiscard]] CUfunction function(const std::string& symbol, int shared_bytes) const {
    static const auto find = driver_function<Find>("cuModuleGetFunction");
    static const auto set = driver_function<SetAttribute>("cuFuncSetAttribute");
    CUfunction found = nullptr;
    require(find(&found, module_, symbol.c_str()), "looking for " + symbol + " in " + name_);
    // The driver requires an explicit request where static and dynamic shared memory together are more than this.
    constexpr int without_asking = 48 * 1024;
    if (shared_bytes > 0 &&
        function_attribute(found, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) + std::int64_t{shared_bytes} > without_asking)
      require(set(found, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes),
              "asking for " + std::to_string(shared_bytes) + " bytes of shared memory for " + symbol);
    return found;
  }

 private:
  using Load = CUresult (*)(CUmodule*, const void*, unsigned int, CUjit_option*, void**);
  using Unload = CUresult (*)(CUmodule);
  using Count = CUresult (*)(unsigned int*, CUmodule);
  using List = CUresult (*)(CUfunction*, unsigned int, CUmodule);
  using GetName = CUresult (*)(const char**, CUfunction);
  using Find = CUresult (*)(CUfunction*, CUmodule, const char*);
  using SetAttribute = CUresult (*)(CUfunction, CUfunction_attribute, int);

  std::string name_;
  CUmodule module_ = nullptr;
};

}  // namespace pace::cuda
