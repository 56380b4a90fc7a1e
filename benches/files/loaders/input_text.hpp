// The text of inputs: the notation of recorded operators, with names for sizes and ranges for values.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <c10/core/Device.h>

#include "benches/files/aot/device.hpp"
#include "benches/files/loaders/call_inputs.hpp"
#include "benches/files/loaders/sweep.hpp"
#include "benches/operators/calls/memory.hpp"
#include "benches/text/beginning.hpp"
#include "pace/args/value.hpp"
#include "pace/base/error.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/corpus/dtype.hpp"
#include "pace/corpus/parse.hpp"
#include "pace/corpus/text.hpp"
#include "pace/inputs/generate.hpp"

namespace pace::benches::loaders {

/// Values of a tensor: from `low` on, below `high`.
struct ValueRange {
  double low = 0, high = 0;
};

/// A call without its tensors' values.
struct InputText {
  corpus::Call call;
  /// For each tensor of the call in the order of the text: the range of its values, if it has one.
  std::vector<std::optional<ValueRange>> ranges;
  /// Names of sizes in the text.
  std::set<std::string> names;
};

/// How the names of sizes in a text get their values.
enum class SizeNames {
  swept,   ///< by --sweep
  refused  ///< not at all: a text without names is expected
};

namespace detail {

inline constexpr const char* expected_text = "; expected a tuple such as (T([8, 128], f32),)";

/// Replaces names of sizes by their values and takes ranges out of tensors. The rest is the text of a recorded call.
class TextReader {
 public:
  /// `where`: of the text, for messages.
  TextReader(std::string_view text, const Sizes& sizes, SizeNames names_of_sizes, Location where)
      : text_(text), sizes_(sizes), names_of_sizes_(names_of_sizes), where_(std::move(where)) {}

  void read() {
    while (at_ < text_.size()) read_token();
    if (!closes_.empty())
      refuse(std::string("'") + closes_.back() + "' is missing at the end of the inputs " + beginning(text_) +
             expected_text);
  }

  std::string plain;
  std::vector<std::optional<ValueRange>> ranges;
  std::set<std::string> names;

 private:
  [[noreturn]] void refuse(const std::string& message) const { throw InputError(where_, message); }

  [[nodiscard]] static bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  [[nodiscard]] static bool is_word(char c) {
    return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  }
  [[nodiscard]] char next_visible(std::size_t from) const {
    while (from < text_.size() && text_[from] == ' ') ++from;
    return from < text_.size() ? text_[from] : '\0';
  }

  void read_token() {
    const char c = text_[at_];
    if (c == '\'' || c == '"') return copy_string(c);
    if (!is_word(c)) {
      if (c == '(' || c == '[' || c == '{') {
        open_.push_back(tensor_next_ && c == '(');
        closes_.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
      }
      if (c == ')' || c == ']' || c == '}') {
        if (closes_.empty() || closes_.back() != c)
          refuse(std::string("'") + c + "' closes no bracket in the inputs " + beginning(text_) + expected_text);
        if (open_.back()) end_tensor();
        open_.pop_back();
        closes_.pop_back();
      }
      if (c == ',' && !open_.empty() && open_.back() && takes_range()) return;
      tensor_next_ = false;
      plain += c;
      ++at_;
      return;
    }
    const std::size_t begin = at_;
    std::size_t end = begin;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string word(text_.substr(begin, end - begin));
    // 2e5 and 0x10 are numbers; torch.float32 and device(...) have their own names; between the sizes and the end of a
    // tensor its type is named.
    const bool is_of_tensor = !open_.empty() && open_.back();
    const bool is_name = begins_word(c) && !is_of_tensor && (begin == 0 || text_[begin - 1] != '.') &&
                         !is_reserved_word(word) && next_visible(end) != '=' && next_visible(end) != '(';
    at_ = end;
    tensor_next_ = word == "T";
    if (tensor_next_) ranges.emplace_back();
    if (!is_name) {
      if (const auto dtype = corpus::dtype_from_torch_name(word); dtype && is_of_tensor && text_[begin - 1] != '.')
        refuse("'" + word + "' is no type here; expected '" + std::string(corpus::abbreviation(*dtype)) + '\'');
      plain += word;
      return;
    }
    names.insert(word);
    const auto size = sizes_.find(word);
    if (size == sizes_.end()) {
      const std::string name = beginning(word), what = "the size '" + name + "' has no value; expected ";
      refuse(what + (names_of_sizes_ == SizeNames::swept
                         ? "--sweep " + name + "=FIRST:LAST:x2, or --sweep " + name + "=VALUE"
                         : "a number in its place"));
    }
    plain += std::to_string(size->second);
  }

