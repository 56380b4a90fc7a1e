// Fields: a struct is described once, by a table of its JSON keys; writing, reading and the page of keys are made of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace pace::report {

/// The version in the first line of a results file. It is raised when a reader of the present version would misread the
/// file; new keys alone do not raise it. Version 1 was one document, not lines.
inline constexpr int schema_version = 2;

/// One key of a JSON object, and the member of `Owner` behind it.
template <class Owner, class Member>
struct Field {
  std::string_view key;
  Member Owner::* member;
  /// What the value means, for the page of keys: "ns, of the median", or a sentence without its full stop.
  std::string_view meaning;
  /// Reading fails where the key is missing. What is not required, and missing or null, keeps its default; but null in the
  /// place of a number is NaN.
  bool required = false;
  /// The value is null unless this member is true.
  bool Owner::* only_if = nullptr;
  /// The version of the schema that brought the key.
  int since = schema_version;
};

/// A key that is written for the file's readers and follows from others: it is not read back.
template <class Owner, class Value>
struct Derived {
  std::string_view key;
  Value (Owner::*function)() const;
  std::string_view meaning;
  int since = schema_version;
};

/// A map whose entries are keys of the object, behind those that the table names; it keeps none of these.
template <class Owner>
struct FurtherKeys {
  std::map<std::string, std::string> Owner::* map;
  std::string_view meaning;
};

// Functions, since not every compiler deduces the arguments of an aggregate.
template <class Owner, class Member>
[[nodiscard]] constexpr Field<Owner, Member> field(std::string_view key, Member Owner::* member,
                                                   std::string_view meaning, bool Owner::* only_if = nullptr) {
  return {key, member, meaning, false, only_if};
}
template <class Owner, class Member>
[[nodiscard]] constexpr Field<Owner, Member> required_field(std::string_view key, Member Owner::* member,
                                                            std::string_view meaning) {
  return {key, member, meaning, true};
}
template <class Owner, class Value>
[[nodiscard]] constexpr Derived<Owner, Value> derived_field(std::string_view key, Value (Owner::*function)() const,
                                                            std::string_view meaning) {
  return {key, function, meaning};
}
template <class Owner>
[[nodiscard]] constexpr FurtherKeys<Owner> further_keys(std::map<std::string, std::string> Owner::* map,
                                                        std::string_view meaning) {
  return {map, meaning};
}

/// What describes a type, in a specialisation: of a struct, `name` (a heading of the page of keys) and `fields` (a tuple of
/// the above); of an enumeration, `values`, each of which is written as `to_string` has it.
template <class T>
struct Schema;

template <class T>
concept DescribedStruct = requires { Schema<T>::fields; };
template <class T>
concept DescribedEnum = std::is_enum_v<T> && requires { Schema<T>::values; };

/// Calls `use(field)` for each row of the table of `T`, in its order.
template <DescribedStruct T, class Use>
constexpr void for_each_field(const Use& use) {
  std::apply([&](const auto&... each) { (use(each), ...); }, Schema<T>::fields);
}

}  // namespace pace::report
