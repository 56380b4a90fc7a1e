// Command lines: every spelling, the refusals and their messages, the help.
#include "pace/args/command_line.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "pace/base/error.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;

namespace {

namespace args = pace::args;
using Words = std::vector<std::string>;

struct Sample {
  std::string csv;
  pace::Nanoseconds budget = std::chrono::milliseconds(300);
  std::int64_t times = 10;
  std::optional<double> limit;
  bool profile = false, isolated = false, fast = false;
  std::string json;
  std::vector<std::string> packages, names, files;
  args::Arguments arguments;

  args::Groups groups() {
    return {
        {"Files",
         {{"--csv", "one row per case", args::file(csv)},
          {"--packages",
           "compiled beforehand, by a program that need not be the one that measures, and that need not run on the "
           "same "
           "machine either; again for another",
           args::each(packages, "folder", "a folder")}}},
        {"Measuring",
         {{"-b,--budget", "time for the rounds", args::seconds(budget)},
          {"--times", "calls of one reading", args::whole(times, 1, 1000)},
          {"--limit", "most times the baseline's time", args::factor(limit)},
          args::Option("--seed-of-all", "seed", args::whole_from(seed, 0)).from_environment("PACE_TEST_SEED"),
          {"--isolation", "in a process of its own", args::on_or_off(isolated)}}},
        {"Output",
         {{"-p,--profile", "a trace", args::flag(profile)},
          args::Option("-f,--fast", "no slow ones", args::flag(fast))
              .excludes({"--profile"}, "slow ones alone are worth it"),
          args::Option("--trace-name", "name of the trace", args::text(trace, "name", "a name")).needs({"--profile"}),
          args::Option("--print-json", "JSON", args::one_of(json, {"oss", "pep"})).value_optional("oss"),
          args::Option("--runners", "names",
                       {"a,b", "names, none of them twice",
                        [this](const std::string& text) {
                          const auto read = args::read_names(text);
                          names = read.value_or(names);
                          return read.has_value();
                        },
                        ""})
              .as_list(),
          args::Option("--rows-to", "", args::file(rows)).hidden(),
          args::Option::refused("--ddp", "each model is run by one process")}}};
  }
  std::uint64_t seed = 1;
  std::string trace, rows;

