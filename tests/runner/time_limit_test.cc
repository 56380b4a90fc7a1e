// When measuring must end: Bazel's timeout, the option, and the age of the process.
#include "pace/runner/time_limit.hpp"
#include "pace/os/bazel.hpp"
#include "tests/report/temporary_file.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

using Catch::Approx;
using pace::Nanoseconds;
using pace::runner::deadline_of;

namespace {

constexpr Nanoseconds s{1e9}, none{std::numeric_limits<double>::infinity()};

/// Sets TEST_TIMEOUT, or takes it away, for as long as it lives: this test may run under Bazel itself.
class Timeout {
 public:
  explicit Timeout(const char* seconds) : before_(pace::environment_variable("TEST_TIMEOUT")) {
    if (seconds == nullptr)
      ::unsetenv("TEST_TIMEOUT");
    else
      ::setenv("TEST_TIMEOUT", seconds, 1);
  }
  Timeout(const Timeout&) = delete;
  Timeout& operator=(const Timeout&) = delete;
  ~Timeout() { ::setenv("TEST_TIMEOUT", before_.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("80 % of TEST_TIMEOUT, counted from the start of the process") {
  const Timeout timeout("60");
  const auto deadline = deadline_of(none, 100 * s, 3 * s);
  REQUIRE(deadline);
  CHECK(deadline->time.count() == Approx((100 - 3 + 48) * s.count()));
  CHECK_THAT(deadline->reason, Catch::Matchers::StartsWith(
                                   "measuring ends after 80 % of the 60.0 s that this test may take (TEST_TIMEOUT)"));
}

TEST_CASE("the earlier of both limits holds; without either there is none") {
  {
    const Timeout timeout("60");
    CHECK(deadline_of(10 * s, 100 * s, 3 * s)->time.count() == Approx(107 * s.count()));
    CHECK(deadline_of(10 * s, 100 * s, 3 * s)->reason ==
          "measuring ends 10.0 s after the start (--time-limit); try: a longer --time-limit");
    CHECK(deadline_of(50 * s, 100 * s, 3 * s)->time.count() == Approx(145 * s.count()));
  }
  const Timeout timeout(nullptr);
  CHECK_FALSE(deadline_of(none, 100 * s, 3 * s));
  CHECK(deadline_of(10 * s, 100 * s, 3 * s)->time.count() == Approx(107 * s.count()));
}

TEST_CASE("a timeout that is none ends the program before it measures") {
  for (const auto* text : {"soon", "0", "-5", "60s", "inf", "nan"}) {
    const Timeout timeout(text);
    CHECK_THROWS_AS(deadline_of(none, s, s), pace::InputError);
  }
}

TEST_CASE("the age of a process, whatever its name holds") {
  CHECK(pace::runner::process_age() >= Nanoseconds(0));
  const TemporaryFile placeholder;
  const std::string root = placeholder.path() + ".d";
  std::filesystem::create_directories(root + "/proc/self");
  CHECK(pace::runner::process_age(root) == Nanoseconds(0));
  std::string fields;
  for (int field = 4; field <= 21; ++field) fields += " 7";
  // Started when the machine did: as old as that is. Behind that is the size of its memory.
  std::ofstream(root + "/proc/self/stat") << "1 (a ) b (c) R" << fields << " 0 4000000000000 5";
  CHECK(pace::runner::process_age(root) > s);
  std::ofstream(root + "/proc/self/stat") << "1 (cut off) R 7 7";
  CHECK(pace::runner::process_age(root) == Nanoseconds(0));
  // One by one: LibTorch exports a remove_all that crashes.
  for (const auto* path : {"/proc/self/stat", "/proc/self", "/proc", ""}) std::filesystem::remove(root + path);
}
