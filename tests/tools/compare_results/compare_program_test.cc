// The offline tool: exit codes, verdicts, several files a side, and messages for files that cannot be compared.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pace/os/read_file.hpp"
#include "tests/report/baseline_files.hpp"
#include "tests/report/temporary_file.hpp"
#include "tools/compare_results/compare_program.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using files::Json;
using files::Written;

namespace {

struct Run {
  int code;
  std::string out, err;
};

Run compare(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const int code = pace::tools::compare_results::compare_program(words, out, err);
  return {code, out.str(), err.str()};
}

/// `count` processes a side; the new ones take `factor` times as long.
Run compare(std::size_t count, double factor, const std::vector<std::string>& options = {}) {
  std::vector<std::unique_ptr<Written>> written;
  std::vector<std::string> words;
  for (const double each : {1.0, factor}) {
    words.push_back(each == 1 && words.empty() ? "--old" : "--new");
    for (std::size_t i = 0; i < count; ++i) {
      const double wobble = 1 + 0.001 * static_cast<double>(i % 3);
      written.push_back(
          std::make_unique<Written>(files::process(1000 * wobble, 500 * each * wobble, files::second(written.size()))));
      words.push_back(written.back()->path());
    }
  }
  words.insert(words.end(), options.begin(), options.end());
  return compare(words);
}

/// The text without line ends and repeated blanks, as a message that was wrapped is read.
std::string joined(const std::string& text) {
  std::string line;
  for (const char c : text)
    if (c != '\n' && !(c == ' ' && line.ends_with(' ')))
      line += c;
    else if (c == '\n' && !line.ends_with(' '))
      line += ' ';
  return line;
}

}  // namespace

TEST_CASE("replicates decide: nothing slower is 0, something slower is 1") {
  const auto same = compare(5, 1);
  CHECK(same.code == 0);
  CHECK_THAT(same.out, ContainsSubstring("fused") && ContainsSubstring("passed") &&
                           ContainsSubstring("2 compared, 0 not acceptable, 0 open"));
  const auto slower = compare(5, 1.05);
  CHECK(slower.code == 1);
  CHECK_THAT(slower.out, ContainsSubstring("0.952x  failed") && ContainsSubstring("5 + 5 processes, which scatter by"));
  CHECK(compare(5, 1.05, {"--no-slower-than", "1.10"}).code == 0);
  CHECK(compare(5, 0.8, {"--speedup-at-least=1.2"}).code == 1);  // eager is no faster than it was
  CHECK(compare(5, 1.05, {"--by", "speedup"}).code == 1);
}

TEST_CASE("where the time of the baseline changed too, rows say so and name --by speedup") {
  const std::vector<std::string> precise{"--process-spread", "0.002"};
  const auto with = [&](double eager, double fused, std::vector<std::string> options) {
    const Written before(files::process(1000, 500)), after(files::process(eager, fused, files::second(1)));
    options.insert(options.end(), {before.path(), after.path()});
    options.insert(options.end(), precise.begin(), precise.end());
    return compare(options);
  };
  const std::string advice = "compare speed-ups, from which that cancels (--by speedup)";
  const auto slower = with(1720, 860, {});
  CHECK(slower.code == 1);
  CHECK_THAT(
      joined(slower.out),
      ContainsSubstring("The baseline 'eager' takes 1.72x its old time, so that the machine may have changed and "
                        "not the code; " +
                        advice) &&
          ContainsSubstring("It is the baseline. If its code is as it was, the machine is slower or faster"));
  CHECK_THAT(with(1720, 860, {"--markdown", "-"}).out,
             ContainsSubstring("The baseline's time changed as well in the comparisons of 2 rows") &&
                 ContainsSubstring("`--by speedup`"));
  CHECK(with(1720, 860, {"--by", "speedup", "--allow-undecided"}).code == 0);
  // A faster machine passes a candidate that should fail, and a loss may be hidden in it.
  CHECK_THAT(joined(with(500, 400, {}).out), ContainsSubstring("The baseline 'eager' takes 0.500x its old time"));
  // Half of a proven change that is itself not proven.
  const auto half = with(1006, 503.5, {"--no-slower-than", "1.0001"});
  CHECK_THAT(joined(half.out), !ContainsSubstring("takes 1.01x its old time"));
  CHECK_THAT(joined(with(1006, 506, {"--no-slower-than", "1.0001"}).out),
             ContainsSubstring("The baseline 'eager' takes 1.01x its old time"));
  for (const auto& still : {with(1000, 860, {}), with(1000, 500, {}), with(1720, 860, {"--by", "speedup"})})
    CHECK_THAT(still.out, !ContainsSubstring("its old time") && !ContainsSubstring("It is the baseline"));
}

