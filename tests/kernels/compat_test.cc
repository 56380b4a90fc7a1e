// Inductor's own texts. Tables: the output of Python's tabulate 0.9 for the same rows.
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "benches/kernels/compat/bandwidth_summary.hpp"
#include "benches/kernels/compat/bytes.hpp"
#include "benches/kernels/compat/info_line.hpp"
#include "benches/kernels/compat/profile_report.hpp"
#include "benches/kernels/compat/simple_table.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace pace::benches::kernels::compat;
using pace::kernel::Category;
using Rows = std::vector<std::vector<TableCell>>;

namespace {

const std::vector<std::string> headers{"Kernel", "Self CUDA TIME (ms)", "Count", "Percent"};
std::string text(const char* words) { return words; }

}  // namespace

TEST_CASE("an argument that is both read and written counts its bytes twice, by position") {
  const std::vector<std::optional<double>> arguments{100.0, std::nullopt, 10.0, 1.0};
  CHECK(count_bytes(arguments, 0) == 111);
  CHECK(count_bytes(arguments, 1) == 211);
  // The second position is no tensor, and is counted all the same.
  CHECK(count_bytes(arguments, 2) == 211);
  CHECK(count_bytes(arguments, 3) == 221);
  CHECK(count_bytes({}, 2) == 0);
}

TEST_CASE("the bandwidth line, with registers only where all is known") {
  InfoLine info{.milliseconds = 0.0101, .gigabytes = 0.0123};
  CHECK(info_line(info) == "0.010ms    \t0.012 GB \t 1217.82GB/s");
  info.registers = 32;
  info.spills = 0;
  CHECK(info_line(info, "a ", " b") == "a 0.010ms    \t0.012 GB \t 1217.82GB/s b");
  info.shared_bytes = 2048;
  CHECK(info_line(info) == "0.010ms    \t0.012 GB \t 1217.82GB/s   32 regs    0 spills      2048 shared mem");
}

TEST_CASE("a line is red from 0.012 ms on, below 650 GB/s") {
  const auto is_red = [](double milliseconds, double per_second) {
    return info_line({.milliseconds = milliseconds, .gigabytes = per_second * milliseconds / 1e3})
        .starts_with("\033[31m");
  };
  CHECK(is_red(0.0121, 649));
  CHECK_FALSE(is_red(0.012, 649));
  CHECK_FALSE(is_red(0.0121, 650.01));
  const std::string red = info_line({.milliseconds = 1, .gigabytes = 0.1});
  CHECK(red == "\033[31m1.000ms    \t0.100 GB \t  100.00GB/s\033[39m");
  CHECK(info_line({.milliseconds = 1, .gigabytes = 0.1}, "", "", false) == "1.000ms    \t0.100 GB \t  100.00GB/s");
}

TEST_CASE("a kernel's line begins with the package, the category and the name") {
  CHECK(description("resnet", Category::persistent_reduction, "cabcdefghijkl") ==
        "resnet               PER cabcdefghi");
  CHECK(description("a_name_of_more_than_twenty", Category::unknown, "c") == "a_name_of_more_than_twenty UNK c");
}

TEST_CASE("tables are tabulate's") {
  CHECK(simple_table(headers, Rows{{text("triton_poi_fused_add_0"), 0.012345678, 1.0, text("12.35%")},
                                   {text("Total"), 0.012345678, text(""), text("12.35%")}}) ==
        "Kernel                    Self CUDA TIME (ms)    Count  Percent\n"
        "----------------------  ---------------------  -------  ---------\n"
        "triton_poi_fused_add_0              0.0123457        1  12.35%\n"
        "Total                               0.0123457           12.35%");
  CHECK(simple_table(headers, Rows{{text("a"), 12.5, 1.0, text("50.00%")},
                                   {text("bb"), 1e-05, 2.5, text("0.00%")},
                                   {text("ccc"), 100.0, 10.0, text("9.00%")},
                                   {text("Total"), 112.50001, text(""), text("59.00%")}}) ==
        "Kernel      Self CUDA TIME (ms)    Count  Percent\n"
        "--------  ---------------------  -------  ---------\n"
        "a                        12.5        1    50.00%\n"
        "bb                        1e-05      2.5  0.00%\n"
        "ccc                     100         10    9.00%\n"
        "Total                   112.5             59.00%");
  CHECK(simple_table(headers, Rows{{text("k"), 1.5e-07, 0.1, text("0.00%")},
                                   {text("Total"), 1.5e-07, text(""), text("0.00%")}}) ==
        "Kernel      Self CUDA TIME (ms)    Count  Percent\n"
        "--------  ---------------------  -------  ---------\n"
        "k                       1.5e-07      0.1  0.00%\n"
        "Total                   1.5e-07           0.00%");
  // A column without a number is one of texts.
  CHECK(simple_table(headers, Rows{{text("Total"), 0.0, text(""), text("0.00%")}}) ==
        "Kernel      Self CUDA TIME (ms)  Count    Percent\n"
        "--------  ---------------------  -------  ---------\n"
        "Total                         0           0.00%");
}

