#include "pace/kernels/write_report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <string>

using namespace std::chrono_literals;
using pace::kernel::Kernel;
using pace::kernel::KernelReport;
using pace::kernel::KernelTime;

namespace {

KernelReport report() {
  KernelReport made;
  made.name = "a, b";
  made.device = "a GPU";
  made.whole = 100us;
  made.peak_bandwidth = 4e12;
  auto& add = made.kernels.emplace_back();
  add.name = add.symbol = "triton_poi_0";
  add.category = pace::kernel::Category::pointwise;
  add.launch = {.grid = {4096, 2, 1}, .block = {128, 1, 1}, .registers = 32, .local_bytes = 8, .occupancy = 0.5};
  add.hot = KernelTime{60us, 59us, 61us};
  add.under_profiler = {.by_profiler = 63500ns, .by_clock = 64us};
  add.cold = KernelTime{80us, 79us, 81us};
  add.bytes = 80e6;
  auto& product = made.kernels.emplace_back();
  product.name = product.symbol = "gemm";
  product.profiled = KernelTime{20us, 19us, 21us};
  product.why_not_alone = "it waits";
  return made;
}

}  // namespace

TEST_CASE("a row has a field for each column, empty where nothing is known") {
  const KernelReport made = report();
  CHECK(
      csv_row(made, made.kernels[0]) ==
      "\"a, b\",a GPU,1e+05,0.8,4e+12,triton_poi_0,triton_poi_0,pointwise,0.75,,,,60000,59000,61000,80000,79000,81000,"
      "8e+07,1e+12,32,2,0,4096,2,1,128,1,1,0.5,,,1,1,1,false,,false,0,1\n");
  CHECK(csv_row(made, made.kernels[1]) ==
        "\"a, b\",a GPU,1e+05,0.8,4e+12,gemm,gemm,unknown,0.25,20000,19000,21000,,,,,,,,,,,,,,,,,,,it "
        "waits,,,,,,,,0,1\n");
  const std::string header(pace::kernel::csv_header()), row = csv_row(made, made.kernels[1]);
  CHECK(std::ranges::count(header, ',') + 1 == std::ranges::count(row, ','));  // one is in the name
  KernelReport clustered = made;
  clustered.kernels[0].launch->cluster = {2, 4, 3};
  clustered.kernels[0].launch->cooperative = true;
  clustered.kernels[0].launch->attributes = {{"priority", "-3"}, {"cluster scheduling", "spread"}};
  clustered.kernels[0].launch->overlaps = true;
  clustered.kernels[0].restored_bytes = 16384;
  clustered.kernels[0].runs = 2.5;
  CHECK_THAT(csv_row(clustered, clustered.kernels[0]),
             Catch::Matchers::EndsWith(",0.5,,,2,4,3,true,priority: -3; cluster scheduling: spread,true,16384,2.5\n"));
  CHECK_THAT(header,
             Catch::Matchers::EndsWith(
                 ",counted_bytes,cluster_x,cluster_y,cluster_z,cooperative,attributes,overlaps,restored_bytes,runs\n"));
  KernelReport unmeasured = made;
  unmeasured.peak_bandwidth = 0;
  CHECK_THAT(csv_row(unmeasured, made.kernels[1]), Catch::Matchers::ContainsSubstring("0.8,,gemm"));
}

TEST_CASE("on the CPU, the time in no listed kernel has a row with as many fields, and a share") {
  KernelReport made = report();
  CHECK(csv_unlisted_row(made).empty());
  CHECK(to_json(made)["unlisted_ns"].is_null());
  CHECK(to_json(made)["unlisted_share"].is_null());
  made.by_ranges = true;
  CHECK(csv_unlisted_row(made) ==
        "\"a, b\",a GPU,1e+05,0.8,4e+12,not in any listed kernel,,,0.2,20000" + std::string(30, ',') + '\n');
  const std::string header(pace::kernel::csv_header()), row = csv_unlisted_row(made);
  CHECK(std::ranges::count(header, ',') + 1 == std::ranges::count(row, ','));  // one is in the name
  const auto json = to_json(made);
  CHECK(json["unlisted_ns"] == 20000);
  CHECK(json["unlisted_share"] == 0.2);
  CHECK(json["kernels"][0]["share"] == 0.6);
  made.whole = 50us;
  CHECK(csv_unlisted_row(made).empty());
  CHECK(to_json(made)["unlisted_ns"] == 0);
}

