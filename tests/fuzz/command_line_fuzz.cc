// Command lines, a word in each line of the input. The words read, written with `=`, are read as the same again.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/args/value.hpp"
#include "pace/base/units.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace pace;

/// A program with an option of each kind.
struct Program {
  bool flag = false, choice = false;
  std::uint64_t seed = 0;
  std::optional<int> rounds;
  std::optional<double> factor;
  Nanoseconds budget{1e9};
  std::string file, word = "one", names, more;
  std::vector<std::string> each, words, rest;

  [[nodiscard]] args::Groups groups() {
    return {
        {"Files",
         {
             {"--csv", "a file", args::file(file)},
             {"--only", "each adds one", args::each(each, "case", "a case's name")},
             args::Option("--names", "a list", args::text(names, "names", "names")).as_list("all"),
             args::Option("--words", "words", args::each(words, "word", "a word")).as_words(),
             args::Option("--more", "a value or none", args::text(more, "text", "a text")).value_optional("implied"),
         }},
        {"Measuring",
         {
             {"-f,--flag", "a flag", args::flag(flag)},
             {"-b,--budget", "a time", args::seconds(budget, true)},
             args::Option("--seed", "a number", args::whole_from(seed, 0)).once(),
             {"--max-rounds", "a number", args::whole(rounds, 1, 1000)},
             args::Option("--no-slower-than", "a factor", args::factor(factor)).excludes({"--flag"}, "it says so"),
             args::Option("--audit", "a switch", args::on_or_off(choice)).needs({"--csv", "--seed"}),
             {"--kind", "a word", args::one_of(word, {"one", "two", "three-four"})},
             args::Option::refused("--ddp", "there is no such thing here"),
         }},
    };
  }

  void require_ranges() const {
    fuzz::require(!rounds || (*rounds >= 1 && *rounds <= 1000), "a whole number is in its range");
    fuzz::require(!factor || (*factor >= 1e-3 && *factor <= 1e6), "a factor is in its range");
    fuzz::require(budget.count() == 0 || (budget.count() >= 1 && budget.count() <= 1e15), "a time is in its range");
    fuzz::require(word == "one" || word == "two" || word == "three-four", "a word is one of several", word);
  }
  friend bool operator==(const Program&, const Program&) = default;
};

[[nodiscard]] std::optional<args::Arguments> read(Program& program, const std::vector<std::string>& words,
                                                  const args::Grammar& grammar) {
  try {
    return args::parse(program.groups(), words, grammar);
  } catch (const InputError& error) {
    fuzz::require(std::string_view(error.what()).size() > 3, "an error has a message");
    return std::nullopt;
  }
}

/// The command line that says the same, with a word for each value. Words that are no values come first: --words takes
/// those behind it.
[[nodiscard]] std::vector<std::string> written(const args::Arguments& arguments, const Program& program) {
  std::vector<std::string> words = program.rest;
  for (const auto& name : arguments.given) {
    const auto found = arguments.values.find(name);
    if (found == arguments.values.end() || found->second.empty()) words.push_back(name);
    if (found != arguments.values.end())
      for (const auto& value : found->second) words.push_back(name + '=' + value);
  }
  return words;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words(size == 0 ? 0 : 1);
  for (const char c : fuzz::text_of(data, size)) {
    if (c == '\n')
      words.emplace_back();
    else
      words.back() += c;
  }
  for (const bool camel_case : {false, true}) {
    Program first;
    const auto arguments = read(first, words, {.words = &first.rest, .camel_case = camel_case});
    if (!arguments || arguments->help) continue;
    first.require_ranges();
    Program second;
    const auto line = written(*arguments, first);
    std::string shown;
    for (const auto& word : line) shown += '[' + word + ']';
    const auto again = args::parse(second.groups(), line, {.words = &second.rest, .camel_case = camel_case});
    fuzz::require(again.given == arguments->given && again.values == arguments->values,
                  "a command line that was written is read as the same", shown);
    fuzz::require(first == second, "a command line that was written has the same effect", shown);
  }
  Program keeping;
  if (const auto arguments = read(keeping, words, {.keeps_rest = true})) {
    auto word = words.begin();
    for (const auto& left : arguments->rest) {
      // Of flags in one word, such as -fx, CLI11 leaves the unknown ones: -x.
      word = std::find_if(word, words.end(), [&](const std::string& each) {
        return each == left || (each.starts_with("-f") && left.size() > 1 && each.ends_with(left.substr(1)));
      });
      fuzz::require(word != words.end(), "the words that are left are ones of the command line, in its order", left);
      ++word;
    }
    for (const auto& [name, values] : arguments->values)
      for (const auto& value : values) {
        const auto has_it = [&](const std::string& each) { return each.ends_with(value); };
        // The words of a list are joined.
        fuzz::require(name == "--names" || value == "implied" || std::ranges::any_of(words, has_it),
                      "a value stands at the end of a word", value);
      }
  }
  return 0;
}