TEST_CASE("the profile report: a table for each category, the slowest first, and a line for machines") {
  std::vector<ProfiledKernel> kernels{{"triton_poi_fused_add_0", 2000, 10},
                                      {"triton_poi_fused_mul_1", 4000, 20},
                                      {"sgemm_" + std::string(120, 'x'), 1000, 5},
                                      {"triton_tem_mm_2", 500, 10}};
  const ProfileReport report{.benchmark = "resnet", .wall_milliseconds = 1, .runs = 10};
  std::ostringstream out;
  print_profile_report(report, kernels, out);
  CHECK(out.str() ==
        "\n  == triton_pointwise category kernels == \n"
        "Kernel                    Self CUDA TIME (ms)    Count  Percent\n"
        "----------------------  ---------------------  -------  ---------\n"
        "triton_poi_fused_mul_1                    0.4        2  40.00%\n"
        "triton_poi_fused_add_0                    0.2        1  20.00%\n"
        "Total                                     0.6           60.00%\n"
        "\n  == triton_unknown category kernels == \n"
        "Kernel             Self CUDA TIME (ms)    Count  Percent\n"
        "---------------  ---------------------  -------  ---------\n"
        "triton_tem_mm_2                   0.05        1  5.00%\n"
        "Total                             0.05           5.00%\n"
        "\n  == unknown category kernels == \n"
        "Kernel" +
            std::string(114, ' ') + "    Self CUDA TIME (ms)    Count  Percent\n" + std::string(120, '-') +
            "  ---------------------  -------  ---------\n" + "sgemm_" + std::string(114, 'x') +
            "                    0.1      0.5  10.00%\n" + "Total" + std::string(115, ' ') +
            "                    0.1           10.00%\n"
            "\nPercent of time when CUDA is busy: 75.00%\n"
            "Total wall time 1.000 ms\n"
            "Output for tabulate: resnet, 60.00%, 0.00%, 0.00%, 5.00%, 10.00%, 75.00%, 1.000ms\n");
}

TEST_CASE("words of other generations, and without a device") {
  const std::vector<ProfiledKernel> kernels{{"triton_red_fused_sum_0", 100, 1}};
  const auto told = [&](ProfileReport report) {
    report.wall_milliseconds = 1;
    std::ostringstream out;
    print_profile_report(report, kernels, out);
    return out.str();
  };
  CHECK_THAT(told({.device = "xpu"}), ContainsSubstring("Self XPU TIME (ms)"));
  CHECK_THAT(told({.device = "xpu"}), ContainsSubstring("Percent of time when XPU is busy: 10.00%"));
  CHECK_THAT(told({.original = true}), ContainsSubstring("Percent of time when GPU is busy: 10.00%"));
  CHECK(told({.device = ""}) ==
        "No device detected\nTotal wall time 1.000 ms\nOutput for tabulate: , 0.00%, 0.00%, 0.00%, "
        "0.00%, 0.00%, 0.00%, 1.000ms\n");
  CHECK_THROWS_AS(print_profile_report({}, kernels, *std::make_unique<std::ostringstream>()), pace::Error);
}

TEST_CASE("the bandwidth of all kernels of a module") {
  const std::vector<KernelBandwidth> kernels{{"add", {.milliseconds = 1, .gigabytes = 1}},
                                             {"mul", {.milliseconds = 3, .gigabytes = 0.5}}};
  CHECK(bandwidth_line(kernels[0], false) == "1.000ms    \t1.000 GB \t 1000.00GB/s \t add");
  CHECK(bandwidth_summary("module.py", kernels) == "SUMMARY (module.py)\n4.00ms   \t 1.50 GB\t 375.00GB/s");
  std::ostringstream out;
  write_bandwidth_info("module.py", kernels, out);
  CHECK(out.str() ==
        "====================\n"
        "TRITON KERNELS BANDWIDTH INFO (module.py)\n"
        "3.000ms    \t0.500 GB \t  166.67GB/s \t 75.00% \t mul\n"
        "1.000ms    \t1.000 GB \t 1000.00GB/s \t 25.00% \t add\n"
        "SUMMARY (module.py)\n4.00ms   \t 1.50 GB\t 375.00GB/s\n\n");
}
