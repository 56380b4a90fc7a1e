// A measuring program with its command line, its files and Bazel: seen from outside, as a process.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "pace/os/output_file.hpp"
#include "tests/report/temporary_file.hpp"
#include "tests/runner/run_program.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;

namespace {

namespace fs = std::filesystem;
using pace::test::alone;
using pace::test::Scratch;
using program::run;

}  // namespace

TEST_CASE("results that are good enough: table, totals, exit code 0") {
  const auto program = run("");
  CHECK(program.code == 0);
  CHECK_THAT(program.out, ContainsSubstring("speed-up") && ContainsSubstring("2.00x  [1.90, 2.10]") &&
                              ContainsSubstring("All tests passed") && ContainsSubstring("1 case, 2 implementations"));
  CHECK_THAT(program.out, !ContainsSubstring("\033"));
  CHECK_THAT(run("--no-table").out, !ContainsSubstring("speed-up"));
}

TEST_CASE("an expectation that is not met fails the program and says what to do") {
  const auto program = run("'too slow'");
  CHECK(program.code != 0);
  CHECK_THAT(program.out, ContainsSubstring("'fused' (1.00 us, speed-up 2.00x"));
  CHECK_THAT(program.out, ContainsSubstring("speed-up of at least 3.00x"));
  CHECK_THAT(program.out, ContainsSubstring("try: make the implementation faster"));
  const auto wrong = run("wrong");
  CHECK(wrong.code != 0);
  CHECK_THAT(wrong.out, ContainsSubstring("'fused' wrong: output 0 differs"));
  CHECK_THAT(wrong.out, ContainsSubstring("has no\n  speed-up"));
}

TEST_CASE("the message of a failure is printed once: in the table, or by Catch2 where there is none") {
  const std::string message = "all of it below 3.00x";
  const auto times = [&](const std::string& options) {
    // The lines are broken at blanks.
    std::string text = run("'too slow' " + options).out;
    std::string joined;
    std::istringstream words(text);
    for (std::string word; words >> word;) joined += word + ' ';
    std::size_t found = 0;
    for (auto at = joined.find(message); at != std::string::npos; at = joined.find(message, at + 1)) ++found;
    return found;
  };
  for (const char* options : {"", "--verbose", "--no-table", "--reporter compact --reporter xml::out=/dev/null"}) {
    INFO(options);
    CHECK(times(options) == (std::string(options).find("xml") == std::string::npos ? 1 : 2));
  }
}

TEST_CASE("a program of ready-made cases names a case that failed, and no place in its code") {
  const auto names_place = [](const std::string& text) {
    return text.find("sample_program.cc") != std::string::npos || text.find("CHECK_THAT") != std::string::npos;
  };
  CHECK(names_place(run("'too slow'").out));
  const auto gate = run("'too slow'", "SAMPLE_READY_MADE=1");
  CHECK(gate.code == 42);
  INFO(gate.out);
  CHECK_FALSE(names_place(gate.out));
  CHECK_THAT(gate.out, ContainsSubstring("\nFAILED:\n  'second'") && ContainsSubstring("test cases: 1 | 1 failed"));
  // The table has the message, as beside Catch2's own reporter.
  CHECK_THAT(gate.out, ContainsSubstring("speed-up of at least 3.00x"));
  CHECK_THAT(run("", "SAMPLE_READY_MADE=1").out, ContainsSubstring("All tests passed") && !ContainsSubstring("PASSED"));
  CHECK_THAT(run("--success", "SAMPLE_READY_MADE=1").out, ContainsSubstring("\nPASSED:\n  'first'"));
  CHECK_THAT(run("--durations yes", "SAMPLE_READY_MADE=1").out, ContainsSubstring(" s: "));
  const auto thrown = run("'has an evil name'", "SAMPLE_READY_MADE=1").out;
  CHECK_THAT(thrown, ContainsSubstring("\nFAILED:\n  thrown\\x1b[2J\n") && !ContainsSubstring("Unknown expression"));
  CHECK_THAT(run("skips", "SAMPLE_READY_MADE=1").out, ContainsSubstring("\nSKIPPED:\n  there is no GPU\n"));
  const auto crashed = run("'crashes outside'", "SAMPLE_READY_MADE=1").out;
  const std::string signal = "\nFAILED:\n  SIGSEGV - Segmentation violation signal\n";
  INFO(crashed);
  CHECK_THAT(crashed, ContainsSubstring(signal));
  CHECK(crashed.find(signal) == crashed.rfind(signal));
  // A reporter that is asked for is the one that reports.
  CHECK(names_place(run("'too slow' --reporter console", "SAMPLE_READY_MADE=1").out));
}

TEST_CASE("what failed and was asserted nowhere fails the program, and what a test expects to fail does not") {
  const auto gate = run("'too slow without an assertion'");
  CHECK(gate.code == 42);
  CHECK_THAT(gate.err, ContainsSubstring("pace: second: 'fused' was expected to have a speed-up of at least 3.00x: ") &&
                           ContainsSubstring("pace: no assertion has examined this failure"));
  const auto thrown = run("'throws without an assertion'");
  CHECK(thrown.code == 42);
  CHECK_THAT(thrown.err, ContainsSubstring("pace: throwing: 'fused' threw: thrown\n"));
  CHECK(run("'too slow as it should be'").code == 0);
  CHECK(run("'too slow as it should be,too slow without an assertion'").code == 42);
  const auto asserted = run("'too slow'");
  CHECK(asserted.code == 42);
  CHECK_THAT(asserted.err, !ContainsSubstring("no assertion"));
}

TEST_CASE("a case has one line, with --verbose a block") {
  const auto lines = run("");
  CHECK_THAT(lines.out, ContainsSubstring("\nfirst ") && !ContainsSubstring("1st call"));
  CHECK_THAT(lines.out,
             Matches("(?:.|\n)*\nfirst +fused +2.00 us +1.00 us +2.00x +\\[1.90, 2.10\\] +passed\n(?:.|\n)*"));
  const auto blocks = run("--verbose");
  CHECK_THAT(blocks.out, ContainsSubstring("1st call") && ContainsSubstring("\nfirst  (") &&
                             ContainsSubstring("\n  eager ") && ContainsSubstring("\n  fused "));
  CHECK_THAT(run("--verbose --no-table").err, ContainsSubstring("--no-table does not go together with --verbose"));
}

TEST_CASE("the width and the colours of the table are those that the environment asks for") {
  const auto narrow = run("", "COLUMNS=80");
  std::istringstream text(narrow.out);
  for (std::string line; std::getline(text, line);)
    if (line.find("[1.") != std::string::npos) CHECK(line.size() <= 80);
  CHECK_THAT(narrow.out, !ContainsSubstring("baseline "));
  CHECK_THAT(run("", "COLUMNS=120").out, ContainsSubstring("  baseline "));
  CHECK_THAT(run("", "FORCE_COLOR=1").out, ContainsSubstring("\033[32mpassed\033[0m"));
  CHECK_THAT(run("", "FORCE_COLOR=1 NO_COLOR=1").out, !ContainsSubstring("\033"));
  CHECK_THAT(run("--colour-mode none", "FORCE_COLOR=1").out, !ContainsSubstring("\033"));
  // Catch2's own lines follow the same variables.
  CHECK_THAT(run("'too slow'", "FORCE_COLOR=1").out,
             ContainsSubstring("\033[0;31m") || ContainsSubstring("\033[1;31m"));
}

TEST_CASE("--list prints the names of the test cases that would run, and runs none") {
  CHECK(run("--list").out == "fast enough\n");
  const auto some = run("--list 'too slow,wrong'");
  CHECK(some.code == 0);
  CHECK(some.out == "too slow\nwrong\n");
  const auto none = run("--list 'nothing of that name'");
  CHECK(none.code == 3);
  CHECK(none.out == "");
  CHECK_THAT(none.err, ContainsSubstring("--list: no test case matches '\"nothing of that name\"'"));
  const auto half = run("--list 'too slow,nothing of that name'");
  CHECK(half.code == 3);
  CHECK(half.out == "");
  const TemporaryFile err;
  const std::string hidden = fs::absolute("tests/runner/hidden_program").string();
  CHECK(WEXITSTATUS(std::system((alone() + "'" + hidden + "' --list 2>" + err.path()).c_str())) == 2);
  CHECK_THAT(err.content(), ContainsSubstring("--list: no test case is chosen"));
  CHECK_THAT(run("--list --budget abc").err, ContainsSubstring("--budget: invalid value 'abc'"));
  CHECK_THAT(run("--list --dry-run").err, ContainsSubstring("--list does not go together with --dry-run"));
  CHECK_THAT(run("--list --reporter xml").err, ContainsSubstring("--list: does not go with Catch2's --reporter"));
  for (const std::string option : {"--case first", "--csv a.csv", "--json a.json", "--junit a.xml", "--html a.html",
                                   "--save-baseline a", "--baseline a", "--resume", "--processes 2"}) {
    const auto refused = run("--list " + option);
    CHECK(refused.code == 1);
    CHECK(refused.out == "");
    CHECK_THAT(refused.err, ContainsSubstring("--list: does not go with " + option.substr(0, option.find(' ')) + ", "));
  }
  CHECK_THAT(run("--dry-run --list-tests").err, ContainsSubstring("--dry-run: does not go with Catch2's lists"));
}

