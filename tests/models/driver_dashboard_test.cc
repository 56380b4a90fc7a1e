// The dashboard, on numbers worked out by hand.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "benches/models/driver/dashboard_report.hpp"
#include "pace/base/error.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::IsEmpty;
using Catch::Matchers::StartsWith;
using namespace pace::benches::models;
using pace::test::Scratch;

const std::string performance =
    "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio\n"
    "cpu,fast,4,4.0,1,10,1.0\n"
    "cpu,slow,4,0.25,1,121,0.5\n"
    "cpu,wrong,4,9.0,1,1,1\n"
    "cpu,unloaded,0,0,0,0,0\n"
    "cpu,crashed,0,0,0,0,0\n";
const std::string accuracy =
    "dev,name,batch_size,accuracy\ncpu,fast,4,pass\ncpu,slow,4,pass_due_to_skip\ncpu,wrong,4,fail_accuracy\n"
    "cpu,unloaded,0,model_fail_to_load\ncpu,crashed,4,pass\n";

/// The attributes of all elements of that class, in order.
std::vector<std::map<std::string, std::string>> elements(const std::string& svg, const std::string& wanted) {
  static const std::regex element("<([a-z]+)( [^>]*)>"), attribute("([a-z0-9]+)=\"([^\"]*)\"");
  std::vector<std::map<std::string, std::string>> found;
  for (std::sregex_iterator each(svg.begin(), svg.end(), element), end; each != end; ++each) {
    std::map<std::string, std::string> attributes{{"", (*each)[1]}};
    const std::string text = (*each)[2];
    for (std::sregex_iterator one(text.begin(), text.end(), attribute); one != end; ++one)
      attributes[(*one)[1]] = (*one)[2];
    if (attributes["class"] == wanted || attributes[""] == wanted) found.push_back(attributes);
  }
  return found;
}

/// Whether each element ends, and ends within the one around it.
bool is_well_formed(const std::string& svg) {
  static const std::regex tag("<(/?)([a-z]+)((?: [a-z0-9-]+=\"[^\"<&]*\")*)(/?)>");
  std::vector<std::string> open;
  std::size_t at = 0;
  for (std::sregex_iterator each(svg.begin(), svg.end(), tag), end; each != end; ++each) {
    const std::string between = svg.substr(at, static_cast<std::size_t>(each->position()) - at);
    if (between.find_first_of("<>") != std::string::npos) return false;
    at = static_cast<std::size_t>(each->position() + each->length());
    if ((*each)[1] == "/") {
      if (open.empty() || open.back() != (*each)[2]) return false;
      open.pop_back();
    } else if ((*each)[4] != "/") {
      open.push_back((*each)[2]);
    }
  }
  return open.empty() && svg.find_first_not_of('\n', at) == std::string::npos;
}

TEST_CASE("bars are as high as their values") {
  const auto svg = bar_graph("Speed & <more>", {{"timm", {{"a", 1.0}, {"b", 4.0}}}, {"own", {{"b", 2.0}}}}, 1.0);
  CHECK(is_well_formed(svg));
  CHECK_FALSE(is_well_formed(svg + "<rect>"));
  CHECK_THAT(svg, ContainsSubstring("Speed &amp; &lt;more&gt;"));
  const auto bars = elements(svg, "bar");
  REQUIRE(bars.size() == 3);
  const auto height = [&](std::size_t bar) { return std::stod(bars[bar].at("height")); };
  CHECK(std::abs(height(1) - 4 * height(0)) < 0.05);
  CHECK(std::abs(height(2) - 2 * height(0)) < 0.05);
  // They stand on one line, beside each other, in the colours of the legend.
  for (const auto& bar : bars) CHECK(std::abs(std::stod(bar.at("y")) + std::stod(bar.at("height")) - 300) < 0.05);
  CHECK(std::stod(bars[0].at("x")) + 40 < std::stod(bars[1].at("x")));
  CHECK(bars[1].at("fill") == bars[2].at("fill"));
  const auto legend = elements(svg, "legend");
  REQUIRE(legend.size() == 2);
  CHECK(legend[1].at("fill") == bars[1].at("fill"));
  const auto mark = elements(svg, "mark");
  REQUIRE(mark.size() == 1);
  CHECK(std::abs(std::stod(mark[0].at("y1")) - std::stod(bars[0].at("y"))) < 0.05);
  // Nothing to show is an image, too.
  const auto empty = bar_graph("Nothing", {}, 1.0);
  CHECK(is_well_formed(empty));
  CHECK(elements(empty, "bar").empty());
  CHECK_THAT(empty, !ContainsSubstring("nan"));
  CHECK_THAT(bar_graph("Zero", {{"timm", {{"a", 0.0}}}}),
             !ContainsSubstring("nan") && ContainsSubstring("height=\"0.00\""));
}