TEST_CASE("by speed-up, the message has the figure of its column, and says that it is a speed-up") {
  const Written before(files::process(1000, 500)), slower(files::process(1000, 600, files::second(1))),
      faster(files::process(1000, 400, files::second(2)));
  const auto with = [&](const Written& after, std::vector<std::string> options) {
    options.insert(options.end(), {before.path(), after.path(), "--by", "speedup", "--process-spread", "0.002"});
    return joined(compare(options).out);
  };
  CHECK_THAT(with(slower, {}), ContainsSubstring("0.833x failed") &&
                                   ContainsSubstring("'fused' has 0.833x the speed-up of the old results [0.82") &&
                                   ContainsSubstring("all of it below 0.980x (1 / 1.02x)") &&
                                   !ContainsSubstring("the time of"));
  CHECK_THAT(with(slower, {"--no-slower-than", "1.2"}), ContainsSubstring("which holds 0.833x (1 / 1.20x)"));
  CHECK_THAT(with(slower, {"--speedup-at-least", "1.2"}), ContainsSubstring("all of it below 1.20x"));
  CHECK_THAT(with(faster, {"--speedup-at-least", "1.3"}),
             ContainsSubstring("'fused' has 1.25x the speed-up of the old results") &&
                 ContainsSubstring("all of it below 1.30x"));
}

TEST_CASE("two single files: open unless the difference is beyond what processes differ by") {
  const Written old_file(files::process(1000, 500)), slower(files::process(1000, 530)), slow(files::process(1000, 800));
  const auto open = compare({old_file.path(), slower.path()});
  CHECK(open.code == 43);
  CHECK(compare({old_file.path(), slower.path(), "--allow-undecided"}).code == 0);
  CHECK(compare({old_file.path(), slow.path(), "--allow-undecided"}).code == 1);
  CHECK_THAT(open.out, ContainsSubstring("undecided") && ContainsSubstring("assumed to scatter by at most 5 %"));
  CHECK(compare({old_file.path(), slower.path(), "--undecided-fails"}).code == 1);
  CHECK(compare({old_file.path(), slower.path(), "--process-spread", "0.002"}).code == 1);
  CHECK(compare({old_file.path(), slow.path(), "--no-slower-than", "1.02"}).code == 1);
}

TEST_CASE("an undecided row says how many processes, rounds and seconds would give a verdict") {
  // One process a side has 16 rounds and takes a second. Each of two implementations has half of beta and alpha.
  const Written old_file(files::process(1000, 500)), slower(files::process(1000, 530, files::second(1)));
  const auto run = compare({old_file.path(), slower.path(), "--process-spread", "0.01"});
  CHECK(run.code == 43);
  // ln 1.06 - ln 1.02 = 0.03847 and the quantile 3.2905 of 0.0005: 2 * (0.032905 / 0.03847)^2 = 1.46, which is 2.
  CHECK_THAT(joined(run.out),
             ContainsSubstring("about 2 processes on each side, a number to fix before you measure: 64 "
                               "rounds in all, which take 4.00 s"));
}

