#include "pace/kernels/table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sstream>
#include <string>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using namespace std::chrono_literals;
using pace::kernel::Kernel;
using pace::kernel::KernelReport;
using pace::kernel::KernelTime;

namespace {

KernelReport report() {
  KernelReport made;
  made.name = "block";
  made.device = "a GPU";
  made.whole = 60us;
  made.gap = 500ns;
  made.fills = 1;
  made.copying = 1us;
  made.peak_bandwidth = 4e12;
  auto& add = made.kernels.emplace_back();
  add.name = "triton_poi_fused_add_0";
  add.category = pace::kernel::Category::pointwise;
  add.launch = {.grid = {4096, 1, 1}, .block = {128, 1, 1}, .registers = 32, .local_bytes = 8, .occupancy = 1};
  add.hot = KernelTime{20us, 19us, 21us};
  add.cold = KernelTime{25us, 24us, 26us};
  add.bytes = 75e6;
  auto& product = made.kernels.emplace_back();
  product.name = std::string(80, 'g');
  product.launch = {.grid = {16, 8, 2},
                    .block = {256, 1, 1},
                    .registers = 254,
                    .static_shared_bytes = 16,
                    .dynamic_shared_bytes = 2048,
                    .occupancy = 0.125};
  product.profiled = KernelTime{30us, 29us, 31us};
  product.why_not_alone = "it waits for other GPUs";
  return made;
}

}  // namespace

/// With one blank where there are several.
std::string squeezed(const std::string& text) {
  std::string made;
  for (const char c : text)
    if (c != ' ' || made.empty() || made.back() != ' ') made += c;
  return made;
}

TEST_CASE("a report as a table") {
  std::ostringstream out;
  pace::kernel::print_table(report(), out);
  CHECK(
      squeezed(out.str()) ==
      "block on a GPU: 2 kernels, 0 copies, 1 fills; as a graph 60.0 us = kernels 50.0 us + copies and fills 1.00 us + "
      "gaps 1.00 us (86.67 %)\n"
      " kernel kind hot cold share GB/s of peak regs spills shared grid block occupancy\n"
      " triton_poi_fused_add_0 POI 20.0 us 25.0 us 40 % 3000 75 % 32 2 0 4096 128 100 %\n"
      " ggggggggggggggggggggggggggggggggggggggggggggggggggggggggg... UNK [30.0 us] 60 % 254 0 2064 16x8x2 256 12.5 "
      "%\n" +
          std::string(80, 'g') + " is not replayed alone: it waits for other GPUs\n");
}

TEST_CASE("a fact that the driver does not tell is left empty") {
  KernelReport made = report();
  made.kernels[1].launch.reset();
  std::ostringstream out;
  pace::kernel::print_table(made, out);
  CHECK_THAT(squeezed(out.str()), ContainsSubstring("... UNK [30.0 us] 60 %\n"));
}

TEST_CASE("clusters and cooperative launches stand behind the grid") {
  KernelReport made = report();
  made.kernels[0].launch->cluster = {2, 1, 1};
  made.kernels[1].launch->cluster = {2, 4, 2};
  made.kernels[1].launch->cooperative = true;
  std::ostringstream out;
  pace::kernel::print_table(made, out);
  CHECK_THAT(squeezed(out.str()), ContainsSubstring(" 4096, cluster 2 128 ") &&
                                      ContainsSubstring(" 16x8x2, cluster 2x4x2, cooperative 256 "));
  made.kernels[0].launch->cluster = {1, 1, 1};
  made.kernels[0].launch->cooperative = true;
  std::ostringstream again;
  pace::kernel::print_table(made, again);
  CHECK_THAT(squeezed(again.str()), ContainsSubstring(" 4096, cooperative 128 "));
}

TEST_CASE("remarks on a launch stand below the list") {
  KernelReport made = report();
  std::ostringstream none;
  pace::kernel::print_table(made, none);
  CHECK_THAT(none.str(), !ContainsSubstring("restored memory") && !ContainsSubstring("is launched with"));
  made.kernels[0].restored_bytes = 16384;
  made.kernels[0].restoring = 2us;
  made.kernels[1].launch->attributes = {{"priority", "-3"}, {"cluster scheduling", "spread"}};
  made.kernels[1].launch->overlaps = true;
  std::ostringstream out;
  pace::kernel::print_table(made, out);
  CHECK_THAT(
      out.str(),
      ContainsSubstring("\ntriton_poi_fused_add_0 is launched on restored memory: 16384 bytes are restored before "
                        "each launch alone, in 2.00 us, which no time of it includes\n") &&
          ContainsSubstring("gg may begin before the kernel before it has ended (programmatic launch): alone it "
                            "overlaps with nothing, and takes longer than it adds to the call\n") &&
          EndsWith("gg is launched with priority: -3; cluster scheduling: spread\n"));
  made.kernels[0].restoring = 21us;
  std::ostringstream long_one, other;
  pace::kernel::print_table(made, long_one);
  CHECK_THAT(long_one.str(), ContainsSubstring("in 21.0 us, longer than it takes itself, which no time"));
  pace::kernel::print_table(made, other, false, 60, [](const Kernel& kernel) { return kernel.name == "other"; });
  CHECK_THAT(other.str(), !ContainsSubstring("restored memory"));
}