TEST_CASE("--dry-run lists the comparisons in their order with what they would take and write, and measures nothing") {
  const Scratch folder;
  const std::string json = (folder.path / "results.json").string();
  const auto program = run("--dry-run 'measures,correct in its time' --json " + json);
  CHECK(program.code == 0);
  CHECK_THAT(program.out, ContainsSubstring("\nmeasured  eager, fused") &&
                              ContainsSubstring("\ntimely    eager, fused") && ContainsSubstring("Float[16]") &&
                              ContainsSubstring("  1 case expects speed-up of at least 0.0100x\n"));
  // 100 ms of rounds and a warm-up of 100 ms for each of two, twice.
  CHECK_THAT(program.out,
             ContainsSubstring("  300 ms  ") && ContainsSubstring("2 cases would be measured, for about 600 ms by"));
  CHECK_THAT(program.out,
             ContainsSubstring("  audit     operands") && ContainsSubstring("  300 ms  standard  Float[16]"));
  CHECK_THAT(run("--dry-run measures --audit strict").out, ContainsSubstring("  300 ms  strict  Float[16]"));
  // The last of several values counts, of this option as of all others.
  CHECK_THAT(run("--dry-run measures --audit strict --audit off").out, ContainsSubstring("  300 ms  off    Float[16]"));
  CHECK_THAT(program.out,
             ContainsSubstring("\nwould write " + json + "\n") && ContainsSubstring("dry run: nothing was measured\n"));
  CHECK_THAT(program.out, !ContainsSubstring("passed") && !ContainsSubstring("assertion"));
  CHECK_FALSE(fs::exists(json));
  // A file that cannot be written fails a dry run as it fails the run.
  CHECK(run("--dry-run measures --json /nonexistent/x.json").code == 1);
  CHECK(run("--dry-run measures --extra bad").code == 1);
  CHECK_THAT(run("--dry-run measures --extra unusable").err, ContainsSubstring("no such inputs"));
  CHECK(run("--dry-run 'no test of that name'").code == run("'no test of that name'").code);
  CHECK_THAT(run("--dry-run measures --processes 3").out,
             ContainsSubstring("in at most 3 processes, one after another\n"));
  const auto skips = run("--dry-run skips");
  CHECK(skips.code == 0);
  CHECK_THAT(skips.out, ContainsSubstring("\nNote: the test case 'skips' is skipped: there is no GPU\n"));
}

TEST_CASE("a dry run judges no figures, says where its list ends, and fails for what does not depend on figures") {
  const auto reads = run("--dry-run 'reads figures'");
  CHECK(reads.code == 0);
  CHECK_THAT(reads.out,
             ContainsSubstring("\nread  eager, mine") && !ContainsSubstring("\nafter") &&
                 ContainsSubstring("1 case would be measured") &&
                 ContainsSubstring("Note: the test case 'reads figures' reads figures, so that what comes "
                                   "after that is not listed: comparison 'read': a dry run measures nothing") &&
                 ContainsSubstring("1 assertion does not hold without figures, and is not judged"));
  const auto looks = run("--dry-run 'looks into rows'");
  CHECK(looks.code == 0);
  CHECK_THAT(looks.out, ContainsSubstring("2 cases would be measured") &&
                            ContainsSubstring("1 assertion does not hold without figures, and is not judged"));
  const auto fails = run("--dry-run 'fails before anything is compared'");
  CHECK(fails.code == 42);
  CHECK_THAT(fails.err, ContainsSubstring("pace: the test case 'fails before anything is compared' fails: 1 == 2"));
  const auto bad = run("--dry-run 'makes a bad comparison'");
  CHECK(bad.code == 42);
  CHECK_THAT(bad.err, ContainsSubstring("comparison 'bad': needs exactly one baseline"));
}

TEST_CASE("--case measures the comparison of that name alone, and fails where there is none") {
  const auto one = run("'it*' --case last");
  CHECK(one.code == 0);
  CHECK_THAT(one.out, ContainsSubstring("1 case, 2 implementations") && ContainsSubstring("\nlast ") &&
                          !ContainsSubstring("\nfirst "));
  CHECK_THAT(run("'it*' --case last --case first").out, ContainsSubstring("2 cases, 4 implementations"));
  const auto none = run("'it*' --case lost");
  CHECK(none.code != 0);
  CHECK_THAT(none.err, ContainsSubstring("--case: no comparison is called 'lost'; expected one of 'first', "));
  CHECK_THAT(run("'it*' --case last --dry-run").out, ContainsSubstring("1 case would be measured"));
  const auto read = run("'reads figures' --case after");
  CHECK(read.code != 0);
  CHECK_THAT(read.out, ContainsSubstring("comparison 'read': it is not the one that --case names"));
  CHECK_THAT(read.err, ContainsSubstring("--case: no comparison is called 'after'"));
}

TEST_CASE("a shard without the cases that --case names passes and says so, since another shard has them") {
  const std::string cases = "'measures,correct in its time' --max-interference 1 --case ";
  for (const auto& [first, second] :
       {std::pair<std::string, std::string>{" --shard-count 2 --shard-index 0", ""},
        {"", "BAZEL_TEST=1 TEST_TOTAL_SHARDS=2 TEST_SHARD_INDEX=0 TEST_SHARD_STATUS_FILE=/dev/null"}}) {
    const auto without = run(cases + "timely" + first, second);
    INFO(without.out << without.err);
    CHECK(without.code == 0);
    CHECK_THAT(without.err, ContainsSubstring("pace: --case: shard 1 of 2 has no comparison called 'timely', which is "
                                              "no failure: another shard may have it\n"));
  }
  const auto with = run(cases + "timely --shard-count 2 --shard-index 1");
  CHECK(with.code == 0);
  CHECK_THAT(with.out, ContainsSubstring("\ntimely ") && ContainsSubstring("1 case, 2 implementations"));
  CHECK_THAT(with.err, !ContainsSubstring("--case"));
  CHECK(run(cases + "timely --shard-count 2 --shard-index 0 --dry-run").code == 0);
  CHECK(run(cases + "timely --shard-count 2 --shard-index 0 --processes 2").code == 0);
  // A name that no shard has fails the first one, which lists all.
  for (const auto& [first, second, environment] :
       {std::tuple{" --shard-count 2 --shard-index 0", " --shard-count 2 --shard-index 1", ""},
        {" ", " --shard-count 2 --shard-index 1",
         "BAZEL_TEST=1 TEST_TOTAL_SHARDS=2 TEST_SHARD_INDEX=0 TEST_SHARD_STATUS_FILE=/dev/null"},
        {" --shard-count 2 --shard-index 0 --dry-run", " --shard-count 2 --shard-index 1 --dry-run", ""}}) {
    const auto lost = run(cases + "lost" + first, environment);
    INFO(lost.out << lost.err);
    CHECK(lost.code == 1);
    CHECK_THAT(lost.err, ContainsSubstring("pace: --case: no comparison is called 'lost'; expected one of ") &&
                             ContainsSubstring("'timely'"));
    CHECK(run(cases + "lost" + second).code == 0);
  }
  // A list that fails knows no names.
  const auto dies =
      run("'measures,crashes outside' --max-interference 1 --case timely --shard-count 2 --shard-index 0");
  CHECK(dies.code == 1);
  CHECK_THAT(dies.err,
             ContainsSubstring("pace: --case: whether a comparison of another shard is called 'timely' is not "
                               "known, since the process that lists the tests of all shards ended with exit "
                               "code 139. What it printed:\n"));
  // Where there is one shard, no other can have the name.
  CHECK(run(cases + "lost --shard-count 1").code == 1);
  // A failure beside it stays one.
  CHECK(run("'fails before anything is compared,measures' --case lost --shard-count 2 --shard-index 1").code == 42);
}

TEST_CASE("a current directory that was removed is an error that says so") {
  const pace::test::Scratch scratch;
  fs::create_directory(scratch / "gone");
  const std::string enter = "sh -c 'cd " + (scratch / "gone") + " && rmdir ../gone && exec \"$0\" \"$@\"'";
  const auto program = run("measures", enter);
  INFO(program.out);
  CHECK(program.code == 1);
  CHECK_THAT(program.err,
             ContainsSubstring("pace: the current directory was removed while a shell or a program stood in it"));
}

TEST_CASE("a claim that no process measured fails the run, and the message names it") {
  const auto program = run("'closed by several processes' --processes 2 --time-limit 0.001 --allow-unmeasured on");
  INFO(program.out);
  CHECK(program.code == 42);
  CHECK_THAT(program.err,
             ContainsSubstring(
                 "pace: 'equal': 'fused': speed-up of at least 3.00x is not proven: a process has not measured it\n") &&
                 ContainsSubstring("--case equal"));
}

TEST_CASE("what a tag allows to fail does not fail a dry run either") {
  for (const std::string test : {"must fail by its figures", "must fail without figures",
                                 "proven by several processes\\, beside what may fail"}) {
    const auto program = run("--dry-run '" + test + "'");
    INFO(test << program.out << program.err);
    CHECK(program.code == 0);
    CHECK(run("'" + test + "' --max-interference 1 --allow-unmeasured on").code == 0);
  }
  CHECK_THAT(run("--dry-run 'must fail without figures'").out,
             ContainsSubstring("Note: the test case 'must fail without figures' fails, as its tags allow: 1 == 2\n"));
}

