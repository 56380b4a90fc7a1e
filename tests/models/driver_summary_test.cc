// Summaries of result files, on numbers worked out by hand.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "benches/models/driver/join.hpp"
#include "benches/models/driver/summary.hpp"
#include "pace/base/error.hpp"

namespace {

using namespace pace::benches::models;

const std::vector<KnownModel> models{{.name = "a", .family = "cnn"},
                                     {.name = "b", .family = "cnn"},
                                     {.name = "c", .family = "transformer"},
                                     {.name = "d", .family = "transformer"}};

std::string summary(const std::string& csv, const SummaryOptions& options = {}) {
  std::ostringstream out;
  print_summary(pace::report::parse_csv(csv, "f.csv"), models, options, out);
  return out.str();
}

TEST_CASE("speed-ups with intervals have one in the mean, too, of all and of each family") {
  const std::string head = "name,speedup,interval_low,interval_high\n";
  const std::string rest = "b,4.0,4.0,4.0\nc,0.0,0.0,0.0\nd,2.0,1.8,2.4\n";
  CHECK(summary(head + "a,1.0,1.0,1.0\n" + rest) ==
        "speedup       gmean=2.00x [1.93x, 2.13x] mean=2.333x (3 of 4 ran)\n"
        "geometric mean of speed-ups by family\n"
        "  cnn          2.00x [2.00x, 2.00x] 2 of 2 ran\n"
        "  transformer  2.00x [1.80x, 2.40x] 1 of 2 ran\n");
  // One whose interval is not known leaves those it belongs to without.
  CHECK(summary(head + "a,1.0,,\n" + rest) ==
        "speedup       gmean=2.00x mean=2.333x (3 of 4 ran)\n"
        "geometric mean of speed-ups by family\n"
        "  cnn          2.00x                2 of 2 ran\n"
        "  transformer  2.00x [1.80x, 2.40x] 1 of 2 ran\n");
}

const std::string performance =
    "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,calls_captured,pct_ops,verdict\n"
    "cpu,a,4,1.000000,2.000000,10.000000,0.500000,10,0.5,passed\n"
    "cpu,b,4,4.000000,8.000000,20.000000,1.500000,20,0.25,passed\n"
    "cpu,c,0,0.000000,0.000000,0,0,0,0,0\n"
    "cpu,d,4,2.000000,4.000000,30.000000,1.000000,30,0.75,failed\n";

TEST_CASE("each column has its line; what did not run is left out and counted") {
  CHECK(summary(performance) ==
        "speedup             gmean=2.00x mean=2.333x (3 of 4 ran)\n"
        "abs_latency         gmean=4.00 ms mean=4.667 ms (3 of 4 ran)\n"
        "compilation_latency mean=20.000 seconds\n"
        "compression_ratio   mean=1.000x\n"
        "calls_captured      20.000\n"
        "pct_ops             50.000%\n"
        "geometric mean of speed-ups by family\n"
        "  cnn          2.00x    2 of 2 ran\n"
        "  transformer  2.00x    1 of 2 ran\n");
}

TEST_CASE("with --compat it counts as 0") {
  CHECK(summary(performance, {.compat = true}) ==
        "speedup             gmean=0.00x mean=1.750x\n"
        "abs_latency         gmean=0.00x mean=3.500x\n"
        "compilation_latency mean=15.000 seconds\n"
        "compression_ratio   mean=0.750x\n"
        "calls_captured      15.000\n"
        "pct_ops             37.500%\n");
}

TEST_CASE("pace's own columns have their units, or none") {
  CHECK(summary("name,speedup,eager_peak_mem,load_seconds,calls_per_second,forward_speedup,p_value,interval_low\n"
                "x,2,4.5,0.5,100,0,1,1.9\n") ==
        "speedup          gmean=2.00x mean=2.000x\n"
        "eager_peak_mem   gmean=4.50 GB mean=4.500 GB\n"
        "load_seconds     gmean=0.50 seconds mean=0.500 seconds\n"
        "calls_per_second gmean=100.00 mean=100.000\n");
}

TEST_CASE("pass rates") {
  CHECK(summary("dev,name,batch_size,accuracy\ncpu,a,4,pass\ncpu,b,4,pass_due_to_skip\ncpu,c,4,pass\n") ==
        "accuracy   pass_rate=66.67%\n"
        "pass rate by family\n"
        "  cnn          50.00%   1 of 2 pass\n"
        "  transformer  100.00%  1 of 1 pass\n");
}

TEST_CASE("tags and back ends are told apart") {
  CHECK(summary("dev,name,batch_size,tag,speedup\ncpu,a,4,old,2\ncpu,a,4,new,8\ncpu,b,4,old,8\n", {.compat = true}) ==
        "\nSummary for tag=old:\nspeedup    gmean=4.00x mean=5.000x\n"
        "\nSummary for tag=new:\nspeedup    gmean=8.00x mean=8.000x\n");
  CHECK(summary("name,tag,speedup,backend\na,t,2,x\na,t,4,y\n", {.compat = true}) ==
        "\nSummary for tag=t:\n"
        "\nSummary for backend=x:\nspeedup gmean=2.00x mean=2.000x\n"
        "\nSummary for backend=y:\nspeedup gmean=4.00x mean=4.000x\n");
}

TEST_CASE("rows, if they are asked for; nothing of nothing") {
  CHECK(summary("name,max\nlonger,1\n", {.compat = true, .rows = true}) ==
        "name    max\nlonger  1\nmax  gmean=1.00x mean=1.000x\n");
  CHECK(summary("dev,name,speedup\n") == "");
  CHECK(summary("") == "");
}

TEST_CASE("one column of several files side by side") {
  const std::vector<pace::report::CsvTable> files{
      pace::report::parse_csv("dev,name,speedup\ncpu,a,1.5\ncpu,b,0.0\ncpu,c,0.0\n", "/x/first.csv"),
      pace::report::parse_csv("dev,name,speedup,backend\ncpu,d,4,u\ncpu,a,2,v\ncpu,b,0.000,u\ncpu,c,3,u\ncuda,a,5,u\n",
                              "second.csv")};
  CHECK(pace::report::to_csv(join_results(files, "speedup")) ==
        "dev,name,first,second:u,second:v\n"
        "cpu,a,1.5,0,2\ncpu,c,0.0,3,0\ncpu,d,0,4,0\ncuda,a,0,5,0\n");
  CHECK_THROWS_MATCHES(
      join_results(files, "nothing"), pace::InputError,
      Catch::Matchers::Message("/x/first.csv: expected a column 'nothing'; there are dev, name, speedup"));
}

TEST_CASE("a line for each file") {
  std::ostringstream out;
  const auto bad = pace::report::parse_csv("name,speedup\na,0\n", "bad.csv");
  summarize_performance({pace::report::parse_csv(performance, "p.csv"), bad}, out);
  CHECK(out.str() ==
        "file  models  ran  speedup  compile_s  peak_GB  memory_ratio\n"
        "p     4       3    2.00x    20.00      -        1.00x\n"
        "bad   1       0    -        -          -        -\n");
}

}  // namespace