TEST_CASE("lines go through the values of their times, and have gaps") {
  const auto svg = line_graph("Over time", {"2026-01-01", "2026-01-02", "2026-01-03", "now"},
                              {{"a", {1.0, 2.0, std::nullopt, 4.0}}, {"b", {2.0}}});
  CHECK(is_well_formed(svg));
  const auto points = elements(svg, "circle");
  REQUIRE(points.size() == 4);
  const auto height = [&](std::size_t point) { return 300 - std::stod(points[point].at("cy")); };
  CHECK(std::abs(height(1) - 2 * height(0)) < 0.05);
  CHECK(std::abs(height(2) - 4 * height(0)) < 0.05);
  CHECK(points[3].at("cx") == points[0].at("cx"));
  CHECK(points[3].at("cy") == points[1].at("cy"));
  const auto lines = elements(svg, "polyline");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].at("points") ==
        points[0].at("cx") + ',' + points[0].at("cy") + ' ' + points[1].at("cx") + ',' + points[1].at("cy"));
}

TEST_CASE("a comment that would be too long names what it leaves out") {
  using pace::benches::models::detail::comment_of;
  const std::string part(600, 'x');
  const auto comment = comment_of({{"Summary", part}, {"Warnings", part}, {"Changes", "few\n"}}, 2000);
  CHECK(comment.size() <= 2000);
  CHECK_THAT(comment, ContainsSubstring(part));
  CHECK_THAT(comment, ContainsSubstring("<details><summary>Changes</summary>\n\nfew\n</details>"));
  CHECK_THAT(comment, ContainsSubstring("Too long for a comment: Warnings.\n"));
}

TEST_CASE("an archive holds runs by date, and its last run is the earlier one") {
  const Scratch scratch;
  const auto archive = scratch / "archive", file = std::string("aot_timm_float32_inference_cpu_performance.csv");
  CHECK(read_archive(archive).empty());
  (void)scratch.write("run/" + file, "name,speedup\na,3\n");
  (void)scratch.write("run/unrelated.txt", "x\n");
  (void)scratch.write("archive/2026-02-01/" + file, "name,speedup\na,2\n");
  (void)scratch.write("archive/notes/" + file, "name,speedup\na,9\n");
  add_to_archive(scratch / "run", archive, "2026-01-31-late");
  CHECK(scratch.read("archive/2026-01-31-late/" + file) == "name,speedup\na,3\n");
  CHECK_FALSE(std::filesystem::exists(scratch / "archive/2026-01-31-late/unrelated.txt"));
  CHECK_THROWS_MATCHES(add_to_archive(scratch / "run", archive, "2026-02-01"), pace::InputError,
                       Catch::Matchers::Message(archive + "/2026-02-01: is there already; expected a --date that the "
                                                          "archive has not"));
  // A folder cannot be copied as a file, and earlier copies go again.
  const auto folder = "run/own_" + file;
  std::filesystem::create_directories(scratch / folder);
  CHECK_THROWS_AS(add_to_archive(scratch / "run", archive, "2026-03-01"), pace::Error);
  std::filesystem::remove(scratch / folder);
  const std::filesystem::directory_iterator left(archive);
  CHECK(std::distance(begin(left), end(left)) == 3);
  const auto runs = read_archive(archive);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].date == "2026-01-31-late");
  CHECK(runs[1].date == "2026-02-01");
  for (const char* other : {"2026-13-01", "2026-00-10", "2026-01-32", "26-01-01", "2026-01-01/x", "notes"})
    CHECK_FALSE(is_archive_date(other));

  std::ostringstream out;
  report_dashboard(read_dashboard(scratch / "run"), {.before = {}, .archive = runs}, {}, scratch / "out", out);
  const auto svg = scratch.read("out/geomean_over_time.svg");
  CHECK(is_well_formed(svg));
  const auto points = elements(svg, "circle");
  REQUIRE(points.size() == 3);
  CHECK(points[0].at("cy") == points[2].at("cy"));
  CHECK(points[0].at("cy") != points[1].at("cy"));
  CHECK_THAT(svg, ContainsSubstring(">aot, timm, now: 3.00</title>"));
}