TEST_CASE("the line that repeats a case runs it where its test case is hidden") {
  const auto repeated = [](const program::Run& failed) {
    const std::string head = "pace: to repeat what failed:\n  ";
    REQUIRE_THAT(failed.err, ContainsSubstring(head));
    std::string command = failed.err.substr(failed.err.find(head) + head.size());
    command.resize(command.find('\n'));
    INFO(command);
    const TemporaryFile out;
    const int status = std::system((alone() + command + " >" + out.path() + " 2>&1").c_str());
    CHECK(WEXITSTATUS(status) == 42);
    return out.content();
  };
  const auto processes = run("'closed by several processes' --processes 12 --max-interference 1");
  CHECK(processes.code == 42);
  CHECK_THAT(repeated(processes), ContainsSubstring("\nequal "));

  const TemporaryFile err;
  const std::string hidden = fs::absolute("tests/runner/hidden_program").string();
  const int status = std::system((alone() + "'" + hidden + "' '[.]' 2>" + err.path() + " >&2").c_str());
  CHECK_THAT(repeated({.code = WEXITSTATUS(status), .out = "", .err = err.content()}), ContainsSubstring("\nalone "));
}

TEST_CASE("a results file that goes while a run writes to it fails the run, which says so") {
  const Scratch folder;
  const auto program =
      run("'removes a file while it runs' --json " + folder / "a.json", "REMOVED_FILE=" + folder / "a.json");
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring("a.json': the file was removed, moved or replaced while it was written") &&
                              !ContainsSubstring("no further results"));
}

TEST_CASE("after a failure, one line repeats exactly that case: alone, with its seeds and the other options") {
  const Scratch folder;
  const auto file = [&](const std::string& name) { return (folder.path / name).string(); };
  const auto first =
      run("'it*' --seed 77 --alpha=0.002 --no-table --csv " + file("all.csv") + " --json " + file("all.json"));
  CHECK(first.code == 42);
  const std::string head = "pace: to repeat what failed:\n  ";
  REQUIRE_THAT(first.err, ContainsSubstring(head));
  std::string command = first.err.substr(first.err.find(head) + head.size());
  command.resize(command.find('\n'));
  CHECK_THAT(first.err, EndsWith(command + '\n'));  // no other case failed
  CHECK_THAT(command, !ContainsSubstring("all.csv") && !ContainsSubstring("all.json") &&
                          !ContainsSubstring("--no-table") && ContainsSubstring(" --seed 77 ") &&
                          ContainsSubstring(" --alpha 0.002"));
  std::ofstream(file("script")) << command << " --json " << file("one.json") << " >" << file("out") << '\n';
  const int status = std::system((alone() + "bash " + file("script")).c_str());
  CHECK(WEXITSTATUS(status) == 42);
  const std::string one = folder.read("one.json"), all = folder.read("all.json");
  const auto results = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (line.find("\"check_seed\"") != std::string::npos && line.find("\"implementations\"") != std::string::npos)
        lines.push_back(line);
    return lines;
  };
  REQUIRE(results(one).size() == 1);
  REQUIRE(results(all).size() == 4);
  const auto seeds = [](const std::string& line) {
    std::string found;
    for (const char* key : {"\"name\":\"", "\"seed\":", "\"check_seed\":"}) {
      const auto begin = line.find(key);
      found += line.substr(begin, line.find(',', begin) - begin) + ' ';
    }
    return found;
  };
  CHECK(seeds(results(one).front()) == seeds(results(all).at(2)));
  CHECK_THAT(seeds(results(one).front()), ContainsSubstring("third") && ContainsSubstring("\"seed\":77"));
}

TEST_CASE("a refused or unchecked candidate is repeated as well, where the test case fails for it") {
  // One of several processes finds it, and the first one says how to repeat it.
  const std::string processes = GENERATE("", "--processes 12");
  const auto program = run("'refused and unchecked beside what threw' " + processes);
  INFO(program.out << program.err);
  CHECK(program.code == 42);
  const std::string head = "pace: to repeat what failed:\n";
  REQUIRE_THAT(program.err, ContainsSubstring(head));
  std::istringstream commands(program.err.substr(program.err.find(head) + head.size()));
  for (const std::string name : {"thrown", "'refused, and why not'", "unchecked"}) {
    std::string command;
    std::getline(commands, command);
    CHECK_THAT(command, ContainsSubstring(" --case " + name + " ") && EndsWith(processes));
  }
  std::string more;
  CHECK_FALSE(std::getline(commands, more));
}

TEST_CASE("where one name has several inputs, rows and failures name them, and a failure is repeated alone") {
  const std::string test = GENERATE("one name for several sizes", "one name for several sizes in a loop",
                                    "one name for several types", "one name for several sizes and a matcher");
  INFO(test);
  const std::string filter = test + (test.ends_with("types") ? "*" : "");
  const bool is_loop = test.ends_with("loop"), is_matcher = test.ends_with("matcher"),
             is_type = test.ends_with("types");
  const std::string name = is_matcher ? "matched" : is_type ? "typed" : "softmax";
  const auto program = run('\'' + filter + '\'');
  CHECK(program.code == 42);
  const std::vector<std::string> inputs = is_type ? std::vector<std::string>{"Float[16]", "Double[16]"}
                                                  : std::vector<std::string>{"Float[16]", "Float[32]", "Float[64]"};
  const std::vector<std::string> failed = is_type                 ? std::vector<std::string>{"Double[16]"}
                                          : is_loop || is_matcher ? std::vector<std::string>{"Float[32]"}
                                                                  : std::vector<std::string>{"Float[16]", "Float[64]"};
  CHECK_THAT(program.out, ContainsSubstring("\n" + name + "  "));
  CHECK_THAT(program.out, ContainsSubstring("'" + name + "' above is " + name + ' ' + inputs[0] + '\n'));
  for (std::size_t i = 1; i < inputs.size(); ++i)
    CHECK_THAT(program.out, ContainsSubstring('\n' + name + ' ' + inputs[i] + "  "));
  const std::string shown = is_matcher ? "'mine'" : '\'' + name + '\'';
  const std::string head = "pace: to repeat what failed:\n  ";
  REQUIRE_THAT(program.err, ContainsSubstring(head));
  std::istringstream commands(program.err.substr(program.err.find(head) + head.size()));
  for (const auto& each : failed) {
    CHECK_THAT(program.out, ContainsSubstring(shown + " on " + each));
    std::string command;
    std::getline(commands, command);
    CHECK_THAT(command, ContainsSubstring(" --case '" + name + ' ' + each + "' "));
    const TemporaryFile script, out;
    std::ofstream(script.path()) << command << " >" << out.path() << '\n';
    const int status = std::system((alone() + "bash " + script.path()).c_str());
    CHECK(WEXITSTATUS(status) == 42);
    CHECK_THAT(out.content(),
               ContainsSubstring("1 case, 2 implementations") && ContainsSubstring(shown + " on " + each));
  }
  std::string more;
  CHECK_FALSE(std::getline(commands, more));
  // The summary, too.
  if (!is_matcher)
    for (const auto& each : failed)
      CHECK_THAT(program.out, ContainsSubstring("\n    " + name + ' ' + each + ", mine: "));
  // The name alone means all of them.
  CHECK_THAT(run('\'' + filter + "' --case " + name).out, ContainsSubstring(std::to_string(inputs.size()) + " cases"));
}

TEST_CASE("a name that has one kind of inputs stays as it is, however often it comes") {
  const auto program = run("'one name for one size two times'");
  CHECK_THAT(program.out, !ContainsSubstring("again Float") && !ContainsSubstring("above is"));
  CHECK_THAT(program.err, ContainsSubstring(" --case again "));
}

TEST_CASE("inputs that a name does not come with are an error that lists those that there are") {
  const auto program = run("'one name for several sizes' --case 'softmax Float[17]'");
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring("no comparison is called 'softmax Float[17]'; expected one of "
                                            "'softmax Float[16]', 'softmax Float[32]', 'softmax Float[64]'"));
}

TEST_CASE("a test case that fails by itself is repeated by its name, and nothing is repeated after a success") {
  const auto failed = run("'\\-begins*'");
  CHECK(failed.code == 42);
  CHECK_THAT(failed.err, ContainsSubstring("'\\-begins as an option does' --seed "));
  // A comparison that a matcher of the test has judged is known if it is the only one.
  CHECK_THAT(run("'too slow for a matcher'").err,
             ContainsSubstring(" 'too slow for a matcher' --case 'matched alone' "));
  CHECK_THAT(run("").err, !ContainsSubstring("to repeat"));
  const auto undecided = run("'open guard'");
  CHECK(undecided.code == 43);
  CHECK_THAT(undecided.err, ContainsSubstring("pace: to measure again what was undecided:\n  ") &&
                                ContainsSubstring(" 'open guard' --case guarded --seed "));
  CHECK_THAT(run("'too slow as it should be'").err, !ContainsSubstring("to repeat"));
  // bazel test passes on words one by one.
  const auto in_bazel = run("'too slow'", "BAZEL_TEST=1 TEST_TARGET=//my:gates");
  CHECK_THAT(in_bazel.err, ContainsSubstring("bazel test --test_output=all //my:gates '--test_arg=too slow' "
                                             "--test_arg=--case --test_arg=second --test_arg=--seed"));
}

