// Command lines: one description of each option serves CLI11's parser, the messages and the help.
//
//   std::string csv;
//   Nanoseconds budget = std::chrono::seconds(1);
//   const std::vector<args::Group> groups{
//       {"Files", {{"--csv", "one row per case", args::file(csv)}}},
//       {"Measuring", {{"-b,--budget", "time for the rounds", args::seconds(budget)}}}};
//   const auto given = args::parse(groups, words);
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/args/value.hpp"
#include "pace/base/config.hpp"

namespace pace::args {

/// Which words behind an option are its values.
enum class Arity {
  none,      ///< a flag
  one,       ///< the next word in any case; given again, the option is read again
  optional,  ///< the next word unless that is an option, else Option::implied
  words,     ///< all words up to the next option, each read by itself; given again, they add up
  list,      ///< all words up to the next option, else Option::implied; given again, only the last list counts
};

/// One option of a program.
class Option {
 public:
  /// `names` have commas between them, such as `-k,--filter`; messages use the last one.
  Option(const std::string& names, std::string help, Value value);
  /// Makes an option that is known and never accepted; `why` is a sentence without its full stop.
  [[nodiscard]] static Option refused(const std::string& names, std::string why);

  /// Sets the default that the help shows instead of the target's value.
  [[nodiscard]] Option by_default(std::string shown) && {
    return value_.shown_default = std::move(shown), std::move(*this);
  }
  /// Lets the value be left out; it is `implied` then.
  [[nodiscard]] Option value_optional(std::string implied) && {
    return arity_ = Arity::optional, implied_ = std::move(implied), std::move(*this);
  }
  /// Takes all words up to the next option, or one word with commas, as values; `read` gets them with commas between
  /// them. Without any, the value is `implied`; where that is empty, the option has no effect.
  [[nodiscard]] Option as_list(std::string implied = "") && {
    return arity_ = Arity::list, implied_ = std::move(implied), std::move(*this);
  }
  /// Takes all words up to the next option as values; `read` gets one after the other.
  [[nodiscard]] Option as_words() && { return arity_ = Arity::words, std::move(*this); }
  /// Requires that the option, given again, has the same value: one of two values would have no effect.
  [[nodiscard]] Option once() && { return once_ = true, std::move(*this); }
  /// Requires that one of `others` is given as well.
  [[nodiscard]] Option needs(std::vector<std::string> others) && {
    return needs_ = std::move(others), std::move(*this);
  }
  /// Requires that none of `others` is given as well; `why` is a sentence without its full stop.
  [[nodiscard]] Option excludes(std::vector<std::string> others, std::string why) && {
    return excludes_ = std::move(others), why_ = std::move(why), std::move(*this);
  }
  /// Takes the value from an environment variable, if that is set, where the option is not given.
  [[nodiscard]] Option from_environment(std::string variable) && {
    return variable_ = std::move(variable), std::move(*this);
  }
  /// Leaves the option out of the help: it is for programs that start themselves.
  [[nodiscard]] Option hidden() && { return hidden_ = true, std::move(*this); }

  /// All names, in the order in which the constructor got them.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The last name, which messages use.
  [[nodiscard]] const std::string& name() const { return names_.back(); }
  /// Description of the option in the help.
  [[nodiscard]] const std::string& help() const { return help_; }
  /// Kind, text forms and target of the option's value.
  [[nodiscard]] const Value& value() const { return value_; }
  /// Which words behind the option are its values.
  [[nodiscard]] Arity arity() const { return arity_; }
  /// The value where the option is given without one; see value_optional() and as_list().
  [[nodiscard]] const std::string& implied() const { return implied_; }
  /// Why the option is never accepted; empty: it is accepted.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// One of these options must be given as well; empty: none need be.
  [[nodiscard]] const std::vector<std::string>& needed() const { return needs_; }
  /// Options that must not be given as well.
  [[nodiscard]] const std::vector<std::string>& excluded() const { return excludes_; }
  /// Why excluded() must not be given as well.
  [[nodiscard]] const std::string& why_excluded() const { return why_; }
  /// The environment variable that stands in for the option; empty: none does.
  [[nodiscard]] const std::string& variable() const { return variable_; }
  /// Whether the option, given again, must have the same value.
  [[nodiscard]] bool is_once() const { return once_; }
  /// Whether the help leaves the option out.
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
  std::string title;            ///< heading in the help
  std::vector<Option> options;  ///< in the order of the help
};
/// All options of a program, in the order of the help.
using Groups = std::vector<Group>;

/// Forms that a command line may have beside the options.
struct Grammar {
  /// Target for words that are not options, such as files, unless keeps_rest is set; null: such words are an error.
  std::vector<std::string>* words = nullptr;
  /// Puts words that no option takes in Arguments::rest, for another parser; otherwise they are an error.
  bool keeps_rest = false;
  /// Accepts `-h` and `--help`, which end the parsing.
  bool has_help = true;
  /// Accepts `--seqLength` for `--seq-length`. `--seq_length` is accepted in any case.
  bool camel_case = false;
};

/// Options and words of a command line that was read.
struct Arguments {
  bool help = false;  ///< whether `-h` or `--help` was given; then nothing else is set
  /// The options by their last names, in the order in which they were given first.
  std::vector<std::string> given;
  /// Values as they were given, by the options' last names; a flag has none.
  std::map<std::string, std::vector<std::string>> values;
  /// Words that no option took, if Grammar::keeps_rest is set.
  std::vector<std::string> rest;

  /// Returns whether the option with this last name was given.
  [[nodiscard]] bool has(std::string_view name) const { return std::ranges::find(given, name) != given.end(); }
};

/// Reads `words`, a command line without the program's name, and stores the values in the options' targets. Throws
/// Error, which names the option and its groups, if `groups` have two options of one name, which is an error of the
/// program. Throws InputError, which names the option, the value and what was expected, or for an unknown option the
/// nearest known name.
[[nodiscard]] Arguments parse(const Groups& groups, const std::vector<std::string>& words, const Grammar& grammar = {});

/// Returns the help text: options by group, with defaults and units, in lines of at most `width` columns unless a word
/// is longer.
[[nodiscard]] std::string help(const Groups& groups, std::size_t width);
/// Returns the help text as wide as the terminal of the standard output.
[[nodiscard]] std::string help(const Groups& groups);

/// Returns the last names of all options that the help shows.
[[nodiscard]] std::vector<std::string> names_of(const Groups& groups);

/// Returns the shortest name in `groups` that begins with `name`, else the one with the least edit distance
/// (Levenshtein) to it; empty if none is near. Capitals count as small letters.
[[nodiscard]] std::string nearest(const Groups& groups, const std::string& name);

/// Returns the parts of `text` between commas, or none if a part is empty or occurs twice.
[[nodiscard]] std::optional<std::vector<std::string>> read_names(const std::string& text);

/// Returns the one of `options` that is given, or an empty text. Throws InputError if more than one is given, or if
/// none is and `one_needed` is set.
std::string choose_one(const Arguments& arguments, const std::vector<std::string>& options, bool one_needed = false);

/// Throws InputError if an option is given that is not among `allowed`, the options of `command` in a program with
/// several commands.
void allow_only(const Arguments& arguments, const std::vector<std::string>& allowed, const std::string& command);

}  // namespace pace::args

#ifdef PACE_HEADER_ONLY
#include "pace/args/command_line-inl.hpp"
#endif