  explicit Sample(const Words& words, args::Grammar grammar = {}) {
    grammar.camel_case = true;
    if (!grammar.keeps_rest) grammar.words = &files;
    arguments = args::parse(groups(), words, grammar);
  }
};

void refuses(const Words& words, const std::string& message) {
  CAPTURE(words);
  CHECK_THROWS_MATCHES(Sample(words), pace::InputError, Message(message));
}

TEST_CASE("without options the targets keep what they hold") {
  const Sample sample({});
  CHECK(sample.budget == std::chrono::milliseconds(300));
  CHECK(sample.times == 10);
  CHECK_FALSE(sample.limit);
  CHECK(sample.arguments.given.empty());
}

TEST_CASE("values behind the name, behind an equals sign, behind a colon, behind a letter") {
  for (const Words& words : {Words{"--budget", "2"}, Words{"--budget=2"}, Words{"--budget:2"}, Words{"-b", "2"},
                             Words{"-b2"}, Words{"-b=2"}, Words{"-fb2"}, Words{"-fb=2"}, Words{"-fb", "2"}}) {
    CAPTURE(words);
    CHECK(Sample(words).budget == std::chrono::seconds(2));
  }
  CHECK(Sample({"--csv", "-k"}).csv == "-k");
  CHECK(Sample({"--csv=a=b:c"}).csv == "a=b:c");
  CHECK(Sample({"--csv", "[1,2]"}).csv == "[1,2]");
  CHECK(Sample({"--limit", "1.5"}).limit == 1.5);
  CHECK(Sample({"--times", "0x10"}).times == 16);
}

TEST_CASE("names with hyphens, with underscores, in camel case") {
  for (const char* const name : {"--print-json", "--print_json", "--printJson"}) {
    CHECK(Sample({name, "pep"}).json == "pep");
    CHECK(Sample({std::string(name) + "=pep"}).json == "pep");
    CHECK(Sample({name, "pep"}).arguments.given == Words{"--print-json"});
  }
}

TEST_CASE("the last value counts, every value is read, and lists add up") {
  CHECK(Sample({"--times", "3", "--times=4"}).times == 4);
  refuses({"--times", "x", "--times", "4"}, "--times: invalid value 'x'; expected a whole number from 1 to 1000");
  CHECK(Sample({"--packages", "a", "--packages=b"}).packages == Words{"a", "b"});
  CHECK(Sample({"-p", "--profile", "-p"}).profile);
  CHECK(Sample({"-p", "--times", "3", "-p"}).arguments.given == Words{"--profile", "--times"});
}

TEST_CASE("lists go on until the next option, or have commas; of two the last one counts") {
  CHECK(Sample({"--runners", "a", "b", "--times", "3"}).names == Words{"a", "b"});
  CHECK(Sample({"--runners=a,b", "c"}).names == Words{"a", "b"});
  CHECK(Sample({"--runners=a,b", "c"}).files == Words{"c"});
  CHECK(Sample({"--runners", "a,b", "c"}).names == Words{"a", "b", "c"});
  CHECK(Sample({"--runners", "a", "b", "--runners", "c"}).names == Words{"c"});
  CHECK(Sample({"--runners", "--times", "3"}).names.empty());
  refuses({"--runners", "a", "a"}, "--runners: invalid value 'a,a'; expected names, none of them twice");
  for (const Words& words : {Words{"--runners", ""}, Words{"--runners="}, Words{"--runners", "a", ""},
                             Words{"--runners", "a", "", "b"}, Words{"--times", "3", "--runners", "", "--fast"}})
    refuses(words, "--runners: invalid value ''; expected names, none of them twice");
}

TEST_CASE("a value, and a word behind two hyphens, stays as it is even where it looks like an option") {
  const args::Grammar keeping{.keeps_rest = true};
  for (const std::string& word : Words{"--budget:2", "--budget=", "-b=2", "--runners=a", "--profile=", "--"}) {
    CAPTURE(word);
    const Sample value({"--csv", word, "--times", "3"}, keeping);
    CHECK(value.csv == word);
    CHECK(value.times == 3);
    CHECK(value.arguments.rest.empty());
    CHECK(Sample({"--csv=" + word}, keeping).csv == word);
    CHECK(Sample({"-p", "--", word, "--times", "3"}, keeping).arguments.rest == Words{"--", word, "--times", "3"});
    CHECK(Sample({"--print-json", "pep", "x", "--", word}, keeping).arguments.rest == Words{"x", "--", word});
  }
  // Behind the words of a list it ends these alone.
  CHECK(Sample({"--runners", "a", "--", "x", "--times:3"}).times == 3);
  CHECK(Sample({"--runners", "a", "--", "x", "--times:3"}).files == Words{"x"});
  CHECK(Sample({"--print-json", "pep", "--", "--times:3"}).times == 3);
}

TEST_CASE("words of one option, each read by itself, add up") {
  const auto read = [](const Words& words) {
    Words old, rest;
    const args::Groups groups{
        {"Files", {args::Option("--old", "files", args::each(old, "file", "a file name")).as_words()}}};
    static_cast<void>(args::parse(groups, words, {.words = &rest}));
    old.insert(old.end(), rest.begin(), rest.end());
    return old;
  };
  CHECK(read({"--old", "a", "b,c", "--old=d", "e"}) == Words{"a", "b,c", "d", "e"});
  CHECK(read({"x", "--old"}) == Words{"x"});
  for (const Words& words : {Words{"--old", ""}, Words{"--old="}, Words{"--old", "a", "-1", ""}})
    CHECK_THROWS_MATCHES(read(words), pace::InputError, Message("--old: invalid value ''; expected a file name"));
}

TEST_CASE("an option that is read once") {
  double alpha = 0;
  const args::Groups groups{
      {"Judging", {args::Option("--alpha", "rate", args::number(alpha, 0.001, 0.5, "", "rate")).once()}}};
  static_cast<void>(args::parse(groups, {"--alpha", "0.1", "--alpha=0.1"}));
  CHECK(alpha == 0.1);
  CHECK_THROWS_MATCHES(args::parse(groups, {"--alpha", "0.1", "--alpha", "0.2"}), pace::InputError,
                       Message("--alpha: is given twice, as '0.1' and as '0.2'; expected it once"));
}

TEST_CASE("an optional value is implied") {
  CHECK(Sample({"--print-json"}).json == "oss");
  CHECK(Sample({"--print-json", "--times", "3"}).json == "oss");
  refuses({"--print-json", "yaml"}, "--print-json: invalid value 'yaml'; expected oss or pep");
}

TEST_CASE("an error names the option, the value and the expected one") {
  refuses({"--budget", "1s"},
          "--budget: invalid value '1s'; expected a number of seconds from 0.000000001 to 1000000, such as 0.5");
  refuses({"--budget", "0"},
          "--budget: invalid value '0'; expected a number of seconds from 0.000000001 to 1000000, such as 0.5");
  refuses({"--csv="}, "--csv: invalid value ''; expected a file name");
  refuses({"--csv", ""}, "--csv: invalid value ''; expected a file name");
  refuses({"--times", "3", "--csv"}, "--csv: expected a value after it: a file name");
  refuses({"--isolation", "perhaps"}, "--isolation: invalid value 'perhaps'; expected on or off");
  refuses({"--limit", "nan"}, "--limit: invalid value 'nan'; expected a number from 0.001 to 1000000, such as 1.05");
  for (const Words& words : {Words{"--profile=yes"}, Words{"--profile:yes"}, Words{"-p=yes"}, Words{"-fp=yes"}})
    refuses(words, "--profile: takes no value, found 'yes'");
  for (const Words& words : {Words{"--profile="}, Words{"--profile:"}, Words{"-p="}, Words{"--profile=", "x"}})
    refuses(words, "--profile: takes no value, found ''");
  refuses({"--bugdet", "1"}, "unknown option --bugdet; did you mean --budget?");
  refuses({"--BUDGET", "1"}, "unknown option --BUDGET; did you mean --budget?");
  refuses({"--Isol=on"}, "unknown option --Isol; did you mean --isolation?");
  refuses({"--quite-another"}, "unknown option --quite-another; --help lists all options");
  refuses({"-z"}, "unknown option -z; --help lists all options");
  refuses({"--ddp"}, "--ddp is refused: each model is run by one process");
  refuses({"--ddp=4"}, "--ddp is refused: each model is run by one process");
  refuses({"--trace-name", "x"}, "--trace-name goes together with --profile (-p), which was not given");
  refuses({"--fast", "-p"}, "--fast does not go together with --profile (-p): slow ones alone are worth it");
  CHECK(Sample({"--trace-name", "x", "-p"}).trace == "x");
}

TEST_CASE("words that are no options: files, or another parser's") {
  CHECK(Sample({"a.json", "--times", "3", "b.json"}).files == Words{"a.json", "b.json"});
  CHECK_THROWS_MATCHES(args::parse({}, {"stray"}), pace::InputError,
                       Message("unexpected argument 'stray'; expected options alone"));
  const Sample rest({"[tag]", "--reporter", "xml", "--times", "3", "-r", "xml", "--list-tests", "~x"},
                    {.keeps_rest = true, .has_help = false});
  CHECK(rest.arguments.rest == Words{"[tag]", "--reporter", "xml", "-r", "xml", "--list-tests", "~x"});
  CHECK(rest.times == 3);
  CHECK(Sample({"--help"}, {.keeps_rest = true, .has_help = false}).arguments.rest == Words{"--help"});
}

TEST_CASE("a variable stands in for an option that is not given") {
  ::setenv("PACE_TEST_SEED", "77", 1);
  CHECK(Sample({}).seed == 77);
  CHECK(Sample({"--seed-of-all", "5"}).seed == 5);
  ::setenv("PACE_TEST_SEED", "many", 1);
  refuses({}, "PACE_TEST_SEED: invalid value 'many'; expected a whole number from 0 on");
  CHECK(Sample({"--help"}).arguments.help);
  ::unsetenv("PACE_TEST_SEED");
}

TEST_CASE("help: lines are as wide as the terminal, and groups and options stand in their order") {
  Sample sample({});
  for (const std::size_t width : {80, 120, 200}) {
    std::istringstream help(args::help(sample.groups(), width));
    std::size_t longest = 0;
    for (std::string line; std::getline(help, line);) longest = std::max(longest, line.size());
    CHECK(longest <= width);
  }
  CHECK(args::help(sample.groups(), 80).size() != args::help(sample.groups(), 120).size());
  ::setenv("COLUMNS", "80", 1);
  CHECK(args::help(sample.groups()) == args::help(sample.groups(), 80));
  ::unsetenv("COLUMNS");
  const std::string help = args::help(sample.groups(), 120);
  std::size_t at = 0;
  for (const auto& group : sample.groups()) {
    at = help.find(group.title + ":\n", at);
    REQUIRE(at != std::string::npos);
    for (const auto& option : group.options) {
      if (option.is_hidden()) continue;
      at = help.find(option.name(), at);
      REQUIRE(at != std::string::npos);
    }
  }
  CHECK(args::names_of({sample.groups().front()}) == Words{"--csv", "--packages"});
  CHECK(args::names_of({sample.groups().back()}).back() == "--ddp");
  CHECK(std::ranges::count(args::names_of(sample.groups()), "--rows-to") == 0);
}

TEST_CASE("help: by group, with values, defaults and units; it comes before anything that is wrong") {
  CHECK(Sample({"--times", "x", "-h"}).arguments.help);
  Sample sample({});
  const std::string help = args::help(sample.groups());
  for (const char* const text :
       {"Files:\n", "Measuring:\n", "-b, --budget <seconds>", "(default: 0.3 s)", "(default: 10)",
        "--isolation <on|off>", "(default: off)", "--csv <file>", "refused: each model is run"})
    CHECK_THAT(help, ContainsSubstring(text));
  CHECK_THAT(help, !ContainsSubstring("--rows-to") && !ContainsSubstring("print_json") && !ContainsSubstring("\n\n\n"));
}

TEST_CASE("options of one of several commands") {
  args::Arguments arguments;
  arguments.given = {"--b"};
  CHECK_NOTHROW(args::allow_only(arguments, {"--a", "--b"}, "sum"));
  CHECK_THROWS_MATCHES(args::allow_only(arguments, {"--a"}, "sum"), pace::InputError,
                       Message("--b does not go with 'sum'; --help lists what does"));
}

TEST_CASE("one of several options") {
  const auto given = [](Words options) {
    args::Arguments arguments;
    arguments.given = std::move(options);
    return arguments;
  };
  CHECK(args::choose_one(given({"--b"}), {"--a", "--b"}, true) == "--b");
  CHECK(args::choose_one(given({}), {"--a", "--b"}) == "");
  CHECK_THROWS_MATCHES(args::choose_one(given({}), {"--a", "--b"}, true), pace::InputError,
                       Message("expected one of --a, --b"));
  CHECK_THROWS_MATCHES(args::choose_one(given({"--b", "--a"}), {"--a", "--b"}), pace::InputError,
                       Message("expected at most one of --a, --b"));
}

}  // namespace

