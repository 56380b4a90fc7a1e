// The checkers: their output and their exit codes.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "benches/models/check.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using pace::test::Scratch;

struct Ran {
  int code = -1;
  std::string out, errors;
};

const Scratch scratch;

Ran run(std::vector<std::string> words) {
  words.insert(words.begin(), "check");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  std::ostringstream out, errors;
  Ran ran;
  ran.code = pace::benches::models::check(static_cast<int>(argv.size()), argv.data(), out, errors,
                                          [](const std::string& path) { return scratch / path; });
  ran.out = out.str(), ran.errors = errors.str();
  return ran;
}

Ran compare(const std::string& checker, const std::string& actual, const std::string& expected,
            std::vector<std::string> more = {}) {
  (void)scratch.write("a.csv", actual);
  (void)scratch.write("e.csv", expected);
  std::vector<std::string> words{checker, "--actual", "a.csv", "--expected", "e.csv"};
  words.insert(words.end(), more.begin(), more.end());
  return run(words);
}

TEST_CASE("accuracy passes if it is as expected") {
  // Blank lines between rows are torchbench's way to avoid conflicts of merges.
  const auto ran = compare("accuracy", "dev,name,batch_size,accuracy\ncpu,a,4,pass\ncpu,b,4,fail_to_run\n",
                           "name,accuracy,graph_breaks\n\na,pass,0\n\n\nb,fail_to_run,1\n\n");
  CHECK(ran.code == 0);
  CHECK(ran.out ==
        "a                                   PASS      accuracy=pass, expected=pass\n"
        "b                                   XFAIL     accuracy=fail_to_run, expected=fail_to_run\n");
  CHECK(ran.errors == "");
}

TEST_CASE("accuracy: worse and better both fail, unless the model is flaky") {
  const std::string expected = "name,accuracy\na,pass\nb,fail_accuracy\nc,fail_to_run\n";
  const auto worse = compare("accuracy", "name,accuracy\na,fail_accuracy\n", expected);
  CHECK(worse.code == 1);
  CHECK(worse.out ==
        "a                                   FAIL:     accuracy=fail_accuracy, expected=pass\n"
        "\n1 models have a worse accuracy status:\n    a\nIf that is meant to be, put the new values into " +
            (scratch / "e.csv") + "\n");
  const auto better = compare("accuracy", "name,accuracy\nb,pass\n", expected);
  CHECK(better.code == 1);
  CHECK_THAT(better.out, ContainsSubstring("IMPROVED: accuracy=pass, expected=fail_accuracy\n\n"
                                           "1 models have a better accuracy status:"));
  // Another way to fail is not better.
  const auto other = compare("accuracy", "name,accuracy\nc,OOM\nnew,OOM\n", expected);
  CHECK(other.code == 1);
  CHECK_THAT(other.out, ContainsSubstring("FAIL:     accuracy=OOM, expected=None"));
  const auto flaky = compare("accuracy", "name,accuracy\na,OOM\nb,pass\n", expected, {"--flaky", "a", "--flaky=b"});
  CHECK(flaky.code == 0);
  CHECK(flaky.out ==
        "a                                   FAIL_BUT_FLAKY: accuracy=OOM, expected=pass\n"
        "b                                   PASS_BUT_FLAKY: accuracy=pass, expected=fail_accuracy\n");
}