namespace {

/// All that the program writes to a terminal of 100 columns, which is its standard output and error.
std::string on_terminal(const std::string& arguments, const std::string& variables = "") {
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 50;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    const std::string command = "exec env -i PATH=/usr/bin:/bin TERM=xterm " + variables + " '" +
                                fs::absolute("tests/runner/sample_program").string() + "' " + arguments;
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  std::string text(1 << 20, '\0');
  std::size_t size_so_far = 0;
  for (;;) {
    const auto got = ::read(terminal, text.data() + size_so_far, text.size() - size_so_far);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // the other side is closed
    size_so_far += static_cast<std::size_t>(got);
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  text.resize(size_so_far);
  return text;
}

/// The text that stays on the terminal in the end, without colours.
std::string screen_after(const std::string& text) {
  std::string screen, row;
  std::size_t at = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      screen += row + '\n';
      row.clear(), at = 0;
    } else if (text[i] == '\r') {
      at = 0;
    } else if (text.compare(i, 3, "\033[K") == 0) {
      row.resize(at), i += 2;
    } else if (text[i] == '\033') {
      i = text.find('m', i);
    } else {
      row.resize(std::max(row.size(), at + 1), ' ');
      row[at++] = text[i];
    }
  }
  return screen + row;
}

}  // namespace

TEST_CASE("on a terminal progress is shown in one line, which is gone before anything else is printed") {
  const auto shown = on_terminal("'measures,correct in its time'");
  // The clock of these comparisons is a fake, so the machine decides which steps appear.
  CHECK_THAT(shown, ContainsSubstring("\r\033[K\033[2m[1/2 tests] "));
  const auto screen = screen_after(shown);
  CHECK_THAT(screen, ContainsSubstring("\nmeasured ") && ContainsSubstring("All tests passed") &&
                         ContainsSubstring("2 cases, 4 implementations: 4 measured"));
  CHECK_THAT(screen, !ContainsSubstring("tests]") && !ContainsSubstring("first calls"));
  for (const auto& quiet : {on_terminal("measures --no-progress"), on_terminal("measures", "CI=1"),
                            on_terminal("measures", "TERM=dumb"), on_terminal("measures", "BAZEL_TEST=1")})
    CHECK_THAT(quiet, !ContainsSubstring("\033[K") && ContainsSubstring("All tests passed"));
  // An implementation that crashes leaves its line behind, and the process that goes on clears it.
  const auto crashed = screen_after(on_terminal("crashes --isolation on --budget 0.01 --warm-up 0.001"));
  CHECK_THAT(crashed, ContainsSubstring("\npace: culprit: crashed: ") && !ContainsSubstring("first calls of"));
}

TEST_CASE("no progress is shown without a terminal") {
  CHECK_THAT(run("measures").err, !ContainsSubstring("rounds") && !ContainsSubstring("\033"));
}

TEST_CASE("help lists Catch2's options, pace's and the program's") {
  const auto program = run("--help");
  CHECK(program.code == 0);
  for (const auto* option : {"--reporter", "--benchmark-samples", "--csv <file>", "--json <file>", "--budget <seconds>",
                             "--seed", "--confidence", "--max-rounds", "--operands", "--alpha", "--beta", "--stop",
                             "--threads", "--warm-up", "--no-table", "--extra"})
    CHECK_THAT(program.out, ContainsSubstring(option));
  CHECK_THAT(program.out, ContainsSubstring("(default: 7 s)"));  // the program's own default
  // The program's own options come first, then the options of all programs from common to rare, then Catch2's.
  std::size_t at = 0;
  for (const auto* group :
       {"Sample:\n", "\nWhat is measured:\n", "\nHow much is measured:\n", "\nWhat is shown:\n", "\nFiles:\n",
        "\nJudging:\n", "\nStored baselines:\n", "\nIsolation:\n", "\nGPU:\n", "--reporter"}) {
    CAPTURE(group);
    at = program.out.find(group, at);
    REQUIRE(at != std::string::npos);
  }
}

TEST_CASE("options reach the tests, in every spelling that Catch2 knows") {
  CHECK_THAT(run("'shows*' -r compact").out,
             ContainsSubstring("budget 7e+09, hard limit 2e+10") &&
                 ContainsSubstring("operands 0, alpha 0.001, beta 0.01, stop 0, threads 1, extra '"));
  const auto all =
      run("'shows*' -r compact --budget 60 --warm-up=0 --max-rounds 5 --confidence .9 --seed:0xff "
          "--operands shared --alpha 0.01 --beta=.02 --stop budget --threads 2 --extra word");
  CHECK_THAT(all.out, ContainsSubstring("budget 6e+10, hard limit 6e+10, warm-up 0, rounds 5, confidence 0.9, "
                                        "seed 255, operands 2, alpha 0.01, beta 0.02, stop 1, threads 2, extra word"));
  CHECK_THAT(run("'shows*' -r compact", "TEST_RANDOM_SEED=77").out, ContainsSubstring("seed 77,"));
  CHECK_THAT(run("'shows*' -r compact --seed 5", "TEST_RANDOM_SEED=77").out, ContainsSubstring("seed 5,"));
  CHECK_THAT(run("'shows*' -r compact --seed 5 --alpha 0.01 --seed 5").out, ContainsSubstring("seed 5,"));
  // A target's own arguments are defaults below the command line's.
  CHECK_THAT(run("--seed=5 --alpha=0.01 --seed 6 'shows*' -r compact").out,
             ContainsSubstring("seed 6,") && ContainsSubstring("alpha 0.01,"));
  CHECK_THAT(run("--budget 60 --seed 5 'shows*' --budget=30 --seed 7 --seed 6 -r compact").out,
             ContainsSubstring("budget 3e+10, hard limit 3e+10,") && ContainsSubstring("seed 6,"));
}

TEST_CASE("a bad command line ends with a message before any test") {
  const auto [arguments, message] = GENERATE(table<std::string, std::string>({
      {"--budget abc", "--budget: invalid value 'abc'; expected a number of seconds from"},
      {"--budget 0", "--budget: invalid value '0'"},
      {"--budget 1s", "--budget: invalid value '1s'"},
      {"--budget inf", "--budget: invalid value 'inf'"},
      {"--budget 1e-320", "--budget: invalid value '1e-320'"},
      {"--warm-up 1e300", "--warm-up: invalid value '1e300'"},
      {"--time-limit nan", "--time-limit: invalid value 'nan'"},
      {"--call-timeout 1e-300 --isolation on", "--call-timeout: invalid value '1e-300'"},
      {"--max-rounds 0", "--max-rounds: invalid value '0'"},
      {"--max-rounds 18446744073709551615", "--max-rounds: invalid value '18446744073709551615'; expected a whole"},
      {"--max-rounds 10000001", "--max-rounds: invalid value '10000001'; expected a whole number from 1 to"},
      {"--confidence 95", "--confidence: invalid value '95'"},
      {"--confidence 1e-320", "--confidence: invalid value '1e-320'; expected a number from 0."},
      {"--confidence 0.99999999999999999", "--confidence: invalid value '0.99999999999999999'"},
      {"--confidence nan", "--confidence: invalid value 'nan'"},
      {"--seed 18446744073709551616", "--seed: invalid value '18446744073709551616'"},
      {"--operands mine", "expected crossover, fixed or shared"},
      {"--alpha 1", "--alpha: invalid value '1'; expected a number from 0.000000001 to 0.49"},
      {"--suite-alpha 1", "--suite-alpha: invalid value '1'; expected a number from 0.000000001 to 0.49, such as 0.01"},
      {"--suite-alpha 0", "--suite-alpha: invalid value '0'"},
      {"--suite-alpha 0.01 --alpha 0.001", "--suite-alpha does not go with --alpha, which gives each comparison"},
      {"--suite-alpha 0.01 --baseline a.json", "--suite-alpha does not go with --baseline, whose gates"},
      {"--suite-alpha 0.01 --processes 2", "--suite-alpha does not go with --processes, whose gates"},
      {"--suite-alpha 0.01 --resume --json a.json", "--suite-alpha does not go with --resume, since the earlier run"},
      {"--beta 1e-320", "--beta: invalid value '1e-320'"},
      {"--max-interference 1e-320", "--max-interference: invalid value '1e-320'; expected a number from 0.001 to 1"},
      {"--mode-share 1e-320", "--mode-share: invalid value '1e-320'; expected a number from 0.001 to 10, or 0"},
      {"--processes 10000000", "--processes: invalid value '10000000'; expected a whole number from 1 to 1000"},
      {"--baseline-margin inf", "--baseline-margin: invalid value 'inf'; expected a number from 0.001 to"},
      {"--baseline-expires 1e-320", "--baseline-expires: invalid value '1e-320'"},
      {"--process-spread 1e-320", "--process-spread: invalid value '1e-320'"},
      {"--budget abc --budget 1", "--budget: invalid value 'abc'"},
      {"--call-timeout 5",
       "--call-timeout has no meaning where the tests run in this process; expected --isolation on beside it"},
      {"--call-timeout 5 --isolation off", "--call-timeout has no meaning where the tests run in this process"},
      {"--allow-undecided perhaps", "--allow-undecided: invalid value 'perhaps'; expected on or off"},
      {"--allow-unmeasured 1", "--allow-unmeasured: invalid value '1'; expected on or off"},
      {"--baseline-margin 1.1", "--baseline-margin: has no meaning without --baseline FILE"},
      {"--process-spread 0.01", "--process-spread: has no meaning without --baseline FILE"},
      {"--baseline-expires 7", "--baseline-expires: has no meaning without --save-baseline FILE"},
      {"--isolate mine", "--isolate: invalid value 'mine'; expected none or sides"},
      {"--isolate sides --threads 2", "--isolate sides: does not go with --threads 2"},
      {"--isolate sides --threads 0", "--isolate sides: does not go with --threads 0"},
      {"--isolate sides --counters cycles", "--isolate sides: does not go with --counters"},
      {"--stop soon", "--stop: invalid value 'soon'; expected decided or budget"},
      {"--clock sundial", "--clock: invalid value 'sundial'; expected graph, hot, cold"},
      {"--mode-share=-1", "--mode-share: invalid value '-1'"},
      {"--clock graph", "--clock graph has no meaning on a CPU: there is no GPU that this program can use"},
      {"--mode-share 0.1", "--mode-share has no meaning on a CPU: there is no GPU that this program can use"},
      {"--threads two", "--threads: invalid value 'two'; expected a whole number from 0 to "},
      {"--threads 100000", "--threads: invalid value '100000'; expected a whole number from 0 to "},
      {"--extra unusable", "no such inputs"},
      {"--csv", "--csv: expected a value after it: a file name"},
      {"--colour", "Unrecognised token: --colour"},
      {"--bugdet 1", "--bugdet: did you mean --budget?"},
      {"--BUDGET 1", "--BUDGET: did you mean --budget?"},
      {"--op fixed", "--op: did you mean --operands?"},
      {"--no-table=yes", "--no-table: takes no value, found 'yes'"},
      {"--extra bad", "another word was expected"},
      {"--csv /nonexistent/a.csv", "cannot open '/nonexistent/a.csv': No such file or directory"},
      {"--json /dev/full", "cannot write '/dev/full': No space left on device"},
  }));
  CAPTURE(arguments);
  // A machine may have a GPU.
  const auto program = run(arguments, "CUDA_VISIBLE_DEVICES=");
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring(message));
  CHECK_THAT(program.out, !ContainsSubstring("passed"));
}