TEST_CASE("other nodes of a graph are among the totals, and host functions that ran again have a note") {
  KernelReport made = report();
  made.other_nodes = {{"host function", 2}, {"event record", 1}};
  made.host_function_runs = 38;
  std::ostringstream out;
  pace::kernel::print_table(made, out);
  CHECK_THAT(out.str(),
             StartsWith("block on a GPU: 2 kernels, 0 copies, 1 fills, 1 event record, 2 host functions; as"));
  CHECK_THAT(
      out.str(),
      EndsWith("\nhost functions of the graph ran at least 38 times for this list, since no launch of the graph can "
               "leave them out; their time is a part of the whole, and of no kernel\n"));
  made.fills = 0;
  made.other_nodes.erase("event record");
  std::ostringstream fewer;
  pace::kernel::print_table(made, fewer);
  CHECK_THAT(fewer.str(), StartsWith("block on a GPU: 2 kernels, 2 host functions; as"));
}

TEST_CASE("a report by ranges gives the spread of each kernel, and what recording costs") {
  KernelReport made;
  made.name = "block";
  made.device = "a processor, 2 threads";
  made.by_ranges = true;
  made.whole = 60us;
  made.recording = 300ns;
  made.peak_bandwidth = 1e10;
  made.elsewhere = 3;
  auto& add = made.kernels.emplace_back();
  add.name = "cpp_fused_add_0";
  add.category = pace::kernel::Category::pointwise;
  add.profiled = KernelTime{36us, 35us, 40us};
  add.bytes = 90e3;
  auto& product = made.kernels.emplace_back();
  product.name = "aten::mm";
  product.profiled = KernelTime{18us, 17us, 19us};
  std::ostringstream out;
  pace::kernel::print_table(made, out);
  CHECK(squeezed(out.str()) ==
        "block on a processor, 2 threads: 2 kernels; 60.0 us a call; kernels take 54.0 us (90 %), without the 300 ns "
        "that recording them adds\n"
        "3 ranges of other threads are not among them: they run at the same time\n"
        " kernel kind time least most share GB/s of peak\n"
        " cpp_fused_add_0 POI 36.0 us 35.0 us 40.0 us 60 % 2.50 25 %\n"
        " aten::mm UNK 18.0 us 17.0 us 19.0 us 30 %\n"
        " not in any listed kernel 6.00 us 10 %\n");
  std::ostringstream some, busy;
  pace::kernel::print_table(made, some, false, 60, [](const Kernel& kernel) { return kernel.name == "aten::mm"; });
  CHECK_THAT(some.str(), !ContainsSubstring("not in any listed kernel"));
  made.whole = 50us;
  pace::kernel::print_table(made, busy);
  CHECK_THAT(squeezed(busy.str()),
             ContainsSubstring(" aten::mm UNK 18.0 us 17.0 us 19.0 us 33.33 %\nthe listed kernels take 108 % of the "
                               "call, so that nothing is left beside them") &&
                 !ContainsSubstring("not in any listed kernel"));
}

TEST_CASE("lines of some kernels, with totals and shares of all") {
  std::ostringstream out;
  pace::kernel::print_table(report(), out, false, 60,
                            [](const Kernel& kernel) { return kernel.name.starts_with("triton"); });
  const std::string text = squeezed(out.str());
  CHECK_THAT(text, StartsWith("block on a GPU: 2 kernels"));
  CHECK_THAT(text, ContainsSubstring("triton_poi_fused_add_0 POI 20.0 us 25.0 us 40 %"));
  CHECK_THAT(text, !ContainsSubstring("ggg"));
}

TEST_CASE("a slow kernel is red") {
  KernelReport made = report();
  made.kernels[0].bytes = 40e6;
  std::ostringstream plain, coloured;
  pace::kernel::print_table(made, plain);
  pace::kernel::print_table(made, coloured, true);
  CHECK_THAT(plain.str(), !ContainsSubstring("\033[31m"));
  CHECK_THAT(coloured.str(), ContainsSubstring("\033[31mtriton_poi_fused_add_0"));
  CHECK_THAT(coloured.str(), !ContainsSubstring("\033[31mggg"));
}

TEST_CASE("slow is what moves bytes at less than half of what memory can, for long enough") {
  Kernel kernel;
  kernel.bytes = 20e6;
  kernel.hot = KernelTime{10us, 10us, 10us};
  CHECK_FALSE(pace::kernel::is_slow(kernel, 4e12));  // short
  kernel.hot = KernelTime{13us, 13us, 13us};
  CHECK(pace::kernel::is_slow(kernel, 4e12));
  CHECK_FALSE(pace::kernel::is_slow(kernel, 3e12));
  CHECK_FALSE(pace::kernel::is_slow(kernel, 0));
  kernel.bytes.reset();
  CHECK_FALSE(pace::kernel::is_slow(kernel, 4e12));
}

TEST_CASE("facts that the list lacks stand below it") {
  KernelReport made = report();
  std::ostringstream none, some;
  pace::kernel::print_table(made, none);
  CHECK_THAT(none.str(), !ContainsSubstring("conditional"));
  made.conditionals = 2;
  made.notes = {"ggg: its record could not be read: no such file"};
  pace::kernel::print_table(made, some);
  CHECK_THAT(some.str(), EndsWith("\nggg: its record could not be read: no such file\n2 conditional nodes of the graph "
                                  "(if, while or switch): kernels in the bodies are neither listed nor timed alone\n"));
  made.conditionals = 1;
  CHECK_THAT(pace::kernel::notes_of(made).back(), StartsWith("1 conditional node of the graph"));
  made.bodies_profiled = true;
  CHECK_THAT(pace::kernel::notes_of(made).back(),
             EndsWith("kernels in the bodies are listed as they ran in this run, and not timed alone"));
}