TEST_CASE("the name of a file says what it is of") {
  const auto key = dashboard_key("aot_inductor_torchbench_float32_inference_cpu_accuracy.csv");
  REQUIRE(key);
  CHECK(key->first == DashboardKey{"float32", "inference", "cpu", "torchbench", "aot_inductor"});
  CHECK(key->second);
  CHECK(dashboard_key("x_timm_models_amp_training_cuda_performance.csv")->first.suite == "timm_models");
  CHECK(dashboard_key("x_timm_as_made_training_cuda:1_performance.csv")->first.dtype == "as_made");
  for (const char* other :
       {"geomean.csv", "x_other_amp_training_cuda_performance.csv", "x_timm_amp_training_cuda_speed.csv"})
    CHECK_FALSE(dashboard_key(other));
}

TEST_CASE("figures of a run") {
  const DashboardKey key{"float32", "inference", "cpu", "timm", "aot"};
  const DashboardRun run{pace::report::parse_csv(performance, "p"), pace::report::parse_csv(accuracy, "a")};
  const auto figures = dashboard_figures(key, run, {});
  // Clipped: 4 and 1. The wrong one does not count, the crashed one fails, and the unloaded one is not there at all.
  CHECK(figures.geomean == "2.00x");
  CHECK(figures.pass_rate == "50%, 2/4");
  CHECK(figures.compile_time == "65.50");
  CHECK(figures.memory == "0.75x");
  CHECK(dashboard_figures(key, run, {.include_slowdowns = true}).geomean == "1.00x");
  std::string warnings;
  for (const auto& each : figures.warnings) warnings += each.metric + ' ' + each.model + ' ' + each.value + '\n';
  CHECK(warnings ==
        "accuracy wrong fail_accuracy\nspeedup slow 0.250\ncompilation_latency slow 121.000\n"
        "compression_ratio slow 0.500\n");
  const auto alone = dashboard_figures(key, {pace::report::parse_csv(performance, "p"), std::nullopt}, {});
  CHECK(alone.pass_rate == "60%, 3/5");
  const auto only_accuracy = dashboard_figures(key, {std::nullopt, pace::report::parse_csv(accuracy, "a")}, {});
  CHECK(only_accuracy.pass_rate == "75%, 3/4");
  CHECK(only_accuracy.geomean == "-");
}