  void copy_string(char quote) {
    plain += text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) plain += text_[at_++];
      plain += text_[at_++];
    }
    if (at_ < text_.size()) plain += text_[at_++];
    tensor_next_ = false;
  }

  /// At a comma inside of a tensor: reads `, low=NUMBER` or `, high=NUMBER`, if that comes next.
  [[nodiscard]] bool takes_range() {
    std::size_t at = at_ + 1;
    while (at < text_.size() && text_[at] == ' ') ++at;
    for (const std::string_view key : {"low", "high"}) {
      if (!text_.substr(at).starts_with(key)) continue;
      std::size_t begin = at + key.size();
      while (begin < text_.size() && text_[begin] == ' ') ++begin;
      if (begin >= text_.size() || text_[begin] != '=') continue;
      ++begin;
      const std::size_t end = std::min(text_.find_first_of(",)", begin), text_.size());
      std::string value(text_.substr(begin, end - begin));
      value.erase(std::remove(value.begin(), value.end(), ' '), value.end());
      if (const auto size = sizes_.find(value); size != sizes_.end()) {
        names.insert(value);
        value = std::to_string(size->second);
      }
      double number = 0;
      constexpr double most = 1e15;  // integers up to here are exact
      if (!args::read_between(value, number, -most, most))
        refuse(std::string(key) + "='" + beginning(value) +
               "': expected a number from -1e15 to 1e15, or the name of a size");
      auto& mine = key == "low" ? low_ : high_;
      if (mine) refuse(std::string(key) + " is given twice for a tensor");
      mine = number;
      at_ = end;
      return true;
    }
    return false;
  }

  void end_tensor() {
    if (low_ && !high_) refuse("a tensor has low=, but no high=; expected both, such as low=0, high=100");
    if (high_) ranges.back() = ValueRange{low_.value_or(0), *high_};
    low_.reset();
    high_.reset();
  }

  std::string_view text_;
  const Sizes& sizes_;
  SizeNames names_of_sizes_;
  Location where_;
  std::size_t at_ = 0;
  /// For each open bracket: whether it belongs to a tensor, and its closing bracket.
  std::vector<bool> open_;
  std::string closes_;
  bool tensor_next_ = false;
  std::optional<double> low_, high_;
};

/// Integers that fit into the type, as the largest ones that the text can name.
[[nodiscard]] inline std::pair<double, double> integers_of(corpus::DType dtype) {
  switch (dtype) {
    case corpus::DType::u8:
      return {0, 256};
    case corpus::DType::i8:
      return {-128, 128};
    case corpus::DType::i16:
      return {-32768, 32768};
    case corpus::DType::i32:
      return {-2147483648.0, 2147483648.0};
    default:
      return {-1e15, 1e15};
  }
}

inline void check_range(const corpus::TensorSpec& tensor, const std::optional<ValueRange>& range,
                        const Location& where) {
  const auto refuse = [&](const std::string& message) {
    throw InputError(where, beginning(corpus::to_text(corpus::Value(tensor))) + ": " + message);
  };
  const auto type = inputs::scalar_type(tensor.dtype);
  const bool integers = at::isIntegralType(type, /*includeBool=*/false);
  if (!range) {
    if (integers && tensor.dtype != corpus::DType::u8)
      refuse("integers have no range, and pace cannot know which are valid; expected one, such as " +
             std::string("low=0, high=1000, behind the type"));
    return;
  }
  if (!integers && (!at::isFloatingType(type) || check::detail::holds_only_bits(type)))
    refuse("values of this type have no range");
  if (!(range->low < range->high)) refuse("low must be below high");
  if (!integers) {
    constexpr double largest = 65504;
    if (tensor.dtype == corpus::DType::f16 && (range->low < -largest || range->high > largest))
      refuse("the type does not hold all values from low to high; expected numbers from -65504 to 65504");
    return;
  }
  if (range->low != std::floor(range->low) || range->high != std::floor(range->high))
    refuse("low and high of integers are whole numbers");
  const auto [least, most] = integers_of(tensor.dtype);
  if (range->low < least || range->high > most) refuse("the type does not hold all values from low to high");
}

/// Visits each value of the type `Sought`, those in lists and tuples among them.
template <class Sought, class Visit>
void visit_each(const corpus::Value& value, const Visit& visit) {
  if (const auto* const found = value.get_if<Sought>()) visit(*found);
  if (const auto* const list = value.get_if<corpus::List>())
    for (const auto& item : list->items) visit_each<Sought>(item, visit);
  if (const auto* const tuple = value.get_if<corpus::Tuple>())
    for (const auto& item : tuple->items) visit_each<Sought>(item, visit);
}

