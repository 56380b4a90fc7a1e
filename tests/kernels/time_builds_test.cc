// Configurations of a kernel, timed on a device that only keeps books.
#include "pace/kernels/time_builds.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <functional>
#include <string>
#include <vector>

#include "tests/gpu/fake_device.hpp"

using namespace std::chrono_literals;
using pace::Nanoseconds;
using pace::kernel::Build;
using pace::kernel::Configuration;
using pace::kernel::Replayer;
using pace::kernel::detail::BuildTiming;
using pace::kernel::detail::LoadedBuild;
using pace::testing::FakeDevice;

namespace {

Build build(const std::string& text) {
  Build made;
  made.text = text;
  made.printed = "printed " + text;
  made.chosen = text == "chosen";
  return made;
}

struct Fixture {
  Fixture() {
    replayer.calibrate([&] { device.work(2us); });
    timing.prepare = [this] {
      ++prepared;
      state = 1;
    };
  }
  /// Times builds of these texts. Each takes 5 us, and 1 us on a state that a launch has used up; `loaded` changes the
  /// loaded code.
  std::vector<Configuration> time(const std::vector<std::string>& texts,
                                  const std::function<void(const std::string&, LoadedBuild&)>& loaded = {}) {
    std::vector<Build> builds;
    for (const auto& text : texts) builds.push_back(build(text));
    const auto load = [&](const Build& each) {
      LoadedBuild made{.launch = {},
                       .check = [] {},
                       .queue =
                           [&, text = each.text] {
                             launched.push_back(text);
                             device.work(state == 1 ? 5us : 1us);
                             state = 0;
                           }};
      made.launch.registers = 32;
      if (loaded) loaded(each.text, made);
      return made;
    };
    return pace::kernel::detail::time_builds<FakeDevice>(builds, load, device, replayer, timing);
  }

  FakeDevice device;
  Replayer<FakeDevice> replayer{device};
  BuildTiming timing;
  int prepared = 0, state = 1;
  std::vector<std::string> launched;
};

}  // namespace

TEST_CASE("a build of sixteen spilled words runs, one of seventeen is listed without a time") {
  Fixture all;
  all.timing.restore = [&] { all.state = 1; };
  const auto rows = all.time({"sixteen", "seventeen", "chosen"}, [](const std::string& text, LoadedBuild& made) {
    made.launch.local_bytes = text == "sixteen" ? 4 * 16 + 3 : text == "seventeen" ? 4 * 17 : 0;
  });
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].why_not.empty());
  CHECK(rows[0].hot->median == 5us);
  CHECK(rows[1].why_not == "it spills 17 words, more than 16");
  CHECK_FALSE(rows[1].hot);
  CHECK_FALSE(rows[1].cold);
  REQUIRE(rows[1].launch);
  CHECK(rows[1].launch->spills() == 17);
  CHECK(rows[2].hot->median == 5us);
  CHECK(rows[2].chosen);
  CHECK(rows[2].printed == "printed chosen");
  CHECK(std::ranges::count(all.launched, "seventeen") == 0);
}

TEST_CASE("a build that cannot be loaded, takes other arguments or fails is a row, and the next one is timed") {
  Fixture all;
  all.timing.restore = [&] { all.state = 1; };
  const auto rows =
      all.time({"no file", "other arguments", "throws", "fine"}, [](const std::string& text, LoadedBuild& made) {
        if (text == "no file") throw pace::Error("there is no such file");
        if (text == "other arguments") made.check = [] { throw pace::Unsupported("it takes 3 parameters"); };
        if (text == "throws") made.queue = [] { throw pace::Error("its launch failed\nat once"); };
      });
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].why_not == "there is no such file");
  CHECK_FALSE(rows[0].launch);
  CHECK(rows[1].why_not == "it takes 3 parameters");
  CHECK(rows[1].launch);
  CHECK(rows[2].why_not == "its launch failed");
  for (const std::size_t i : {0U, 1U, 2U}) CHECK_FALSE(rows[i].hot);
  CHECK(rows[3].why_not.empty());
  CHECK(rows[3].hot->median == 5us);
  CHECK(rows[3].cold->median == 5us);
}

TEST_CASE("each launch of each build finds the state of the kernel") {
  Fixture all;
  // Without copies that are restored, only the first launch does.
  CHECK(all.time({"a"})[0].hot->median == 1us);
  all.timing.restore = [&] {
    all.state = 1;
    all.device.work(2us, "restore");
  };
  const auto rows = all.time({"a", "b"});
  for (const auto& row : rows) {
    CHECK(row.hot->median == 5us);
    CHECK(row.hot->least == 5us);
    CHECK(row.cold->median == 5us);
  }
  // So does the work that must precede each launch.
  all.timing.restore = {};
  all.timing.help = [&] {
    all.state = 1;
    all.device.work(3us, "fill");
  };
  CHECK(all.time({"a"})[0].hot->median == 5us);
}

TEST_CASE("the other timer gets each build after the memory was prepared") {
  Fixture all;
  CHECK_FALSE(all.time({"a"})[0].compatible);
  int timed = 0;
  all.timing.compatible = [&](const std::function<void()>& launch) {
    CHECK(all.state == 1);
    launch();
    ++timed;
    return Nanoseconds(7us);
  };
  const auto rows = all.time({"a", "b"});
  CHECK(timed == 2);
  for (const auto& row : rows) CHECK(row.compatible == 7us);
}