TEST_CASE("a filter that matches nothing fails, alone and beside one that does") {
  CHECK(run("nosuch").code != 0);
  CHECK_THAT(run("nosuch").out + run("nosuch").err, ContainsSubstring("No test cases matched"));
  CHECK(run("'fast enough,nosuch'").code != 0);
  CHECK(run("", "BAZEL_TEST=1 TESTBRIDGE_TEST_ONLY=nosuch").code != 0);
  CHECK(run("'fast enough'").code == 0);
}

TEST_CASE("a shard may be empty; a filter that matches in no shard may not") {
  const TemporaryFile status;
  const std::string shard =
      "BAZEL_TEST=1 TEST_TOTAL_SHARDS=3 TEST_SHARD_INDEX=2 TEST_SHARD_STATUS_FILE=" + status.path();
  const auto empty = run("", shard);
  CHECK(empty.code == 0);
  CHECK_THAT(empty.out, ContainsSubstring("No tests ran"));
  CHECK(run("'fast*'", shard).code == 0);
  CHECK(run("nosuch", shard).code != 0);
  CHECK(run("--shard-count 3 --shard-index 0").code == 0);
}

TEST_CASE("--csv and --json write files") {
  const Scratch folder;
  const auto program = run("--csv " + folder / "a.csv" + " --json=" + folder / "a.json" + " --seed 3");
  CHECK(program.code == 0);
  CHECK_THAT(folder.read("a.csv"),
             Matches("case,[^]*\nfirst,eager,true[^]*,3,[^\n]*\nfirst,fused,false[^]*,3,[^\n]*\n"));
  const auto json = folder.read("a.json");
  CHECK_THAT(json, ContainsSubstring("{\"schema_version\":3,\"pace_version\":") &&
                       ContainsSubstring("\"sample\":\"yes\"") && ContainsSubstring("\"libtorch\":\"2.") &&
                       ContainsSubstring("\"name\":\"first\""));
  // Tells builds of uncommitted code apart; each process writes the same mark.
  CHECK_THAT(json, Matches("[^]*\"build\":\"[0-9a-f]{8,}\"[^]*"));
  const auto mark = json.substr(json.find("\"build\":"), 30);
  (void)run("--json=" + folder / "b.json");
  CHECK_THAT(folder.read("b.json"), ContainsSubstring(mark));
}

TEST_CASE("--suite-alpha is the error rate of the run in its files and messages, and a shard has its part") {
  const Scratch folder;
  const auto json_of = [&](const std::string& arguments) {
    const auto program = run("measures --max-interference 1 --json " + folder / "a.json" + ' ' + arguments);
    INFO(program.out << program.err);
    CHECK(program.code == 0);
    return folder.read("a.json");
  };
  const auto whole = json_of("--suite-alpha 0.04");
  CHECK_THAT(whole, ContainsSubstring("\"suite_alpha\":0.04}") && ContainsSubstring("\"alpha\":null,\"beta\":0.01") &&
                        ContainsSubstring("\"gate_number\":1,") && ContainsSubstring("wrongly passed: 1 %") &&
                        ContainsSubstring("\"alpha\":0.01,\"beta\":0.01,\"objections\""));
  const auto shard = json_of("--suite-alpha 0.04 --shard-count 4 --shard-index 0");
  CHECK_THAT(shard, ContainsSubstring("\"suite_alpha\":0.01}") && ContainsSubstring("wrongly passed: 0.25 %"));
  const auto without = json_of("--alpha 0.02");
  CHECK_THAT(without, ContainsSubstring("\"suite_alpha\":null}") && ContainsSubstring("\"alpha\":0.02,\"beta\"") &&
                          ContainsSubstring("\"gate_number\":0,") && ContainsSubstring("wrongly passed: 2 %"));

  const auto refused = run("'has an error rate of its own' --suite-alpha 0.01");
  CHECK(refused.code == 42);
  CHECK_THAT(refused.out, ContainsSubstring("does not go with --suite-alpha"));
}

TEST_CASE("a sink of the program's own, in a file of its own, gets every result and judgement") {
  const Scratch folder;
  const std::string file = folder / "medians";
  CHECK(run("--budget 0.01", "OWN_SINK_FILE=" + file).code == 0);
  CHECK_THAT(folder.read("medians"), ContainsSubstring("first / eager: ") && ContainsSubstring("\nfirst / fused: "));
  const auto refused = run("", "OWN_SINK_FILE=/nonexistent/medians");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, ContainsSubstring("cannot open '/nonexistent/medians'"));
}

TEST_CASE("under bazel test, files go to the undeclared outputs") {
  const Scratch outputs;
  const auto program = run("--csv mine.csv", "TEST_UNDECLARED_OUTPUTS_DIR=" + outputs.path.string());
  CHECK(program.code == 0);
  CHECK_THAT(outputs.read("results.csv"), ContainsSubstring("first,fused"));
  CHECK_THAT(outputs.read("results.json"), ContainsSubstring("\"name\":\"first\""));
  CHECK(outputs.read("mine.csv") == outputs.read("results.csv"));
}

TEST_CASE("under bazel run, a relative path starts in the shell's folder") {
  const Scratch folder;
  CHECK(run("--csv mine.csv", "BUILD_WORKING_DIRECTORY=" + folder.path.string()).code == 0);
  CHECK_THAT(folder.read("mine.csv"), ContainsSubstring("first,fused"));
}

TEST_CASE("one file for two outputs is refused, however it is spelt, and so is one that another run writes to") {
  const Scratch folder;
  const std::string json = folder.write("a", "");
  fs::create_symlink("a", folder / "link");
  const std::string refusal = "another run, or another option of this one, writes to it";
  for (const std::string& other : {json, folder / "./a", folder / "link"})
    for (const std::string option : {"--csv ", "--junit ", "--save-baseline "}) {
      const auto program = run("--json " + json + ' ' + option + other);
      CHECK(program.code == 1);
      CHECK_THAT(program.err, ContainsSubstring(refusal));
      CHECK_THAT(program.out, !ContainsSubstring("passed"));
    }
  const pace::OutputFile other_run(json);
  const auto program = run("--csv " + json);
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring(json) && ContainsSubstring(refusal));
}

TEST_CASE("a start that fails leaves what an earlier run has written") {
  const Scratch folder;
  for (const char* name : {"a.csv", "a.json", "a.xml", "a.base"}) folder.write(name, "earlier");
  const std::string files = "--csv " + folder / "a.csv" + " --json " + folder / "a.json" + " --junit " +
                            folder / "a.xml" + " --save-baseline " + folder / "a.base";
  for (const std::string bad :
       {" --baseline /nonexistent.json", " --extra bad", " --save-baseline /nonexistent/a.json"}) {
    CHECK(run(files + bad).code == 1);
    for (const char* name : {"a.csv", "a.json", "a.xml", "a.base"}) CHECK(folder.read(name) == "earlier");
  }
  CHECK(run(files).code == 0);
  for (const char* name : {"a.csv", "a.json", "a.xml", "a.base"})
    CHECK_THAT(folder.read(name), ContainsSubstring("fused") && !ContainsSubstring("earlier"));
}