TEST_CASE("a series: each file is judged against the first, and all share the error rates") {
  const Written first(files::process(1000, 500)), same(files::process(1000, 500, files::second(1))),
      slow(files::process(1000, 600, files::second(2)));
  const auto run = compare({"--series", first.path(), same.path(), slow.path(), "--process-spread", "0.002"});
  CHECK(run.code == 1);
  CHECK_THAT(run.out, ContainsSubstring("== " + same.path() + " against " + first.path()) &&
                          ContainsSubstring("== " + slow.path() + " against " + first.path()) &&
                          ContainsSubstring("4 compared, 1 not acceptable"));
  // Two implementations and two files: a quarter of 0.1 % each, and a half of it without the third file.
  CHECK_THAT(joined(run.out), ContainsSubstring("wrongly failed: 0.025 %"));
  CHECK_THAT(joined(compare({first.path(), slow.path(), "--process-spread", "0.002"}).out),
             ContainsSubstring("wrongly failed: 0.05 %"));
}

TEST_CASE("a file whose last line was cut off is named, and its whole lines are compared") {
  Json two = files::process(1000, 500);
  two["results"].push_back(two["results"][0]);
  two["results"][1]["name"] = "second";
  const std::string text = lines::text_of(two);
  const Written one(files::process(1000, 500, files::second(1))), cut(text.substr(0, text.size() - 20));
  const auto run = compare({one.path(), cut.path(), "--process-spread", "0.001"});
  CHECK(run.code == 43);
  CHECK_THAT(run.out, ContainsSubstring("2 compared, 0 not acceptable, 0 open"));
  CHECK_THAT(run.err, ContainsSubstring(cut.path() + ": its last line was cut off"));
  // Nobody has decided about the rows that are lost.
  CHECK(compare({one.path(), cut.path(), "--process-spread", "0.001", "--allow-undecided"}).code == 43);
}

TEST_CASE("files with nothing in common are named with what they have, and nothing is compared") {
  Json json = files::process(1000, 500);
  json["results"][0]["name"] = "other";
  const Written one(files::process(1000, 500)), other(json);
  const auto run = compare({one.path(), other.path()});
  CHECK(run.code == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err,
             ContainsSubstring(one.path() + " and " + other.path() +
                               " have nothing in common: the first side has 'case' (eager), 'case' (fused), the "
                               "second one 'other' (eager), 'other' (fused)"));
}

TEST_CASE("Markdown has the proven changes, worst first, and a count of the rest") {
  const auto file = [](double slower, double faster, double same, std::size_t second) {
    Json json = files::process(1000, 500, files::second(second));
    auto& rows = json["results"][0]["implementations"];
    for (const auto& [name, median] :
         {std::pair("fa|st @all `<b>", faster), std::pair("slow", slower), std::pair("same", same)}) {
      Json row = rows[1];
      row["name"] = name;
      row["time"]["median_ns"] = median;
      for (const char* low : {"min_ns", "q20_ns"}) row["time"][low] = median / 2;
      for (const char* high : {"q80_ns", "max_ns"}) row["time"][high] = median * 2;
      rows.push_back(row);
    }
    return json;
  };
  const Written before(file(100, 100, 100, 0)), after(file(130, 50, 100.5, 1));
  const auto run = compare({before.path(), after.path(), "--process-spread", "0.001", "--markdown", "-", "--report-url",
                            "https://ci.example/1(2)"});
  CHECK(run.code == 1);
  CHECK_THAT(
      run.out,
      StartsWith("### pace: 1 slower, 1 faster, of 5; 1 not acceptable\n") &&
          ContainsSubstring("| `case` | `slow` | 100 ns | 130 ns | 0.769x \\[0.7") &&
          ContainsSubstring("] | **failed** |") &&
          ContainsSubstring(
              "| `case` | <code>fa&#124;st &#64;<!-- -->all &#96;&#60;b&#62;</code> | 100 ns | 50.0 ns | 2.00x") &&
          ContainsSubstring("No change is proven of 3 others.\n") &&
          ContainsSubstring("[Report](<https://ci.example/1(2)>)"));
  CHECK(run.out.find("| `slow` |") < run.out.find("fa&#124;st"));
  CHECK_THAT(run.out, !ContainsSubstring("eager"));
  // Each of five implementations has 0.002: ln(1.02 / 1.005) = 0.01481 and the quantile 2.8782 give 2 * 1.9434^2 = 7.6.
  CHECK_THAT(
      compare({before.path(), after.path(), "--process-spread", "0.01", "--markdown", "-"}).out,
      ContainsSubstring(" others; 3 of them have no verdict. About 8 processes on each side would give each of these "
                        "one.\n"));
  const Written first(files::process(1000, 500)), slower(files::process(1000, 600, files::second(1)));
  CHECK_THAT(compare({first.path(), slower.path(), "--process-spread", "0.001", "--markdown", "-"}).out,
             ContainsSubstring("No change is proven of 1 other.\n"));
  // A gate closed without figures is named with its reason.
  Json json = file(100, 100, 100, 1);
  json["results"][0]["implementations"].erase(1);
  const Written part(json);
  CHECK_THAT(compare({before.path(), part.path(), "--markdown", "-"}).out,
             ContainsSubstring("| `case` | `fused` | 500 ns | - | - | **invalid**: `'fused' has no figures"));
}

