// After a failure: the command line that repeats one case.
#pragma once

#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/os/repeat_command.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/runner/this_program.hpp"

namespace pace::runner {

/// Returns the name of a test as a filter of Catch2 that matches it. A `*` at its beginning or end cannot be escaped
/// and matches more than itself.
[[nodiscard]] inline std::string as_filter(const std::string& test) {
  std::string filter;
  for (const char c : test) {
    const bool begins = filter.empty() && (c == '~' || c == '-');
    if (begins || std::string_view("\\,[]\"").find(c) != std::string_view::npos) filter += '\\';
    filter += c;
  }
  return filter;
}

/// A case, or a test case without one, that failed.
struct FailedCase {
  std::string test;              ///< name of the test case; empty: the filters of the run find it
  std::string name = {};         ///< name of the comparison; empty: an assertion of the test case failed
  std::uint64_t check_seed = 0;  ///< Result::check_seed; 0: unknown
  std::string inputs = {};       ///< Result::inputs, where the name alone is ambiguous in the run
};

/// The run that had the case to repeat.
struct RepeatedRun {
  const args::Groups& groups;                ///< pace's options and the program's own
  const args::Arguments& given;              ///< the arguments of the command line
  const std::vector<std::string>& left_out;  ///< names of options that are not repeated
  std::vector<std::string> filters;          ///< filters of Catch2 that the run was given; empty: all but hidden tests
  std::uint64_t seed = 0;                    ///< value of `--seed`
  std::uint32_t rng_seed = 0;                ///< seed of Catch2's random numbers
};

namespace detail {

/// Returns the value of an option of Catch2 at `words[at]`: it stands behind the option's name, or behind a `=` or `:`
/// of the same word. Returns none if the word is not that option.
[[nodiscard]] inline std::optional<std::string> value_at(const std::vector<std::string>& words, std::size_t at,
                                                         const std::string& option) {
  const std::string& word = words[at];
  if (word == option) return at + 1 < words.size() ? std::optional(words[at + 1]) : std::nullopt;
  const bool has_value = word.size() > option.size() && word.starts_with(option) &&
                         (word[option.size()] == '=' || word[option.size()] == ':');
  return has_value ? std::optional(word.substr(option.size() + 1)) : std::nullopt;
}

}  // namespace detail

/// Returns the words that repeat a case: its names, its seeds, and the given options. Leaves out options that choose
/// cases, name files to write, steer the display, or are in `left_out`.
[[nodiscard]] inline std::vector<std::string> words_to_repeat(const FailedCase& failed, const RepeatedRun& run) {
  const auto& given = run.given;
  std::vector<std::string> words;
  // Without a filter, hidden test cases would not run.
  if (failed.test.empty())
    words = run.filters;
  else
    words.push_back(as_filter(failed.test));
  const auto add = [&](const std::string& option, const std::string& value) {
    if (value.empty() || value.starts_with('-'))
      words.push_back(option + '=' + value);
    else
      words.insert(words.end(), {option, value});
  };
  if (!failed.name.empty()) add("--case", name_with_inputs(failed.name, failed.inputs));
  add("--seed", std::to_string(run.seed));
  if (failed.check_seed != 0) add("--check-seed", std::to_string(failed.check_seed));
  for (const auto& group : run.groups)
    for (const auto& option : group.options) {
      const std::string& name = option.name();
      if (!given.has(name) || group.title == "Files" || group.title == "What is shown" || name == "--case" ||
          name == "--seed" || name == "--check-seed" || name == "--save-baseline" || name == "--baseline-expires" ||
          std::ranges::find(run.left_out, name) != run.left_out.end())
        continue;
      const auto values = given.values.find(name);
      if (option.arity() == args::Arity::none) {
        words.push_back(name);
      } else if (values != given.values.end()) {
        for (const auto& value : values->second)
          if (option.arity() == args::Arity::one)
            add(name, value);
          else
            words.push_back(name + '=' + value);
      }
    }
  // The options of Catch2 that change what a test does.
  for (std::size_t i = 0; i < given.rest.size(); ++i) {
    for (const std::string option : {"-c", "--section"})
      if (const auto value = detail::value_at(given.rest, i, option)) words.insert(words.end(), {option, *value});
    // The number, also where the option is `time` or `random-device`.
    if (detail::value_at(given.rest, i, "--rng-seed"))
      words.insert(words.end(), {"--rng-seed", std::to_string(run.rng_seed)});
  }
  return words;
}

/// Finds the cases of a run that failed.
class FailedCases : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;