TEST_CASE("a start that fails, or a run that finds nothing, leaves no new file") {
  const Scratch folder;
  const std::string file = folder / "a";
  for (const std::string& options :
       {"--json " + file + " --csv " + file, "--csv " + file + " --junit " + folder / "./a",
        "--csv " + folder / "a.csv" + " --json " + folder / "a.json" + " --save-baseline /nonexistent/a",
        "--processes 2 --csv " + file + " --json " + file}) {
    CHECK(run(options).code == 1);
    CHECK(fs::is_empty(folder.path));
  }
  const std::string files = " --csv " + folder / "a.csv" + " --json " + folder / "a.json" + " --junit " +
                            folder / "a.xml" + " --save-baseline " + folder / "a.base";
  for (const std::string test : {"skips", "'shows what it was given'", "'no such test'"}) {
    CHECK(run(test + files).code != 0);
    CHECK(fs::is_empty(folder.path));
    folder.write("a.json", "earlier");
    CHECK(run(test + files).code != 0);
    CHECK(folder.read("a.json") == "earlier");
    fs::remove(folder / "a.json");
  }
  // This is no failure.
  CHECK(run("skips --allow-unmeasured on" + files).code == 0);
  CHECK_THAT(folder.read("a.json"), Matches("(\\{.*\\}\n)+"));
}

TEST_CASE("files that an earlier run of more processes has left are not taken for this run's") {
  const Scratch folder;
  const std::string options =
      " --processes 12 --max-interference 1 --csv " + folder / "a.csv" + " --json " + folder / "a.json";
  for (int process = 1; process <= 14; ++process) folder.write("a-" + std::to_string(process) + ".csv", "earlier");
  for (const char* name : {"a-1.json", "a-2.json", "a-20.json", "b-2.csv"}) folder.write(name, "earlier");
  CHECK(run("measures --extra bad" + options).code == 1);
  for (const char* name : {"a-1.csv", "a-2.csv", "a-14.csv", "a-2.json"}) CHECK(folder.read(name) == "earlier");
  const auto program = run("measures" + options);
  INFO(program.out << program.err);
  CHECK(program.code == 0);
  CHECK_THAT(program.out, ContainsSubstring("removed " + folder / "a-14.csv" + ", which an earlier run has left"));
  for (const char* name : {"a-13.csv", "a-14.csv"}) CHECK_FALSE(folder.has(name));
  for (const char* name : {"a-1.csv", "a-1.json", "a-2.csv", "a-2.json"})
    CHECK_THAT(folder.read(name), ContainsSubstring("fused"));
  // These are none of a run's, which counts without gaps.
  CHECK(folder.read("a-20.json") == "earlier");
  CHECK(folder.read("b-2.csv") == "earlier");
  for (const char* name : {"a-1.csv", "a-13.csv", "a-14.csv"}) folder.write(name, "earlier");
  for (int process = 2; process <= 12; ++process) folder.write("a-" + std::to_string(process) + ".csv", "earlier");
  const auto later = run("'skips in the first process' --allow-unmeasured on" + options);
  INFO(later.out << later.err);
  CHECK(later.code == 0);
  for (const char* name : {"a-1.csv", "a-1.json", "a-13.csv", "a-14.csv"}) CHECK_FALSE(folder.has(name));
  CHECK_THAT(folder.read("a-2.csv"), ContainsSubstring("fused"));
  const pace::OutputFile other_run(folder / "a.json");
  const auto refused = run("measures" + options);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, ContainsSubstring("another run, or another option of this one, writes to it"));
}

TEST_CASE("why a stored baseline cannot be used for a row is in the closing lines, without the table, too") {
  const Scratch folder;
  const std::string file = folder / "a.base";
  REQUIRE(run("'fast enough' --save-baseline " + file).code == 0);
  const auto program = run("'fast enough,fast in another comparison' --no-table --baseline " + file);
  CHECK(program.code == 42);
  CHECK_THAT(program.err,
             ContainsSubstring("pace: another: 'fused' cannot be compared with the stored baseline; why: it "
                               "does not have 'fused' in 'another'; save it again (--save-baseline)\n") &&
                 ContainsSubstring("\npace: 2 implementations do not meet the expectation against the "
                                   "stored baseline\n"));
}

TEST_CASE("figures that a stored baseline would have twice are refused by the run that saves them") {
  const Scratch folder;
  const std::string file = folder / "a.base";
  const std::string options = "'fast enough,fast enough a second time' --save-baseline " + file;
  const auto program = run(options + " --json " + folder / "a.json");
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring("pace: --save-baseline: '" + file +
                                            "' has 'eager' in 'first' already, and --baseline could not choose "
                                            "between the two; expected a name of its own for each comparison"));
  CHECK_THAT(folder.read("a.base"), Matches("(\\{.*\\}\n){2}"));
  CHECK_THAT(folder.read("a.json"), Matches("(\\{.*\\}\n){3}"));
}

TEST_CASE("results files have options by the words that the command line takes, and so has a refused --resume") {
  const Scratch folder;
  const std::string json = " --json " + folder / "a.json";
  REQUIRE(run("--operands fixed" + json).code == 0);
  CHECK_THAT(folder.read("a.json"), ContainsSubstring("\"--operands\":\"fixed\"") &&
                                        ContainsSubstring("\"--stop\":\"decided\"") &&
                                        ContainsSubstring("\"--controls\":\"no\""));
  const auto refused = run("--operands shared --stop budget --controls --resume" + json);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err,
             ContainsSubstring("--controls: \"no\" there, 'yes' here; --operands: \"fixed\" there, 'shared' "
                               "here; --stop: \"decided\" there, 'budget' here"));
}

TEST_CASE("a pipe without another end is an error, both for writing and for reading") {
  const Scratch folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string option : {"--csv ", "--json ", "--junit ", "--save-baseline "}) {
    const auto program = run(option + pipe);
    CHECK(program.code == 1);
    CHECK_THAT(program.err, ContainsSubstring("no program reads from this pipe"));
  }
  const auto program = run("--baseline " + pipe, "PACE_PIPE_TIMEOUT=0");
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring("is a pipe that no program writes to"));
}

TEST_CASE("names, messages and exceptions send nothing but colours to the terminal") {
  for (const std::string colours : {"none", "ansi"}) {
    const auto program = run("'has an evil name' --colour-mode " + colours);
    const auto all = program.out + program.err;
    CHECK_THAT(all, ContainsSubstring("evil\\x1b[2J\\u009b1m\xEF\xBF\xBD\\x0d") && ContainsSubstring("title\\x07") &&
                        ContainsSubstring("differs\\x1b[8m") && ContainsSubstring("thrown\\x1b[2J"));
    CHECK_THAT(all, !ContainsSubstring("\033[2J"));
    CHECK_THAT(all, !ContainsSubstring("\033[8m"));
    CHECK_THAT(all, !ContainsSubstring("\033]"));
    for (const char* const each : {"\007", "\r", "\xc2\x9b"}) CHECK_THAT(all, !ContainsSubstring(each));
    if (colours == "ansi") {
      CHECK_THAT(all, ContainsSubstring("\033"));
    } else {
      CHECK_THAT(all, !ContainsSubstring("\033"));
    }
  }
  const auto program = run("--json '/nonexistent\033[2J/a'");
  CHECK_THAT(program.err, !ContainsSubstring("\033"));
}

TEST_CASE("several processes write a file each, and what they cannot do is refused") {
  const Scratch folder;
  const auto program = run("measures --processes 12 --max-interference 1 --csv " + folder / "a.csv" +
                           " --json=" + folder / "a.json" + " --junit:" + folder / "a.xml");
  INFO(program.out << program.err);
  CHECK(program.code == 0);
  CHECK_THAT(program.out, ContainsSubstring("process 1 of at most 12"));
  CHECK_THAT(folder.read("a-1.csv"), ContainsSubstring("\nmeasured,fused"));
  CHECK_THAT(folder.read("a-1.json"), ContainsSubstring("\"name\":\"measured\"") && Matches("(\\{.*\\}\n)+"));
  CHECK_THAT(folder.read("a-1.xml"), ContainsSubstring("<testcase"));
  for (const char* name : {"a.csv", "a.json", "a.xml"}) {
    CAPTURE(name);
    CHECK_FALSE(folder.has(name));
  }
  CHECK(
      run("measures --processes 12 --max-interference 1", "TEST_UNDECLARED_OUTPUTS_DIR=" + folder.path.string()).code ==
      0);
  CHECK_THAT(folder.read("results-1.json"), ContainsSubstring("\"name\":\"measured\""));
  for (const char* name : {"results.csv", "results.json"}) {
    CAPTURE(name);
    CHECK_FALSE(folder.has(name));
  }
  for (const std::string option :
       {"--baseline a.json", "--save-baseline a.json", "--resume", "-r xml", "--out a", "--stop decided"}) {
    const auto refused = run("measures --processes 2 " + option);
    CHECK(refused.code == 1);
    CHECK_THAT(refused.err, ContainsSubstring("--processes: does not go with"));
  }
}