TEST_CASE("Markdown has names as code, so that GitHub makes no link, mention or markup of them") {
  using pace::tools::compare_results::detail::as_code;
  for (const std::string name :
       {"www.example.com", "https://x.example", "GH-12", "owner/repository#1", "@all", "a@b.example",
        "b99b64a2b5fea05d08a4e098771ab3f8cfdce13d", "<b>&amp;*_~[x](y)", "ends with \\"})
    CHECK(as_code(name) == '`' + name + '`');
  CHECK(as_code("a`b``c") == "```a`b``c```");
  CHECK(as_code("`") == "`` ` ``");
  CHECK(as_code(" blanks ") == "`  blanks  `");
  CHECK(as_code("two\nlines") == "`two\\nlines`");
  CHECK(as_code("").find_first_of("`<>") == std::string::npos);
  // In a table a vertical bar ends the cell even in code, so that such a name has no character left that has a meaning.
  CHECK(as_code("|\\|www.x") == "<code>&#124;&#92;&#124;www&#46;x</code>");
}

TEST_CASE("an empty name, and one name for two outputs, are refused") {
  const Written before(files::process(1000, 500)), after(files::process(1000, 500, files::second(1)));
  CHECK_THAT(compare({before.path(), ""}).err, ContainsSubstring("the name of a file is empty"));
  CHECK(compare({"--old", "", "--new", after.path()}).code == 2);
  const TemporaryFile output;
  const auto run = compare({before.path(), after.path(), "--json", output.path(), "--html", output.path()});
  CHECK(run.code == 2);
  CHECK_THAT(run.err, ContainsSubstring("--html: " + output.path() + " is the file of --json as well"));
  CHECK(compare({before.path(), after.path(), "--json", "o.txt", "--markdown", "./o.txt"}).code == 2);
}

TEST_CASE("messages and help are as wide as the terminal") {
  const Written before(files::process(1000, 500)), after(files::process(1000, 530, files::second(1)));
  const std::vector<std::string> files{before.path(), after.path()};
  for (const auto& words : {files, std::vector<std::string>{"--help"}}) {
    std::ostringstream out, err;
    (void)pace::tools::compare_results::compare_program(
        words, out, err, false, [](const std::string& path) { return path; }, [](const std::vector<std::string>&) {},
        60);
    std::istringstream text(out.str());
    for (std::string line; std::getline(text, line);)
      // A row of the table is as wide as its names.
      if (words.size() == 1 || line.starts_with("      ")) CHECK(line.size() <= 60);
  }
}

TEST_CASE("a pipe cannot be read a second time for a page") {
  const Written before(files::process(1000, 500));
  const TemporaryFile page;
  const std::string pipe = page.path() + ".fifo";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto run = compare({before.path(), pipe, "--html", page.path()});
  std::filesystem::remove(pipe);
  CHECK(run.code == 2);
  CHECK_THAT(run.err, ContainsSubstring("--html: " + pipe + " is a pipe, which can be read only once"));
}

