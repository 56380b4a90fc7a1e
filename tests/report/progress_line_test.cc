// The line of progress, on a made-up terminal and by a made-up clock.
#include "pace/report/progress_line.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/report/program_output.hpp"
#include "pace/report/text.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using pace::Nanoseconds;
using pace::report::ProgressDisplay;
using pace::report::ProgressLine;

namespace {

using namespace std::chrono_literals;

/// The screen of a terminal after the text that it gets, in one row without a limit. Text before a line end is scrolled
/// away into `above`.
struct Screen {
  ProgressDisplay display(bool rewrites = true) {
    return {.write = [this](const std::string& text) { put(text); },
            .rewrites = rewrites,
            .width = [this] { return width; },
            .column = [this] { return column; },
            .now = [this] { return now; }};
  }

  void put(const std::string& text) {
    ++writes;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') {
        above += row + '\n';
        row.clear(), at = 0;
      } else if (text[i] == '\r') {
        at = 0;
      } else if (text.substr(i, 3) == "\033[K") {
        row.resize(at), i += 2;
      } else if (text.substr(i, 2) == "\0337") {
        saved = at, i += 1;
      } else if (text.substr(i, 2) == "\0338") {
        at = saved, i += 1;
      } else if (text[i] == '\033') {
        i = text.find('m', i);  // a colour
      } else {
        row.resize(std::max(row.size(), at + 1), ' ');
        row[at++] = text[i];
      }
    }
  }

  std::size_t width = 80, column = 0, at = 0, saved = 0, writes = 0;
  Nanoseconds now{};
  std::string row, above;
};

}  // namespace

TEST_CASE("the line names the part, the case, the step, its share and the time left, and is rewritten in place") {
  Screen screen;
  ProgressLine line(screen.display(), "samples");
  line.part(1, 4);
  line.subject("aten.add");
  line.step({.what = "first calls of eager"});
  CHECK(screen.row == "[1/4 samples] aten.add: first calls of eager");
  screen.now += 1s;
  line.step({.what = "rounds", .share = 0.5, .left = 2s});
  CHECK(screen.row == "[1/4 samples] aten.add: rounds 50 %");
  // The first part took two seconds, and three are to come.
  screen.now += 1s;
  line.part(2, 4);
  line.subject("aten.mul");
  line.step({.what = "rounds", .share = 0, .left = 1s});
  CHECK(screen.row == "[2/4 samples] aten.mul: rounds 0 %, about 6 s left");
  screen.now += 1s;
  line.step({.what = "rounds", .share = 1, .left = 0s});
  CHECK(screen.row == "[2/4 samples] aten.mul: rounds 99 %, about 5 s left");
  CHECK(screen.above.empty());
  line.clear();
  CHECK(screen.row.empty());
}

TEST_CASE("without parts the line shows the time that the step has left") {
  Screen screen;
  ProgressLine line(screen.display(), "tests");
  line.subject("softmax");
  line.step({.what = "rounds", .share = 0.25, .left = 90s});
  CHECK(screen.row == "softmax: rounds 25 %, about 2 min left");
  screen.now += 1s;
  line.step({.what = "checks after the rounds"});
  CHECK(screen.row == "softmax: checks after the rounds");
}

TEST_CASE("nothing is told to be finished while it runs, and a step that follows at once is shown") {
  Screen screen;
  ProgressLine line(screen.display(), "cases");
  line.part(1, 2);
  line.subject("a");
  line.step({.what = "rounds", .share = 1, .left = 0s});
  screen.now += 1s;
  line.part(2, 2);
  line.subject("b");
  // The last part takes longer than the first one, so the line does not know the time left.
  screen.now += 5s;
  line.step({.what = "rounds", .share = 1, .left = 0s});
  CHECK(screen.row == "[2/2 cases] b: rounds 99 %");
  screen.now += 1ms;
  line.step({.what = "compiling packages"});
  CHECK(screen.row == "[2/2 cases] b: compiling packages");
  Screen kept;
  ProgressLine plain(kept.display(false), "cases");
  kept.now += 30s;
  plain.step({.what = "rounds", .share = 1, .left = 400ms});
  plain.step({.what = "compiling packages"});
  CHECK(kept.above == "pace: rounds 99 %\n");
}

TEST_CASE("a process that goes on where others were has their time") {
  Screen screen;
  ProgressLine line(screen.display(), "models");
  line.go_on(3, 4, 2, 100s);
  line.subject("resnet18");
  line.step({.what = "accuracy"});
  CHECK(screen.row == "[3/4 models] resnet18: accuracy, about 2 min left");
}

TEST_CASE("the line is rewritten a few times a second, and again at once where other text has taken its place") {
  Screen screen;
  ProgressLine line(screen.display(), "tests");
  line.subject("a");
  for (int i = 0; i < 1000; ++i) {
    line.step({.what = "rounds", .share = i / 1000.0});
    screen.now += 1ms;
  }
  CHECK(screen.writes == 5);
  line.clear();
  screen.put("a row of the table\n");
  line.step({.what = "rounds", .share = 1});
  CHECK(screen.row == "a: rounds 99 %");
  CHECK(screen.above == "a row of the table\n");
}

