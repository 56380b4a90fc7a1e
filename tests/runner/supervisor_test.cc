// Implementations that end their process, and runs that are interrupted and resumed: seen from outside.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>

#include <signal.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "pace/os/memory.hpp"
#include "tests/report/lines.hpp"
#include "tests/runner/run_program.hpp"

using Catch::Matchers::ContainsSubstring;
using pace::test::alone;
using pace::test::Scratch;
using program::run;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The outcome of each implementation, by comparison, in the order of the file.
std::vector<std::string> rows(const std::string& text) {
  std::vector<std::string> rows;
  const auto document = lines::document_of(text);
  for (const auto& result : document.at("results"))
    for (const auto& each : result.at("implementations"))
      rows.push_back(result.at("name").get<std::string>() + ' ' + each.at("name").get<std::string>() + ' ' +
                     each.at("outcome").get<std::string>());
  return rows;
}

std::vector<std::string> rows_with(const std::string& bad) {
  std::vector<std::string> rows;
  for (const std::string name : {"before", "culprit", "after"})
    for (const std::string implementation : {"eager", "bad", "fine"})
      rows.push_back(name + ' ' + implementation + ' ' +
                     (name == "culprit" && implementation == "bad" ? bad : "measured"));
  return rows;
}

const std::string options = " --isolation on --max-interference 1 ";

}  // namespace

TEST_CASE("an implementation that ends its process becomes a row, and all others are measured") {
  struct Case {
    std::string test, more, outcome, message;
  };
  for (const auto& [test, more, outcome, message] : std::vector<Case>{
           {"crashes", "", "crashed", "the process was killed by signal 11 (Segmentation fault)"},
           {"leaves", "", "crashed", "it ended the process with exit code 0"},
           {"'calls exit'", "", "crashed", "it called exit() or quick_exit(), which ended the process"},
           {"hangs", "--call-timeout 600", "timed out", "no call began or ended for 600 s, so the process was ended"},
           {"'is killed'", "", "out of memory", "signal 9 (Killed), as the system does when memory runs out"},
           {"'takes all memory'", "", "out of memory", "memory ran out"}}) {
    // A sanitizer leaves no room for a limit, and ends a program that runs out of memory by itself.
    if (test == "'takes all memory'" && !pace::limit_on_data()) continue;
    const Scratch folder;
    const std::string json = folder / "a.json", csv = folder / "a.csv", xml = folder / "a.xml";
    const auto program = run(test + options + more + " --json " + json + " --csv " + csv + " --junit " + xml);
    INFO(test << '\n' << program.out << program.err);
    CHECK(program.code == 42);
    CHECK(rows(folder.read("a.json")) == rows_with(outcome));
    CHECK_THAT(folder.read("a.json"), ContainsSubstring(message));
    CHECK(count(folder.read("a.csv"), "\nbefore,") == 3);
    CHECK(count(folder.read("a.csv"), "\nculprit,bad,false," + outcome) == 1);
    CHECK(count(folder.read("a.xml"), message) > 0);
    // In the table, too, and each comparison once.
    CHECK(count(program.out, "\nbefore ") == 1);
    CHECK(count(program.out, outcome + ": ") >= 1);
    CHECK_THAT(program.out, ContainsSubstring("3 cases, 9 implementations: 8 measured"));
  }
}

