// Fields: one table of a struct's JSON keys serves writing, reading and the page of keys.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace pace::report {

/// The version in the first line of a results file. It is raised when a reader of the present version would misread the
/// file; new keys alone do not raise it. Version 1 was one document, not lines.
inline constexpr int schema_version = 3;

/// One key of a JSON object, and the member of `Owner` behind it.
template <class Owner, class Member>
struct Field {
  std::string_view key;    ///< name in the JSON object
  Member Owner::* member;  ///< where the value is
  /// Meaning of the value, for the page of keys: "ns, of the median", or a sentence without its full stop.
  std::string_view meaning;
  /// Reading fails where a required key is missing. A member whose key is not required keeps its default where the key
  /// is missing or null; but null in the place of a number is NaN.
  bool required = false;
  /// The value is null unless this member is true.
  bool Owner::* only_if = nullptr;
};

/// A key whose value follows from other members: it is written for readers of the file, and not read back.
template <class Owner, class Value>
struct Derived {
  std::string_view key;              ///< name in the JSON object
  Value (Owner::*function)() const;  ///< computes the value
  std::string_view meaning;          ///< as Field::meaning
};

/// A map whose entries are further keys of the object, written after those that the table names. An entry under a key
/// of the table is neither written nor read.
template <class Owner>
struct FurtherKeys {
  std::map<std::string, std::string> Owner::* map;  ///< where the entries are
  std::string_view meaning;                         ///< meaning of the entries, for the page of keys
};

// Functions, since not every compiler deduces the arguments of an aggregate.

/// Makes a Field that is not required.
template <class Owner, class Member>
[[nodiscard]] constexpr Field<Owner, Member> field(std::string_view key, Member Owner::* member,
                                                   std::string_view meaning, bool Owner::* only_if = nullptr) {
  return {key, member, meaning, false, only_if};
}
/// Makes a Field whose key is required.
template <class Owner, class Member>
[[nodiscard]] constexpr Field<Owner, Member> required_field(std::string_view key, Member Owner::* member,
                                                            std::string_view meaning) {
  return {key, member, meaning, true};
}
/// Makes a Derived.
template <class Owner, class Value>
[[nodiscard]] constexpr Derived<Owner, Value> derived_field(std::string_view key, Value (Owner::*function)() const,
                                                            std::string_view meaning) {
  return {key, function, meaning};
}
/// Makes a FurtherKeys.
template <class Owner>
[[nodiscard]] constexpr FurtherKeys<Owner> further_keys(std::map<std::string, std::string> Owner::* map,
                                                        std::string_view meaning) {
  return {map, meaning};
}

/// Describes a type by a specialisation. That for a struct has `name`, which is a heading of the page of keys, and
/// `fields`, a tuple of Field, Derived and FurtherKeys in the order in which keys are written. That for an enumeration
/// has `values`, written as the texts that `to_string` returns.
template <class T>
struct Schema;

/// A struct that has a Schema.
template <class T>
concept DescribedStruct = requires { Schema<T>::fields; };
/// An enumeration that has a Schema.
template <class T>
concept DescribedEnum = std::is_enum_v<T> && requires { Schema<T>::values; };

/// Calls `use(field)` for each row of the table of `T`, in its order.
template <DescribedStruct T, class Use>
constexpr void for_each_field(const Use& use) {
  std::apply([&](const auto&... each) { (use(each), ...); }, Schema<T>::fields);
}

}  // namespace pace::report
