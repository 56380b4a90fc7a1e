// The output of Nsight Compute, and the kernels that its bytes belong to.
#include "benches/kernels/counted_bytes.hpp"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

using Catch::Matchers::IsEmpty;
using Catch::Matchers::Message;
using pace::benches::kernels::CountedKernel;
using pace::benches::kernels::give_counts;
using pace::benches::kernels::read_counts;

namespace {

const std::string header =
    "\"ID\",\"Kernel Name\",\"Block "
    "Size\",\"dram__bytes_read.max\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\"\n"
    "\"\",\"\",\"\",\"byte\",\"byte\",\"byte\"\n";

pace::kernel::KernelReport report_of(const std::vector<std::string>& symbols) {
  pace::kernel::KernelReport report;
  for (const auto& symbol : symbols) report.kernels.emplace_back().symbol = symbol;
  return report;
}

}  // namespace

TEST_CASE("a report has units in its second line, and numbers with commas") {
  const auto counted = read_counts("==PROF== a line of its own\n" + header +
                                   "\"0\",\"_Z4axpyPf\",\"(128, 1, 1)\",\"9\",\"4,295,040,768\",\"2,130,379,008\"\n"
                                   "\"1\",\"triton_poi\",\"(256, 1, 1)\",\"9\",\"1,024\",\"0\"\n");
  REQUIRE(counted.size() == 2);
  CHECK(counted[0].symbol == "_Z4axpyPf");
  CHECK(counted[0].bytes == 6425419776.0);
  CHECK(counted[1].bytes == 1024);
  CHECK(read_counts(header).empty());
}

TEST_CASE("the error for another kind of report names the missing part") {
  CHECK_THROWS_MATCHES(read_counts("==ERROR== no permission\n"), pace::InputError,
                       Message("Nsight Compute's report: expected a column 'Kernel Name'; there is none"));
  CHECK_THROWS_MATCHES(
      read_counts("\"ID\",\"Kernel Name\"\n"), pace::InputError,
      Message("Nsight Compute's report: expected a column 'dram__bytes_read.sum'; there are ID, Kernel Name"));
  CHECK_THROWS_MATCHES(read_counts(header + "\"0\",\"a\",\"\",\"\",\"n/a\",\"1\"\n"), pace::InputError,
                       Message("Nsight Compute's report: expected a number of bytes, found 'n/a'"));
}

TEST_CASE("kernels get what was counted of the last run of them all") {
  auto report = report_of({"a", "b", "a"});
  // Inputs are made, and the call runs twice; something follows.
  const std::vector<CountedKernel> counted{{"random", 1}, {"a", 2}, {"b", 3}, {"a", 4},
                                           {"a", 5},      {"b", 6}, {"a", 7}, {"c", 8}};
  CHECK_THAT(give_counts(report, counted), IsEmpty());
  CHECK(report.kernels[0].counted_bytes == 5);
  CHECK(report.kernels[1].counted_bytes == 6);
  CHECK(report.kernels[2].counted_bytes == 7);
}

TEST_CASE("other kernels give nothing") {
  auto report = report_of({"a", "b"});
  CHECK(give_counts(report, {{"b", 1}, {"a", 2}}) ==
        "no bytes are taken from Nsight Compute; why: its kernels (2) or their order differ from the call's (2)");
  CHECK(give_counts(report, {}) != "");
  CHECK_FALSE(report.kernels[0].counted_bytes);
}

TEST_CASE("Nsight Compute counts the bytes that are read and written") {
  CHECK(pace::benches::kernels::ncu_options_of_counters().kernel_regex == "");
  CHECK(pace::benches::kernels::ncu_options_of_counters().metrics == "dram__bytes_read.sum,dram__bytes_write.sum");
  CHECK(pace::benches::kernels::read_counts_command("/tmp/r.ncu-rep") ==
        std::vector<std::string>{"ncu", "--import", "/tmp/r.ncu-rep", "--page", "raw", "--print-units", "base",
                                 "--print-kernel-base", "mangled", "--csv"});
}