TEST_CASE("a reader that goes away is an error of the output") {
  const Scratch folder;
  const std::string program = fs::absolute("tests/runner/sample_program").string();
  // The reader ends with the first line; no implementation is blamed for that.
  const std::string pipe_command =
      "(env -i '" + program + "' 'prints a lot' --isolation on --max-interference 1 --json " + folder / "a.json" +
      " 2>" + folder / "err" + "; echo exit code $? >" + folder / "code" + ") | head -n 1 >" + folder / "out";
  REQUIRE(std::system(pipe_command.c_str()) == 0);
  CHECK_THAT(folder.read("code"), ContainsSubstring("exit code 1\n"));
  CHECK_THAT(folder.read("err"),
             ContainsSubstring("cannot write the table of results") && !ContainsSubstring("crashed"));
  const auto json = folder.read("a.json");
  CHECK_THAT(json, ContainsSubstring("\"name\":\"after\"") && !ContainsSubstring("crashed"));
  // Without a file, no result can be told any more, and nothing more is measured.
  const std::string alone_command = "(env -i '" + program +
                                    "' 'prints a lot' --isolation off --max-interference 1 -r compact -o " +
                                    folder / "catch2" + " 2>" + folder / "err1" + "; echo exit code $? >" +
                                    folder / "code1" + ") | head -n 1 >" + folder / "out1";
  REQUIRE(std::system(alone_command.c_str()) == 0);
  CHECK_THAT(folder.read("code1"), ContainsSubstring("exit code 1\n"));
  CHECK_THAT(folder.read("err1"),
             ContainsSubstring("pace: nothing more is measured: no result can be written any more"));
}

TEST_CASE("a limit on the size of files is an error of the output, and no signal") {
  if (!program::can_limit_files()) SKIP("a sanitizer has files of its own");
  const Scratch folder;
  const std::string program = fs::absolute("tests/runner/sample_program").string();
  // No `trap` here: the signal of the limit would end the process.
  const std::string limit_command = "(ulimit -f 16; env -i '" + program +
                                    "' 'prints a lot' --isolation on --max-interference 1 "
                                    "--max-rounds 4 --no-table --json " +
                                    folder / "b.json" + " 2>&1) | cat >" + folder / "err";
  REQUIRE(std::system(limit_command.c_str()) == 0);
  CHECK_THAT(folder.read("err"), ContainsSubstring("b.json': File too large") && !ContainsSubstring("signal 25"));
  CHECK_THAT(folder.read("b.json"), Matches("(\\{.*\\}\n)+"));
}

TEST_CASE("a program that dies leaves the results it had") {
  const Scratch folder;
  const auto program = run("'publishes*' --csv " + folder / "a.csv" + " --json " + folder / "a.json");
  CHECK(program.code != 0);
  CHECK_THAT(folder.read("a.csv"), ContainsSubstring("before death,fused"));
  CHECK_THAT(folder.read("a.json"), ContainsSubstring("\"name\":\"before death\"") && Matches("(\\{.*\\}\n)+"));
  CHECK_THAT(program.out, ContainsSubstring("before death"));
}

TEST_CASE("results that cannot be written fail a program whose tests pass") {
  if (!program::can_limit_files()) SKIP("a sanitizer has files of its own");
  // The header of the CSV fits into 752 bytes, the first result does not. Pipes know no such limit.
  const Scratch folder;
  const TemporaryFile out;
  const std::string program = fs::absolute("tests/runner/sample_program").string();
  const std::string command = "(trap '' XFSZ; prlimit --fsize=752 env -i '" + program + "' --csv " + folder / "a.csv" +
                              " 2>&1; echo exit code $?) | cat >" + out.path();
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK_THAT(out.content(), ContainsSubstring("a.csv': File too large") && ContainsSubstring("All tests passed") &&
                                ContainsSubstring("2.00x  [1.90, 2.10]") && ContainsSubstring("exit code 1\n"));
  // A header alone is no result.
  CHECK_FALSE(folder.has("a.csv"));
}

TEST_CASE("one of several processes whose findings cannot be written says so once, whatever else failed") {
  const auto program = run("'*beside another failure' --no-table", "PACE_REPLICATE_FILE=/dev/full");
  INFO(program.out << program.err);
  CHECK(program.code == 1);
  const auto at = program.err.find("'/dev/full': No space left on device; no further results go there");
  REQUIRE(at != std::string::npos);
  CHECK(program.err.find("/dev/full", at + 12) == std::string::npos);
}

TEST_CASE("a table that cannot be shown fails the program and keeps nothing from the files") {
  const Scratch folder;
  const TemporaryFile err;
  const std::string program = fs::absolute("tests/runner/sample_program").string();
  const std::string out = GENERATE(">/dev/full", ">&-", "<&- >&-");
  const std::string command = alone() + "'" + program + "' --csv " + folder / "a.csv " + out + " 2>" + err.path();
  const int status = std::system(command.c_str());
  CHECK(WEXITSTATUS(status) == 1);
  CHECK_THAT(err.content(), ContainsSubstring("cannot write the table of results"));
  CHECK_THAT(folder.read("a.csv"), ContainsSubstring("first,fused") && !ContainsSubstring("95 % interval"));
}

TEST_CASE("the output of a test must arrive, with and without a table") {
  const TemporaryFile err;
  const std::string program = fs::absolute("tests/runner/sample_program").string();
  const auto [options, out] = GENERATE(table<std::string, std::string>({{"--no-table", ">&-"},
                                                                        {"--no-table", ">/dev/full"},
                                                                        {"--no-table --isolation on", ">&-"},
                                                                        {"--help", ">&-"},
                                                                        {"--list-tests", ">/dev/full"}}));
  CAPTURE(options, out);
  CHECK(WEXITSTATUS(std::system((alone() + "'" + program + "' " + options + ' ' + out + " 2>" + err.path()).c_str())) ==
        1);
  CHECK_THAT(
      err.content(),
      ContainsSubstring("pace: not all that was printed could be written: the standard output is closed or full"));
  // A closed standard error is no reason to fail, nor is a closed input.
  CHECK(WEXITSTATUS(std::system((alone() + "'" + program + "' " + options + " >/dev/null 2>&- <&-").c_str())) == 0);
}

TEST_CASE("what was wrong with inputs although it stopped nothing fails the program, after its tests") {
  const auto program = run("--extra incomplete");
  CHECK(program.code == 1);
  CHECK_THAT(program.out, ContainsSubstring("All tests passed") && ContainsSubstring("first"));
  CHECK_THAT(program.err, ContainsSubstring("pace: a line was left out"));
}

TEST_CASE("a report for machines on the standard output stays clean") {
  const auto program = run("-r junit");
  CHECK(program.code == 0);
  CHECK_THAT(program.out, StartsWith("<?xml"));
  CHECK_THAT(program.out, !ContainsSubstring("  candidate "));
  CHECK_THAT(program.err, ContainsSubstring("  candidate "));
  const TemporaryFile xml;
  const auto both = run("", "BAZEL_TEST=1 XML_OUTPUT_FILE=" + xml.path());
  CHECK_THAT(xml.content(), ContainsSubstring("<testcase"));
  CHECK_THAT(both.out, ContainsSubstring("  candidate "));
}

TEST_CASE("rows appear at once, even where Catch2 keeps what tests print") {
  // JUnit makes Catch2 hold the standard output back until a test ends; this one never does.
  const TemporaryFile xml;
  const auto program = run("'publishes*'", "BAZEL_TEST=1 XML_OUTPUT_FILE=" + xml.path());
  CHECK_THAT(program.out, ContainsSubstring("before death"));
}

TEST_CASE("colours follow Catch2's own option") {
  CHECK_THAT(run("--colour-mode ansi").out, ContainsSubstring("\033["));
  CHECK_THAT(run("--colour-mode none").out, !ContainsSubstring("\033["));
}

TEST_CASE("a test that calls exit(0) leaves the file that makes Bazel fail it") {
  const Scratch folder;
  const std::string variable = "TEST_PREMATURE_EXIT_FILE=" + folder / "running";
  run("'exits early'", variable);
  CHECK(fs::exists(folder / "running"));
  fs::remove(folder / "running");
  CHECK(run("", variable).code == 0);
  CHECK_FALSE(fs::exists(folder / "running"));
}

TEST_CASE("a test that calls exit(0) or quick_exit(0) fails the program outside of Bazel, too") {
  const auto test = GENERATE(std::string("'exits early'"), std::string("'quick exits early'"));
  const auto isolation = GENERATE(std::string(" --isolation on"), std::string(" --isolation off"));
  const Scratch folder;
  const auto program = run(test + isolation + " --json " + folder / "a.json" + " --csv " + folder / "a.csv");
  CAPTURE(test, isolation);
  CHECK(program.code == 1);
  CHECK(fs::is_empty(folder.path));
  CHECK_THAT(program.err, ContainsSubstring("the program was ended, by exit() or quick_exit(), before its tests were "
                                            "through; that is a failure"));
}

