#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/core/bazel.hpp"
#include "pace/core/cut_text.hpp"
#include "pace/core/digest.hpp"
#include "pace/core/error.hpp"
#include "pace/core/format.hpp"
#include "pace/core/memory.hpp"
#include "pace/core/options.hpp"
#include "pace/core/report_program.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/core/same_file.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using pace::Nanoseconds;

TEST_CASE("an input error names file, line and column as far as known") {
  CHECK_THROWS_MATCHES(throw pace::InputError({"a.txt", 3, 7}, "expected a comma"), pace::InputError,
                       Message("a.txt:3:7: expected a comma"));
  CHECK_THROWS_MATCHES(throw pace::InputError({"a.txt", 3, 0}, "x"), pace::Error, Message("a.txt:3: x"));
  CHECK_THROWS_MATCHES(throw pace::InputError({}, "x"), pace::Error, Message("x"));
}

TEST_CASE("a digest is FNV-1a's") {
  // From the test vectors of its authors.
  static_assert(pace::digest_of("") == 0xcbf29ce484222325u);
  static_assert(pace::digest_of("a") == 0xaf63dc4c8601ec8cu);
  static_assert(pace::digest_of("foobar") == 0x85944171f73967e8u);
  pace::Digest digest;
  digest.add("foo");
  digest.add("bar");
  CHECK(digest.text() == "85944171f73967e8");
}

