// Formulas of sizes: brackets around one do not change its value, and no arithmetic overflows unnoticed.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "benches/files/kernels/formula.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace pace;
using namespace pace::benches::loaders;

[[nodiscard]] std::optional<Number> value_of(const std::string& text, const Scope& scope) {
  try {
    return Formula(text).value(scope);
  } catch (const Error& error) {
    fuzz::require(error.what()[0] != '\0', "an error has a message");
    return std::nullopt;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  Scope scope;
  scope.numbers = {{"n", Number::of(std::int64_t{1000})},
                   {"least", Number::of(-most - 1)},
                   {"most", Number::of(most)},
                   {"half", Number::of(0.5)}};
  scope.tensors["x"] = scope.tensors["0"] = {{8, 128}, {128, 1}};
  scope.tensors["scalar"] = {{}, {}};
  const auto value = value_of(text, scope);
  if (!value) return 0;
  if (text.size() <= 490) {
    const auto same = value_of("(" + text + ")", scope);
    fuzz::require(same && same->text() == value->text(), "brackets do not change a value", text);
    scope.numbers["value"] = *value;
    const auto next = value_of("value + 1", scope), greatest = value_of("max(value, value + 1)", scope);
    fuzz::require(!next || greatest->text() == next->text(), "a value is less than the next", text);
  }
  try {
    const auto whole = Formula(text).whole(scope);
    fuzz::require(!value->is_whole || value->whole == whole, "a whole number stays as it is", text);
  } catch (const Error&) {
    fuzz::require(!value->is_whole, "a whole number is one", text);
  }
  return 0;
}