TEST_CASE("JSON has every row with its interval, its verdict and the processes that it needs") {
  const Written before(files::process(1000, 500)), after(files::process(1000, 530, files::second(1)));
  const TemporaryFile json, comment;
  const auto run = compare(
      {before.path(), after.path(), "--process-spread", "0.01", "--json", json.path(), "--markdown", comment.path()});
  CHECK(run.code == 43);
  CHECK_THAT(run.out, ContainsSubstring("2 compared, 0 not acceptable, 2 open"));
  CHECK_THAT(pace::read_file(comment.path(), ""), StartsWith("### pace: "));
  std::istringstream text(pace::read_file(json.path(), ""));
  std::string line;
  REQUIRE(std::getline(text, line));
  const Json first = Json::parse(line);
  CHECK(first["comparison_version"] == 1);
  CHECK(first["by"] == "time");
  CHECK(first["limit"] == 1.02);
  CHECK(first["steps"][0]["old"][0]["path"] == before.path());
  CHECK(first["steps"][0]["new"][0]["date_utc"] == files::second(1));
  CHECK(first["compared"] == 2);
  CHECK(first["let_through"] == 2);
  CHECK(first["exit_code"] == 43);
  REQUIRE(std::getline(text, line));
  CHECK(Json::parse(line)["processes_needed"] == 4);
  REQUIRE(std::getline(text, line));
  const Json row = Json::parse(line);
  CHECK(row["step"] == 1);
  CHECK(row["comparison"] == "case");
  CHECK(row["implementation"] == "fused");
  CHECK_THAT(row["then_ns"].get<double>(), Catch::Matchers::WithinRel(500, 1e-9));
  CHECK_THAT(row["factor"].get<double>(), Catch::Matchers::WithinRel(500.0 / 530.0, 1e-9));
  CHECK(row["interval"]["low"].get<double>() < row["factor"].get<double>());
  CHECK(row["interval"]["high"].get<double>() > row["factor"].get<double>());
  CHECK(row["verdict"] == "undecided");
  CHECK(row["processes_now"] == 1);
  CHECK(row["processes_needed"] == 2);
  CHECK(row["rounds_needed"] == 64);
  CHECK(row["time_needed_ns"] == 4e9);
  CHECK_FALSE(std::getline(text, line));
}

TEST_CASE("a page gets the verdicts and all files, and what goes wrong with it is an error") {
  const Written before(files::process(1000, 500)), after(files::process(1000, 500, files::second(1)));
  const TemporaryFile page;
  std::vector<std::string> words;
  Json first;
  std::ostringstream out, err;
  const auto same = [](const std::string& path) { return path; };
  const std::vector<std::string> line{before.path(), after.path(), "--process-spread", "0.001", "--html", page.path()};
  const auto run = [&](const pace::tools::compare_results::detail::MakePage& make) {
    return pace::tools::compare_results::compare_program(line, out, err, false, same, make);
  };
  CHECK(run([&](const std::vector<std::string>& given) {
          words = given;
          first = Json::parse(pace::read_file(given.at(0), "").substr(0, pace::read_file(given.at(0), "").find('\n')));
        }) == 0);
  CHECK(std::vector(words.begin() + 1, words.end()) ==
        std::vector<std::string>{before.path(), after.path(), "--output", page.path()});
  CHECK(first["compared"] == 2);
  CHECK_FALSE(std::filesystem::exists(words[0]));
  CHECK(run([](const auto&) { throw pace::Error("no Python"); }) == 2);
  CHECK_THAT(err.str(), ContainsSubstring("compare_results: no Python"));
  CHECK_FALSE(std::filesystem::exists(words[0]));
}

TEST_CASE("a row that only the old side has is not acceptable") {
  Json json = files::process(1000, 500);
  json["results"][0]["implementations"].erase(1);
  const Written whole(files::process(1000, 500)), part(json);
  const auto run = compare({whole.path(), part.path()});
  CHECK(run.code == 1);
  CHECK_THAT(run.out,
             ContainsSubstring("invalid") && ContainsSubstring("'fused' has no figures to compare in the new results"));
}