TEST_CASE("changes since an earlier run, and not those alone that cross a threshold") {
  const auto figures = [](const std::string& text, const std::string& statuses = {}) {
    DashboardRun run{pace::report::parse_csv("name,speedup,interval_low,interval_high,compilation_latency,"
                                             "compression_ratio\n" +
                                                 text,
                                             "p"),
                     std::nullopt};
    if (!statuses.empty()) run.accuracy = pace::report::parse_csv("name,accuracy\n" + statuses, "a");
    return dashboard_figures({}, run, {});
  };
  const auto changes = [&](const DashboardFigures& before, const DashboardFigures& after) {
    std::string text;
    for (const auto& each : changes_between({}, before, after))
      text += each.metric + ' ' + each.model + ' ' + each.before + ' ' + each.after + '\n';
    return text;
  };
  // Four times as fast, and now one and a half: no threshold is crossed.
  CHECK(changes(figures("a,4.0,0,0,10,1.0\n"), figures("a,1.5,0,0,10,1.0\n")) == "speedup a 4.000 1.500\n");
  CHECK(changes(figures("a,1.00,0,0,10,1.0\n"), figures("a,1.04,0,0,11.9,1.04\n")) == "");
  CHECK(changes(figures("a,1.00,0,0,10,1.0\n"), figures("a,1.06,0,0,12.1,0.94\n")) ==
        "speedup a 1.000 1.060\ncompilation_latency a 10.000 12.100\ncompression_ratio a 1.000 0.940\n");
  // Intervals say more than a share.
  CHECK(changes(figures("a,2.00,1.99,2.01,1,1\n"), figures("a,2.04,2.03,2.05,1,1\n")) == "speedup a 2.000 2.040\n");
  CHECK(changes(figures("a,2.00,1.50,2.50,1,1\n"), figures("a,2.40,2.00,2.80,1,1\n")) == "");
  // A model that is wrong now has no speed-up, and models come and go.
  CHECK(changes(figures("a,2,0,0,1,1\nold,1,0,0,1,1\n", "a,pass\nold,pass\n"),
                figures("a,2,0,0,1,1\nnew,1,0,0,1,1\n", "a,fail_accuracy\nnew,pass\n")) ==
        "accuracy a pass fail_accuracy\nspeedup a 2.000 0.000\nmodel new - there\nmodel old there -\n");
}

TEST_CASE("a file of several back ends is none of a dashboard's") {
  const Scratch scratch;
  const auto file = scratch.write("aot_timm_float32_inference_cpu_performance.csv",
                                  "name,speedup,backend\na,3,aot_inductor\na,1,cuda_graph\n");
  CHECK_THROWS_MATCHES(
      read_dashboard(scratch.path.string()), pace::InputError,
      Catch::Matchers::Message(file + ": expected one row for 'a', found rows 1 and 2; a dashboard has "
                                      "files of one back end and device"));
}

TEST_CASE("a pipe in the folder is not waited for") {
  const Scratch scratch;
  const auto pipe = scratch / "aot_timm_float32_inference_cpu_performance.csv";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_MATCHES(read_dashboard(scratch.path.string()), pace::InputError,
                       Catch::Matchers::Message(pipe + ": is a pipe that no program writes to; expected a CSV file"));
}

TEST_CASE("limits are not warned about") {
  const DashboardRun run{
      pace::report::parse_csv("name,speedup,compilation_latency,compression_ratio\na,0.95,120,0.9\n", "p"),
      std::nullopt};
  CHECK_THAT(dashboard_figures({}, run, {}).warnings, IsEmpty());
}

