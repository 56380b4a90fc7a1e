// The tables of keys, as docs/results.md has them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pace/report/schema.hpp"

namespace schema {

/// Writes the table of `T`, then the tables of its members, each once.
class Tables {
 public:
  template <class T>
  void add() {
    using pace::report::Schema;
    if constexpr (pace::report::DescribedStruct<T>) {
      if (!known_.insert(Schema<T>::name).second) return;
      std::string rows;
      pace::report::for_each_field<T>([&](const auto& row) { rows += row_of(row); });
      text_ += "### " + std::string(Schema<T>::name) + "\n\n| key | value | meaning |\n|---|---|---|\n" + rows + '\n';
      pace::report::for_each_field<T>([&]<class Row>(const Row& row) {
        if constexpr (requires { row.member; }) add<Inner<std::remove_cvref_t<decltype(T().*row.member)>>>();
      });
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class T>
  struct Unwrapped {
    using Type = T;
  };
  template <class T>
  struct Unwrapped<std::optional<T>> : Unwrapped<T> {};
  template <class T>
  struct Unwrapped<std::vector<T>> : Unwrapped<T> {};
  template <class T>
  using Inner = typename Unwrapped<T>::Type;

  template <class T>
  [[nodiscard]] static std::string value() {
    using namespace pace;
    if constexpr (report::DescribedStruct<T>) {
      return "[" + std::string(report::Schema<T>::name) + "](#" + anchor(report::Schema<T>::name) + ')';
    } else if constexpr (report::DescribedEnum<T>) {
      std::string all;
      for (const T each : report::Schema<T>::values)
        all += (all.empty() ? "`" : ", `") + std::string(to_string(each)) + '`';
      return all;
    } else if constexpr (std::is_same_v<T, bool>) {
      return "true or false";
    } else if constexpr (std::is_integral_v<T>) {
      return "whole number";
    } else if constexpr (std::is_same_v<T, std::string>) {
      return "text";
    } else if constexpr (std::is_same_v<T, report::Configuration>) {
      return "object of texts";
    } else {
      return "number";
    }
  }
  template <class T>
  [[nodiscard]] static std::string any_value() {
    std::string text = value<Inner<T>>();
    if constexpr (requires(T each) { each.push_back(each.front()); } && !std::is_same_v<T, std::string>)
      text = "array of " + text;
    if constexpr (requires(T each) { each.has_value(); }) text += ", or null";
    return text;
  }

  /// As the headings of a page are linked to.
  [[nodiscard]] static std::string anchor(std::string_view heading) {
    std::string text(heading);
    for (char& c : text)
      if (c == ' ') c = '-';
    return text;
  }

  template <class Owner, class Member>
  [[nodiscard]] static std::string row_of(const pace::report::Field<Owner, Member>& row) {
    return line(row.key, any_value<Member>() + (row.only_if != nullptr ? ", or null" : ""), row.meaning);
  }
  template <class Owner, class Value>
  [[nodiscard]] static std::string row_of(const pace::report::Derived<Owner, Value>& row) {
    return line(row.key, any_value<Value>(), row.meaning);
  }
  template <class Owner>
  [[nodiscard]] static std::string row_of(const pace::report::FurtherKeys<Owner>& row) {
    return "| ... | text | " + std::string(row.meaning) + " |\n";
  }
  [[nodiscard]] static std::string line(std::string_view key, const std::string& value, std::string_view meaning) {
    return "| `" + std::string(key) + "` | " + value + " | " + std::string(meaning) + " |\n";
  }

  std::set<std::string_view> known_;
  std::string text_;
};

/// The tables of a first line and of every other one.
[[nodiscard]] inline std::string text() {
  Tables tables;
  tables.add<pace::report::ResultsHeader>();
  tables.add<pace::Result>();
  return tables.text();
}

}  // namespace schema
