// The table: golden text, alignment while it streams, colours, long and hostile text, totals.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pace/report/console.hpp"
#include "pace/report/judged.hpp"
#include "tests/report/sample_results.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using pace::report::ConsoleSink;
using pace::report::ConsoleStyle;

namespace {

std::string printed(const std::vector<pace::Result>& results, ConsoleStyle style, bool finish = false) {
  std::ostringstream out;
  ConsoleSink sink(out, std::move(style));
  for (const auto& result : results) sink.write(result);
  if (finish) sink.finish();
  return out.str();
}

/// With a block for each case.
std::string table_of(const std::vector<pace::Result>& results, bool colour = false, bool finish = false) {
  return printed(results, {.use_colour = colour, .blocks = true}, finish);
}

/// With a line for each candidate, as wide as that, on a terminal unless `shortens` is unset.
std::string lines_with(const std::vector<pace::Result>& results, std::size_t width, bool shortens = true) {
  return printed(results, {.shortens = shortens, .width = [width] { return width; }}, true);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("every outcome, as the table shows it") {
  auto result = sample::comparison("layer_norm/64x1024");
  result.implementations[1].judgements = {
      {"speed-up of at least 1.50x", pace::Verdict::undecided, false, "'fused' could be slower. Measure longer"},
      {"time of at most 1.02x the baseline's", pace::Verdict::passed, true, "all is well"}};
  auto wrong = sample::measured("broken", 1000);
  wrong.outcome = pace::Outcome::wrong;
  wrong.message = "output 0: 3 of 8 values differ";
  result.implementations.push_back(wrong);
  result.implementations.push_back(sample::without_figures("threw", pace::Outcome::threw, "boom"));
  result.implementations.push_back(sample::without_figures("aot_inductor", pace::Outcome::refused, "no package"));
  result.notes = {"The clock is coarse."};
  CHECK(table_of({result}, false, true) == R"(
  implementation   median  95 % interval  spread  speed-up  95 % interval  1st call  check    verdict
layer_norm/64x1024  (16 rounds of 40 iterations in 1.00 s)
  eager           4.00 us  [2.00, 8.00]     12 %  baseline                  40.0 us  correct  -
  fused           2.00 us  [1.00, 4.00]     12 %     2.00x  [1.00, 4.00]    20.0 us  correct  undecided
      speed-up of at least 1.50x: undecided: 'fused' could be slower. Measure longer
  broken          1.00 us  [0.500, 2.00]    12 %                            10.0 us  WRONG    -
      wrong: output 0: 3 of 8 values differ
  threw                                                                              threw    -
      threw: boom
  aot_inductor                                                                       refused  -
      refused: no package
  Note: The clock is coarse.
1 case, 5 implementations: 2 measured, 1 wrong, 1 threw, 1 refused
  fused over eager: 2.00x (geometric mean over 1 case, of each the median speed-up of its cycles)
  broken over eager: no speed-up in 1 case
  threw over eager: no speed-up in 1 case
  aot_inductor over eager: no speed-up in 1 case
  1 of 2 expectations not met:
    layer_norm/64x1024, fused: speed-up of at least 1.50x: undecided
)");
}

TEST_CASE("a block says whether the GPU's clock floats, and its range") {
  auto result = sample::comparison("gelu");
  result.conditions.gpu = pace::GpuConditions{.readings = 9, .lowest_clock = 1935, .highest_clock = 1980};
  CHECK_THAT(table_of({result}), ContainsSubstring(" in 1.00 s; the GPU's clock floats, 1935 to 1980 MHz)"));
  result.conditions.gpu->lowest_clock = 1980;
  CHECK_THAT(table_of({result}), ContainsSubstring(" in 1.00 s; the GPU's clock stays at 1980 MHz)"));
  // A driver that does not tell.
  result.conditions.gpu = pace::GpuConditions{};
  CHECK_THAT(table_of({result}), ContainsSubstring(" in 1.00 s)"));
}

TEST_CASE("without blocks each candidate has a line, and a wrong or open one is explained below it") {
  auto result = sample::comparison("layer_norm/64x1024");
  result.implementations[1].judgements = {
      {"speed-up of at least 1.50x", pace::Verdict::undecided, false, "'fused' could be slower. Measure longer"},
      {"time of at most 1.02x the baseline's", pace::Verdict::passed, true, "all is well"}};
  auto wrong = sample::measured("broken", 1000);
  wrong.outcome = pace::Outcome::wrong;
  wrong.message = "output 0: 3 of 8 values differ";
  result.implementations.push_back(wrong);
  result.implementations.push_back(sample::without_figures("aot_inductor", pace::Outcome::refused, "no package"));
  result.notes = {"The clock is coarse."};
  auto good = sample::comparison("softmax");
  good.implementations[1].judgements = {{"x", pace::Verdict::passed, true, "all is well"}};
  good.notes = {"The clock is coarse."};
  auto let_through = sample::comparison("gelu");
  let_through.implementations[1].judgements = {{"y", pace::Verdict::undecided, true, "measure longer"}};
  CHECK(lines_with({result, good, let_through, sample::comparison("nothing expected")}, 120) == R"(
case                                      candidate     baseline     time  speed-up  95 % interval   verdict
layer_norm/64x1024                        fused          4.00 us  2.00 us     2.00x  [1.00, 4.00]    undecided
    speed-up of at least 1.50x: undecided: 'fused' could be slower. Measure longer
                                          broken         4.00 us  1.00 us                            WRONG
    wrong: output 0: 3 of 8 values differ
                                          aot_inductor   4.00 us                                     refused
    refused: no package
    Note: The clock is coarse.
softmax                                   fused          4.00 us  2.00 us     2.00x  [1.00, 4.00]    passed
gelu                                      fused          4.00 us  2.00 us     2.00x  [1.00, 4.00]    undecided
    y: undecided: measure longer
nothing expected                          fused          4.00 us  2.00 us     2.00x  [1.00, 4.00]    correct
4 cases, 10 implementations: 8 measured, 1 wrong, 1 refused
  fused over eager: 2.00x (geometric mean over 4 cases, of each the median speed-up of its cycles)
  broken over eager: no speed-up in 1 case
  aot_inductor over eager: no speed-up in 1 case
  1 of 4 expectations not met:
    layer_norm/64x1024, fused: speed-up of at least 1.50x: undecided
  1 case has notes, which --verbose shows
)");
}

TEST_CASE("a reason that a judgement repeats is printed once, with what to do") {
  auto result = sample::comparison("case");
  result.implementations[1] = sample::without_figures("fused", pace::Outcome::wrong, "3 of 8 values differ");
  result.implementations[1].judgements = {
      {"x", pace::Verdict::failed, false, "'fused' has no speed-up: 3 of 8 values differ. Correct it"}};
  CHECK_THAT(
      lines_with({result}, 120),
      ContainsSubstring("WRONG\n    x: failed: 'fused' has no speed-up: 3 of 8 values differ. Correct it\n1 case"));
  result.implementations[1].judgements = {{"x", pace::Verdict::failed, false, "for another reason"}};
  CHECK_THAT(lines_with({result}, 120),
             ContainsSubstring("WRONG\n    wrong: 3 of 8 values differ\n    x: failed: for another reason\n"));
}

TEST_CASE("what disturbed all candidates is said once, and notes stand below failures alone") {
  auto result = sample::comparison("case");
  result.implementations.push_back(sample::candidate("other", 1000, 4));
  for (std::size_t i = 1; i < 3; ++i) {
    auto& row = result.implementations[i];
    row.context.disturbance = "The thread waited.";
    row.judgements = {{"x", pace::Verdict::undecided, true, "'" + row.name + "': The thread waited. Measure again"}};
  }
  result.notes = {"The thread waited.", "The clock is coarse."};
  const auto let_through = lines_with({result}, 120);
  CHECK_THAT(let_through, ContainsSubstring("    x: undecided: 'fused': The thread waited. Measure again\n") &&
                              ContainsSubstring("    x: undecided: 'other': the same as above. Measure again\n") &&
                              !ContainsSubstring("Note: ") && ContainsSubstring("  1 case has notes, which --verbose"));
  result.implementations[2].judgements.front().acceptable = false;
  CHECK_THAT(lines_with({result}, 120), ContainsSubstring("    Note: The clock is coarse.\n") &&
                                            !ContainsSubstring("Note: The thread") && !ContainsSubstring("--verbose"));
}

TEST_CASE("without blocks the baseline has a line where there is no candidate, or something to say of it alone") {
  auto alone = sample::comparison("alone");
  alone.implementations.resize(1);
  CHECK_THAT(lines_with({alone}, 120), ContainsSubstring("\nalone                                     eager"));
  auto crashed = sample::comparison("crashed");
  crashed.implementations[0] = sample::without_figures("eager", pace::Outcome::crashed, "signal 11");
  crashed.implementations[0].is_baseline = true;
  CHECK_THAT(lines_with({crashed}, 120), ContainsSubstring("crashed\n    crashed: signal 11\n"));
  auto judged = sample::comparison("judged");
  judged.implementations[0].judgements = {{"x", pace::Verdict::failed, false, "slower than stored"}};
  CHECK_THAT(lines_with({judged}, 120), ContainsSubstring("failed\n    x: failed: slower than stored\n"));
}

TEST_CASE("lines follow the width: at 80 columns the baseline's time is left out, and long names are shortened") {
  auto result = sample::comparison("aten.native_layer_norm_backward.default[0]");
  result.implementations[1].name = "aot_inductor";
  result.implementations[1].judgements = {
      {"x", pace::Verdict::failed, false,
       "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l"}};
  const auto narrow = lines_with({result}, 80);
  CHECK_THAT(narrow, StartsWith("\ncase                  candidate        time  speed-up  95 % interval   verdict\n"
                                "aten.native_…ault[0]"));
  CHECK_THAT(narrow, !ContainsSubstring("baseline "));
  for (const std::size_t width : {80, 100, 120, 200}) {
    const auto all = lines_of(lines_with({result}, width));
    for (const auto& line : all)
      if (!line.starts_with("  aot_inductor over") && !line.starts_with("    aten"))
        CHECK(pace::report::display_width(line) <= width);
    CHECK(std::ranges::any_of(all, [](const auto& line) { return line.find("baseline") < 80; }) == (width >= 100));
  }
  // A file keeps whole names, and its columns grow.
  CHECK_THAT(lines_with({result}, 120, /*shortens=*/false),
             ContainsSubstring("\naten.native_layer_norm_backward.default[0]  aot_inductor   4.00 us  2.00 us"));
}

TEST_CASE("a table in a terminal that is resized goes on in the new width") {
  std::size_t width = 120;
  std::ostringstream out;
  ConsoleSink sink(out, {.shortens = true, .width = [&] { return width; }});
  sink.write(sample::comparison("a"));
  width = 80;
  sink.write(sample::comparison("b"));
  CHECK(count(out.str(), "\ncase  ") == 2);
  CHECK(count(out.str(), "baseline") == 1);
}

TEST_CASE("a name is shortened in its middle, by characters") {
  CHECK(pace::report::shortened("abcdefghij", 10) == "abcdefghij");
  CHECK(pace::report::shortened("abcdefghij", 6) == "abc…ij");
  CHECK(pace::report::shortened("äöüäöüäöü", 6) == "äöü…öü");
  CHECK(pace::report::shortened("abc", 1) == "…");
}

TEST_CASE("the figures of a GPU stand under its row, with the reason where one is missing") {
  auto result = sample::comparison("softmax/gpu");
  pace::TimeSummary cold, hot;
  cold.median = pace::Nanoseconds(8100);
  hot.median = pace::Nanoseconds(6000);
  pace::SpeedupSummary twice;
  twice.median = 2;
  twice.interval = {1.98, 2.02, 0.95};
  result.implementations[1].modes = {{.name = "cold", .time = cold, .speedup = twice},
                                     {.name = "hot", .time = hot},
                                     {.name = "graph", .missing = "it waits for the device"}};
  result.implementations[1].device_memory = pace::DeviceMemory{.peak = 4'200'000};
  CHECK_THAT(table_of({result}),
             ContainsSubstring("\n      cold 8.10 us 2.00x [1.98x, 2.02x], hot 6.00 us, memory 4.20 MB; "
                               "no graph: it waits for the device\n"));
}

TEST_CASE("times are shown without what the clock adds, which is told under the row, and intervals have its error") {
  auto result = sample::comparison("softmax/gpu");
  auto& row = result.implementations[1];
  row.time->overhead = {pace::Nanoseconds(350), pace::Nanoseconds(80)};
  row.bytes = 3300;
  row.modes = {{.name = "graph", .time = row.time}, {.name = "hot", .time = result.implementations[0].time}};
  const auto text = table_of({result});
  // 2000 ns, [1000, 4000] as the clock read them; 3300 bytes in 1650 ns.
  CHECK_THAT(text, ContainsSubstring("1.65 us  [0.570, 3.73]") && ContainsSubstring(" 2.00\n"));
  CHECK_THAT(text, ContainsSubstring("graph 1.65 us, hot ") &&
                       ContainsSubstring("; the clocks add 350 ns \u00b1 80.0 ns (graph)\n"));
  row.time->overhead->added = pace::Nanoseconds(2500);
  CHECK(row.time->shown_median() == pace::Nanoseconds(0));
  CHECK_FALSE(row.gigabytes_per_second());
}

TEST_CASE("counted instructions stand under their row, as a range only where the counts differ") {
  auto result = sample::comparison("relu");
  result.stop_reason = pace::StopReason::not_started;
  for (auto& row : result.implementations) row.time.reset();
  result.implementations[0].instructions = pace::InstructionCount{.low = 500, .high = 500, .counter = "callgrind"};
  result.implementations[1].instructions = pace::InstructionCount{550, 560, 1.1, 1.12, "callgrind"};
  const auto text = table_of({result});
  CHECK_THAT(text, ContainsSubstring("relu  (instructions were counted, nothing was timed)\n"));
  CHECK_THAT(text, ContainsSubstring("\n      500 instructions a call (callgrind)\n"));
  CHECK_THAT(text, ContainsSubstring(
                       "\n      550 to 560 instructions a call, 1.10000x to 1.12000x the baseline's (callgrind)\n"));
}

TEST_CASE("the energy of a call stands under its row, or why it is unknown") {
  auto result = sample::comparison("relu");
  result.implementations[0].energy = pace::EnergySummary{.missing = "no counter"};
  result.implementations[1].energy = pace::EnergySummary{.millijoules = 1191,
                                                         .interval = pace::Interval<double>{1180, 1202, 0.95},
                                                         .ratio = 1.25,
                                                         .ratio_interval = pace::Interval<double>{1.2, 1.3, 0.998}};
  CHECK_THAT(
      table_of({result}),
      ContainsSubstring("\n      no energy: no counter\n") &&
          ContainsSubstring("\n      energy 1191 mJ a call [1180, 1202], 1.250x the baseline's [1.200x, 1.300x]\n"));
}

TEST_CASE("counters stand under their row with their units, or why there are none") {
  auto result = sample::comparison("relu");
  result.implementations[0].counters = {{.name = "page_faults", .low = 2, .high = 2.5},
                                        {.name = "cycles", .missing = "no such counter"}};
  result.implementations[1].counters = {
      {.name = "page_faults", .low = 5, .high = 5, .baseline_low = 2, .baseline_high = 2.5},
      {.name = "dram_bytes",
       .unit = pace::CounterUnit::bytes,
       .low = 2.1394e9,
       .high = 2.1396e9,
       .baseline_low = 1.0697e9,
       .baseline_high = 1.0698e9},
      {.name = "sm_active", .unit = pace::CounterUnit::percent, .low = 79.94, .high = 98}};
  CHECK_THAT(table_of({result}),
             ContainsSubstring("\n      page_faults 2 to 2.5, cycles not counted (no such counter)\n") &&
                 ContainsSubstring("\n      page_faults 5 (2.222x), dram_bytes 2139 MB to 2140 MB (2.000x), sm_active "
                                   "79.9 % to 98 %\n"));
}

TEST_CASE("a share of the peak stands under its row, on a CPU as well") {
  auto result = sample::comparison("relu");
  result.implementations[1].share_of_peak = 0.5;
  CHECK_THAT(table_of({result}), ContainsSubstring("\n      50 % of the peak\n"));
}

TEST_CASE("the most memory that a call holds stands under its row, on a CPU as well") {
  auto result = sample::comparison("relu");
  result.implementations[1].counts = pace::CallCounts{1, 2, 9'000'000, 4'200'000};
  CHECK_THAT(table_of({result}), ContainsSubstring("\n      memory 4.20 MB\n"));
  result.implementations[1].counts->peak_bytes.reset();
  CHECK_THAT(table_of({result}), !ContainsSubstring("memory"));
}

TEST_CASE("a mean or a quantile far above the median stands under its row, with the speed-up of the means") {
  const auto plain = sample::comparison("skewed");
  CHECK_THAT(table_of({plain}), !ContainsSubstring("mean") && !ContainsSubstring("quantile"));

  auto high_mean = plain;
  high_mean.implementations[1].time->mean = pace::Nanoseconds(2102);
  high_mean.implementations[1].speedup->mean = 1.9;
  CHECK_THAT(table_of({high_mean}),
             ContainsSubstring("\n      mean 2.10 us, 99 % quantile 3.00 us, speed-up of the means 1.90x\n"));
  CHECK(count(table_of({high_mean}), "quantile") == 1);

  auto high_quantile = plain;
  high_quantile.implementations[0].time->q99 = pace::Nanoseconds(6001);
  CHECK_THAT(table_of({high_quantile}), ContainsSubstring("\n      mean 4.20 us, 99 % quantile 6.00 us\n"));

  // Files of earlier versions have neither.
  auto unknown = high_mean;
  unknown.implementations[1].speedup->mean = 0;
  CHECK_THAT(table_of({unknown}), ContainsSubstring("99 % quantile 3.00 us\n"));
}

TEST_CASE("nothing measured, nothing printed") { CHECK(table_of({}, true, true) == ""); }

TEST_CASE("the environment is told once, before the first result") {
  std::ostringstream out;
  ConsoleSink sink(out, {.blocks = true});
  pace::report::Environment environment;
  environment.cpu = "Fast CPU";
  environment.cores = 2;
  environment.optimized = true;
  environment.load = 9;
  environment.extra["libtorch"] = "2.11.0";
  sink.introduce(environment);
  CHECK(out.str() == "");
  sink.write(sample::comparison("a"));
  sink.write(sample::comparison("b"));
  CHECK_THAT(out.str(), StartsWith("Fast CPU, 2 cores, LibTorch 2.11.0\nCaution: The load average is 9.00 on 2 cores"));
  CHECK(count(out.str(), "Fast CPU") == 1);
}

TEST_CASE("the header comes again only when it changed or scrolled away") {
  const auto plain = sample::comparison("plain");
  CHECK(count(table_of({plain, plain, plain}), "implementation") == 1);

  std::vector<pace::Result> many(30, plain);  // 90 lines: three screens of 40
  CHECK(count(table_of(many), "implementation") == 3);

  auto wide = plain;
  wide.implementations[1].name = "a name much longer than the column";
  const auto widened = table_of({plain, wide, plain});
  CHECK(count(widened, "implementation") == 2);  // and the width stays
  const auto lines = lines_of(widened);
  const auto row =
      std::find_if(lines.rbegin(), lines.rend(), [](const auto& line) { return line.starts_with("  eager"); });
  CHECK(row->find("4.00 us") == std::string("  a name much longer than the column  ").size());

  auto rated = plain;
  rated.implementations[0].bytes = rated.implementations[0].flops = 8000;
  const auto with_rates = table_of({plain, rated, plain});
  CHECK(count(with_rates, "implementation") == 2);
  CHECK_THAT(with_rates, ContainsSubstring("GB/s  GFLOP/s\n") && ContainsSubstring("  2.00     2.00\n"));

  auto other_confidence = plain;
  other_confidence.confidence = 0.995;
  CHECK_THAT(table_of({plain, other_confidence}), ContainsSubstring("99.5 % interval"));
}

TEST_CASE("an ordinary table fits 120 columns and no line ends in blanks") {
  auto result = sample::comparison("case");
  result.implementations[1].name = "aot_inductor";
  result.implementations[1].bytes = result.implementations[1].flops = 8000;
  const std::string message = std::string(50, 'x') + " " + std::string(50, 'y') + " zz zz zz zz zz";
  result.implementations[1].judgements = {{"expectation", pace::Verdict::failed, false, message}};
  for (const auto& line : lines_of(table_of({result}))) {
    CHECK(pace::report::display_width(line) <= 120);
    CHECK_THAT(line, !EndsWith(" "));
  }
}

TEST_CASE("columns line up under names outside of ASCII") {
  auto result = sample::comparison("case");
  result.implementations[0].name = "naïve µ";
  const auto lines = lines_of(table_of({result}));
  CHECK(pace::report::display_width(lines[3].substr(0, lines[3].find("4.00 us"))) == lines[4].find("2.00 us"));
}

TEST_CASE("colours only where asked for, and they do not move columns") {
  auto result = sample::comparison("case");
  result.implementations[1].speedup->interval->low = 1.5;
  result.implementations[1].judgements = {{"expectation", pace::Verdict::failed, false, "why"}};
  const auto plain = table_of({result}, false);
  const auto colourful = table_of({result}, true);
  CHECK_THAT(plain, !ContainsSubstring("\033"));
  CHECK_THAT(colourful, ContainsSubstring("\033[32m2.00x\033[0m") && ContainsSubstring("\033[31mfailed\033[0m"));
  std::string stripped;
  for (std::size_t i = 0; i < colourful.size(); ++i)
    if (colourful[i] == '\033')
      i = colourful.find('m', i);
    else
      stripped += colourful[i];
  CHECK(stripped == plain);
}

TEST_CASE("names and messages cannot move the cursor; a long message is cut in its middle") {
  auto result = sample::comparison("evil\033[2J\nname");
  std::string message = "first\033[31m";
  for (int i = 0; i < 30; ++i) message += "\nline " + std::to_string(i);
  result.implementations[1] = sample::without_figures("a\tb\r", pace::Outcome::threw, message);
  const auto text = table_of({result}, false, true);
  CHECK_THAT(text, !ContainsSubstring("\033"));
  CHECK_THAT(text, !ContainsSubstring("\r"));
  CHECK_THAT(text, ContainsSubstring("evil\\x1b[2J\\nname") && ContainsSubstring("a b\\x0d"));
  // TorchScript prints the cause in its last line.
  CHECK_THAT(text,
             ContainsSubstring("      line 4\n      ... (19 of 31 lines are left out here) ...\n      line 24\n"));
  CHECK_THAT(text, ContainsSubstring("      line 29\n") && !ContainsSubstring("line 5\n"));
}

TEST_CASE("a message of 13 lines is shown whole, since a note in place of one line saves none") {
  auto result = sample::comparison("case");
  std::string message = "line 1";
  for (int i = 2; i <= 13; ++i) message += "\nline " + std::to_string(i);
  result.implementations[1] = sample::without_figures("fused", pace::Outcome::threw, message);
  const auto text = table_of({result});
  CHECK_THAT(text, ContainsSubstring("line 6\n      line 7\n") && !ContainsSubstring("left out"));
}

TEST_CASE("a message of one word is cut with its length, and what comes after it stays") {
  for (const bool verbose : {false, true}) {
    auto result = sample::comparison("case");
    const std::string message = std::string(1 << 20, 'x');
    result.implementations[1] = sample::without_figures("fused", pace::Outcome::threw, message);
    result.implementations[1].judgements = {
        {"speed-up", pace::Verdict::failed, false, "'fused' threw: " + message + ". Make it run first"}};
    result.notes = {message};
    const auto text = table_of({result}, false, verbose);
    CHECK(text.size() < 10'000);
    CHECK_THAT(text, ContainsSubstring(" of 1048576 bytes are left out here) ... x") &&
                         ContainsSubstring("Make it run first"));
  }
}

TEST_CASE("totals: the mean of ratios is geometric and leaves out what has none") {
  auto doubled = sample::comparison("a");
  auto halved = sample::comparison("b");
  halved.implementations[1] = sample::candidate("fused", 8000, 0.125);
  auto threw = sample::comparison("c");
  threw.implementations[1] = sample::without_figures("fused", pace::Outcome::threw, "boom");
  // sqrt(2 * 0.125) = 0.5; the arithmetic mean would be 1.06.
  CHECK_THAT(table_of({doubled, halved, threw}, false, true),
             ContainsSubstring("3 cases, 6 implementations: 5 measured, 1 threw\n") &&
                 ContainsSubstring("  fused over eager: 0.500x (geometric mean over 2 of 3 cases, of each the median "
                                   "speed-up of its cycles)\n"));
}

TEST_CASE("totals: each timing mode has a mean of its own, and the host's time counts for its judgements alone") {
  auto one = sample::comparison("a");
  one.implementations[1].modes = {{.name = "cold", .speedup = sample::candidate("", 1, 8).speedup},
                                  {.name = "hot", .missing = "no memory"}};
  auto other = sample::comparison("b");
  other.implementations[1].modes = {{.name = "cold", .speedup = sample::candidate("", 1, 2).speedup}};
  auto host = sample::comparison("b/host");
  host.phase = pace::host_phase;
  host.implementations[1].speedup->median = 100;
  host.implementations[1].judgements = {{"x", pace::Verdict::failed, false, "m"}};
  CHECK_THAT(table_of({one, other, host}, false, true),
             ContainsSubstring("2 cases, 4 implementations: 4 measured\n") &&
                 ContainsSubstring("  fused over eager: 2.00x (geometric mean over 2 cases, of each the median "
                                   "speed-up of its cycles: cold 4.00x)\n") &&
                 ContainsSubstring("  1 of 1 expectation not met:\n    b/host, fused: x: failed\n"));
}

TEST_CASE("warnings: rounds that a deadline ended, and implementations that it did not reach") {
  auto late = sample::comparison("late");
  late.stop_reason = pace::StopReason::deadline;
  late.implementations.push_back(sample::without_figures("c", pace::Outcome::unreached, "no time was left"));
  CHECK(pace::report::warnings_of(late) == std::vector<std::string>{"late: the rounds ended early, for want of time",
                                                                    "late: not measured: no time was left"});
}

TEST_CASE("a candidate that could not be compared has no part in the mean, like a wrong one") {
  auto doubled = sample::comparison("a");
  auto varies = sample::comparison("b");
  auto& row = varies.implementations[1] = sample::candidate("fused", 8000, 0.125);
  row.checked = false;
  row.uncompared = pace::Uncompared::varies;
  CHECK_THAT(table_of({doubled, varies}, false, true),
             ContainsSubstring("  fused over eager: 2.00x (geometric mean over 1 of 2 cases, 1 unchecked, of each the "
                               "median speed-up of its cycles)\n"));
  CHECK_THAT(table_of({varies}, false, true),
             ContainsSubstring("  fused over eager: no speed-up in 1 case, 1 unchecked\n"));
  // The caller asked for that.
  row.uncompared.reset();
  CHECK_THAT(table_of({doubled, varies}, false, true),
             ContainsSubstring("  fused over eager: 0.500x (geometric mean over 2 cases, 1 unchecked, of each the "));
}

TEST_CASE("a candidate that passed near its limit says so below its line") {
  auto near = sample::comparison("near");
  near.implementations[1].judgements = {{"x", pace::Verdict::passed, true, "m"}};
  near.implementations[1].judgements[0].near_limit = "another process may differ";
  CHECK_THAT(table_of({near}, false, true), ContainsSubstring("x: passed, near its limit: another process may differ"));
  near.implementations[1].judgements[0].near_limit.clear();
  CHECK_THAT(table_of({near}, false, true), !ContainsSubstring("near its limit"));
}

TEST_CASE("totals: expectations met, and more failures than a screen holds") {
  auto good = sample::comparison("good");
  good.implementations[1].judgements = {{"x", pace::Verdict::passed, true, ""},
                                        {"y", pace::Verdict::undecided, true, ""}};
  CHECK_THAT(table_of({good}, false, true),
             ContainsSubstring("  2 expectations, 1 of them undecided and let through: not everything passed\n"));
  auto bad = sample::comparison("bad");
  bad.implementations[1].judgements = {{"x", pace::Verdict::failed, false, "m"}};
  const auto text = table_of(std::vector<pace::Result>(25, bad), false, true);
  CHECK(count(text, "    bad, fused: x: failed\n") == 20);
  CHECK_THAT(text, ContainsSubstring("25 of 25 expectations not met:"));
  CHECK_THAT(text, ContainsSubstring("    and 5 more, see above\n"));
}

TEST_CASE("a table that cannot be written is an error") {
  std::ostringstream out;
  ConsoleSink sink(out, {.blocks = true});
  out.setstate(std::ios::badbit);
  CHECK_THROWS_AS(sink.write(sample::comparison("a")), pace::Error);
}

TEST_CASE("wrapping keeps words, indentation and line ends") {
  using Lines = std::vector<std::string>;
  CHECK(pace::report::wrap("one two three", 7) == Lines{"one two", "three"});
  CHECK(pace::report::wrap("unbreakable", 4) == Lines{"unbreakable"});
  CHECK(pace::report::wrap("a\n  b\r\n\nc", 10) == Lines{"a", "  b", "", "c"});
  CHECK(pace::report::wrap("", 10) == Lines{""});
}
