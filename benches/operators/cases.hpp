// Cases of an operator that are declared in C++: the cross product of shapes, types and devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
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

/// Cases of one operator. Every row of a list is combined with every value of the crossed attributes:
///
///     CaseList("aten.addmm.default", "addmm")
///         .list({"M", "N", "K"}, {{1, 64, 64}, {128, 128, 256}})
///         .cross("dtype", {"f32", "f16"})
///         .cross("device", {"cpu", "cuda"})
///         .call("((T([{N}], {dtype}), T([{M}, {K}], {dtype}), T([{K}, {N}], {dtype})), {})")
///
/// The call is what a recorded file would say, with attributes in braces. A case is named as operator_benchmark names
/// its tests: the module, then each attribute with its value, `addmm_M1_N64_K64_dtypef32_cpu`; a device is only the
/// value.
class CaseList {
 public:
  /// `module`: the first part of the names. Throws InputError without an operator's name.
  CaseList(std::string op, std::string module) : op_(std::move(op)), module_(std::move(module)) {
    if (op_.empty() || module_.empty()) throw InputError({}, "cases need the names of an operator and of a module");
  }

  /// Rows of values for attributes that go together; once. Throws InputError if a row has another length.
  CaseList& list(const std::vector<std::string>& names, const std::vector<std::vector<AttributeValue>>& rows) {
    std::vector<Attributes> listed;
    for (const auto& row : rows) {
      if (row.size() != names.size())
        throw InputError({}, op_ + ": expected " + std::to_string(names.size()) +
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

  CaseList& call(std::string text) { return text_ = std::move(text), *this; }

  /// The cases on a kind of device and, unless `dtype` is empty, of that type (`f32`), as a recorded file would hold
  /// them. Where no attribute is named `device` or `dtype`, all of them. Throws InputError for an attribute in the call
  /// that no case has.
  [[nodiscard]] corpus::OperatorSamples samples(std::string_view device, std::string_view dtype) const {
    corpus::OperatorSamples samples;
    samples.name = op_;
    for (const auto& attributes : cases_) {
      if (differs(attributes, "device", device) || (!dtype.empty() && differs(attributes, "dtype", dtype))) continue;
      const std::string name = name_of(attributes);
      samples.samples.push_back({filled_in(attributes), 1, {name}, name});
    }
    return samples;
  }

 private:
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

  CaseList& combine(const std::vector<Attributes>& more) {
    std::vector<Attributes> all;
    for (const auto& known : cases_)
      for (const auto& each : more) {
        all.push_back(known);
        for (const auto& [name, value] : each) {
          const auto twice = std::ranges::find(known, name, &Attributes::value_type::first);
          if (twice != known.end()) throw InputError({}, op_ + ": the attribute '" + name + "' is there twice");
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

  [[nodiscard]] std::string name_of(const Attributes& attributes) const {
    std::string name = module_;
    for (const auto& [key, value] : attributes) name += '_' + (key == "device" ? "" : key) + value.name();
    return name;
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
        throw InputError({}, op_ + ": the call has '{" + std::string(name) + "}', but no case has that attribute");
      text += keywords ? '{' + std::string(name) + '}' : known->second.text();
    }
    return text;
  }

  std::string op_, module_, text_;
  std::vector<Attributes> cases_ = {{}};
};

namespace detail {

/// Filled before main() begins, so by functions: what is wrong with them is said when they are asked for.
[[nodiscard]] inline std::vector<CaseList (*)()>& declared_cases() {
  static std::vector<CaseList (*)()> all;
  return all;
}

}  // namespace detail

inline bool declare_cases(CaseList (*make)()) {
  detail::declared_cases().push_back(make);
  return true;
}

/// Everything that the program's source files declare. Throws InputError as CaseList does.
[[nodiscard]] inline corpus::Corpus declared_corpus(std::string_view device, std::string_view dtype) {
  std::vector<corpus::OperatorSamples> all;
  for (const auto make : detail::declared_cases()) all.push_back(make().samples(device, dtype));
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