  /// Notes the test case of the results that follow.
  void testCaseStarting(const Catch::TestCaseInfo& info) override { current() = info.name; }
  /// Begins one run of the test case, such as with one value of a generator.
  void testCasePartialStarting(const Catch::TestCaseInfo& /*info*/, std::uint64_t /*run*/) override {
    of_current().clear();
  }
  /// Adds the comparison that a failed assertion is about. A refused or unchecked row alone is no failure: the test
  /// case may let it through.
  void assertionEnded(const Catch::AssertionStats& stats) override {
    const auto& assertion = stats.assertionResult;
    if (assertion.isOk() || !assertion.hasExpression()) return;
    const std::string text = without_blanks(assertion.getExpandedExpression());
    for (const auto& each : std::ranges::reverse_view(of_current()))
      if (text.starts_with(without_blanks(head_of_message(each)))) return add_once(each);
  }
  /// Adds what failed in the run without a case that did.
  void testCasePartialEnded(const Catch::TestCaseStats& stats, std::uint64_t /*run*/) override {
    const bool has_case = std::ranges::any_of(
        all(), [](const FailedCase& each) { return each.name.empty() ? is_of_test(each) : is_of_current(each); });
    if (stats.totals.assertions.failed == 0 || has_case) return;
    // A matcher of the test may have judged its only comparison.
    if (of_current().size() == 1)
      all().push_back(of_current().front());
    else
      all().push_back({.test = current()});
  }
  /// Forgets the test case.
  void testCaseEnded(const Catch::TestCaseStats& /*stats*/) override { current().clear(); }

  /// Adds a result that was published if it failed, was left undecided, or is invalid.
  static void add(const Result& result) {
    const FailedCase found{
        .test = current(), .name = name_of_whole(result), .check_seed = result.check_seed, .inputs = result.inputs};
    inputs_of()[found.name].insert(found.inputs);
    if (result.phase.empty()) of_current().push_back(found);
    const bool fails = std::ranges::any_of(result.implementations, [](const ImplementationResult& row) {
      return at_fault(row.outcome) || std::ranges::any_of(row.judgements, [](const Judgement& judgement) {
               return (!judgement.acceptable && !judgement.deferred) || judgement.unresolved;
             });
    });
    if (fails) add_once(found);
  }

  /// Returns the failed cases, in the order of their failures. A case has inputs if its name had several in the run.
  [[nodiscard]] static std::vector<FailedCase> to_repeat() {
    std::vector<FailedCase> found = all();
    for (auto& each : found)
      if (inputs_of()[each.name].size() < 2) each.inputs.clear();
    return found;
  }
  /// Returns the failed cases, in the order of their failures.
  [[nodiscard]] static std::vector<FailedCase>& all() {
    static std::vector<FailedCase> found;
    return found;
  }

 private:
  static void add_once(const FailedCase& found) {
    for (const auto& each : all())
      if (each.test == found.test && each.name == found.name && each.inputs == found.inputs) return;
    all().push_back(found);
  }
  /// Returns how pace's matchers begin the message of an assertion on the result of a comparison (pace/catch2.hpp).
  [[nodiscard]] static std::string head_of_message(const FailedCase& compared) {
    return '\'' + report::printable(compared.name) + '\'' +
           (compared.inputs.empty() ? "" : " on " + report::short_inputs(compared.inputs)) + ':';
  }
  /// Messages are wrapped, so that a line may end anywhere.
  [[nodiscard]] static std::string without_blanks(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  }
  /// Returns the name of a comparison without its phase. A phase is repeated with the whole.
  [[nodiscard]] static std::string name_of_whole(const Result& result) {
    const std::string end = '/' + result.phase;
    std::string name = result.name;
    if (!result.phase.empty() && name.ends_with(end)) name.resize(name.size() - end.size());
    return name;
  }
  /// The inputs of all comparisons that were published, by name.
  [[nodiscard]] static std::map<std::string, std::set<std::string>>& inputs_of() {
    static std::map<std::string, std::set<std::string>> found;
    return found;
  }
  /// The comparisons of the present run of the test case.
  [[nodiscard]] static std::vector<FailedCase>& of_current() {
    static std::vector<FailedCase> found;
    return found;
  }
  [[nodiscard]] static bool is_of_test(const FailedCase& failed) { return failed.test == current(); }
  [[nodiscard]] static bool is_of_current(const FailedCase& failed) {
    return std::ranges::any_of(of_current(), [&](const FailedCase& each) {
      return each.test == failed.test && each.name == failed.name && each.inputs == failed.inputs;
    });
  }
  /// Name of the test case that runs.
  [[nodiscard]] static std::string& current() {
    static std::string name;
    return name;
  }
};

/// Prints for each of `failed` a line with the command that repeats it, by the words that `words_of` returns. The run
/// ended with `exit_code`.
template <class WordsOf>
void print_repeat_commands(const std::vector<FailedCase>& failed, int exit_code, const WordsOf& words_of,
                           std::ostream& out) {
  // Whatever fails in most of a suite is looked at in a few of its cases; undecided are often all, by a busy machine.
  const bool undecided = exit_code == exit_undecided;
  const std::size_t most = undecided ? 3 : 10;
  const std::string head = undecided ? "measure again what was undecided" : "repeat what failed";
  for (std::size_t i = 0; i < failed.size() && i < most; ++i)
    out << (i == 0 ? "pace: to " + head + ":\n" : "") << "  "
        << report::printable(command_again(this_program(), words_of(failed[i]))) << '\n';
  if (failed.size() > most) out << "  and " << std::to_string(failed.size() - most) << " more, with other names\n";
  out << std::flush;
}

}  // namespace pace::runner