TEST_CASE("a row that only the new side has is new, and passes unless --new-rows fail") {
  Json fewer = files::process(1000, 500), more = files::process(1000, 500, files::second(1));
  SECTION("a comparison") {
    more["results"].push_back(more["results"][0]);
    more["results"][1]["name"] = "second";
  }
  SECTION("an implementation") {
    auto& rows = more["results"][0]["implementations"];
    rows.push_back(rows[1]);
    rows[2]["name"] = "third";
  }
  const auto count = more["results"].size() == 2 ? 2 : 1;
  const Written before(fewer), after(more);
  const TemporaryFile json;
  const std::vector<std::string> words{before.path(), after.path(), "--process-spread", "0.001", "--json", json.path()};
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), words.begin(), words.end());
    return compare(options);
  };
  for (const auto& options : {std::vector<std::string>{}, {"--new-rows", "pass"}}) {
    const auto run = with(options);
    CHECK(run.code == 0);
    CHECK_THAT(run.out, ContainsSubstring(" new") && ContainsSubstring("is new: the old results do not have it") &&
                            ContainsSubstring("2 compared, 0 not acceptable, 0 open and let through, " +
                                              std::to_string(count) + " new\n"));
    std::istringstream text(pace::read_file(json.path(), ""));
    std::string line, last;
    REQUIRE(std::getline(text, line));
    CHECK(Json::parse(line)["compared"] == 2);
    CHECK(Json::parse(line)["new"] == count);
    CHECK(Json::parse(line)["let_through"] == 0);
    while (std::getline(text, line)) last = line;
    CHECK(Json::parse(last)["verdict"] == "new");
  }
  const auto failed = with({"--new-rows", "fail"});
  CHECK(failed.code == 1);
  CHECK_THAT(failed.out, ContainsSubstring("2 compared, " + std::to_string(count) + " not acceptable") &&
                             ContainsSubstring("leave out --new-rows fail"));
  CHECK_THAT(with({"--markdown", "-"}).out,
             ContainsSubstring("No change is proven of 2. " +
                               std::string(count == 1 ? "1 is new, and has" : "2 are new, and have") +
                               " nothing to be compared with.\n"));
  CHECK_THAT(with({"--markdown", "-", "--new-rows", "fail"}).out, ContainsSubstring("**new**: `'"));
  // A wrong result is wrong without old results, too.
  auto& row = more["results"].back()["implementations"].back();
  row["outcome"] = "wrong";
  row["message"] = "differs";
  const Written wrong(more);
  CHECK(compare({before.path(), wrong.path(), "--process-spread", "0.001"}).code == 1);
}

TEST_CASE("a run in which nothing is compared has code 2, whatever is let through") {
  Json unreached = files::process(1000, 500, files::second(1));
  for (auto& row : unreached["results"][0]["implementations"]) {
    row["outcome"] = "unreached";
    row["message"] = "the budget was used up";
    row.erase("time");
  }
  const Written before(files::process(1000, 500)), after(unreached);
  const auto run = compare({before.path(), after.path(), "--allow-undecided"});
  CHECK(run.code == 2);
  CHECK_THAT(run.err, ContainsSubstring("nothing is compared: no row has figures on both sides"));
  // By speed-up the baselines have no row, and all others are new.
  Json other = files::process(1000, 500, files::second(2));
  other["results"][0]["implementations"][1]["name"] = "second";
  Json alone = files::process(1000, 500, files::second(3));
  alone["results"][0]["implementations"].erase(1);
  const Written baseline(alone), renamed(other);
  const auto by_speedup = compare({baseline.path(), renamed.path(), "--by", "speedup"});
  CHECK(by_speedup.code == 2);
  CHECK_THAT(by_speedup.err, ContainsSubstring("have nothing in common that can be compared by speed-up"));
}