/// Draws values of the whole storage of a tensor, gaps included.
inline void draw_values(const at::Tensor& tensor, const ValueRange& range, std::uint64_t seed) {
  if (tensor.numel() == 0) return;
  std::int64_t elements = 1;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) elements += (tensor.size(d) - 1) * tensor.stride(d);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const bool integers = at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
  // Narrow types do not hold the width of every range.
  at::Tensor values = at::empty({elements}, integers ? tensor.scalar_type() : at::kDouble);
  if (integers) {
    values.random_(static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high), generator);
  } else {
    values.uniform_(range.low, range.high, generator);
    values = values.to(tensor.scalar_type()).to(at::kDouble);
    values.masked_fill_(values.ge(range.high), range.low);  // by rounding
  }
  tensor.as_strided({elements}, {1}, tensor.storage_offset()).copy_(values);
}

}  // namespace detail

/// Reads `(T([batch, 128], f32), T([batch], i64, low=0, high=1000))`, a tuple in the notation of recorded operators, or
/// `((args), {kwargs})`. Throws InputError at `where`.
[[nodiscard]] inline InputText parse_input_text(std::string_view text, const Sizes& sizes, const Location& where,
                                                SizeNames names_of_sizes = SizeNames::swept) {
  detail::TextReader reader(text, sizes, names_of_sizes, where);
  reader.read();
  const bool has_keywords = reader.plain.starts_with("((") && reader.plain.ends_with("})");
  const std::string no_keywords = ", {})";
  InputText parsed{.call = {}, .ranges = std::move(reader.ranges), .names = std::move(reader.names)};
  try {
    parsed.call = corpus::parse_call(has_keywords ? reader.plain : '(' + reader.plain + no_keywords, Location{});
  } catch (const Error& error) {
    std::string why = error.what();
    // The message quotes the rest of the text as found.
    if (const auto added = why.rfind(no_keywords); !has_keywords && added != std::string::npos)
      why.erase(added, no_keywords.size());
    throw InputError(where, "the inputs " + beginning(reader.plain) + ": " + beginning(why) + detail::expected_text);
  }
  std::size_t number = 0;
  const auto check = [&](const corpus::TensorSpec& tensor) {
    detail::check_range(tensor, parsed.ranges.at(number++), where);
  };
  const auto refuse_dict = [&](const corpus::Dict& dict) {
    throw InputError(where, corpus::to_text(corpus::Value(dict)) +
                                ": text has no dicts among the arguments; expected a file that torch.save has written, "
                                "or ((ARGUMENTS), {'name': VALUE}) for keyword arguments");
  };
  for (const auto& value : parsed.call.args) detail::visit_each<corpus::Dict>(value, refuse_dict);
  for (const auto& [name, value] : parsed.call.kwargs) detail::visit_each<corpus::Dict>(value, refuse_dict);
  for (const auto& value : parsed.call.args) detail::visit_each<corpus::TensorSpec>(value, check);
  for (const auto& [name, value] : parsed.call.kwargs) detail::visit_each<corpus::TensorSpec>(value, check);
  return parsed;
}

/// Throws Unsupported unless `copies` sets of the inputs fit in the memory that the device has left.
inline void require_memory_for(const InputText& text, c10::Device device, std::size_t copies) {
  operators::require_memory(
      inputs::input_bytes(text.call, std::optional<at::ScalarType>()) * static_cast<std::int64_t>(copies), "the inputs",
      aot::available_memory_on(device));
}

/// Makes tensors with random values that depend on the text and the seed alone. `copies`: sets of the inputs that the
/// caller will hold. Throws Unsupported for tensors that are too large or cannot be made.
[[nodiscard]] inline inputs::Inputs make_inputs(const InputText& text, c10::Device device, std::uint64_t seed,
                                                std::size_t copies) {
  require_memory_for(text, device, copies);
  inputs::GenerateOptions options;
  options.device = device;
  options.seed = seed;
  auto made = inputs::generate(text.call, options);
  const CallInputs numbered(made);
  for (std::size_t i = 0; i < text.ranges.size() && i < numbered.tensors().size(); ++i)
    if (text.ranges[i]) detail::draw_values(numbered.tensors()[i], *text.ranges[i], seed + i + 1);
  return made;
}

}  // namespace pace::benches::loaders