TEST_CASE("figures keep three significant digits and a unit that fits") {
  CHECK(pace::format_time(Nanoseconds(0)) == "0.00 ns");
  CHECK(pace::format_time(Nanoseconds(0.1234)) == "0.123 ns");
  CHECK(pace::format_time(Nanoseconds(999.4)) == "999 ns");
  CHECK(pace::format_time(Nanoseconds(12'345)) == "12.3 us");
  CHECK(pace::format_time(Nanoseconds(4.56e6)) == "4.56 ms");
  CHECK(pace::format_time(Nanoseconds(78.9e9)) == "78.9 s");
  CHECK(pace::format_time(Nanoseconds(4567e9)) == "4567 s");
  CHECK(pace::format_factor(1.2) == "1.20x");
  CHECK(pace::format_factor(0.5) == "0.500x");
  CHECK(pace::format_percent(0.95) == "95 %");
  CHECK(pace::format_percent(0.995) == "99.5 %");
  CHECK(pace::format_significant(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(pace::format_significant(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(pace::format_fixed(2.0 / 3, 4) == "0.6667");
  CHECK(pace::format_fixed(1e300, 0).size() == 301);
  CHECK(pace::format_fixed(-std::numeric_limits<double>::quiet_NaN(), 4) == "nan");
  CHECK(pace::format_interval(pace::Interval<Nanoseconds>{Nanoseconds(950), Nanoseconds(1050), 0.95}) ==
        "[0.950, 1.05] us");
  CHECK(pace::format_interval(pace::Interval<double>{0.9, 1.1, 0.95}) == "[0.900x, 1.10x]");
}

TEST_CASE("a result finds implementations by name and names the known ones otherwise") {
  pace::Result result;
  result.name = "softmax";
  CHECK_THROWS_AS(result.baseline(), pace::Error);
  result.implementations.resize(2);
  result.implementations[0].name = "eager";
  result.implementations[0].is_baseline = true;
  result.implementations[1].name = "fused";
  CHECK(result.baseline().name == "eager");
  CHECK(&result["fused"] == &result.implementations[1]);
  CHECK_THROWS_MATCHES(result["fussed"], pace::Error,
                       Message("result 'softmax' has no implementation 'fussed'; it has: eager, fused"));
}

TEST_CASE("rates are per second at the median, if declared") {
  pace::ImplementationResult result;
  CHECK_FALSE(result.gigabytes_per_second());
  result.bytes = 4000;
  CHECK_FALSE(result.gigabytes_per_second());
  result.time.emplace();
  result.time->median = Nanoseconds(1000);
  CHECK(result.gigabytes_per_second() == 4.0);
  CHECK_FALSE(result.gigaflops_per_second());
  result.flops = 500;
  CHECK(result.gigaflops_per_second() == 0.5);
}

TEST_CASE("an implementation is acceptable if measured and every judgement lets it through") {
  pace::ImplementationResult result;
  CHECK_FALSE(result.acceptable());
  result.outcome = pace::Outcome::measured;
  CHECK(result.acceptable());
  result.judgements.push_back(
      {.expectation = "", .verdict = pace::Verdict::undecided, .acceptable = true, .message = ""});
  CHECK(result.acceptable());
  result.judgements.push_back(
      {.expectation = "", .verdict = pace::Verdict::failed, .acceptable = false, .message = ""});
  CHECK_FALSE(result.acceptable());
}

TEST_CASE("a list is one text") {
  CHECK(pace::joined({}, ", ").empty());
  CHECK(pace::joined({"a"}, ", ") == "a");
  CHECK(pace::joined({"", "a", "b"}, ", ") == ", a, b");
}

TEST_CASE("a file of pace is found in the runfiles of pace and of another workspace, by one name") {
  const pace::test::Scratch scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path);
  CHECK(pace::shipped_file("a/b.txt") == "a/b.txt");
  (void)scratch.write("external/pace/a/b.txt", "");
  CHECK(pace::shipped_file("a/b.txt") == "external/pace/a/b.txt");
  CHECK(pace::same_file("external/pace/a/b.txt", "./external/../external/pace/a/b.txt"));
  CHECK_FALSE(pace::same_file("a/b.txt", "a/b.txt"));
  (void)scratch.write("a/b.txt", "");
  CHECK(pace::shipped_file("a/b.txt") == "a/b.txt");
  CHECK_FALSE(pace::same_file("a/b.txt", "external/pace/a/b.txt"));
  std::filesystem::current_path(before);
}

TEST_CASE("senseless options are named") {
  pace::Options options;
  CHECK_NOTHROW(pace::validate(options));
  options.budget = Nanoseconds(0);
  CHECK_THROWS_MATCHES(pace::validate(options), pace::Error, Message("options: budget must be longer than 0"));
  options = {};
  options.confidence = 95;
  CHECK_THROWS_MATCHES(pace::validate(options), pace::Error,
                       Catch::Matchers::MessageMatches(ContainsSubstring("confidence")));
}

TEST_CASE("listeners hear of every result") {
  pace::RunContext context;
  std::vector<std::string> heard;
  context.on_result([&](const pace::Result& result) { heard.push_back(result.name); });
  pace::Result result;
  result.name = "a";
  context.publish(result);
  result.name = "b";
  context.publish(result);
  CHECK(heard == std::vector<std::string>{"a", "b"});
  context.clear_listeners();
  context.publish(result);
  CHECK(heard.size() == 2);
}

TEST_CASE("a listener is removed by its name, and the others stay") {
  pace::RunContext context;
  std::string heard;
  const auto first = context.on_result([&](const pace::Result&) { heard += 'a'; });
  context.on_result([&](const pace::Result&) { heard += 'b'; });
  const auto last = context.on_result([&](const pace::Result&) { heard += 'c'; });
  context.publish({});
  context.remove_listener(first);
  context.publish({});
  context.remove_listener(last);
  context.remove_listener(last);
  context.publish({});
  CHECK(heard == "abcbcb");
}

TEST_CASE("prints where the program that makes pages is", "[.]") { std::cout << '<' << pace::report_program() << '>'; }

TEST_CASE("a program that a link starts by its path finds the program that makes pages beside the link") {
  const pace::test::Scratch scratch;
  const std::filesystem::path link = scratch / "linked";
  std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), link);
  const std::string program = scratch.write("linked.runfiles/pace/tools/report/report", "#!/bin/sh\n");
  const auto printed = [&](const std::string& name) {
    const std::string words =
        "cd '" + scratch.path.string() + "' && env -i " + name + " 'prints where the program that makes pages is' >out";
    CHECK(std::system(words.c_str()) == 0);
    return scratch.read("out");
  };
  CHECK_THAT(printed("./linked"), ContainsSubstring("<>"));  // it cannot be run
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  CHECK_THAT(printed("./linked"), ContainsSubstring("linked.runfiles/pace/tools/report/report>"));
  CHECK_THAT(printed("'" + link.string() + "'"), ContainsSubstring('<' + program + '>'));
}

TEST_CASE("a long text is cut in its middle, at characters, with its length") {
  CHECK(pace::cut_text(std::string(3000, 'x')) == std::string(3000, 'x'));
  const auto cut = pace::cut_text("head " + std::string(1 << 20, 'x') + ". Make it run");
  CHECK(cut.size() < 3100);
  CHECK_THAT(cut, ContainsSubstring("head xxx") && ContainsSubstring("xxx. Make it run") &&
                      ContainsSubstring(" ... (1045594 of 1048594 bytes are left out here) ... "));
  std::string umlauts;
  for (int i = 0; i < 50; ++i) umlauts += "\xC3\xA4";
  for (std::size_t most = 1; most < 30; ++most) {
    const auto text = pace::cut_text(umlauts, most);
    const auto head = text.find(" ... (");
    CHECK(head % 2 == 0);
    CHECK((text.size() - text.rfind(") ... ") - 6) % 2 == 0);
  }
  CHECK(pace::cut_text(std::string(10000, '\x80')).size() < 3100);
  // A text that was cut for a file, in a sentence for a terminal.
  const auto twice = pace::cut_text("'fused' threw: " + pace::cut_text(std::string(1 << 20, 'x'), pace::longest_kept) +
                                    ". Make it run");
  CHECK(twice.size() < 3100);
  CHECK_THAT(twice, ContainsSubstring(" ... (1045604 of 1048604 bytes are left out here) ... "));
}

TEST_CASE("this machine has memory left") {
  const auto available = pace::available_memory();
  REQUIRE(available);
  CHECK(*available > 1 << 20);
}

TEST_CASE("a limit on the address space is a limit on memory") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  const auto left_with = [&](rlim_t limit) {
    rlimit changed = before;
    changed.rlim_cur = limit;
    REQUIRE(::setrlimit(RLIMIT_AS, &changed) == 0);
    const auto left = pace::detail::left_of_address_space();
    REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
    return left;
  };
  CHECK_FALSE(left_with(RLIM_INFINITY));
  constexpr rlim_t first = rlim_t{1} << 40;
  const auto more = left_with(2 * first), less = left_with(first);
  REQUIRE(more);
  REQUIRE(less);
  CHECK(*more - *less > static_cast<std::int64_t>(first) - (1 << 20));
  CHECK(*less < static_cast<std::int64_t>(first));
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
}

}  // namespace
