// Command lines by CLI11.
#pragma once

#include "pace/args/command_line.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "pace/args/spellings.hpp"
#include "pace/base/edit_distance.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/terminal.hpp"

namespace pace::args {

namespace detail {

/// Returns the names of an option for a message, such as `--benchmark-kernels (-k)`.
inline std::string shown(const Option& option) {
  return option.names().size() == 1 ? option.name() : option.name() + " (" + option.names().front() + ')';
}

/// Returns the column in which the meanings of options begin, in lines of so many columns.
inline std::size_t column_of_help(std::size_t width) { return width < 100 ? 28 : 36; }

/// Shows an option as pace names it, with its value as `<seconds>`.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) { column_width(column_of_help(width)); }
  std::string make_option_name(const CLI::Option* option, bool) const override { return option->get_option_text(); }
  std::string make_option_opts(const CLI::Option*) const override { return ""; }
};

/// The most words of one option. Beyond CLI11's own limit it would read values in brackets as lists.
inline constexpr int most_words = 10'000;

/// CLI11's description of the options, with the pairs of pace's option and CLI11's.
struct Described {
  CLI::App app;
  std::vector<std::pair<const Option*, CLI::Option*>> options;
  /// The group of each name, in every spelling.
  std::map<std::string, std::string> titles;
  CLI::Option* help = nullptr;
  /// Columns of the meaning of an option in the help.
  std::size_t width_of_meaning;

  Described(const Groups& groups, const Grammar& grammar, std::size_t width)
      : width_of_meaning(width - column_of_help(width)) {
    app.set_help_flag();
    app.allow_extras();
    for (const auto& group : groups)
      for (const auto& option : group.options) add(option, group.title, grammar.camel_case);
    if (!grammar.has_help) return;
    for (const std::string name : {"-h", "--help"}) enter(name, "help");
    help = app.add_option("-h,--help")->expected(0);
  }

  void enter(const std::string& name, const std::string& title) {
    if (const auto [known, is_new] = titles.emplace(name, title); !is_new)
      throw Error("the program registers " + name + " twice, in the groups '" + known->second + "' and '" + title +
                  "' of its options; expected each name once");
  }

  void add(const Option& option, const std::string& title, bool camel_case) {
    std::set<std::string> names;
    for (const auto& name : option.names()) names.merge(variants(name, camel_case));
    for (const auto& name : names) enter(name, title);
    auto* const theirs = app.add_option(joined({names.begin(), names.end()}, ","));
    theirs->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    const bool is_refused = !option.refusal().empty();
    if (option.arity() == Arity::none) theirs->expected(0, is_refused ? 1 : 0);
    if (option.arity() == Arity::optional) theirs->expected(0, 1)->default_str(option.implied());
    if (option.arity() == Arity::words) theirs->expected(0, most_words);
    if (option.arity() == Arity::list) {
      // Between two lists of one option stands an empty value.
      theirs->expected(0, most_words)->default_str(option.implied())->inject_separator();
    }
    std::string text = joined(option.names(), ", "), meaning = option.help();
    if (!option.value().placeholder.empty()) text += " <" + option.value().placeholder + '>';
    if (!option.value().shown_default.empty()) meaning += " (default: " + option.value().shown_default + ')';
    if (is_refused) meaning = "refused: " + option.refusal();
    theirs->option_text(text)->description(wrapped(meaning, width_of_meaning))->group(option.is_hidden() ? "" : title);
    options.emplace_back(&option, theirs);
  }

