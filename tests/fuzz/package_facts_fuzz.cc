// The files beside a package: a file is read, or refused with its name, and figures are in their ranges.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "benches/files/aot/package_facts.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pace;
  using namespace pace::benches::aot;
  const auto file = std::filesystem::temp_directory_path() / ("pace-fuzz-" + std::to_string(::getpid()) + ".json");
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  for (const std::string model : {"model", "other"}) {
    std::optional<PackageFacts> facts;
    try {
      facts = read_package_facts(file, model);
    } catch (const Error& error) {
      fuzz::require(std::string(error.what()).starts_with(file.string() + ':'), "an error names its file",
                    error.what());
    }
    if (!facts) continue;
    for (const auto& input : facts->inputs) {
      fuzz::require(input.sizes.size() == input.strides.size(), "an input has a stride for each size",
                    input.to_string());
      for (const auto* const numbers : {&input.sizes, &input.strides})
        for (const auto number : *numbers) fuzz::require(number >= 0, "sizes are not negative", input.to_string());
    }
    for (const auto& kernel : facts->kernels) {
      fuzz::require(kernel.calls >= 0 && (!kernel.bytes || *kernel.bytes >= 0), "a kernel has calls and bytes",
                    kernel.name);
      for (const auto& bytes : kernel.argument_bytes)
        fuzz::require(!bytes || *bytes >= 0, "an argument has bytes", kernel.name);
      for (const auto& configuration : kernel.configurations)
        fuzz::require(configuration.warps >= 1 && configuration.warps <= 32, "a block has 1 to 32 warps", kernel.name);
    }
  }
  std::filesystem::remove(file);
  return 0;
}
