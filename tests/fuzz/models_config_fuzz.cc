// The YAML that configures models: errors and warnings name the file, and numbers are in their ranges.
#include <set>
#include <string>

#include "benches/models/config_file.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pace;
  const std::string text(fuzz::text_of(data, size)), path = "models.yaml";
  const std::set<std::string, std::less<>> models{"resnet18", "dlrm"};
  try {
    const auto config = benches::models::parse_config(text, path, models, [&](const std::string& warning) {
      fuzz::require(warning.starts_with(path + ':'), "a warning names its place", warning);
      fuzz::require(warning.find('\n') == std::string::npos, "a warning is one line", warning);
    });
    for (const auto& name : config.very_slow)
      fuzz::require(config.slow.contains(name), "a very slow model is slow", name);
    for (const auto* const sizes :
         {&config.batch_size.training, &config.batch_size.inference, &config.accuracy.max_batch_size})
      for (const auto& [name, number] : *sizes) fuzz::require(number > 0, "a batch has a size", name);
    for (const auto& [name, number] : config.tolerance.iou_thresholds)
      fuzz::require(number >= 0 && number <= 1, "a threshold is from 0 to 1", name);
  } catch (const InputError& error) {
    fuzz::require_place(error, path);
  }
  return 0;
}