TEST_CASE("a guard that was let through undecided has an exit code of its own, unless that is allowed") {
  const auto test = GENERATE(std::string("'open guard'"), std::string("'under load'"));
  CAPTURE(test);
  const auto program = run(test);
  CHECK(program.code == 43);
  CHECK_THAT(program.err, Matches("pace: [12] guards? (was|were) let through undecided: neither a regression nor its "
                                  "absence is proven \\(exit code 43; 0 with --allow-undecided on\\)\n"
                                  "pace: to measure again what was undecided:\n  .*\n"));
  const auto allowed = run(test + " --allow-undecided on");
  CHECK(allowed.code == 0);
  CHECK_THAT(allowed.err, ContainsSubstring("let through undecided") && ContainsSubstring("(allowed by"));
  // A target's own arguments are defaults.
  CHECK(run("--allow-undecided=on " + test + " --allow-undecided off").code == 43);
}

TEST_CASE("a worse fault than an undecided guard keeps its exit code, and an allowed guard has none") {
  CHECK(run("'open guard,too slow'").code == 42);
  CHECK(run("'open guard,nosuch'").code != 43);
  CHECK(run("'open guard' --csv /dev/full").code == 1);
  const auto said = run("'open guard that says so'");
  CHECK(said.code == 0);
  CHECK(said.err == "");
  CHECK(run("'fast enough,open guard that says so'").code == 0);
}

TEST_CASE("a guard on what was never measured is not one that passed") {
  const std::string late = "too slow for its time' --time-limit 0.001";
  const auto program = run("'fast enough," + late);
  INFO(program.out << program.err);
  CHECK(program.code == 43);
  CHECK(run("'fast enough," + late + " --allow-undecided on").code == 0);
  // Alone it is a run that measured nothing.
  CHECK(run("'" + late + " --allow-undecided on").code == 4);
}

TEST_CASE("a matcher of a finished result is an assertion, which an undecided guard does not meet") {
  const auto program = run("'open guard that is only matched'");
  INFO(program.out << program.err);
  CHECK(program.code == 42);
  CHECK_THAT(program.out, ContainsSubstring("undecided: 'fused' takes"));
  CHECK(run("'open guard that is only matched' --allow-undecided on").code == 42);
}

TEST_CASE("an implementation that is not reached in time is not incorrect, and the run has not passed") {
  const auto test = GENERATE(std::string("correct in its time"), std::string("correctness alone in its time"));
  CAPTURE(test);
  CHECK(run("'" + test + "' --max-interference 1").code == 0);
  const auto alone = run("'" + test + "' --time-limit 1e-9");
  INFO(alone.out << alone.err);
  CHECK(alone.code == 4);
  CHECK(run("'" + test + "' --time-limit 1e-9 --allow-undecided on").code == 4);
  CHECK(run("'" + test + "' --time-limit 1e-9 --allow-unmeasured on").code == 43);
  CHECK(run("'" + test + "' --time-limit 1e-9 --allow-unmeasured on --allow-undecided on").code == 0);
  const auto beside = run("'fast enough," + test + "' --time-limit 1e-9");
  CHECK(beside.code == 43);
  CHECK_THAT(beside.err,
             ContainsSubstring("pace: 2 implementations were not reached in time, so that nothing is known of "
                               "them (exit code 43; 0 with --allow-undecided on)"));
}

TEST_CASE("a run that neither compares nor asserts anything has measured nothing") {
  const auto program = run("'does nothing'");
  CHECK(program.code == 4);
  CHECK_THAT(program.err,
             ContainsSubstring("pace: no test made a comparison or an assertion; nothing was measured (exit "
                               "code 4; 0 with --allow-unmeasured on)"));
  CHECK(run("'does nothing,skips'").code == 4);
  CHECK(run("'does nothing' --allow-unmeasured on").code == 0);
  CHECK(run("'asserts something'").code == 0);
  CHECK(run("'does nothing,asserts something'").code == 0);
  CHECK(run("'does nothing,fast enough'").code == 0);
  CHECK(run("--list-tests").code == 0);
}

TEST_CASE("several processes that measure nothing are what one is") {
  const auto program = run("skips --processes 3");
  CHECK(program.code == 4);
  CHECK_THAT(program.err, ContainsSubstring("process 1 ended with exit code 4"));
  const auto allowed = run("skips --processes 3 --allow-unmeasured on");
  INFO(allowed.out << allowed.err);
  CHECK(allowed.code == 0);
  CHECK_THAT(allowed.err, ContainsSubstring("no process could measure anything; nothing was measured (allowed by"));
  CHECK(run("'fast enough' --processes 2 --allow-unmeasured on").code == 1);  // no samples to replicate
}

TEST_CASE("several processes leave nothing undecided unsaid that one would say") {
  const auto guards = run("'measures,open guard' --processes 12 --max-interference 1");
  INFO(guards.out << guards.err);
  CHECK(guards.code == 43);
  CHECK_THAT(guards.err, ContainsSubstring("pace: 1 guard was let through undecided"));
  CHECK(run("'measures,open guard' --processes 12 --max-interference 1 --allow-undecided on").code == 0);
  for (const std::string test : {"'correct in its time'", "'correctness alone in its time'"}) {
    const std::string late = " --processes 3 --time-limit 1e-9 --allow-unmeasured on";
    CAPTURE(test);
    CHECK(run(test + late).code == 43);
    CHECK(run(test + late + " --allow-undecided on").code == 0);
    const auto beside = run("'fast enough," + test.substr(1) + " --processes 2 --time-limit 1e-9");
    CHECK(beside.code == 43);
    CHECK_THAT(beside.err, ContainsSubstring("pace: 2 implementations were not reached in time"));
  }
}

TEST_CASE("several processes prove a gate together, and hide no other failure") {
  const std::string processes = " --processes 12";
  for (const std::string test : {"'proven by several processes'", "'proven by several processes\\, in a combination'",
                                 "'proven by several processes,proven by several processes\\, beside what may fail'"}) {
    CHECK(run(test).code == 42);
    const auto program = run(test + processes);
    INFO(test << '\n' << program.out << program.err);
    CHECK(program.code == 0);
  }
  for (const std::string name : {"proven by several processes\\, beside another failure",
                                 "proven by several processes\\, then throws", "matched in one process"}) {
    const auto program = run('\'' + name + ",measures'" + processes);
    INFO(name << '\n' << program.out << program.err);
    CHECK(program.code == 42);
    CHECK_THAT(program.err, ContainsSubstring("process 1 found what no further process can mend: the test case '") &&
                                ContainsSubstring("failed, and not by its gates on speed alone"));
  }
  // A result that got lost, and an input that was left out, count beside a gate that is open still.
  const std::string test = "'proven by several processes'";
  const auto incomplete = run(test + processes + " --extra incomplete");
  CHECK(incomplete.code == 1);
  CHECK_THAT(incomplete.err,
             ContainsSubstring("process 1 ended with exit code 1") && ContainsSubstring("a line was left out"));
  const Scratch folder;
  fs::create_symlink("/dev/full", folder / "a-1.csv");
  CHECK(run(test + processes + " --csv " + folder / "a.csv").code == 1);
}

TEST_CASE("a guard that is let through by name is that to several processes, too") {
  const std::string test = "'let through by name\\, and proven by no process'";
  CHECK(run(test).code == 0);
  const auto program = run(test + " --processes 2");
  INFO(program.out << program.err);
  CHECK(program.code == 0);
  CHECK_THAT(program.out, ContainsSubstring("process 2 of at most 2"));
}

TEST_CASE(
    "an option that allows nothing to be measured allows no input that was left out, nor a result that got lost") {
  CHECK(run("skips --allow-unmeasured on --junit /dev/full").code == 1);
  const auto skipped = run("skips --allow-unmeasured on --extra incomplete");
  CHECK(skipped.code == 1);
  CHECK_THAT(skipped.err, ContainsSubstring("pace: a line was left out"));
}

TEST_CASE("a run that measured nothing has an exit code of its own, unless that is allowed") {
  for (const std::string isolation : {" --isolation on", " --isolation off"}) {
    const auto skipped = run("skips" + isolation);
    CHECK(skipped.code == 4);
    CHECK_THAT(skipped.err, ContainsSubstring("pace: every test was skipped; nothing was measured (exit code 4; 0 with "
                                              "--allow-unmeasured on)"));
    CHECK(run("skips --allow-unmeasured on" + isolation).code == 0);
    const auto nothing = run("'measures nothing'" + isolation);
    CHECK(nothing.code == 4);
    CHECK_THAT(nothing.err, ContainsSubstring("no implementation could be measured; nothing was measured"));
    CHECK(run("'measures nothing' --allow-unmeasured on" + isolation).code == 0);
  }
  // One test that measures is enough.
  CHECK(run("'fast enough,skips'").code == 0);
  CHECK(run("'fast enough,measures nothing'").code == 0);
  CHECK(run("'too slow,skips'").code == 42);
}

TEST_CASE("a process of its own that ends before its tests are through has not passed") {
  const auto program = run("'leaves outside' --isolation on");
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring("the process ended with exit code 0 outside of any comparison, before its "
                                            "tests were through"));
}

TEST_CASE("listing opens no files") {
  const Scratch folder;
  CHECK(run("--list-tests --csv " + folder / "a.csv").code == 0);
  CHECK_FALSE(fs::exists(folder / "a.csv"));
  // Nothing is measured that the option could have no effect on.
  CHECK(run("--list-tests --clock graph").code == 0);
}