TEST_CASE("other machines and builds are refused with code 2, unless the difference is what one wants to see") {
  Json json = files::process(1000, 500);
  json["environment"]["libtorch"] = "2.12.0";
  const Written one(files::process(1000, 500)), other(json);
  const auto refused = compare({one.path(), other.path()});
  CHECK(refused.code == 2);
  CHECK(refused.out == "");
  CHECK_THAT(refused.err,
             ContainsSubstring("of different machines or builds: libtorch was \"as ever\" and is \"2.12.0\""));
  CHECK(compare({one.path(), other.path(), "--allow", "libtorch", "--allow-undecided"}).code == 0);
}

TEST_CASE("comparisons of one name with other inputs are not acceptable, unless that is what one wants to see") {
  Json json = files::process(1000, 500);
  json["results"][0]["inputs"] = "Double[8]";
  const Written one(files::process(1000, 500)), other(json);
  const auto refused = compare({one.path(), other.path()});
  CHECK(refused.code == 1);
  CHECK_THAT(refused.out, ContainsSubstring("invalid") && ContainsSubstring("measured otherwise: inputs was ''") &&
                              ContainsSubstring("named with --allow"));
  CHECK(compare({one.path(), other.path(), "--allow", "inputs", "--allow-undecided"}).code == 0);
}

TEST_CASE("samples of zeros are refused, though the median is above 0") {
  Json json = files::process(1000, 500);
  json["results"][0]["implementations"][1]["samples_ns"] = {250, 0, 0};
  const Written good(files::process(1000, 500)), zeros(json);
  for (const auto& words : {std::vector{good.path(), zeros.path()}, std::vector{zeros.path(), good.path()}}) {
    const auto run = compare(words);
    CHECK(run.code == 2);
    CHECK_THAT(run.err,
               ContainsSubstring(zeros.path() + ":2: 'fused' in 'case': samples_ns: expected times above 0, found 0 as "
                                                "element 2"));
  }
}

TEST_CASE("names and messages of a file send nothing to the terminal") {
  Json json = files::process(1000, 500);
  json["results"][0]["name"] =
      "evil\x1b[2J\xc2\x9b"
      "1m";
  auto& row = json["results"][0]["implementations"][1];
  row["outcome"] = "wrong";
  row["message"] = "differs\x1b]0;title\x07";
  const Written one(json), two(json);
  json["environment"]["cpu"] = "cpu\x1b[2J";
  const Written another(json);
  for (const auto& run : {compare({one.path(), two.path()}), compare({one.path(), another.path()}),
                          compare({one.path(), "/none\x1b[2J"})})
    for (const std::string& text : {run.out, run.err}) {
      CHECK_THAT(text, !ContainsSubstring("\x1b"));
      CHECK_THAT(text, !ContainsSubstring("\x07"));
      CHECK_THAT(text, !ContainsSubstring("\xc2\x9b"));
    }
}

TEST_CASE("a file that is given twice, under whatever names, is refused") {
  const Written one(files::process(1000, 500)), other(files::process(1000, 500, files::second(1)));
  const std::filesystem::path path = one.path();
  const std::string detour = (path.parent_path() / "." / path.filename()).string();
  const std::string link = one.path() + ".link";
  std::filesystem::create_symlink(path, link);
  const std::string twice = one.path() + ": is given twice; expected each file once";
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{one.path(), one.path()}, twice},
           {{one.path(), detour}, detour + ": is given twice, as " + one.path() + "; expected each file once"},
           {{one.path(), link}, link + ": is given twice, as " + one.path() + "; expected each file once"},
           {{"--old", one.path(), one.path(), "--new", other.path()}, twice},
           {{"--old", other.path(), one.path(), "--new", one.path()}, twice},
           {{"--series", one.path(), other.path(), one.path()}, twice}}) {
    const auto run = compare(words);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(message));
  }
  std::filesystem::remove(link);
}