TEST_CASE("the line never fills the row of the terminal; the name is shortened first") {
  Screen screen;
  ProgressLine line(screen.display(), "tests");
  line.part(1, 2);
  line.subject(std::string(200, 'n'));
  for (const std::size_t width : {40, 80, 200}) {
    screen.width = width;
    screen.now += 1s;
    line.step({.what = "rounds", .share = 0.5});
    CHECK(pace::report::display_width(screen.row) < width);
    CHECK_THAT(screen.row, EndsWith(": rounds 50 %"));
    line.clear();
  }
  screen.width = 40;
  line.step({.what = std::string(100, 's')});
  CHECK(pace::report::display_width(screen.row) < 40);
}

TEST_CASE("behind text whose line has not ended, the line stands beside it and goes without touching it") {
  Screen screen;
  ProgressLine line(screen.display(), "models");
  line.subject("resnet18");
  screen.put("cpu  eval  resnet18 ");
  screen.column = 20;
  line.step({.what = "accuracy"});
  CHECK(screen.row == "cpu  eval  resnet18  resnet18: accuracy");
  screen.now += 1s;
  line.step({.what = "rounds"});
  CHECK(screen.row == "cpu  eval  resnet18  resnet18: rounds");
  line.clear();
  screen.put("pass\n");
  CHECK(screen.above == "cpu  eval  resnet18 pass\n");
  // Where there is no room, it is not shown.
  screen.put(std::string(70, 'x'));
  screen.column = 70;
  line.step({.what = "rounds"});
  CHECK(screen.row == std::string(70, 'x'));
}

TEST_CASE("names cannot move the cursor") {
  Screen screen;
  ProgressLine line(screen.display(), "tests");
  line.subject("evil\033[2J\nname\r");
  line.step({.what = "rounds"});
  CHECK(screen.row == "evil\\x1b[2J\\nname\\x0d: rounds");
}

TEST_CASE(
    "where the text is kept, there is a plain line now and then for what takes long, and none for what does not") {
  Screen screen;
  ProgressLine line(screen.display(false), "tests");
  line.part(1, 2);
  line.subject("a");
  for (int second = 0; second < 29; ++second) {
    line.step({.what = "rounds", .share = second / 100.0});
    screen.now += 1s;
  }
  CHECK(screen.above.empty());
  screen.now += 1s;
  line.step({.what = "rounds", .share = 0.5});
  CHECK(screen.above == "pace: [1/2 tests] a: rounds 50 %\n");
  for (int second = 0; second < 29; ++second) {
    line.step({.what = "rounds", .share = second / 100.0});
    screen.now += 1s;
  }
  CHECK(screen.above == "pace: [1/2 tests] a: rounds 50 %\n");
  line.clear();
  CHECK(screen.row.empty());
}

TEST_CASE("a process that was forked shows nothing and clears nothing") {
  Screen screen;
  ProgressLine line(screen.display(), "tests");
  line.step({.what = "rounds"});
  const auto before = screen.writes;
  const pid_t child = ::fork();
  if (child == 0) {
    screen.now += 1h;
    line.step({.what = "checks"});
    line.clear();
    ::_exit(screen.writes == before ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("whatever the standard streams print clears the line before, once and in its place") {
  std::stringbuf kept;
  std::streambuf* const own = std::cout.rdbuf(&kept);
  Screen screen;
  ProgressLine line(screen.display(), "tests");
  {
    const pace::report::detail::Filtered output(std::cout, /*beside_display=*/true);
    pace::report::output_place().before_text = [&] { line.clear(); };
    line.step({.what = "rounds"});
    CHECK(screen.row == "rounds");
    std::cout << "a table" << std::flush;
    CHECK(screen.row.empty());
    CHECK(pace::report::output_place().column == 7);
    std::cout << "\033[31m, µ\033[0m" << std::flush;
    CHECK(pace::report::output_place().column == 10);
    std::cout << "\nand its" << std::flush;
    CHECK(pace::report::output_place().column == 7);
    std::cout << " end\n" << std::flush;
    CHECK(pace::report::output_place().column == 0);
    pace::report::output_place().before_text = nullptr;
  }
  std::cout.rdbuf(own);
  CHECK_THAT(kept.str(), ContainsSubstring("a table\033[31m, µ\033[0m\nand its end\n"));
}

TEST_CASE("text that goes elsewhere neither clears the line nor moves it") {
  std::stringbuf kept, error;
  std::streambuf* const own = std::cout.rdbuf(&kept);
  std::ostream beside(&error);
  {
    const pace::report::detail::Filtered elsewhere(std::cout, /*beside_display=*/false), here(beside, true);
    int cleared = 0;
    pace::report::output_place().before_text = [&] { ++cleared; };
    beside << "an error" << std::flush;
    std::cout << "a table" << std::flush;
    CHECK(pace::report::output_place().column == 8);
    CHECK(cleared == 1);
    std::cout << " and its end\n" << std::flush;
    CHECK(pace::report::output_place().column == 8);
    beside << '\n' << std::flush;
    CHECK(pace::report::output_place().column == 0);
    pace::report::output_place().before_text = nullptr;
  }
  std::cout.rdbuf(own);
}

TEST_CASE("durations are rough") {
  CHECK(pace::report::rough_duration(-1s) == "0 s");
  CHECK(pace::report::rough_duration(59s) == "59 s");
  CHECK(pace::report::rough_duration(90s) == "2 min");
  CHECK(pace::report::rough_duration(3h + 12min) == "3 h 12 min");
}
