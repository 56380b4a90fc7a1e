// Values of sizes, as --sweep takes them: at most 1000 of them, each in its range and there once.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "benches/files/loaders/sweep.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pace;
  using namespace pace::benches::loaders;
  const std::string text(fuzz::text_of(data, size));
  Sweep sweep;
  try {
    sweep = parse_sweep(text);
  } catch (const InputError& error) {
    fuzz::require(std::string(error.what()).starts_with("--sweep '"), "an error names its option", error.what());
    return 0;
  }
  const std::set<std::int64_t> different(sweep.values.begin(), sweep.values.end());
  fuzz::require(!sweep.values.empty() && sweep.values.size() <= most_sweep_values, "there are 1 to 1000 values", text);
  fuzz::require(different.size() == sweep.values.size(), "no value is there twice", text);
  fuzz::require(*different.begin() >= 0 && *different.rbegin() <= std::int64_t{1} << 40, "a value is in its range",
                text);
  std::string list;
  for (const auto value : sweep.values) list += (list.empty() ? sweep.name + '=' : ",") + std::to_string(value);
  const Sweep again = parse_sweep(list);
  fuzz::require(again.name == sweep.name && again.values == sweep.values, "a list of the values means the same", list);
  fuzz::require(combinations({sweep}).size() == sweep.values.size(), "each value makes a case", text);
  return 0;
}
