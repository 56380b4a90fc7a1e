#include <limits>
#include <stdexcept>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/cut_text.hpp"
#include "pace/base/digest.hpp"
#include "pace/base/edit_distance.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/base/spelling.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using pace::Nanoseconds;

TEST_CASE("an input error names file, line and column as far as known") {
  CHECK_THROWS_MATCHES(throw pace::InputError({"a.txt", 3, 7}, "expected a comma"), pace::InputError,
                       Message("a.txt:3:7: expected a comma"));
  CHECK_THROWS_MATCHES(throw pace::InputError({"a.txt", 3, 0}, "x"), pace::Error, Message("a.txt:3: x"));
  CHECK_THROWS_MATCHES(throw pace::InputError({}, "x"), pace::Error, Message("x"));
  // As of text on a command line: a line and a column name nothing there.
  CHECK(pace::Location{"", 1, 13}.to_string().empty());
}

TEST_CASE("spellings are as far apart as letters must change") {
  CHECK(pace::edit_distance("", "") == 0);
  CHECK(pace::edit_distance("add", "") == 3);
  CHECK(pace::edit_distance("", "add") == 3);
  CHECK(pace::edit_distance("kitten", "sitting") == 3);
  CHECK(pace::edit_distance("sitting", "kitten") == 3);
  CHECK(pace::edit_distance("ab", "ba") == 2);
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
  CHECK(pace::format_number(50, 6) == "50");
  CHECK(pace::format_number(0, 6) == "0");
  CHECK(pace::format_number(2.5, 6) == "2.5");
  CHECK(pace::format_number(1200, 4) == "1200");
  CHECK(pace::format_fixed(2.0 / 3, 4) == "0.6667");
  CHECK(pace::format_fixed(1e300, 0).size() == 301);
  CHECK(pace::format_fixed(-std::numeric_limits<double>::quiet_NaN(), 4) == "nan");
  CHECK(pace::format_interval(pace::Interval<Nanoseconds>{Nanoseconds(950), Nanoseconds(1050), 0.95}) ==
        "[0.950, 1.05] us");
  CHECK(pace::format_interval(pace::Interval<double>{0.9, 1.1, 0.95}) == "[0.900x, 1.10x]");
}

TEST_CASE("a list is one text") {
  CHECK(pace::joined({}, ", ").empty());
  CHECK(pace::joined({"a"}, ", ") == "a");
  CHECK(pace::joined({"", "a", "b"}, ", ") == ", a, b");
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

TEST_CASE("a message has a verdict, a reason and a remedy, each on lines of its own") {
  const auto text = [](const std::string& reason) { return pace::MessageParts::of("'fused' is wrong", reason).text(); };
  CHECK(text("") == "'fused' is wrong");
  CHECK(text("3 of 8 differ") == "'fused' is wrong\nwhy: 3 of 8 differ");
  CHECK(text("3 of 8 differ; try: a; try: b") == "'fused' is wrong\nwhy: 3 of 8 differ\ntry: a; b");
  // A remedy ends with its line.
  CHECK(text("output 0 differs; try: a\noutput 1 differs") ==
        "'fused' is wrong\nwhy: output 0 differs\noutput 1 differs\ntry: a");
  CHECK(pace::in_one_line(text("3 of 8 differ; try: a")) == "'fused' is wrong; why: 3 of 8 differ; try: a");
}

TEST_CASE("a reason grows before its remedies") {
  CHECK(pace::add_to_reason("3 of 8 differ; try: a; try: b", " (at b.txt:2)") ==
        "3 of 8 differ (at b.txt:2); try: a; try: b");
  CHECK(pace::add_to_reason("3 of 8 differ", " (at b.txt:2)") == "3 of 8 differ (at b.txt:2)");
}

TEST_CASE("what pace has not written holds no remedy, whatever it looks like") {
  const std::string own = "no kernel; try: float32; try: a GPU";
  const auto parts = pace::MessageParts::of("'fused' threw", pace::message_of(std::runtime_error(own)));
  CHECK(parts.why == "no kernel; try:\u00A0float32; try:\u00A0a GPU");
  CHECK(parts.remedy.empty());
  CHECK(pace::message_of(pace::Error(own)) == own);
}

TEST_CASE("options are written as the user of the process writes them") {
  using pace::check_text, pace::declaration_text, pace::function_text, pace::option_text, pace::program_option_text;
  CHECK(option_text("max-rounds") == "--max-rounds");
  CHECK(option_text("budget", "2.5") == "--budget 2.5");
  CHECK(declaration_text(".captures()", "--captures") == ".captures() (//benches/files: --captures)");
  CHECK(check_text("rtol", "rtol=...") == "check::CheckOptions::rtol in C++");
  CHECK(program_option_text("--processes 12") == "--processes 12");
  CHECK(function_text("QuantileNoSlowerThan") == "QuantileNoSlowerThan");
  const struct Python {
    Python() { pace::spelling() = pace::Spelling::python; }
    ~Python() { pace::spelling() = pace::Spelling::cpp; }
  } python;
  CHECK(option_text("max-rounds") == "options(max_rounds=...)");
  CHECK(option_text("budget", "2.5") == "options(budget=2.5)");
  CHECK(option_text("audit", "off") == "options(audit=\"off\")");
  CHECK(declaration_text(".captures()", "--captures") == ".captures()");
  CHECK(check_text("rtol", "rtol=...") == "check(rtol=...)");
  CHECK(program_option_text("--processes 12") == "--processes 12 of //benches/files");
  CHECK(function_text("QuantileNoSlowerThan") == "quantile_no_slower_than");
}

}  // namespace
