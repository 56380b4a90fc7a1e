// The summaries' program: its words, files and exit codes.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "benches/models/summary.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

struct Dependencies {
  pace::test::Scratch scratch;
  std::string out, errors;

  int run(std::vector<std::string> words) {
    words.insert(words.begin(), "summary");
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    std::ostringstream to, complaints;
    const int code = pace::benches::models::summary(static_cast<int>(argv.size()), argv.data(), to, complaints,
                                                    [&](const std::string& path) { return scratch / path; });
    out = to.str(), errors = complaints.str();
    return code;
  }
};

TEST_CASE("each summary by its name") {
  Dependencies dependencies;
  (void)dependencies.scratch.write("a.csv", "dev,name,speedup\ncpu,m,2\ncpu,n,0\n");
  (void)dependencies.scratch.write("b.csv", "dev,name,speedup\ncpu,m,3\n");
  CHECK(dependencies.run({"print", "a.csv"}) == 0);
  CHECK(dependencies.out == "speedup gmean=2.00x mean=2.000x (1 of 2 ran)\n");
  CHECK(dependencies.run({"print", "--compat", "--rows", "b.csv"}) == 0);
  CHECK(dependencies.out == "dev  name  speedup\ncpu  m     3\nspeedup gmean=3.00x mean=3.000x\n");
  CHECK(dependencies.run({"print", "a.csv", "b.csv"}) == 0);
  CHECK_THAT(dependencies.out, ContainsSubstring("\n\n" + (dependencies.scratch / "b.csv") + "\nspeedup"));
  CHECK(dependencies.run({"perf", "a.csv", "b.csv"}) == 0);
  CHECK_THAT(dependencies.out, ContainsSubstring("b     1       1    3.00x"));
  CHECK(dependencies.run({"join", "a.csv", "b.csv", "--field", "speedup"}) == 0);
  CHECK(dependencies.out == "dev,name,a,b\ncpu,m,2,3\n");
  (void)dependencies.scratch.write("t.csv", "dev,name,tag,speedup\ncpu,m,old,2\ncpu,m,new,3\n");
  CHECK(dependencies.run({"join", "t.csv", "--field", "speedup"}) == 0);
  CHECK(dependencies.out == "dev,name,t:old,t:new\ncpu,m,2,3\n");
  CHECK(dependencies.run({"join", "a.csv", "--field=speedup", "--output=j.csv"}) == 0);
  CHECK(dependencies.out == "");
  CHECK(dependencies.scratch.read("j.csv") == "dev,name,a\ncpu,m,2\n");
  CHECK(dependencies.run({"commands", "--suites=timm", "--dtypes=amp", "--training", "--inference", "--devices=cpu",
                          "--extra-args=-k x", "--output-dir=d"}) == 0);
  CHECK_THAT(dependencies.out,
             StartsWith("bazel run //benches/models -- --performance --suite timm --training --amp --device cpu "
                        "--backend aot_inductor --dashboard --cold-start-latency --output "
                        "d/aot_inductor_timm_amp_training_cpu_performance.csv -k x\n"));
  (void)dependencies.scratch.write("x_timm_amp_training_cpu_performance.csv", "name,speedup\nm,2\n");
  CHECK(dependencies.run({"dashboard", ".", "--output-dir", "o", "--include_slowdowns"}) == 0);
  CHECK(dependencies.scratch.read("o/geomean.csv") == "Compiler,timm\nx,2.00x\n");
  // Each run is held against the latest of the archive, and added to it.
  CHECK(dependencies.run({"dashboard", ".", "--output-dir=o", "--archive=past", "--date=2026-01-01"}) == 0);
  CHECK_THAT(dependencies.out, !ContainsSubstring("earlier run"));
  (void)dependencies.scratch.write("x_timm_amp_training_cpu_performance.csv", "name,speedup\nm,3\n");
  CHECK(dependencies.run({"dashboard", ".", "--output-dir=o", "--archive=past", "--date=2026-01-02"}) == 0);
  CHECK_THAT(dependencies.out, ContainsSubstring("| timm | x | amp training cpu | speedup | m | 2.000 | 3.000 |"));
  CHECK_THAT(dependencies.scratch.read("o/geomean_over_time.svg"), ContainsSubstring(">x, timm, 2026-01-02: 3.00<"));
  CHECK(dependencies.scratch.read("past/2026-01-02/x_timm_amp_training_cpu_performance.csv") == "name,speedup\nm,3\n");
  // A report that fails adds nothing, so that the same date can be given again.
  (void)dependencies.scratch.write("file", "");
  CHECK(dependencies.run({"dashboard", ".", "--output-dir=file", "--archive=past", "--date=2025-12-31"}) == 1);
  CHECK_FALSE(dependencies.scratch.has("past/2025-12-31"));
  // A run that is added belatedly is held against none that came later.
  CHECK(dependencies.run({"dashboard", ".", "--output-dir=late", "--archive=past", "--date=2025-12-31"}) == 0);
  CHECK_THAT(dependencies.out, !ContainsSubstring("earlier run"));
  CHECK(dependencies.run({"dashboard", ".", "--output-dir=late", "--archive=past", "--date=2026-01-01-late"}) == 0);
  CHECK_THAT(dependencies.out, ContainsSubstring("| timm | x | amp training cpu | speedup | m | 2.000 | 3.000 |"));
  CHECK_THAT(dependencies.scratch.read("late/geomean_over_time.svg"), !ContainsSubstring("2026-01-02"));
  std::filesystem::remove_all(dependencies.scratch / "past/2025-12-31");
  std::filesystem::remove_all(dependencies.scratch / "past/2026-01-01-late");
  CHECK(dependencies.run({"dashboard", ".", "--output-dir=late", "--archive=past", "--date=2026-01-02"}) == 1);
  CHECK_THAT(dependencies.errors, ContainsSubstring("past/2026-01-02: is there already; expected a --date that"));
  // A run of the archive is none of its own past.
  CHECK(dependencies.run({"dashboard", "past/2026-01-02", "--output-dir=again", "--archive=past"}) == 0);
  CHECK_THAT(dependencies.out, ContainsSubstring("| timm | x | amp training cpu | speedup | m | 2.000 | 3.000 |"));
  CHECK(dependencies.scratch.read("again/geomean_over_time.svg") ==
        dependencies.scratch.read("o/geomean_over_time.svg"));
}