TEST_CASE("the report") {
  const Scratch scratch, old;
  (void)scratch.write("aot_torchbench_float32_inference_cpu_performance.csv", performance);
  (void)scratch.write("aot_torchbench_float32_inference_cpu_accuracy.csv", accuracy);
  (void)scratch.write("aot_timm_float32_inference_cpu_performance.csv", "name,speedup\na,3\n");
  (void)scratch.write("graph_torchbench_float32_inference_cpu_performance.csv", "name,speedup\na,0.5\n");
  (void)scratch.write("unrelated.csv", "x\n");
  (void)old.write("graph_torchbench_float32_inference_cpu_performance.csv", "name,speedup\na,0.4\nb,0.1\n");
  std::ostringstream out;
  report_dashboard(read_dashboard(scratch.path.string()), {.before = read_dashboard(old.path.string())}, {},
                   scratch / "out", out);
  CHECK(scratch.read("out/geomean.csv") == "Compiler,timm,torchbench\naot,3.00x,2.00x\ngraph,-,1.00x\n");
  CHECK(scratch.read("out/passrate.csv") ==
        "Compiler,timm,torchbench\naot,\"100%, 1/1\",\"50%, 2/4\"\ngraph,-,\"100%, 1/1\"\n");
  CHECK(scratch.read("out/comp_time.csv") == "Compiler,timm,torchbench\naot,-,65.50\ngraph,-,-\n");
  CHECK(scratch.read("out/memory.csv") == "Compiler,timm,torchbench\naot,-,0.75x\ngraph,-,-\n");
  const std::string warned = scratch.read("out/gh_warnings.txt"), changed = scratch.read("out/gh_regression.txt");
  CHECK_THAT(warned, ContainsSubstring("| torchbench | graph | float32 inference cpu | speedup | a | 0.500 |"));
  // That warning was there before; the other one has gone.
  const auto warnings_at = changed.find("## New warnings since the earlier run");
  CHECK_THAT(changed.substr(warnings_at, changed.find("## No more") - warnings_at), !ContainsSubstring("graph"));
  CHECK_THAT(changed, StartsWith("## Changes since the earlier run\n"));
  INFO(changed);
  CHECK(changed.find("| torchbench | graph | float32 inference cpu | speedup | a | 0.400 | 0.500 |") < warnings_at);
  CHECK(changed.find("| torchbench | graph | float32 inference cpu | model | b | there | - |") < warnings_at);
  CHECK(changed.find("| timm | aot | float32 inference cpu | run | all | - | there |") < warnings_at);
  CHECK(changed.find("| torchbench | graph | float32 inference cpu | speedup | b | 0.100 |") >
        changed.find("## No more"));
  CHECK(out.str() == scratch.read("out/gh_executive_summary.txt") + warned + changed);
  // A comment for a pull request has all of it.
  const std::string comment = scratch.read("out/gh_comment.md");
  CHECK_THAT(comment, StartsWith("# Dashboard of models\n\n## Pass rate, float32 inference cpu\n"));
  CHECK_THAT(comment, ContainsSubstring("<details><summary>5 warnings</summary>\n\n" + warned + "</details>\n"));
  CHECK_THAT(comment, ContainsSubstring("<details><summary>Changes since the earlier run</summary>\n\n" + changed +
                                        "</details>\n"));
  // A bar for each compiler and suite that has a figure.
  CHECK(elements(scratch.read("out/geomean.svg"), "bar").size() == 3);
  CHECK(elements(scratch.read("out/comp_time.svg"), "bar").size() == 1);
  CHECK_FALSE(std::filesystem::exists(scratch / "out/geomean_over_time.svg"));
  CHECK_THROWS_AS(read_dashboard(scratch / "out"), pace::InputError);
  CHECK_THROWS_AS(read_dashboard(scratch / "nowhere"), pace::InputError);
}

TEST_CASE("the commands of a dashboard write files that it reads") {
  const auto text = dashboard_commands(
      {.suites = {"timm"}, .dtypes = {"amp"}, .compilers = {"aot_inductor", "cuda_graph"}, .extra_args = "-k x"});
  CHECK(
      text ==
      "bazel run //benches/models -- --performance --suite timm --inference --amp --device cuda --backend aot_inductor "
      "--dashboard --cold-start-latency --output benchmark_logs/aot_inductor_timm_amp_inference_cuda_performance.csv "
      "-k x\n"
      "bazel run //benches/models -- --performance --suite timm --inference --amp --device cuda --backend cuda_graph "
      "--dashboard --output benchmark_logs/cuda_graph_timm_amp_inference_cuda_performance.csv -k x\n"
      "bazel run //benches/models -- --accuracy --suite timm --inference --amp --device cuda --backend aot_inductor "
      "--cold-start-latency --output benchmark_logs/aot_inductor_timm_amp_inference_cuda_accuracy.csv -k x\n"
      "bazel run //benches/models -- --accuracy --suite timm --inference --amp --device cuda --backend cuda_graph "
      "--output benchmark_logs/cuda_graph_timm_amp_inference_cuda_accuracy.csv -k x\n");
  CHECK(dashboard_key("cuda_graph_timm_amp_inference_cuda_accuracy.csv"));
}

}  // namespace