TEST_CASE(
    "an implementation that ends its process on values which pace drew has the values and the remedy in its row") {
  const std::string drawn = "pace drew those of operand tensor 0 (",
                    scaled = "check::CheckOptions::unseen_values = scaled or none";
  struct Case {
    std::string test, implementation, outcome, which, remedy;
  };
  for (const auto& [test, implementation, outcome, which, remedy] :
       std::vector<Case>{{"'crashes on unseen values'", "bad", "crashed", drawn, scaled},
                         {"'hangs on unseen values'", "bad", "timed out", drawn, scaled},
                         {"'the baseline crashes on unseen values'", "eager", "crashed",
                          "pace made some values of all operands smaller",
                          "check::CheckOptions::rtol and atol (//benches/files: --rtol and --atol)"}}) {
    const Scratch folder;
    const auto program = run(test + options + "--call-timeout 600 --json " + folder / "a.json");
    INFO(test << '\n' << program.out << program.err);
    CHECK(program.code == 42);
    const std::string json = folder.read("a.json");
    CHECK_THAT(rows(json), Catch::Matchers::VectorContains("culprit " + implementation + ' ' + outcome));
    CHECK_THAT(json, ContainsSubstring(". This was a call on unseen values: " + which) && ContainsSubstring(remedy));
  }
  // Where the values are those given, there is no such remark.
  const Scratch folder;
  const auto program = run("crashes" + options + "--json " + folder / "a.json");
  CHECK_THAT(folder.read("a.json"), !ContainsSubstring("This was a call on"));
}

TEST_CASE(
    "what an implementation leaves behind ends before the next process begins, whichever way the last one ended") {
  const Scratch folder;
  const auto program =
      run("'leaves a process behind'" + options + "--json " + folder / "a.json" + " --csv " + folder / "a.csv");
  INFO(program.out << program.err);
  CHECK(program.code == 42);
  CHECK(rows(folder.read("a.json")) == rows_with("crashed"));
  const std::string before = "\nleaves ";
  const auto at = program.out.find(before);
  REQUIRE(at != std::string::npos);
  const pid_t left = std::atoi(program.out.c_str() + at + before.size());
  REQUIRE(left > 0);
  CHECK(::kill(left, SIGKILL) != 0);
}

TEST_CASE("a signal that comes while no process measures ends the run at once") {
  const auto program = run("crashes" + options, "INTERRUPTED_BETWEEN_PROCESSES=1");
  INFO(program.out << program.err);
  CHECK(program.code == 128 + SIGTERM);
  CHECK_THAT(program.err, ContainsSubstring("a fresh process goes on") && ContainsSubstring("pace: interrupted\n"));
  CHECK(count(program.out, "begins culprit") == 1);
  CHECK(count(program.out, "begins after") == 0);
}

TEST_CASE("a signal that does not come from an implementation ends the run, and no implementation is blamed for it") {
  const Scratch folder;
  const auto program = run("'hears of a closed pipe'" + options + "--json " + folder / "a.json");
  INFO(program.out << program.err);
  CHECK(program.code == 128 + 13);
  CHECK_THAT(program.err,
             ContainsSubstring("killed by signal 13 (Broken pipe), which is no fault of an implementation; what was "
                               "measured so far is in the result files"));
  CHECK(count(program.out, "begins culprit") == 1);
  CHECK(count(program.out, "begins after") == 0);
  CHECK(rows(folder.read("a.json")) ==
        std::vector<std::string>{"before eager measured", "before bad measured", "before fine measured"});
}

TEST_CASE("where the baseline crashes nothing is compared, and the run goes on") {
  const Scratch folder;
  const auto program = run("'the baseline crashes'" + options + "--json " + folder / "a.json");
  INFO(program.out << program.err);
  CHECK(program.code == 42);
  CHECK(rows(folder.read("a.json")) == std::vector<std::string>{"culprit eager crashed", "culprit fine refused",
                                                                "after eager measured", "after fine measured"});
}

TEST_CASE("an implementation that crashed in one comparison is called in the next one of the same name") {
  const Scratch folder;
  const auto program = run("'crashes in comparisons of one name'" + options + "--json " + folder / "a.json");
  INFO(program.out << program.err);
  CHECK(program.code == 42);
  CHECK(rows(folder.read("a.json")) ==
        std::vector<std::string>{"twin eager measured", "twin bad crashed", "twin fine measured", "twin eager measured",
                                 "twin bad crashed", "twin fine measured", "twin eager measured", "twin bad measured",
                                 "twin fine crashed", "twin eager measured", "twin bad measured",
                                 "twin fine measured"});
}

