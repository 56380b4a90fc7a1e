// Cases of an operator that are declared in C++: the cross product of shapes, types and devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/random.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/corpus/load.hpp"

namespace pace::benches::operators {

/// The value of an attribute, as it is written in a call and in a name: `64`, `f32`, `True`.
class AttributeValue {
 public:
  AttributeValue(int value) : AttributeValue(std::int64_t{value}) {}
  AttributeValue(std::int64_t value) : text_(std::to_string(value)), name_(text_) {}
  AttributeValue(bool value) : text_(value ? "True" : "False"), name_(value ? "1" : "0") {}
  AttributeValue(const char* value) : text_(value), name_(value) {}
  AttributeValue(std::string value) : text_(value), name_(std::move(value)) {}

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Without white space, as operator_benchmark names its tests.
  [[nodiscard]] std::string name() const {
    std::string name = name_;
    std::erase(name, ' ');
    return name;
  }

 private:
  std::string text_, name_;
};

/// Values of an attribute, each with its weight in random draws.
struct WeightedAttribute {
  std::string name;
  std::vector<std::pair<AttributeValue, double>> values;
};

/// Cases of one operator, or the same ones of several. Every row of a list is combined with every value of the crossed
/// attributes:
///
///     CaseList("aten.addmm.default", "addmm")
///         .list({"M", "N", "K"}, {{1, 64, 64}, {128, 128, 256}})
///         .cross("dtype", {"f32", "f16"})
///         .cross("device", {"cpu", "cuda"})
///         .call("((T([{N}], {dtype}), T([{M}, {K}], {dtype}), T([{K}, {N}], {dtype})), {})")
///
/// The call is written as in a recorded file, with attributes in braces. A case is named as operator_benchmark names
/// its tests: the module, then each attribute with its value, `addmm_M1_N64_K64_dtypef32_cpu`; a device is only the
/// value.
class CaseList {
 public:
  /// `module`: the first part of the names. Throws InputError without an operator's name.
  CaseList(std::string op, std::string module) : CaseList(Operators{{std::move(op), std::move(module)}}) {}
  /// Operators with the names of their modules, which all have the cases that follow. Throws InputError without any,
  /// and as the constructor does.
  [[nodiscard]] static CaseList of(std::vector<std::pair<std::string, std::string>> operators) {
    return CaseList(std::move(operators));
  }

  /// Rows of values for attributes that go together; once. Throws InputError if a row has another length.
  CaseList& list(const std::vector<std::string>& names, const std::vector<std::vector<AttributeValue>>& rows) {
    std::vector<Attributes> listed;
    for (const auto& row : rows) {
      if (row.size() != names.size())
        throw InputError({}, op() + ": expected " + std::to_string(names.size()) +
                                 " values in each row of cases, found " + std::to_string(row.size()));
      auto& attributes = listed.emplace_back();
      for (std::size_t i = 0; i < names.size(); ++i) attributes.emplace_back(names[i], row[i]);
    }
    return combine(listed);
  }

  /// Every case so far, with each of the values.
  CaseList& cross(const std::string& name, const std::vector<AttributeValue>& values) {
    std::vector<Attributes> crossed;
    for (const auto& value : values) crossed.push_back({{name, value}});
    return combine(crossed);
  }

  /// Every case so far with each of `total` random rows. A row draws one value for each attribute, with a probability
  /// in proportion to its weight. Equal seeds draw equal rows, and a row may occur twice. Throws InputError for no
  /// rows, and for weights that are negative or sum up to 0.
  CaseList& sample(const std::vector<WeightedAttribute>& attributes, std::size_t total, std::uint64_t seed) {
    if (total == 0) throw InputError({}, op() + ": expected at least one row of random cases, found 0");
    SplitMix64 random(seed);
    std::vector<Attributes> drawn(total);
    for (auto& row : drawn)
      for (const auto& attribute : attributes) row.emplace_back(attribute.name, draw(attribute, random));
    return combine(drawn);
  }

  /// A word that selects these cases (`--tag`), such as `short`. Call it again for another word.
  CaseList& tag(std::string word) { return tags_.push_back(std::move(word)), *this; }
  [[nodiscard]] const std::vector<std::string>& tags() const { return tags_; }

