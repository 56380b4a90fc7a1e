#include "pace/base/c_numbers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "pace/args/value.hpp"
#include "pace/base/format.hpp"
#include "pace/os/folders.hpp"
#include "pace/report/csv_text.hpp"
#include "tests/support/german.hpp"

TEST_CASE("functions of C have a decimal point while there is a CNumbers, and the user's comma afterwards") {
  const german::C comma;
  if (!comma.installed()) SKIP("no language with a decimal comma is installed");
  REQUIRE(std::strtod("1,5", nullptr) == 1.5);
  {
    const pace::CNumbers outer;
    {
      const pace::CNumbers inner;
    }
    CHECK(std::strtod("1.5", nullptr) == 1.5);
  }
  CHECK(std::strtod("1,5", nullptr) == 1.5);
}

TEST_CASE(
    "figures, times, limits of options and fields of CSV have a decimal point where the user's language has none") {
  const german::Streams streams;
  const german::C comma;  // where it is installed
  CHECK(pace::format_significant(1234.5, 6) == "1234.50");
  CHECK(pace::format_fixed(0.5, 2) == "0.50");
  CHECK(pace::format_percent(0.995) == "99.5 %");
  CHECK(pace::format_factor(1.25) == "1.25x");
  CHECK(pace::format_time(pace::Nanoseconds(1234.5)) == "1.23 us");
  CHECK(pace::format_interval({1.18, 1.23, 0.95}) == "[1.18x, 1.23x]");
  CHECK(pace::report::CsvRow().number(1234.5).number(12345).line() == "1234.5,12345\n");
  const pace::report::CsvTable table{.file = "f", .header = {"a"}, .rows = {{"1.5"}, {"1,5"}}};
  CHECK(table.number(0, "a") == 1.5);
  CHECK_FALSE(table.number(1, "a"));
  double value = 0.5;
  const auto number = pace::args::number(value, 0.25, 1e6, "0.5", "share");
  CHECK(number.expected == "a number from 0.25 to 1000000, such as 0.5");
  CHECK(number.shown_default == "0.5");
  struct stat folder{};
  folder.st_mode = S_IFDIR | 0777;
  folder.st_uid = 1234567;
  CHECK(pace::detail::problem_of_folder(folder, false, {.user = 7654321, .root = 0}).find("owner 1234567") !=
        std::string::npos);
}
