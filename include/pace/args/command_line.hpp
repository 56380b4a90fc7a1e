// Command lines: options described once, from which CLI11 reads them, and messages and help are made.
//
//   std::string csv;
//   Nanoseconds budget = std::chrono::seconds(1);
//   const std::vector<args::Group> groups{
//       {"Files", {{"--csv", "one row per case", args::file(csv)}}},
//       {"Measuring", {{"-b,--budget", "time for the rounds", args::seconds(budget)}}}};
//   const auto given = args::parse(groups, words);
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/args/value.hpp"
#include "pace/core/config.hpp"

namespace pace::args {

/// Which words behind an option are its values.
enum class Arity {
  none,      ///< a flag
  one,       ///< the next word, whatever that is; given again, the option is read again
  optional,  ///< the next word if it is no option, else Option::implied
  words,     ///< all words up to the next option, each read by itself; given again, they add up
  list,      ///< all words up to the next option, else Option::implied; given again, only the last list counts
};

/// One option of a program.
class Option {
 public:
  /// `names` with commas between them, such as `-k,--filter`; messages have the last one.
  Option(const std::string& names, std::string help, Value value);
  /// An option that is known and never accepted; `why` is a sentence without its full stop.
  [[nodiscard]] static Option refused(const std::string& names, std::string why);

  /// What the help shows as the default, instead of what the target holds.
  [[nodiscard]] Option by_default(std::string shown) && {
    return value_.shown_default = std::move(shown), std::move(*this);
  }
  /// The value may be left out, and is `implied` then.
  [[nodiscard]] Option value_optional(std::string implied) && {
    return arity_ = Arity::optional, implied_ = std::move(implied), std::move(*this);
  }
  /// Values go on until the next option, or have commas between them; `read` gets them with commas. Without any, the value
  /// is `implied`; where that is empty, the option says nothing.
  [[nodiscard]] Option as_list(std::string implied = "") && {
    return arity_ = Arity::list, implied_ = std::move(implied), std::move(*this);
  }
  /// Values go on until the next option; `read` gets one after the other.
  [[nodiscard]] Option as_words() && { return arity_ = Arity::words, std::move(*this); }
  /// Given again, its value must be the same: one of two would have no effect.
  [[nodiscard]] Option once() && { return once_ = true, std::move(*this); }
  /// One of `others` must be given beside it.
  [[nodiscard]] Option needs(std::vector<std::string> others) && {
    return needs_ = std::move(others), std::move(*this);
  }
  /// None of `others` may be given beside it; `why` is a sentence without its full stop.
  [[nodiscard]] Option excludes(std::vector<std::string> others, std::string why) && {
    return excludes_ = std::move(others), why_ = std::move(why), std::move(*this);
  }
  /// Where the option is not given, its value is that of an environment variable, if that is set.
  [[nodiscard]] Option from_environment(std::string variable) && {
    return variable_ = std::move(variable), std::move(*this);
  }
  /// Not part of the help: programs give it to themselves.
  [[nodiscard]] Option hidden() && { return hidden_ = true, std::move(*this); }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The last name, as messages have it.
  [[nodiscard]] const std::string& name() const { return names_.back(); }
  [[nodiscard]] const std::string& help() const { return help_; }
  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] Arity arity() const { return arity_; }
  [[nodiscard]] const std::string& implied() const { return implied_; }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] const std::vector<std::string>& needed() const { return needs_; }
  [[nodiscard]] const std::vector<std::string>& excluded() const { return excludes_; }
  [[nodiscard]] const std::string& why_excluded() const { return why_; }
  [[nodiscard]] const std::string& variable() const { return variable_; }
  [[nodiscard]] bool is_once() const { return once_; }
  [[nodiscard]] bool is_hidden() const { return hidden_; }

 private:
  std::vector<std::string> names_;
  std::string help_;
  Value value_;
  Arity arity_ = Arity::none;
  std::string implied_, refusal_, why_, variable_;
  std::vector<std::string> needs_, excludes_;
  bool hidden_ = false, once_ = false;
};

/// Options under one title of the help.
struct Group {
  std::string title;
  std::vector<Option> options;
};
using Groups = std::vector<Group>;

/// What a command line may hold beside the options.
struct Grammar {
  /// Words that are no options, such as files; null: there are none.
  std::vector<std::string>* words = nullptr;
  /// Leaves what no option takes to Arguments::rest, for another parser; else it is an error.
  bool keeps_rest = false;
  /// `-h` and `--help` are options, and end the parsing.
  bool has_help = true;
  /// `--seqLength` is `--seq-length`. `--seq_length` is so in any case.
  bool camel_case = false;
};

/// What a command line held.
struct Arguments {
  bool help = false;
  /// The options by their last names, in the order in which they were given first.
  std::vector<std::string> given;
  /// Their values as they were given; of a flag none.
  std::map<std::string, std::vector<std::string>> values;
  /// Where Grammar::keeps_rest.
  std::vector<std::string> rest;

  [[nodiscard]] bool has(std::string_view name) const { return std::ranges::find(given, name) != given.end(); }
};

/// Reads `words`, a command line without the program's name. Values go where the options say. Throws InputError with the
/// option, the value and what was expected; for an unknown option with the nearest name that there is.
[[nodiscard]] Arguments parse(const Groups& groups, const std::vector<std::string>& words, const Grammar& grammar = {});

/// The options as a help text: by group, with defaults and units.
[[nodiscard]] std::string help(const Groups& groups);

/// Names of all options of the help, by their last names.
[[nodiscard]] std::vector<std::string> names_of(const Groups& groups);

/// Of the names in `groups` the one that `name` is most like; empty if none is like it.
[[nodiscard]] std::string nearest(const Groups& groups, const std::string& name);

/// Parts of `text` between commas; none of them empty, none twice. None otherwise.
[[nodiscard]] std::optional<std::vector<std::string>> read_names(const std::string& text);

/// Throws InputError if more than one of `options` is given, and if `one_needed` and none is. Returns the one that is, or an
/// empty text.
std::string choose_one(const Arguments& arguments, const std::vector<std::string>& options, bool one_needed = false);

/// Throws InputError if an option is given that is not among `allowed`, those of the command `command` of a program that has
/// several.
void allow_only(const Arguments& arguments, const std::vector<std::string>& allowed, const std::string& command);

}  // namespace pace::args

#ifdef PACE_HEADER_ONLY
#include "pace/args/command_line-inl.hpp"
#endif
