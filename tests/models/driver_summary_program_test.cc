// The summaries' program: its words, files and exit codes.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "benches/models/summary.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

struct World {
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
  World world;
  (void)world.scratch.write("a.csv", "dev,name,speedup\ncpu,m,2\ncpu,n,0\n");
  (void)world.scratch.write("b.csv", "dev,name,speedup\ncpu,m,3\n");
  CHECK(world.run({"print", "a.csv"}) == 0);
  CHECK(world.out == "speedup gmean=2.00x mean=2.000x (1 of 2 ran)\n");
  CHECK(world.run({"print", "--compat", "--rows", "b.csv"}) == 0);
  CHECK(world.out == "dev  name  speedup\ncpu  m     3\nspeedup gmean=3.00x mean=3.000x\n");
  CHECK(world.run({"print", "a.csv", "b.csv"}) == 0);
  CHECK_THAT(world.out, ContainsSubstring("\n\n" + (world.scratch / "b.csv") + "\nspeedup"));
  CHECK(world.run({"perf", "a.csv", "b.csv"}) == 0);
  CHECK_THAT(world.out, ContainsSubstring("b     1       1    3.00x"));
  CHECK(world.run({"join", "a.csv", "b.csv", "--field", "speedup"}) == 0);
  CHECK(world.out == "dev,name,a,b\ncpu,m,2,3\n");
  CHECK(world.run({"join", "a.csv", "--field=speedup", "--output=j.csv"}) == 0);
  CHECK(world.out == "");
  CHECK(world.scratch.read("j.csv") == "dev,name,a\ncpu,m,2\n");
  CHECK(world.run({"commands", "--suites=timm", "--dtypes=amp", "--training", "--inference", "--devices=cpu",
                   "--extra-args=-k x", "--output-dir=d"}) == 0);
  CHECK_THAT(world.out,
             StartsWith("bazel run //benches/models -- --performance --suite timm --training --amp --device cpu "
                        "--backend aot_inductor --dashboard --cold-start-latency --output "
                        "d/aot_inductor_timm_amp_training_cpu_performance.csv -k x\n"));
  (void)world.scratch.write("x_timm_amp_training_cpu_performance.csv", "name,speedup\nm,2\n");
  CHECK(world.run({"dashboard", ".", "--output-dir", "o", "--include_slowdowns"}) == 0);
  CHECK(world.scratch.read("o/geomean.csv") == "Compiler,timm\nx,2.00x\n");
}

TEST_CASE("what cannot be summed up") {
  World world;
  const auto is_bad = [&](const std::vector<std::string>& words, const std::string& says) {
    CAPTURE(words);
    CHECK(world.run(words) == 1);
    CAPTURE(world.errors);
    CHECK_THAT(world.errors, StartsWith("summary: " + says));
  };
  CHECK(world.run({}) == 1);
  CHECK(world.run({"--help"}) == 0);
  CHECK_THAT(world.out, StartsWith("summary print FILE"));
  is_bad({"nothing"}, "there is no summary 'nothing'\n");
  is_bad({"print"}, "summary print: expected a file\n");
  is_bad({"dashboard"}, "summary dashboard: expected a folder\n");
  is_bad({"print", "none.csv"}, (world.scratch / "none.csv") + ": cannot be read");
  (void)world.scratch.write("a.csv", "name,speedup\n");
  for (const char* what : {"print", "perf"})
    is_bad({what, "a.csv"}, (world.scratch / "a.csv") + ": holds no results; there is nothing to sum up\n");
  (void)world.scratch.write("a.csv", "name,speedup\nm,1\n");
  (void)world.scratch.write("o/a.csv", "name,speedup\nm,1\n");
  is_bad({"join", "a.csv", "o/a.csv", "--field=speedup"},
         (world.scratch / "o/a.csv") + ": its columns would be named like those of " + (world.scratch / "a.csv"));
  is_bad({"print", "a.csv", "--field=speedup"}, "--field does not go with 'print'\nsummary print");
  is_bad({"perf", "a.csv", "--compat"}, "--compat does not go with 'perf'\n");
  is_bad({"join", "a.csv", "--field=speedup", "--rows"}, "--rows does not go with 'join'\n");
  is_bad({"dashboard", ".", "--suites=timm"}, "--suites does not go with 'dashboard'\n");
  is_bad({"commands", "a.csv"}, "summary commands: expected no file, found 'a.csv'\n");
  is_bad({"commands", "--suites=tim"}, "no suite is called 'tim'");
  is_bad({"commands", "--dtypes=float8"}, "--dtypes: invalid value 'float8'; expected as_made");
  is_bad({"commands", "--previous=x"}, "--previous does not go with 'commands'\n");
  is_bad({"join", "a.csv"}, "summary join: expected --field COLUMN\n");
  is_bad({"join", "a.csv", "--field", "x"}, (world.scratch / "a.csv") + ": expected a column 'x'");
}

}  // namespace