  /// Sets which tensors (numbers from 0) get gradients in a backward pass (`--bwd`). One case has all of them
  /// (`_bwdall` in its name). Then each has a case alone (`_bwd1`, `_bwd2`), as `auto_set` of operator_benchmark does.
  /// Without it there is one case, for all tensors that can have a gradient.
  CaseList& auto_set(std::vector<std::size_t> tensors) { return differentiated_ = std::move(tensors), *this; }

  CaseList& call(std::string text) { return text_ = std::move(text), *this; }

  /// The cases on a kind of device and, unless `dtype` is empty, of that type (`f32`), as a recorded file would hold
  /// them. Where no attribute is named `device` or `dtype`, all of them. Throws InputError for an attribute in the call
  /// that no case has.
  [[nodiscard]] corpus::OperatorSamples samples(std::string_view device, std::string_view dtype) const {
    return samples_of(operators_.front(), device, dtype);
  }
  /// The same for each operator, in the given order.
  [[nodiscard]] std::vector<corpus::OperatorSamples> all_samples(std::string_view device,
                                                                 std::string_view dtype) const {
    std::vector<corpus::OperatorSamples> all;
    for (const auto& each : operators_) all.push_back(samples_of(each, device, dtype));
    return all;
  }

 private:
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;
  using Operators = std::vector<std::pair<std::string, std::string>>;

  explicit CaseList(Operators operators) : operators_(std::move(operators)) {
    if (operators_.empty()) throw InputError({}, "cases need the name of at least one operator");
    for (const auto& [op, module] : operators_)
      if (op.empty() || module.empty()) throw InputError({}, "cases need the names of an operator and of a module");
  }

  [[nodiscard]] const std::string& op() const { return operators_.front().first; }

  [[nodiscard]] corpus::OperatorSamples samples_of(const std::pair<std::string, std::string>& op_and_module,
                                                   std::string_view device, std::string_view dtype) const {
    corpus::OperatorSamples samples;
    samples.name = op_and_module.first;
    for (const auto& attributes : cases_) {
      if (differs(attributes, "device", device) || (!dtype.empty() && differs(attributes, "dtype", dtype))) continue;
      const std::string name = name_of(op_and_module.second, attributes);
      samples.samples.push_back(
          {.text = filled_in(attributes),
           .count = 1,
           .where = {name},
           .label = name,
           .declared = {
               .module = op_and_module.second, .attributes = words_of(attributes), .differentiated = differentiated_}});
    }
    return samples;
  }

  [[nodiscard]] AttributeValue draw(const WeightedAttribute& attribute, SplitMix64& random) const {
    double sum = 0;
    for (const auto& [value, weight] : attribute.values) {
      if (!(weight >= 0))
        throw InputError({}, op() + ": '" + attribute.name + "' has a weight that is no number from 0");
      sum += weight;
    }
    if (!(sum > 0))
      throw InputError({}, op() + ": expected weights of '" + attribute.name + "' that sum up to more than 0");
    constexpr double numbers = 18446744073709551616.0;  // 2^64
    double left = static_cast<double>(random()) / numbers * sum;
    const AttributeValue* drawn = nullptr;
    for (const auto& [value, weight] : attribute.values) {
      if (weight <= 0) continue;
      drawn = &value;  // the last one, where rounding leaves a rest
      if (left < weight) break;
      left -= weight;
    }
    return *drawn;
  }

  CaseList& combine(const std::vector<Attributes>& more) {
    std::vector<Attributes> all;
    for (const auto& known : cases_)
      for (const auto& each : more) {
        all.push_back(known);
        for (const auto& [name, value] : each) {
          const auto twice = std::ranges::find(known, name, &Attributes::value_type::first);
          if (twice != known.end()) throw InputError({}, op() + ": the attribute '" + name + "' is there twice");
          all.back().emplace_back(name, value);
        }
      }
    cases_ = std::move(all);
    return *this;
  }

