// One recorded call, `((args), {kwargs})`: written as text, it is read as the same call again.
#include <string>
#include <utility>
#include <variant>

#include "pace/corpus/parse.hpp"
#include "pace/corpus/text.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace pace;

/// Takes the user's spelling from a value, so that to_text() writes it in its own.
void forget_spelling(corpus::Value& value) {
  value.spelling.clear();
  if (auto* const list = value.get_if<corpus::List>())
    for (auto& item : list->items) forget_spelling(item);
  if (auto* const tuple = value.get_if<corpus::Tuple>())
    for (auto& item : tuple->items) forget_spelling(item);
  if (auto* const dict = value.get_if<corpus::Dict>())
    for (auto& [key, item] : dict->items) forget_spelling(key), forget_spelling(item);
}

[[nodiscard]] std::string canonical(corpus::Call call) {
  for (auto& value : call.args) forget_spelling(value);
  for (auto& [name, value] : call.kwargs) forget_spelling(value);
  return corpus::to_text(call);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const Location where{"calls.txt", 3, 8};
  corpus::Call call;
  try {
    call = corpus::parse_call(text, where, "aten.add.Tensor");
  } catch (const InputError& error) {
    fuzz::require_place(error, where.file);
    fuzz::require(error.where().line >= where.line && error.where().column > 0, "an error has a line and a column",
                  error.what());
    return 0;
  } catch (const Unsupported& error) {
    fuzz::require(std::string(error.what()).find("calls.txt:") != std::string::npos, "a refusal names its place",
                  error.what());
    return 0;
  }
  // NaN is not equal to itself, so texts are compared.
  const std::string written = corpus::to_text(call);
  const auto again = corpus::parse_call(written, where);
  fuzz::require(corpus::to_text(again) == written, "a call that was written is read as the same text", written);
  const std::string plain = canonical(call);
  fuzz::require(canonical(again) == plain, "a call that was written is read as the same values", written);
  fuzz::require(canonical(corpus::parse_call(plain, where)) == plain, "values without a spelling are read again",
                plain);
  return 0;
}
