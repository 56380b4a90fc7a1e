// The text of inputs, with names of sizes and ranges of values: its printed form is read again as the same.
#include <algorithm>
#include <string>

#include "benches/files/loaders/input_text.hpp"
#include "pace/corpus/text.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pace;
  using namespace pace::benches::loaders;
  const auto text = fuzz::text_of(data, size);
  const Location where{"inputs.txt", 4};
  const Sizes sizes{{"batch", 8}, {"width", 64}};
  InputText read;
  try {
    read = parse_input_text(text, sizes, where);
  } catch (const InputError& error) {
    fuzz::require_place(error, where.file);
    return 0;
  }
  for (const auto& name : read.names) fuzz::require(sizes.contains(name), "a size is one that is swept", name);
  for (const auto& range : read.ranges)
    fuzz::require(!range || range->low < range->high, "a range has values", std::string(text));
  // Ranges are not in the text of the call.
  if (std::ranges::any_of(read.ranges, [](const auto& range) { return range.has_value(); })) return 0;
  const std::string written = corpus::to_text(read.call);
  const auto again = parse_input_text(written, {}, where);
  fuzz::require(corpus::to_text(again.call) == written && again.ranges.size() == read.ranges.size(),
                "inputs that were written are read as the same", written);
  return 0;
}