TEST_CASE("a process that goes on spends the error budget of the run where the one before has ended") {
  const Scratch folder;
  const auto program = run("'crashes between gates' --suite-alpha 0.048" + options + "--json " + folder / "a.json");
  INFO(program.out << program.err);
  std::vector<std::string> found;
  const auto document = lines::document_of(folder.read("a.json"));
  for (const auto& result : document.at("results"))
    found.push_back(result.at("name").get<std::string>() + ' ' + result.at("gate_number").dump() + ' ' +
                    result.at("implementations").at(2).at("context").at("alpha").dump());
  // Half of 0.048 / 2, 0.048 / 6 and 0.048 / 12, among two candidates where there are two.
  CHECK(found == std::vector<std::string>{"before 1 0.006", "culprit 2 0.004", "after 3 0.001"});
  for (const char* text : {"before: 0.006\nbefore: 0.002\n", "culprit: 0.002\nculprit: 0.000666667\n",
                           "after: 0.001\nafter: 0.000333333\n"})
    CHECK_THAT(program.out, ContainsSubstring(text));
}

TEST_CASE("a crash outside of any comparison ends the run, and says so") {
  const Scratch folder;
  const auto program = run("'crashes outside'" + options + "--json " + folder / "a.json");
  INFO(program.out << program.err);
  CHECK(program.code != 0);
  CHECK_THAT(program.err, ContainsSubstring("outside of any comparison"));
  CHECK(rows(folder.read("a.json")).size() == 2);
}

TEST_CASE("a process that leaves by an exit code once all is measured, as a sanitizer does, has the run end with it") {
  const Scratch folder;
  const auto program = run("'leaves by 7 in the end'" + options + "--json " + folder / "a.json");
  INFO(program.out << program.err);
  CHECK(program.code == 7);
  CHECK(rows(folder.read("a.json")) == std::vector<std::string>{"first eager measured", "first fused measured"});
}

TEST_CASE("without isolation a crash is the end") {
  const auto program = run("crashes --isolation off --max-interference 1");
  CHECK(program.code != 0);
  CHECK(count(program.out, "begins after") == 0);
}

TEST_CASE("Ctrl-C ends what the run has started and what that has left behind, and takes files without results back") {
  const Scratch folder;
  const std::string out = folder / "out", script = folder / "interrupt.sh";
  const std::string program_path = program::fs::absolute("tests/runner/sample_program").string();
  const std::string files =
      " --csv " + folder / "a.csv" + " --json " + folder / "a.json" + " --junit " + folder / "a.xml";
  std::ofstream(script) << "'" << program_path << "' 'waits for another program'" << options << files << " >" << out
                        << " 2>&1 &\np=$!\nuntil grep -q ^waits " << out
                        << "; do kill -0 $p || break; sleep 0.1; done\nkill -INT $p\nwait $p\n";
  const int status = std::system((alone() + "bash " + script).c_str());
  const std::string text = folder.read("out"), before = "\nwaits for ";
  INFO(text);
  CHECK(WEXITSTATUS(status) == 130);
  const auto at = text.find(before);
  REQUIRE(at != std::string::npos);
  const pid_t left = std::atoi(text.c_str() + at + before.size());
  REQUIRE(left > 0);
  CHECK(::kill(left, SIGKILL) != 0);
  // Nothing was measured by then.
  for (const char* name : {"a.csv", "a.json", "a.xml"}) {
    CAPTURE(name);
    CHECK_FALSE(folder.has(name));
  }
}

TEST_CASE("a signal to a run of several processes ends all of them, and takes files without results back") {
  for (const std::string isolation : {"on", "off"}) {
    const Scratch folder;
    const std::string program_path = program::fs::absolute("tests/runner/sample_program").string();
    const std::string script =
        folder.write("interrupt.sh", "'" + program_path + "' 'waits for another program' --processes 2 --isolation " +
                                         isolation + " --csv " + folder / "a.csv" + " --json " + folder / "a.json" +
                                         " >" + folder / "out" + " 2>&1 &\np=$!\nuntil [ -e " + folder / "a-1.json" +
                                         " ]; do kill -0 $p || break; sleep 0.1; done\nkill -TERM $p\nwait $p\n");
    const int status = std::system((alone() + "bash " + script).c_str());
    INFO("isolation " << isolation << '\n' << folder.read("out"));
    CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
    for (const char* name : {"a.csv", "a.json", "a-1.csv", "a-1.json"}) {
      CAPTURE(name);
      CHECK_FALSE(folder.has(name));
    }
  }
}