TEST_CASE("rows of several back ends each have an expectation of their own") {
  const std::string actual = "dev,name,accuracy,backend\ncpu,a,pass,torchscript\ncpu,a,fail_accuracy,aot_inductor\n";
  for (const std::string column : {"accuracy", "graph_breaks", "compression_ratio"}) {
    const std::string checker = column == "compression_ratio" ? "memory_compression_ratio" : column;
    const std::string results = "name," + column + ",backend\na,1,torchscript\na,2,aot_inductor\n";
    const auto shared = compare(checker, results, "name," + column + "\na,1\n");
    CHECK(shared.code == 1);
    CHECK(shared.errors == "check: " + (scratch / "e.csv") + ": expected a column 'backend', for " +
                               (scratch / "a.csv") +
                               " has rows of aot_inductor, torchscript, which cannot share one expectation\n");
    CHECK(compare(checker, results, "backend,name," + column + "\naot_inductor,a,2\ntorchscript,a,1\n").code == 0);
    const auto swapped = compare(checker, results, "backend,name," + column + "\naot_inductor,a,4\ntorchscript,a,4\n");
    CHECK(swapped.code == 1);
  }
  const auto ran = compare("accuracy", actual,
                           "name,backend,accuracy\na,torchscript,pass\na,aot_inductor,pass\nb,aot_inductor,pass\n");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, StartsWith("a torchscript                       PASS      accuracy=pass, expected=pass\n"
                                 "a aot_inductor                      FAIL:     accuracy=fail_accuracy, expected=pass\n"
                                 "\n1 models have a worse accuracy status:\n    a aot_inductor\n"));
  // Devices and tags tell rows apart, too; and two expectations for one row are one too many.
  CHECK(compare("accuracy", "dev,name,accuracy\ncpu,a,pass\ncuda,a,OOM\n", "name,accuracy\na,pass\n").code == 1);
  CHECK(
      compare("accuracy", "dev,name,accuracy\ncpu,a,pass\ncuda,a,OOM\n", "dev,name,accuracy\ncuda,a,OOM\ncpu,a,pass\n")
          .code == 0);
  CHECK(compare("accuracy", "tag,name,accuracy\nx,a,pass\ny,a,OOM\n", "name,accuracy\na,pass\n").code == 1);
  CHECK(compare("accuracy", "name,accuracy\na,pass\n", "name,backend,accuracy\na,x,pass\na,y,pass\n").errors ==
        "check: " + (scratch / "e.csv") + ": expected one row for 'a', found rows 1 and 2\n");
}

TEST_CASE("output that cannot be printed is no success") {
  (void)scratch.write("c.csv", "dev,name,accuracy\ncpu,a,pass\n");
  std::vector<std::string> words{"check", "csv", "-f", "c.csv"};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  std::ofstream full("/dev/full");
  std::ostringstream errors;
  CHECK(pace::benches::models::check(static_cast<int>(argv.size()), argv.data(), full, errors,
                                     [](const std::string& path) { return scratch / path; }) == 1);
  CHECK(errors.str() == "check: the output cannot be written\n");
}

TEST_CASE("graph breaks: more and fewer both fail") {
  const std::string expected = "name,graph_breaks\na,2\n";
  CHECK(compare("graph_breaks", "name,graph_breaks\na,2\n", expected).out ==
        "a                                   PASS      graph_breaks=2, expected=2\n");
  const auto more = compare("graph_breaks", "name,graph_breaks\na,3\n", expected);
  CHECK(more.code == 1);
  CHECK_THAT(more.out, ContainsSubstring("FAIL:     graph_breaks=3, expected=2"));
  const auto fewer = compare("graph_breaks", "name,graph_breaks\na,0\n", expected);
  CHECK(fewer.code == 1);
  CHECK_THAT(fewer.out, ContainsSubstring("IMPROVED: graph_breaks=0, expected=2"));
  CHECK(compare("graph_breaks", "name,graph_breaks\na,3\n", expected, {"--flaky=a"}).code == 0);
  const auto unknown = compare("graph_breaks", "name,graph_breaks\nb,3\n", expected);
  CHECK(unknown.code == 1);
  CHECK(unknown.errors ==
        "check: " + (scratch / "e.csv") + ": expected a row for 'b', which " + (scratch / "a.csv") + " has\n");
}