  /// The option of that name; null if there is none.
  [[nodiscard]] const Option* find(const std::string& name) const {
    const auto found = std::ranges::find_if(options, [&](const auto& each) { return each.second->check_name(name); });
    return found == options.end() ? nullptr : found->first;
  }
  /// Whether CLI11 reads the word as an option, known or not, where it reads options.
  [[nodiscard]] bool is_option(const std::string& word) const {
    std::string name, rest;
    if (CLI::detail::split_long(word, name, rest)) return true;
    if (!CLI::detail::split_short(word, name, rest)) return false;
    const bool is_number = name[0] >= '0' && name[0] <= '9';
    return !is_number || find('-' + name) != nullptr;
  }
};

[[noreturn]] inline void refuse_value(const Option& option, const std::string& name, const std::string& text) {
  throw InputError({}, name + ": invalid value '" + text + "'; expected " + option.value().expected);
}

inline void read_value(const Option& option, const std::string& name, const std::string& text) {
  if (!option.value().read(text)) refuse_value(option, name, text);
}

/// Brings words into the forms that CLI11 reads: an empty value behind `=` becomes a word of its own; a short option's
/// value may stand behind `=`, and a long one's behind `:`, as in Catch2's options. Follows CLI11 from word to word, as
/// the value of an option, or a word behind `--`, stays as it is even where it looks like an option.
class WordsForCli11 {
 public:
  explicit WordsForCli11(const Described& described) : described_(described) {}

  /// Returns the words in these forms, without those that are refused: an empty word of a list, which CLI11 does not
  /// tell from a list without words, and the value of a flag.
  [[nodiscard]] std::vector<std::string> read(const std::vector<std::string>& words) {
    for (const auto& word : words) {
      try {
        add(word);
      } catch (const InputError& error) {
        if (!refused_) refused_ = error;
      }
    }
    return std::move(words_);
  }
  /// Throws InputError for the first word that was refused.
  void require_all() const {
    if (refused_) throw InputError(*refused_);
  }

 private:
  void add(const std::string& word) {
    const Arity arity = taking_ == nullptr ? Arity::none : taking_->arity();
    if (is_behind_end_ || arity == Arity::one) {
      keep(word, nullptr);
    } else if (word == "--") {
      // Ends the words of one option, or else all options.
      is_behind_end_ = taking_ == nullptr;
      keep(word, nullptr);
    } else if (described_.is_option(word)) {
      add_option(word);
    } else {
      if (word.empty() && (arity == Arity::list || arity == Arity::words)) refuse_value(*taking_, taking_->name(), "");
      keep(word, arity == Arity::optional && has_word_ ? nullptr : taking_);
      has_word_ = true;
    }
  }

  /// `taking` is the option that takes the next word or more; null: none does.
  void keep(std::string word, const Option* taking) {
    words_.push_back(std::move(word));
    taking_ = taking;
    has_word_ = false;
  }

  void add_option(const std::string& word) {
    const bool is_long = word.starts_with("--");
    const std::size_t end = is_long ? std::min(word.find_first_of("=:"), word.size()) : 2;
    const std::string name = word.substr(0, end);
    const Option* const option = described_.find(name);
    if (option == nullptr) return keep(word, nullptr);
    const Arity arity = option->arity();
    const bool has_sign = end < word.size() && (is_long || word[end] == '=');
    const std::string value = word.substr(has_sign ? end + 1 : end);
    const Option* const taking = arity == Arity::none ? nullptr : option;
    if (!has_sign && value.empty()) {
      keep(name, taking);
    } else if (arity == Arity::none && !has_sign) {
      // Several flags in one word, such as -fx.
      keep(name, nullptr);
      add('-' + value);
    } else if (arity == Arity::none && option->refusal().empty()) {
      throw InputError({}, option->name() + ": takes no value, found '" + value + "'");
    } else if (value.empty()) {
      keep(name, taking);
      if (taking != nullptr) add(value);
    } else {
      keep(name + (is_long ? "=" : "") + value, arity == Arity::words || arity == Arity::list ? option : nullptr);
      // A list with `=` ends here; CLI11 reads `--` as its end.
      if (arity == Arity::list && has_sign) keep("--", nullptr);
    }
  }