TEST_CASE("a run under nohup outlives the hangup, and so does the process that measures") {
  const auto ignores_hangup = [](const std::string& commands) {
    const Scratch folder;
    const std::string program_path = program::fs::absolute("tests/runner/sample_program").string();
    const std::string script = folder.write(
        "run.sh", commands + "\nexec '" + program_path + "' 'reports the signals*'" + options + ">" + folder / "out");
    CHECK(std::system((alone() + "sh " + script).c_str()) != -1);
    const std::string text = folder.read("out");
    INFO(text);
    std::vector<bool> found;
    for (auto at = text.find("SigIgn:"); at != std::string::npos; at = text.find("SigIgn:", at + 1))
      found.push_back((std::strtoull(text.c_str() + at + 7, nullptr, 16) >> (SIGHUP - 1) & 1) != 0);
    return found;
  };
  CHECK(ignores_hangup("trap '' HUP") == std::vector<bool>{true, true});
  CHECK(ignores_hangup("") == std::vector<bool>{false, false});
}

TEST_CASE("one of several processes that inherits SIGINT as ignored is not ended by it") {
  for (const std::string isolation : {"on", "off"}) {
    const Scratch folder;
    const std::string program_path = program::fs::absolute("tests/runner/sample_program").string();
    const std::string script =
        folder.write("run.sh", "trap '' INT\nPACE_REPLICATE_FILE=" + folder / "found" + " '" + program_path +
                                   "' 'is interrupted with its parent' --max-interference 1 --isolation " + isolation +
                                   " --json " + folder / "a.json" + " >" + folder / "out" +
                                   " 2>&1\necho exit code $? >>" + folder / "out" + "\n");
    CHECK(std::system((alone() + "sh " + script).c_str()) != -1);
    INFO("isolation " << isolation << '\n' << folder.read("out"));
    CHECK_THAT(folder.read("out"), ContainsSubstring("exit code 0\n"));
    REQUIRE(folder.has("a.json"));
    CHECK(rows(folder.read("a.json")) == rows_with("measured"));
  }
}