TEST_CASE("as JSON, a kernel's configurations have their times, or why they have none") {
  KernelReport made = report();
  CHECK_FALSE(to_json(made)["kernels"][0].contains("configurations"));
  pace::kernel::Configuration timed{.text = "XBLOCK 1", .chosen = true};
  timed.launch.emplace().registers = 40;
  timed.hot = KernelTime{10us, 9us, 11us};
  timed.cold = KernelTime{30us, 29us, 31us};
  timed.compatible = 12us;
  made.kernels[0].configurations = {timed, {.text = "XBLOCK 8", .why_not = "it spills"}};
  const auto configurations = to_json(made)["kernels"][0]["configurations"];
  REQUIRE(configurations.size() == 2);
  CHECK(configurations[0]["configuration"] == "XBLOCK 1");
  CHECK(configurations[0]["chosen"] == true);
  CHECK(configurations[0]["hot"]["median_ns"] == 10000);
  CHECK(configurations[0]["cold"]["most_ns"] == 31000);
  CHECK(configurations[0]["compatible_ns"] == 12000);
  CHECK(configurations[0]["launch"]["registers"] == 40);
  CHECK(configurations[0]["why_not"].is_null());
  CHECK(configurations[1]["chosen"] == false);
  CHECK(configurations[1]["why_not"] == "it spills");
  for (const char* const key : {"hot", "cold", "compatible_ns", "launch"}) CHECK(configurations[1][key].is_null());
}

TEST_CASE("as JSON, of all kernels or of some") {
  const KernelReport made = report();
  const auto json = to_json(made);
  CHECK(json["call"] == "a, b");
  CHECK(json["explained"] == 0.8);
  REQUIRE(json["kernels"].size() == 2);
  CHECK(json["kernels"][0]["launch"]["grid"] == std::vector<int>{4096, 2, 1});
  CHECK(json["kernels"][0]["launch"]["cluster"] == std::vector<int>{1, 1, 1});
  CHECK(json["kernels"][0]["launch"]["cooperative"] == false);
  CHECK(json["kernels"][0]["launch"]["attributes"].dump() == "{}");
  CHECK(json["kernels"][0]["launch"]["overlaps"] == false);
  CHECK(json["kernels"][0]["restored_bytes"] == 0);
  CHECK(json["other_nodes"].dump() == "{}");
  CHECK(json["host_function_runs"] == 0);
  CHECK(json["kernels"][0]["cold"]["median_ns"] == 80000);
  CHECK(json["kernels"][0]["under_profiler"]["by_profiler_ns"] == 63500);
  CHECK(json["kernels"][0]["under_profiler"]["by_clock_ns"] == 64000);
  CHECK(json["kernels"][0]["counted_bytes"].is_null());
  CHECK(json["kernels"][1]["under_profiler"].is_null());
  CHECK(json["kernels"][0]["in_place"].is_null());
  CHECK(json["kernels"][0]["why_not_alone"].is_null());
  CHECK(json["kernels"][1]["launch"].is_null());
  CHECK(json["kernels"][1]["bytes"].is_null());
  CHECK(json["kernels"][1]["in_place"]["most_ns"] == 21000);
  CHECK(json["conditional_nodes"] == 0);
  CHECK(json["bodies_profiled"] == false);
  CHECK(json["kernels"][0]["runs"] == 1);
  CHECK(json["notes"].dump() == "[]");
  CHECK(json["kernels"][0]["compatible_ns"].is_null());
  KernelReport noted = made;
  noted.conditionals = 1;
  noted.notes = {"a note"};
  noted.other_nodes = {{"host function", 2}};
  noted.host_function_runs = 38;
  noted.kernels[0].launch->cluster = {2, 4, 3};
  noted.kernels[0].launch->cooperative = true;
  noted.kernels[0].launch->attributes = {{"priority", "-3"}};
  noted.kernels[0].launch->overlaps = true;
  noted.kernels[0].restored_bytes = 16384;
  noted.kernels[0].restoring = 2us;
  noted.kernels[0].compatible = 25us;
  const auto with_notes = to_json(noted);
  CHECK(with_notes["conditional_nodes"] == 1);
  CHECK(with_notes["other_nodes"]["host function"] == 2);
  CHECK(with_notes["host_function_runs"] == 38);
  CHECK(with_notes["kernels"][0]["launch"]["cluster"] == std::vector<int>{2, 4, 3});
  CHECK(with_notes["kernels"][0]["launch"]["cooperative"] == true);
  CHECK(with_notes["kernels"][0]["launch"]["attributes"]["priority"] == "-3");
  CHECK(with_notes["kernels"][0]["launch"]["overlaps"] == true);
  CHECK(with_notes["kernels"][0]["restored_bytes"] == 16384);
  CHECK(with_notes["kernels"][0]["restoring_ns"] == 2000);
  REQUIRE(with_notes["notes"].size() == 3);
  CHECK(with_notes["notes"][0] == "a note");
  CHECK(with_notes["kernels"][0]["compatible_ns"] == 25000);
  const auto some = to_json(made, [](const Kernel& kernel) { return kernel.name == "gemm"; });
  REQUIRE(some["kernels"].size() == 1);
  CHECK(some["kernels"][0]["share"] == 0.25);
}
