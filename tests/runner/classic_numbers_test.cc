#include "pace/runner/classic_numbers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <clocale>
#include <cstdlib>
#include <locale>
#include <sstream>
#include <string>

namespace {

/// As of German, which the machine may not have.
class CommaAndDots : public std::numpunct<char> {
 protected:
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

std::string written(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

TEST_CASE("streams write numbers with a point, in a program that has asked for another language") {
  const std::locale before = std::locale::global(std::locale(std::locale(), new CommaAndDots));
  CHECK(written(1234.5) == "1.234,5");
  pace::runner::use_classic_numbers();
  CHECK(written(1234.5) == "1234.5");
  std::locale::global(before);
}

TEST_CASE("so do the functions of C, and the characters of the language stay") {
  REQUIRE(std::setlocale(LC_ALL, "C.UTF-8") != nullptr);
  // Where the machine has German, the numbers are German before.
  const bool german = std::setlocale(LC_NUMERIC, "de_DE.UTF-8") != nullptr;
  if (german) CHECK(std::strtod("1,5", nullptr) == 1.5);
  pace::runner::use_classic_numbers();
  CHECK(std::strtod("1.5", nullptr) == 1.5);
  CHECK(std::setlocale(LC_NUMERIC, nullptr) == std::string("C"));
  CHECK(std::setlocale(LC_CTYPE, nullptr) == std::string("C.UTF-8"));
  std::setlocale(LC_ALL, "C");
}