TEST_CASE("csv: every status must have pass in it") {
  (void)scratch.write("c.csv", "dev,name,accuracy\ncpu,a,pass\ncpu,b,pass_due_to_skip\n");
  CHECK(run({"csv", "-f", "c.csv"}).out ==
        "a                                  pass\nb                                  pass_due_to_skip\n");
  CHECK(run({"csv", "-f", "c.csv"}).code == 0);
  (void)scratch.write("c.csv", "dev,name,accuracy\ncpu,a,pass\ncpu,b,OOM\n");
  const auto ran = run({"csv", "--file=c.csv"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("\n1 models did not pass:\n    b\n"));
}

TEST_CASE("memory passes from 95 % of the expected ratio on") {
  const std::string expected = "name,compression_ratio\na,1.0\n";
  const auto enough = compare("memory_compression_ratio", "name,compression_ratio\na,0.95\nnew,0.1\n", expected);
  CHECK(enough.code == 0);
  CHECK(enough.out ==
        "a                                  PASS  compression_ratio=0.950, expected=1.000\n"
        "new                                skipped: " +
            (scratch / "e.csv") + " has no such model\n");
  const auto too_little = compare("memory_compression_ratio", "name,compression_ratio\na,0.949\n", expected);
  CHECK(too_little.code == 1);
  CHECK_THAT(too_little.out, ContainsSubstring("FAIL: compression_ratio=0.949"));
}

const std::string performance =
    "name,speedup,abs_latency,compilation_latency,compression_ratio,eager_peak_mem,dynamo_peak_mem\n"
    "a,1.500000,10.000000,5.0,0.5,1.0,2.0\nb,2.000000,20.000000,6.0,1.0,1.0,1.0\n";

TEST_CASE("performance: the speed-up of today's and of the old generation") {
  (void)scratch.write("p.csv", performance);
  const auto fine = run({"perf_csv", "-f", "p.csv", "-t", "1.5"});
  CHECK(fine.code == 0);
  CHECK(fine.out ==
        "a                                  speedup=1.500x, latency=10.000 ms, compile=5.000 s, mem_ratio=2.000x "
        "(eager=1.000 GB, dynamo=2.000 GB)\n"
        "b                                  speedup=2.000x, latency=20.000 ms, compile=6.000 s, mem_ratio=1.000x "
        "(eager=1.000 GB, dynamo=1.000 GB)\n");
  const auto slow = run({"perf_csv", "-f", "p.csv", "-t", "1.6", "--generation", "2.6"});
  CHECK(slow.code == 1);
  CHECK(slow.out ==
        "a                                  1.500000\nb                                  2.000000\n"
        "\n1 models have a speed-up below 1.600x:\n    a\n");
  CHECK(run({"perf_csv", "-f", "p.csv", "-t", "1.6", "-s", "0.9"}).code == 0);                           // 1.44
  CHECK(run({"perf_csv", "-f", "p.csv", "-t", "1.5", "-s", "0.8", "--fail-on-improvement"}).code == 1);  // 1.875 < 2
  CHECK(run({"perf_csv", "-f", "p.csv", "-t", "1.5", "-s", "0.7", "--fail_on_improvement"}).code == 0);  // 2.14
}

TEST_CASE("performance: latency") {
  (void)scratch.write("p.csv", performance);
  const auto at = [](const char* threshold, const char* scale, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"perf_csv", "-f", "p.csv", "--metric=abs_latency", "-t", threshold, "-s", scale};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  CHECK(at("20", "1").code == 0);
  CHECK(at("19", "1").code == 1);
  CHECK(at("19", "0.9").code == 0);                             // up to 21.1
  CHECK(at("20", "0.6", {"--fail-on-improvement"}).code == 1);  // from 12
  CHECK(at("20", "0.5", {"--fail-on-improvement"}).code == 0);
  (void)scratch.write("p.csv", "name,abs_latency\na,0.0\n");
  CHECK(at("20", "1", {"--generation=2.6"}).code == 1);  // it did not run
  (void)scratch.write("p.csv", "name,speedup\na,nan\n");
  CHECK(run({"perf_csv", "-f", "p.csv", "-t", "1", "--generation=2.6"}).code == 1);
}

TEST_CASE("noise: the least of several runs, within the share that may be") {
  const std::string expected = "add,instructions,1000,0.015\nmul,instructions,2000,0.1\n";
  const auto fine = compare("noise", "add,instructions,1015\nadd,instructions,5000\nmul,instructions,1800\n", expected);
  CHECK(fine.code == 0);
  CHECK(fine.out ==
        "PASS: add, instructions: 1015, expected 1000 ± 1.50 % (+1.50 %)\n"
        "PASS: mul, instructions: 1800, expected 2000 ± 10.00 % (-10.00 %)\n");
  const auto both =
      compare("noise", "name,metric,value\nadd,instructions,1016.4\nmul,instructions,1234567\nsub,instructions,77777\n",
              expected, {"--new-expected=n.csv"});
  CHECK(both.code == 1);
  CHECK_THAT(both.out, ContainsSubstring("REGRESSION: add"));
  CHECK_THAT(both.out, ContainsSubstring("UNEXPECTED: sub, instructions: nothing is expected of it\n"));
  CHECK(scratch.read("n.csv") ==
        "add,instructions,1016,0.015\nmul,instructions,1235000,0.1\nsub,instructions,77780,0.015\n");
  const auto win = compare("noise", "add,instructions,984\nmul,instructions,2000\n", expected);
  CHECK(win.code == 1);
  CHECK_THAT(win.out, StartsWith("WIN: add, instructions: 984, expected 1000 ± 1.50 % (-1.60 %)\n"));
  const auto missing = compare("noise", "add,instructions,1000\n", expected);
  CHECK(missing.code == 1);
  CHECK_THAT(missing.out, ContainsSubstring("MISSING: mul, instructions: there is no result\n"));
  CHECK(compare("noise", "add,instructions,1000\nx,y\n", expected).errors ==
        "check: " + (scratch / "a.csv") + ":2: expected name,metric,value\n");
}

TEST_CASE("what cannot be checked does not pass") {
  CHECK(compare("accuracy", "name,accuracy\n", "name,accuracy\n").code == 1);
  CHECK(compare("accuracy", "name,accuracy\n", "name,accuracy\n").errors ==
        "check: " + (scratch / "a.csv") + ": holds no results; there is nothing to check\n");
  CHECK(compare("accuracy", "name\na\n", "name,accuracy\n").code == 1);
  CHECK(compare("noise", "", "a,b,1,1\n").code == 1);
  const auto is_bad = [](const std::vector<std::string>& words, const std::string& says) {
    const auto ran = run(words);
    CAPTURE(words, ran.errors);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.errors, StartsWith("check: " + says));
  };
  CHECK(run({}).code == 1);
  CHECK(run({"--help"}).code == 0);
  is_bad({"speed"}, "there is no checker 'speed'\ncheck accuracy --actual");
  is_bad({"csv"}, "check csv: expected -f FILE\n");
  is_bad({"csv", "-f", "none.csv"},
         (scratch / "none.csv") + ": cannot be read: No such file or directory; expected a CSV file\n");
  REQUIRE(::mkfifo((scratch / "fifo.csv").c_str(), 0600) == 0);
  is_bad({"csv", "-f", "fifo.csv"},
         (scratch / "fifo.csv") + ": is a pipe that no program writes to; expected a CSV file\n");
  is_bad({"accuracy", "--actual", "a.csv"}, "check accuracy: expected --expected FILE\n");
  is_bad({"perf_csv", "-f", "p.csv"}, "check perf_csv: expected -t THRESHOLD\n");
  is_bad({"perf_csv", "-f", "p.csv", "-t", "0"}, "--threshold: invalid value '0'; expected a number above 0\n");
  is_bad({"perf_csv", "-f", "p.csv", "-t", "1", "-s", "1.1"}, "--threshold-scale: invalid value '1.1'");
  for (const char* threshold : {"nan", "inf", "-1"})
    is_bad({"perf_csv", "-f", "p.csv", "-t", threshold}, std::string("--threshold: invalid value '") + threshold + "'");
  is_bad({"csv", "-f", "/dev/null"}, (scratch / "/dev/null") + ": ");
  is_bad({"csv", "-f", "."}, (scratch / ".") + ": is a folder; expected a CSV file\n");
  (void)scratch.write("a.csv", "name,accuracy,compression_ratio\na,pass,1\n");
  (void)scratch.write("e.csv", "name,accuracy,compression_ratio\nb,pass,1\n");
  is_bad({"accuracy", "--actual=a.csv", "--expected=a.csv", "--flaky=zebra"},
         (scratch / "a.csv") + ": --flaky: expected a row of 'zebra', found none\n");
  CHECK(run({"accuracy", "--actual=a.csv", "--expected=a.csv", "--flaky=a"}).code == 0);
  is_bad({"memory_compression_ratio", "--actual=a.csv", "--expected=e.csv"},
         (scratch / "e.csv") + ": expected a row of some model that " + (scratch / "a.csv") +
             " has; nothing was checked\n");
  CHECK(compare("noise", "add,instructions,1000\n", "add,instructions,1000,-0.1\n").errors ==
        "check: " + (scratch / "e.csv") + ":1: expected name,metric,value,noise, a noise from 0 on\n");
  // The first line may name the columns; it is not left out because it is wrong.
  CHECK(compare("noise", "add,instructions,10x0\nadd,instructions,1000\n", "add,instructions,1000,0.1\n").errors ==
        "check: " + (scratch / "a.csv") + ":1: expected name,metric,value\n");
  is_bad({"csv", "-f", "p.csv", "-t", "1"}, "--threshold does not go with 'csv'; --help lists what does\n");
  is_bad({"csv", "--nonsense"}, "unknown option --nonsense; --help lists all options");
  is_bad({"csv", "-f"}, "--file: expected a value after it: a file name");
}

}  // namespace