TEST_CASE("Ctrl-C: what was measured is in the files, and the exit code is 130; then it can be resumed") {
  const Scratch folder;
  const std::string json = folder / "a.json", csv = folder / "a.csv";
  const std::string program_path = program::fs::absolute("tests/runner/sample_program").string();
  const std::string files = " --json " + json + " --csv " + csv;
  const std::string out = folder / "out";
  // The signal goes to the process that a shell knows, once the second comparison waits.
  const std::string script = folder / "interrupt.sh";
  std::ofstream(script) << "'" << program_path << "' 'waits to be interrupted'" << options << "--call-timeout 600"
                        << files << " >" << out << " 2>&1 &\np=$!\nuntil grep -q ^waits " << out
                        << "; do kill -0 $p || break; sleep 0.1; done\nkill -INT $p\nwait $p\n";
  const int status = std::system((alone() + "bash " + script).c_str());
  INFO(folder.read("out"));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK_THAT(folder.read("out"), ContainsSubstring("interrupted; what was measured so far is in the result files"));
  CHECK(rows(folder.read("a.json")) ==
        std::vector<std::string>{"before eager measured", "before bad measured", "before fine measured"});
  CHECK(count(folder.read("a.csv"), "\nbefore,") == 3);

  SECTION("a result that is there is not measured again") {
    const auto resumed =
        run("'waits to be interrupted'" + options + "--call-timeout 600 --resume" + files, "TIME_PASSES=1");
    INFO(resumed.out << resumed.err);
    CHECK_THAT(resumed.err, ContainsSubstring("1 results of an earlier run are kept"));
    CHECK(rows(folder.read("a.json")) == rows_with("timed out"));
    CHECK(count(folder.read("a.csv"), "\nbefore,") == 3);
    CHECK(count(resumed.out, "\nbefore ") == 0);
    CHECK_THAT(resumed.out, ContainsSubstring("3 cases, 9 implementations: 8 measured"));
    CHECK_FALSE(program::fs::exists(json + ".new"));
  }
  SECTION("a last line that was cut off is measured again, and the others are kept") {
    const auto whole = folder.read("a.json");
    folder.write("a.json", whole + "{\"name\":\"culprit\",\"itera");
    const auto resumed =
        run("'waits to be interrupted'" + options + "--call-timeout 600 --resume" + files, "TIME_PASSES=1");
    INFO(resumed.out << resumed.err);
    CHECK_THAT(resumed.err, ContainsSubstring("1 results of an earlier run are kept"));
    CHECK(rows(folder.read("a.json")) == rows_with("timed out"));
  }
  SECTION("results of other inputs are refused, and so is another build") {
    auto text = folder.read("a.json");
    const auto replaced = [&](const std::string& from, const std::string& to) {
      auto changed = text;
      changed.replace(changed.find(from), from.size(), to);
      return changed;
    };
    folder.write("a.json", replaced("\"inputs\":\"Float[16]\"", "\"inputs\":\"Float[17]\""));
    const auto resumed = run("'waits to be interrupted'" + options + "--call-timeout 600 --resume" + files);
    CHECK(resumed.code == 42);
    CHECK_THAT(resumed.out, ContainsSubstring("the earlier run measured 'before' with other inputs (Float[17]"));
    CHECK(count(resumed.out, "begins culprit") == 0);
    CHECK(rows(folder.read("a.json")).size() == 3);
    folder.write("a.json", replaced("\"the build\":\"", "\"the build\":\"another"));
    const auto rebuilt = run("'waits to be interrupted'" + options + "--call-timeout 600 --resume" + files);
    CHECK(rebuilt.code == 1);
    CHECK_THAT(rebuilt.err, ContainsSubstring("holds results of another configuration (the build: "));
  }
  SECTION("another configuration is refused, and leaves the file as it is") {
    const auto resumed = run("'waits to be interrupted'" + options + "--resume --seed 7 --extra word" + files);
    CHECK(resumed.code == 1);
    CHECK_THAT(resumed.err, ContainsSubstring(json + ": --resume: holds results of another configuration") &&
                                ContainsSubstring("--seed: \"39630\" there, '7' here") &&
                                ContainsSubstring("--extra: nothing there, 'word' here"));
    // Each changes the text of a row.
    for (const std::string option : {"--alpha 0.002", "--beta 0.02", "--max-interference 0.5", "--isolation off",
                                     "--isolate sides", "--call-timeout 7", "--counters page_faults"}) {
      // Without isolation, call_timeout has no meaning.
      const std::string call_timeout = option == "--isolation off" ? "" : "--call-timeout 600";
      const auto other = run("'waits to be interrupted'" + options + call_timeout + " --resume " + option + files);
      CHECK(other.code == 1);
      CHECK_THAT(other.err, ContainsSubstring("another configuration (") &&
                                ContainsSubstring(option.substr(0, option.find(' ')) + ": "));
    }
    CHECK(rows(folder.read("a.json")).size() == 3);
  }
  SECTION("a file that is none is refused") {
    std::ofstream(json) << "{\"results\": []}\n";
    const auto resumed = run("'fast enough'" + options + "--resume" + files);
    CHECK(resumed.code == 1);
    CHECK_THAT(resumed.err, ContainsSubstring(json + ":1: is no results file: has no \"schema_version\""));
  }
}

TEST_CASE("there is nothing to resume from without a file, or where the file is not there yet") {
  const auto none = run("'fast enough' --resume");
  CHECK(none.code == 1);
  CHECK_THAT(none.err, ContainsSubstring("--resume: expected --json FILE beside it"));
  const Scratch folder;
  const auto first = run("'fast enough' --resume --json " + folder / "a.json");
  CHECK(first.code == 0);
  CHECK_THAT(first.err, ContainsSubstring("0 results of an earlier run are kept"));
}
