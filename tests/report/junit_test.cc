// JUnit's XML: one test case per gate, whole after every write, valid for any names and messages.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <set>
#include <string>

#include "pace/report/junit.hpp"
#include "pace/report/xml.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/temporary_file.hpp"
#include "tests/report/xml_reader.hpp"

using Catch::Matchers::ContainsSubstring;
using pace::Verdict;
using pace::report::Environment;
using pace::report::JUnitSink;

namespace {

/// The rules of the schemas of JUnit's Ant task and of Jenkins: names of elements and attributes, order, counts.
void check_valid(const xml::Element& root) {
  REQUIRE(root.name == "testsuites");
  for (const auto& suite : root.children) {
    REQUIRE(suite.name == "testsuite");
    for (const auto* key : {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"}) {
      CAPTURE(key);
      CHECK(suite.attributes.contains(key));
    }
    CHECK(suite.attributes.at("timestamp").size() == std::string("2026-11-21T10:00:00").size());
    std::string order;
    std::size_t failures = 0, errors = 0, skipped = 0;
    for (const auto& child : suite.children) {
      order += child.name == "properties"   ? 'p'
               : child.name == "testcase"   ? 't'
               : child.name == "system-out" ? 'o'
                                            : 'e';
      if (child.name != "testcase") continue;
      for (const auto* key : {"name", "classname", "time"}) {
        CAPTURE(key);
        CHECK(child.attributes.contains(key));
      }
      const std::size_t happened =
          child.all("failure").size() + child.all("error").size() + child.all("skipped").size();
      CHECK(happened <= 1);
      CHECK(child.children.size() == 2 + happened);
      CHECK(child.children.front().name == "properties");
      CHECK(child.children.back().name == "system-out");
      failures += child.all("failure").size();
      errors += child.all("error").size();
      skipped += child.all("skipped").size();
    }
    CHECK(order == "p" + std::string(suite.all("testcase").size(), 't') + "oe");
    CHECK(suite.attributes.at("tests") == std::to_string(suite.all("testcase").size()));
    CHECK(suite.attributes.at("failures") == std::to_string(failures));
    CHECK(suite.attributes.at("errors") == std::to_string(errors));
    CHECK(suite.attributes.at("skipped") == std::to_string(skipped));
  }
}

xml::Element read(const TemporaryFile& file) {
  auto root = xml::parse(file.content());
  check_valid(root);
  return root;
}

}  // namespace

TEST_CASE("a test case per gate, with its figures") {
  const TemporaryFile file;
  Environment environment;
  environment.cpu = "a CPU";
  environment.extra["libtorch"] = "2.11.0";
  JUnitSink sink(file.path(), environment);
  CHECK(read(file).children.empty());
  auto result = sample::comparison("layer_norm");
  for (auto& row : result.implementations) row.context.comparison = "layer_norm";
  result.implementations[1].judgements = {
      {"speed-up of at least 1.50x", Verdict::passed, true, "all of it above"},
      {"speed-up of at least 3.00x", Verdict::failed, false, "all of it below"},
      {"speed-up of at least 2.00x", Verdict::undecided, false, "it is open"},
      {"time of at most 1.02x", Verdict::undecided, true, "no regression is proven"},
      {"speed-up of at least 9.00x", Verdict::invalid, false, "not measured"}};
  sink.write(result);
  const auto root = read(file);
  const auto& suite = root.only("testsuite");
  CHECK(suite.attributes.at("name") == "layer_norm");
  CHECK(suite.attributes.at("time") == "1.000000");
  CHECK(suite.property("cpu") == "a CPU");
  CHECK(suite.property("libtorch") == "2.11.0");
  const auto cases = suite.all("testcase");
  REQUIRE(cases.size() == 6);
  CHECK(cases[0]->attributes.at("name") == "eager: correct");
  CHECK(cases[1]->attributes.at("name") == "fused: speed-up of at least 1.50x");
  CHECK(cases[1]->attributes.at("classname") == "layer_norm");
  CHECK(cases[1]->property("median_ns") == "2000.00");
  CHECK(cases[1]->property("speedup") == "2.00000");
  CHECK(cases[1]->property("speedup_low") == "1.00000");
  CHECK(cases[1]->property("verdict") == "passed");
  CHECK(cases[1]->only("system-out").text == "passed: all of it above");
  CHECK(cases[2]->only("failure").attributes.at("message") == "all of it below");
  CHECK(cases[2]->only("failure").attributes.at("type") == "failed");
  CHECK(cases[3]->only("error").attributes.at("type") == "undecided");
  CHECK(cases[4]->only("skipped").attributes.at("message") == "undecided: no regression is proven");
  CHECK(cases[5]->only("error").attributes.at("type") == "invalid");
}

TEST_CASE("an implementation without expectations is still a test case for its correctness") {
  const TemporaryFile file;
  JUnitSink sink(file.path(), Environment{});
  auto result = sample::comparison("case");
  result.implementations = {sample::without_figures("wrong", pace::Outcome::wrong, "differs"),
                            sample::without_figures("threw", pace::Outcome::threw, "boom"),
                            sample::without_figures("gone", pace::Outcome::refused, "no kernel"),
                            sample::without_figures("late", pace::Outcome::unreached, "no time"),
                            sample::measured("fine", 10)};
  sink.write(result);
  const auto root = read(file);
  const auto cases = root.only("testsuite").all("testcase");
  REQUIRE(cases.size() == 5);
  CHECK(cases[0]->only("failure").attributes.at("message") == "differs");
  CHECK(cases[1]->only("failure").attributes.at("type") == "threw");
  CHECK(cases[2]->only("error").attributes.at("message") == "no kernel");
  CHECK(cases[3]->only("error").attributes.at("type") == "unreached");
  CHECK(cases[4]->children.size() == 2);
}

TEST_CASE("each result is a suite of its own; the environment stands once") {
  const TemporaryFile file;
  Environment environment;
  environment.cpu = "a CPU";
  JUnitSink sink(file.path(), environment);
  sink.write(sample::comparison("case"));
  sink.write(sample::comparison("other"));
  const auto root = read(file);
  REQUIRE(root.children.size() == 2);
  CHECK(root.children[1].attributes.at("name") == "other");
  CHECK(root.children[0].property("cpu") == "a CPU");
  CHECK(root.children[1].property("cpu") == "");
}

TEST_CASE("hostile names and messages stay text") {
  const std::string hostile =
      "<a & \"b\" 'c'>]]>\n\ttab\r \x1b[31m \x01 \xff\xfe \xc3\xa9 \xed\xa0\x80 \xef\xbf\xbf \xf4\x90\x80\x80 \xc0\xaf";
  const std::string bad = "\xEF\xBF\xBD";
  const std::string expected = "<a & \"b\" 'c'>]]>\n\ttab\r " + bad + "[31m " + bad + " " + bad + bad + " \xc3\xa9 " +
                               bad + bad + bad + " " + bad + bad + bad + " " + bad + bad + bad + bad + " " + bad + bad;
  const TemporaryFile file;
  Environment environment;
  environment.hostname = hostile;
  environment.build_flags = "-DNAME=\"x<y>\"";
  JUnitSink sink(file.path(), environment);
  auto result = sample::comparison(hostile);
  result.notes = {hostile};
  result.implementations[1].name = hostile;
  result.implementations[1].judgements = {{hostile, Verdict::failed, false, hostile}};
  sink.write(result);
  const auto root = read(file);
  const auto& suite = root.only("testsuite");
  CHECK(suite.attributes.at("name") == expected);
  CHECK(suite.property("build_flags") == "-DNAME=\"x<y>\"");
  CHECK(suite.all("testcase")[1]->only("failure").attributes.at("message") == expected);
  CHECK_THAT(suite.only("system-out").text, ContainsSubstring(expected));
}

TEST_CASE("every character that XML allows comes through, and no other") {
  CHECK(pace::report::xml_text("a") == "a");
  CHECK(pace::report::xml_text("\x7f") == "\xEF\xBF\xBD");
  CHECK(pace::report::xml_text(std::string_view("\0", 1)) == "\xEF\xBF\xBD");
  CHECK(pace::report::xml_text("\xf0\x9f\x98\x80") == "\xf0\x9f\x98\x80");
  CHECK(pace::report::xml_text("\xe2\x82") == "\xEF\xBF\xBD");  // cut off; one, as in JSON
  CHECK(pace::report::xml_text("") == "");
}

TEST_CASE("the test framework's own results are added") {
  const TemporaryFile file;
  JUnitSink sink(file.path(), Environment{});
  sink.write(sample::comparison("case"));
  sink.merge(
      "<?xml version=\"1.0\"?>\n<testsuites>\n  <testsuite name=\"a\"><testcase name=\"b\"/></testsuite>\n"
      "  <testsuite name=\"c\"/>\n <testsuite name=\"d\"></testsuite>\n</testsuites>\n");
  const auto root = xml::parse(file.content());
  REQUIRE(root.children.size() == 4);
  CHECK(root.children[1].attributes.at("name") == "a");
  CHECK(root.children[1].only("testcase").attributes.at("name") == "b");
  CHECK(root.children[3].attributes.at("name") == "d");
  const auto before = file.content();
  sink.merge("<testsuites/>");
  CHECK(file.content() == before);
  for (const std::string text : {"", "no XML", "<testsuites><testsuite name=\"cut off\">"}) {
    if (text.starts_with("<")) {
      CHECK_THROWS_WITH(sink.merge(text), ContainsSubstring("they hold no <testsuite>"));
    } else {
      CHECK_THROWS_AS(sink.merge(text), pace::Error);
    }
    CHECK(file.content() == before);
  }
}