TEST_CASE("files and command lines that make no sense say what was expected, with code 2") {
  const Json without_results = [] {
    Json json = files::process(1000, 500);
    json["results"] = Json::array();
    return json;
  }();
  const Written good(files::process(1000, 500)), copy(files::process(1000, 500)),
      later(files::process(1000, 500, files::second(1))), broken("{\"schema"), other("{\"a\": 1}\n"),
      newer("{\"schema_version\":4}\n"), empty(without_results), nothing(without_results);
  const std::string ok = good.path();
  const auto check = [](const std::vector<std::string>& words, const std::string& message) {
    const auto run = compare(words);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(message));
  };
  check({}, "expected at least one file on each side");
  check({ok}, "expected OLD.json and NEW.json");
  check({ok, ok, ok}, "expected OLD.json and NEW.json, or --old and --new, or --series");
  check({"--series", ok}, "--series: expected two files or more, found one");
  check({"--series", ok, "--old", ok}, "each file of a series is a side of its own");
  check({ok, ok, "--series", ok, ok}, "or --series, with files after them");
  check({"--series", ok, copy.path()}, "hold the same process");
  check({ok, ok, "--report-url", "https://u"}, "--report-url goes together with --markdown, which was not given");
  check({ok, ok, "--markdown", "-", "--report-url", "https://a b"}, "without blanks");
  check({ok, ok, "--markdown", "-", "--report-url", "javascript:alert(1)"}, "begins with http:// or https://");
  check({ok, ok, "--json", ok}, "--json: " + ok + " is one of the files that are compared");
  check({ok, ok, "--html", ok}, "--html: " + ok + " is one of the files that are compared");
  check({ok, ok, "--markdown", ok}, "--markdown: " + ok + " is one of the files that are compared");
  check({ok, later.path(), "--json", "/nonexistent/a.json"}, "/nonexistent/a.json");
  check({"--old", ok}, "expected at least one file on each side");
  check({ok, "/nonexistent.json"}, "/nonexistent.json: cannot be read: No such file");
  check({ok, broken.path()}, broken.path() + ": holds no results: it is empty, or was cut off in its first line");
  check({ok, other.path()}, other.path() + ":1: is no results file: has no \"schema_version\"");
  check({ok, newer.path()}, newer.path() + ":1: its schema_version is 4; this program");
  check({empty.path(), nothing.path()}, "hold no results");
  check({ok, ok, "--no-slower-than", "fast"}, "--no-slower-than: invalid value 'fast'");
  check({ok, ok, "--no-slower-than"},
        "--no-slower-than: expected a value after it: a number from 0.001 to 1000000, such as 1.05");
  check({ok, ok, "--alpha=0.7"}, "expected a number from 0.000000001 to 0.49");
  for (const char* number : {"inf", "nan", "1e-320", "0", "-1"})
    check({ok, ok, "--no-slower-than", number},
          "invalid value '" + std::string(number) + "'; expected a number from 0.001 to 1000000");
  check({ok, ok, "--no-slower-than", "1.1", "--speedup-at-least", "1.2"},
        "--speedup-at-least does not go together with --no-slower-than: files are compared by one limit");
  check({ok, ok, "--no-slower-than", "1.1", "--no-slower-than=1.2"},
        "--no-slower-than: is given twice, as '1.1' and as '1.2'; expected it once");
  check({ok, ok, "--by", "time", "--by", "speedup"}, "--by: is given twice");
  check({ok, ok, "--by", "luck"}, "expected time or speedup");
  check({ok, ok, "--allow", "hostname"}, "'hostname' is no key that is compared; these are: cpu, cores");
  check({ok, ok, "--fast"}, "unknown option --fast");
  check({ok, ok, "--undecided-fails=off"}, "--undecided-fails: takes no value, found 'off'");
  check({ok, ok, "--undecided-fails", "--allow-undecided"}, "contradict each other");
  check({"--old", ok, copy.path(), "--new", later.path()}, "hold the same process");
  CHECK(compare({"--help"}).code == 0);
  CHECK_THAT(compare({"--help"}).out,
             ContainsSubstring("--no-slower-than <factor>") && ContainsSubstring("(default: 1.02)"));
}