  const Described& described_;
  std::vector<std::string> words_;
  std::optional<InputError> refused_;
  const Option* taking_ = nullptr;
  bool has_word_ = false, is_behind_end_ = false;
};

/// Returns the texts for `read` from the words that CLI11 found for an option.
inline std::vector<std::string> values_of(const Option& option, const std::vector<std::string>& results) {
  std::vector<std::string> last;
  if (option.arity() == Arity::words)
    for (const auto& result : results)
      if (!result.empty()) last.push_back(result);
  if (option.arity() != Arity::list) return option.arity() == Arity::words ? last : results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].empty() && i > 0 && !results[i - 1].empty() && i + 1 < results.size() && !results[i + 1].empty())
      last.clear();
    else if (!results[i].empty())
      last.push_back(results[i]);
  }
  return last.empty() ? std::vector<std::string>{} : std::vector<std::string>{joined(last, ",")};
}

inline void refuse_relations(const Groups& groups, const Arguments& arguments) {
  const auto shown_name = [&](const std::string& name) {
    for (const auto& group : groups)
      for (const auto& option : group.options)
        if (option.name() == name) return shown(option);
    return name;
  };
  for (const auto& group : groups)
    for (const auto& option : group.options) {
      if (!arguments.has(option.name())) continue;
      const auto is_given = [&](const std::string& name) { return arguments.has(name); };
      const auto& needed = option.needed();
      if (!needed.empty() && std::ranges::none_of(needed, is_given)) {
        std::string list;
        for (std::size_t i = 0; i < needed.size(); ++i)
          list += (i == 0 ? "" : i + 1 == needed.size() ? " or " : ", ") + shown_name(needed[i]);
        throw InputError({}, shown(option) + " goes together with " + list + ", which was not given");
      }
      for (const auto& other : option.excluded())
        if (arguments.has(other))
          throw InputError(
              {}, option.name() + " does not go together with " + shown_name(other) + ": " + option.why_excluded());
    }
}

/// Puts the words that no option takes where the grammar wants them. Throws InputError if it wants none.
inline void leave(const std::vector<std::string>& words, const Groups& groups, const Grammar& grammar,
                  Arguments& arguments) {
  for (const auto& word : words) {
    if (grammar.keeps_rest) {
      arguments.rest.push_back(word);
    } else if (word.size() > 1 && word.starts_with('-')) {
      const std::string name = word.substr(0, word.find('=')), like = nearest(groups, name);
      const std::string all = grammar.has_help ? "; --help lists all options" : "";
      throw InputError({}, "unknown option " + name + (like.empty() ? all : "; did you mean " + like + '?'));
    } else if (grammar.words == nullptr) {
      throw InputError({}, "unexpected argument '" + word + "'; expected options alone");
    } else {
      grammar.words->push_back(word);
    }
  }
}

}  // namespace detail

PACE_INLINE Option::Option(const std::string& names, std::string help, Value value)
    : names_(detail::split(names, ',')),
      help_(std::move(help)),
      value_(std::move(value)),
      arity_(value_.placeholder.empty() ? Arity::none : Arity::one) {}

PACE_INLINE Option Option::refused(const std::string& names, std::string why) {
  Option option(names, "", {});
  option.refusal_ = std::move(why);
  return option;
}

PACE_INLINE std::string nearest(const Groups& groups, const std::string& name) {
  const std::string small = detail::in_small_letters(name);
  const std::size_t most = std::max<std::size_t>(2, name.size() / 4);
  std::string found;
  // A name that goes on where `name` ends is nearer than any that is spelt otherwise.
  std::pair<bool, std::size_t> least;
  for (const auto& group : groups)
    for (const auto& option : group.options)
      for (const auto& each : option.names()) {
        if (!each.starts_with("--") || option.is_hidden()) continue;
        const bool goes_on = small.size() > 2 && each.starts_with(small);
        const std::pair away{!goes_on, edit_distance(small, each)};
        if ((!goes_on && away.second > most) || (!found.empty() && away >= least)) continue;
        least = away;
        found = each;
      }
  return found;
}

