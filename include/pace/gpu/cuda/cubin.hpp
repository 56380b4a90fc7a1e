// Cubin: a file of compiled kernels, such as another build of a kernel, which is launched in its place.
#pragma once

#include <cuda.h>

#include <filesystem>
#include <string>
#include <utility>

#include "pace/core/error.hpp"
#include "pace/core/read_file.hpp"
#include "pace/gpu/cuda/driver.hpp"

namespace pace::cuda {

/// A cubin file, loaded into the context of the current device for the lifetime of the object.
class Cubin {
 public:
  /// Loads the file. Throws InputError if it cannot be read or is empty, and Unsupported with the driver's message if
  /// it is not a cubin for this device.
  explicit Cubin(const std::filesystem::path& file) : name_(file.string()) {
    const std::string image = read_file(name_, "a compiled kernel (cubin)");
    if (image.empty()) throw InputError({name_}, "is empty; expected a compiled kernel (cubin)");
    static const auto load = driver_function<Load>("cuModuleLoadData");
    require(load(&module_, image.data()), "loading " + name_);
  }
  Cubin(const Cubin&) = delete;
  ~Cubin() {
    if (module_ == nullptr) return;
    static const auto unload = driver_function<Unload>("cuModuleUnload");
    static_cast<void>(unload(module_));
  }

  /// Returns the kernel `symbol`, prepared for a launch with `shared_bytes` bytes of dynamic shared memory. Throws
  /// Unsupported if there is no such kernel, or if the device has less shared memory.
  [[nodiscard]] CUfunction function(const std::string& symbol, int shared_bytes) const {
    static const auto find = driver_function<Find>("cuModuleGetFunction");
    static const auto set = driver_function<SetAttribute>("cuFuncSetAttribute");
    CUfunction found = nullptr;
    require(find(&found, module_, symbol.c_str()), "looking for " + symbol + " in " + name_);
    // The driver requires an explicit request for more than this.
    constexpr int without_asking = 48 * 1024;
    if (shared_bytes > without_asking)
      require(set(found, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes),
              "asking for " + std::to_string(shared_bytes) + " bytes of shared memory for " + symbol);
    return found;
  }

 private:
  using Load = CUresult (*)(CUmodule*, const void*);
  using Unload = CUresult (*)(CUmodule);
  using Find = CUresult (*)(CUfunction*, CUmodule, const char*);
  using SetAttribute = CUresult (*)(CUfunction, CUfunction_attribute, int);

  std::string name_;
  CUmodule module_ = nullptr;
};

}  // namespace pace::cuda