TEST_CASE(
    "an option that a program registers twice is an error of the program, which names the option and its groups") {
  bool one = false, other = false;
  const auto error_of = [](const args::Groups& groups) -> std::string {
    std::string message;
    try {
      (void)args::parse(groups, {});
    } catch (const pace::InputError&) {
      FAIL("it is no fault of the command line");
    } catch (const pace::Error& error) {
      message = error.what();
    }
    CHECK_THROWS_AS(args::help(groups, 80), pace::Error);
    return message;
  };
  const args::Groups twice{{"Inputs", {{"-l,--list", "names", args::flag(one)}}},
                           {"Measurement", {{"--list", "names", args::flag(other)}}}};
  CHECK(error_of(twice) ==
        "the program registers --list twice, in the groups 'Inputs' and 'Measurement' of its options; expected "
        "each name once");
  // A spelling that is accepted for a name counts as the name.
  const args::Groups spelt{
      {"Inputs", {{"--max-rounds", "", args::flag(one)}, {"--max_rounds", "", args::flag(other)}}}};
  CHECK_THAT(error_of(spelt), ContainsSubstring("registers --max_rounds twice, in the groups 'Inputs' and 'Inputs'"));
  const args::Groups help{{"Inputs", {{"--help", "", args::flag(one)}}}};
  CHECK_THROWS_MATCHES(args::parse(help, {}), pace::Error, MessageMatches(ContainsSubstring("registers --help twice")));
}