PACE_INLINE Arguments parse(const Groups& groups, const std::vector<std::string>& words, const Grammar& grammar) {
  detail::Described described(groups, grammar, width_without_terminal);
  detail::WordsForCli11 for_cli11(described);
  auto reversed = for_cli11.read(words);
  const std::string last = reversed.empty() ? "" : reversed.back();
  std::reverse(reversed.begin(), reversed.end());
  try {
    described.app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    for (const auto& [option, theirs] : described.options)
      if (option->arity() == Arity::one && theirs->check_name(last))
        throw InputError({}, option->name() + ": expected a value after it: " + option->value().expected);
    throw InputError({}, error.what());
  }
  Arguments arguments;
  if (described.help != nullptr && described.help->count() > 0) {
    arguments.help = true;
    return arguments;
  }
  for_cli11.require_all();
  for (const auto* theirs : described.app.parse_order())
    for (const auto& [option, own] : described.options)
      if (own == theirs && !arguments.has(option->name())) arguments.given.push_back(option->name());
  for (const auto& [option, theirs] : described.options)
    if (theirs->count() > 0 && !option->refusal().empty())
      throw InputError({}, option->name() + " is refused: " + option->refusal());
  detail::leave(described.app.remaining(), groups, grammar, arguments);
  for (const auto& [option, theirs] : described.options) {
    const auto& results = theirs->results();
    if (results.empty()) {
      const std::string text = option->variable().empty() ? "" : environment_variable(option->variable().c_str());
      if (!text.empty()) detail::read_value(*option, option->variable(), text);
      continue;
    }
    auto& values = arguments.values[option->name()];
    if (option->arity() == Arity::none) {
      if (option->value().read) (void)option->value().read("");
      continue;
    }
    values = detail::values_of(*option, results);
    for (const auto& text : values)
      if (option->is_once() && text != values.front())
        throw InputError({}, option->name() + ": is given twice, as '" + values.front() + "' and as '" + text +
                                 "'; expected it once");
    for (const auto& text : values) detail::read_value(*option, option->name(), text);
  }
  detail::refuse_relations(groups, arguments);
  return arguments;
}

PACE_INLINE std::string help(const Groups& groups) { return help(groups, columns_of(STDOUT_FILENO)); }

PACE_INLINE std::string help(const Groups& groups, std::size_t width) {
  const detail::Described described(groups, {.has_help = false}, width);
  std::string text = detail::HelpFormatter(width).make_groups(&described.app, CLI::AppFormatMode::Normal);
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

PACE_INLINE std::vector<std::string> names_of(const Groups& groups) {
  std::vector<std::string> names;
  for (const auto& group : groups)
    for (const auto& option : group.options)
      if (!option.is_hidden()) names.push_back(option.name());
  return names;
}

PACE_INLINE std::optional<std::vector<std::string>> read_names(const std::string& text) {
  auto names = detail::split(text, ',');
  const std::set<std::string> different(names.begin(), names.end());
  if (different.contains("") || different.size() < names.size()) return std::nullopt;
  return names;
}

PACE_INLINE std::string choose_one(const Arguments& arguments, const std::vector<std::string>& options,
                                   bool one_needed) {
  std::vector<std::string> chosen;
  for (const auto& option : options)
    if (arguments.has(option)) chosen.push_back(option);
  if (chosen.size() > 1) throw InputError({}, "expected at most one of " + joined(chosen, ", "));
  if (chosen.empty() && one_needed) throw InputError({}, "expected one of " + joined(options, ", "));
  return chosen.empty() ? "" : chosen.front();
}

PACE_INLINE void allow_only(const Arguments& arguments, const std::vector<std::string>& allowed,
                            const std::string& command) {
  for (const auto& name : arguments.given)
    if (std::ranges::find(allowed, name) == allowed.end())
      throw InputError({}, name + " does not go with '" + command + "'; --help lists what does");
}

}  // namespace pace::args