  [[nodiscard]] static bool differs(const Attributes& attributes, std::string_view name, std::string_view wanted) {
    for (const auto& [known, value] : attributes)
      if (known == name) return value.text() != wanted;
    return false;
  }

  [[nodiscard]] static std::string name_of(std::string name, const Attributes& attributes) {
    for (const auto& [key, value] : attributes) name += '_' + (key == "device" ? "" : key) + value.name();
    return name;
  }

  /// As operator_benchmark prints the inputs of a test.
  [[nodiscard]] static std::string words_of(const Attributes& attributes) {
    std::string words;
    for (const auto& [key, value] : attributes) words += (words.empty() ? "" : ", ") + key + ": " + value.text();
    return words;
  }

  [[nodiscard]] std::string filled_in(const Attributes& attributes) const {
    std::string text;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t open = std::min(text_.find('{', at), text_.size());
      text.append(text_, at, open - at);
      const std::size_t close = std::min(text_.find('}', open), text_.size());
      const std::string_view name =
          std::string_view(text_).substr(std::min(open + 1, text_.size()), close > open ? close - open - 1 : 0);
      at = close + 1;
      if (open == text_.size()) break;
      const auto known = std::ranges::find(attributes, name, &Attributes::value_type::first);
      // Empty braces, or some with a quoted key, are the keyword arguments.
      const bool keywords = name.empty() || name.front() == '\'' || name.front() == '"';
      if (known == attributes.end() && !keywords)
        throw InputError({}, op() + ": the call has '{" + std::string(name) + "}', but no case has that attribute");
      text += keywords ? '{' + std::string(name) + '}' : known->second.text();
    }
    return text;
  }

  Operators operators_;
  std::vector<std::string> tags_;
  std::vector<std::size_t> differentiated_;
  std::string text_;
  std::vector<Attributes> cases_ = {{}};
};

namespace detail {

/// Filled before main() begins, so by functions: errors in them show when they are used.
[[nodiscard]] inline std::vector<CaseList (*)()>& declared_cases() {
  static std::vector<CaseList (*)()> all;
  return all;
}

}  // namespace detail

inline bool declare_cases(CaseList (*make)()) {
  detail::declared_cases().push_back(make);
  return true;
}

/// Everything that the program's source files declare with one of `tags`; no tags: everything. Throws InputError as
/// CaseList does, and for a tag that no cases have.
[[nodiscard]] inline corpus::Corpus declared_corpus(std::string_view device, std::string_view dtype,
                                                    const std::vector<std::string>& tags = {}) {
  std::vector<corpus::OperatorSamples> all;
  std::set<std::string> known;
  for (const auto make : detail::declared_cases()) {
    const CaseList cases = make();
    known.insert(cases.tags().begin(), cases.tags().end());
    const auto is_wanted = [&](const std::string& tag) { return std::ranges::find(tags, tag) != tags.end(); };
    if (!tags.empty() && std::ranges::none_of(cases.tags(), is_wanted)) continue;
    for (auto& each : cases.all_samples(device, dtype)) all.push_back(std::move(each));
  }
  for (const auto& tag : tags)
    if (!known.contains(tag)) {
      std::string names;
      for (const auto& each : known) names += (names.empty() ? "" : ", ") + each;
      throw InputError({}, "--tag: no cases have the tag '" + tag + "'; there are " + (names.empty() ? "none" : names));
    }
  return corpus::Corpus::from_samples(all);
}

}  // namespace pace::benches::operators

#define PACE_DETAIL_CASES_JOIN(a, b) a##b
#define PACE_DETAIL_CASES_NAME(name, line) PACE_DETAIL_CASES_JOIN(name, line)

/// In any source file of a program that replays operators: cases that it replays when it is given no recorded inputs,
///
///     PACE_OPERATOR_CASES(pace::benches::operators::CaseList("aten.relu.default", "relu").cross("M", {64, 4096})...)
#define PACE_OPERATOR_CASES(...)                                                     \
  [[maybe_unused]] static const bool PACE_DETAIL_CASES_NAME(pace_cases_, __LINE__) = \
      ::pace::benches::operators::declare_cases([] { return ::pace::benches::operators::CaseList(__VA_ARGS__); })