TEST_CASE("files that cannot be summed up are refused") {
  Dependencies dependencies;
  const auto is_bad = [&](const std::vector<std::string>& words, const std::string& says) {
    CAPTURE(words);
    CHECK(dependencies.run(words) == 1);
    CAPTURE(dependencies.errors);
    CHECK_THAT(dependencies.errors, StartsWith("summary: " + says));
  };
  CHECK(dependencies.run({}) == 1);
  CHECK(dependencies.run({"--help"}) == 0);
  CHECK_THAT(dependencies.out, StartsWith("summary print FILE"));
  is_bad({"nothing"}, "there is no summary 'nothing'\n");
  is_bad({"print"}, "summary print: expected a file\n");
  is_bad({"dashboard"}, "summary dashboard: expected a folder\n");
  is_bad({"print", "none.csv"}, (dependencies.scratch / "none.csv") + ": cannot be read");
  (void)dependencies.scratch.write("a.csv", "name,speedup\n");
  for (const char* what : {"print", "perf"})
    is_bad({what, "a.csv"}, (dependencies.scratch / "a.csv") + ": holds no results; there is nothing to sum up\n");
  (void)dependencies.scratch.write("a.csv", "name,speedup\nm,1\n");
  (void)dependencies.scratch.write("o/a.csv", "name,speedup\nm,1\n");
  is_bad({"join", "a.csv", "o/a.csv", "--field=speedup"}, (dependencies.scratch / "o/a.csv") +
                                                              ": its columns would be named like the columns of " +
                                                              (dependencies.scratch / "a.csv"));
  is_bad({"print", "a.csv", "--field=speedup"}, "--field does not go with 'print'; --help lists what does\n");
  is_bad({"perf", "a.csv", "--compat"}, "--compat does not go with 'perf'");
  is_bad({"join", "a.csv", "--field=speedup", "--rows"}, "--rows does not go with 'join'");
  is_bad({"dashboard", ".", "--suites=timm"}, "--suites does not go with 'dashboard'");
  is_bad({"dashboard", ".", "--date=2026-01-01"}, "--date: expected --archive beside it");
  is_bad({"dashboard", ".", "--archive=a", "--date=yesterday"},
         "--date: invalid value 'yesterday'; expected a date such as 2026-11-25, which more may follow");
  is_bad({"commands", "a.csv"}, "summary commands: expected no file, found 'a.csv'\n");
  is_bad({"commands", "--suites=tim"}, "no suite is called 'tim'");
  is_bad({"commands", "--dtypes=float8"}, "--dtypes: invalid value 'float8'; expected as_made");
  is_bad({"commands", "--previous=x"}, "--previous does not go with 'commands'");
  is_bad({"join", "a.csv"}, "summary join: expected --field COLUMN\n");
  is_bad({"join", "a.csv", "--field", "x"}, (dependencies.scratch / "a.csv") + ": expected a column 'x'");
}

}  // namespace
