// benches/kernels with fakes for the package, the profiler and the GPU: its output, its files and its exit code.
#include "benches/kernels/run_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "tests/support/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using pace::Nanoseconds;
using pace::benches::aot::PackageKernel;
using pace::benches::kernels::ProfiledEvent;
using pace::kernel::KernelTime;

namespace {

pace::kernel::KernelReport report_on_gpu() {
  pace::kernel::KernelReport report{.name = "bench", .device = "a GPU"};
  report.whole = 100us;
  report.peak_bandwidth = 4e12;
  auto& add = report.kernels.emplace_back();
  add.name = add.symbol = "triton_poi_fused_add_0";
  add.category = pace::kernel::Category::pointwise;
  add.launch = {.registers = 32, .local_bytes = 8, .dynamic_shared_bytes = 64};
  add.hot = KernelTime{10us, 9us, 11us};
  add.cold = KernelTime{20us, 19us, 21us};
  add.compatible = 25us;
  add.bytes = 8e6;
  auto& again = report.kernels.emplace_back(add);
  again.hot = KernelTime{12us, 11us, 13us};
  auto& gemm = report.kernels.emplace_back();
  gemm.name = gemm.symbol = "gemm";
  gemm.launch = {.registers = 255};
  gemm.hot = KernelTime{60us, 59us, 61us};
  return report;
}

/// The questions to the fakes, and their answers.
struct Fakes {
  pace::test::Scratch folder;
  pace::benches::kernels::OpenPackage package{.device = "cuda"};
  pace::kernel::KernelReport report = report_on_gpu();
  pace::benches::kernels::Profile recorded{};
  /// A file that is closed behind the bench's back once it is written.
  std::string closed_behind = {};
  std::string spawn_problem = {}, spawn_prints = {};
  /// The program of pages, and the page that `bazel test` keeps; empty: there is none.
  std::string makes_pages = {}, page_of_bazel = {};
  int calls = 0, seeds = 0, waits = 0;
  bool cuda = true, opens = true;
  Nanoseconds time{};
  std::vector<std::string> spawned = {};
  std::ostringstream out{}, log{};

  Fakes() {
    auto& kernels = package.facts.emplace().kernels;
    auto& add = kernels.emplace_back();
    add.name = "triton_poi_fused_add_0";
    add.key = "cabc1234567890";
    auto& gemm = kernels.emplace_back();
    gemm.name = "gemm";
    gemm.kind = PackageKernel::Kind::external;
  }

  int run(std::vector<std::string> words) {
    out.str("");
    log.str("");
    words.insert(words.begin(), {"--package", "bench.pt2"});
    pace::benches::kernels::Dependencies dependencies;
    dependencies.open = [&](const auto&) {
      if (!opens) throw pace::InputError({"bench.pt2"}, "no such file");
      auto opened = package;
      // Each call takes a millisecond longer than the one before it.
      opened.call = [&] { time += Nanoseconds(1e6 * ++calls); };
      opened.set_seed = [&] { ++seeds; };
      opened.synchronise = [&] { ++waits; };
      return opened;
    };
    dependencies.kernels = [&](const pace::benches::kernels::CommandLine& line) {
      auto told = report;
      if (!line.all_configs)
        for (auto& kernel : told.kernels) kernel.configurations.clear();
      return told;
    };
    dependencies.profile = [&](const std::function<void()>& body, const std::string& trace) {
      body();
      std::ofstream(trace) << "{}";
      if (!closed_behind.empty()) pace::test::close_behind(closed_behind);
      return recorded;
    };
    dependencies.now = [&] { return time; };
    if (cuda) {
      dependencies.reset_peak = [] {};
      dependencies.peak_bytes = [] { return 12345678.0; };
      dependencies.snapshot = [](const std::function<void()>& body, const std::string& path) {
        body();
        std::ofstream(path) << "snapshot";
      };
    }
    dependencies.spawn = [&](const std::vector<std::string>& command, std::string* printed) {
      spawned = command;
      if (printed != nullptr) *printed = spawn_prints;
      return spawn_problem;
    };
    dependencies.date = [] { return "20240131_235959"; };
    dependencies.program = "/bin/kernels";
    dependencies.temporary_folder = folder.path.string();
    dependencies.pages = [&](const std::string& html) { return pace::Pages(html, page_of_bazel, makes_pages); };
    return pace::benches::kernels::run_program(words, dependencies, out, log,
                                               [](pace::benches::kernels::CommandLine& line) {
                                                 if (line.name.empty()) line.name = "bench";
                                               });
  }
  [[nodiscard]] std::string printed() const { return out.str(); }
  [[nodiscard]] std::string said() const { return log.str(); }
};

/// PATH with a folder of programs in it, or none.
class Path {
 public:
  explicit Path(const std::string& path) { ::setenv("PATH", path.c_str(), 1); }
  Path(const Path&) = delete;
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_ = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
};

}  // namespace

TEST_CASE("a package that cannot be opened leaves what an earlier run has written") {
  const pace::test::Scratch files;
  const auto csv = files.write("k.csv", "earlier"), json = files.write("k.json", "earlier");
  Fakes fakes;
  fakes.opens = false;
  CHECK(fakes.run({"--csv", csv, "--json", json}) == 1);
  CHECK(files.read("k.csv") == "earlier");
  CHECK(files.read("k.json") == "earlier");
  fakes.opens = true;
  CHECK(fakes.run({"--csv", csv, "--json", json}) == 0);
  CHECK_THAT(files.read("k.csv"), !ContainsSubstring("earlier"));
  CHECK_THAT(files.read("k.json"), !ContainsSubstring("earlier"));
}

TEST_CASE("the module's time is the lower median of its readings, over their calls") {
  Fakes fakes;
  CHECK(fakes.run({"--times", "2", "--repeat", "4", "--compat"}) == 0);
  // Readings of 1 + 2, 3 + 4, 5 + 6 and 7 + 8 ms.
  CHECK(fakes.printed() == "0.003500\nPeak GPU memory usage 12.346 MB\n");
  CHECK(fakes.calls == 8);
  CHECK(fakes.seeds == 4);
  CHECK(fakes.waits == 12);
}

TEST_CASE("in pace's own words, and on the CPU without the GPU's memory") {
  Fakes fakes;
  fakes.package.device = "cpu";
  CHECK(fakes.run({"--times", "2", "--repeat", "4"}) == 0);
  // After one call that warms up: readings of 2 + 3, 4 + 5, 6 + 7 and 8 + 9 ms.
  CHECK(fakes.printed() == "bench on cpu: 4.50 ms a call, the lower median of 4 readings of 2 calls\n");
  fakes.calls = 0;
  CHECK(fakes.run({}) == 0);
  CHECK(fakes.calls == 101);
}

TEST_CASE("all kernels, as a table and as files") {
  Fakes fakes;
  const std::string csv = fakes.folder / "k.csv", json = fakes.folder / "k.json";
  CHECK(fakes.run({"-k", "--csv", csv, "--json", json}) == 0);
  CHECK(fakes.calls == 0);  // and nothing else
  CHECK_THAT(fakes.printed(), ContainsSubstring("bench on a GPU: 3 kernels"));
  CHECK_THAT(fakes.printed(), ContainsSubstring("gemm"));
  CHECK_THAT(fakes.folder.read("k.csv"), ContainsSubstring("call,device,whole_ns"));
  CHECK_THAT(fakes.folder.read("k.csv"), ContainsSubstring("triton_poi_fused_add_0"));
  const auto read = nlohmann::json::parse(fakes.folder.read("k.json"));
  CHECK(read["kernels"].size() == 3);
  CHECK(fakes.run({"-k", "--kernel", "^gemm$", "--csv", csv}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("3 kernels") && !ContainsSubstring("triton"));
  CHECK_THAT(fakes.folder.read("k.csv"), ContainsSubstring("gemm") && !ContainsSubstring("triton"));
  CHECK(fakes.run({"-k", "--kernel", "zebra"}) == 1);
  CHECK(fakes.said() ==
        "kernels: --kernel: no name matches 'zebra'; expected a part of one of triton_poi_fused_add_0, "
        "triton_poi_fused_add_0, gemm\n");
}

TEST_CASE("--html makes a page of the results, which are in a file of their own unless --json names one") {
  Fakes fakes;
  const pace::test::Scratch out;
  const std::string html = out / "k.html";
  CHECK(fakes.run({"-k", "--html", html}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("--html: this program has no program of tools/report beside it"));
  fakes.makes_pages = fakes.folder.write("report", "#!/bin/sh\ncp \"$1\" \"$3\"\n");
  std::filesystem::permissions(fakes.makes_pages, std::filesystem::perms::owner_all);
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(out.path), std::filesystem::directory_iterator());
  };
  CHECK(fakes.run({"-k", "--dry-run", "--html", html}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("would write " + html + "\n"));
  CHECK(files() == 0);
  CHECK(fakes.run({"-k", "--html", html}) == 0);
  CHECK(nlohmann::json::parse(out.read("k.html"))["kernels"].size() == 3);
  CHECK(files() == 1);
  // A limit that does not hold is on the page, too.
  CHECK(fakes.run({"-k", "--kernels-at-most", "1", "--html", html, "--json", out / "k.json"}) == 42);
  CHECK(out.read("k.html") == out.read("k.json"));
  CHECK_THAT(fakes.said(), !ContainsSubstring("--html"));
  CHECK(fakes.run({"--html", html}) == 0);
  CHECK(nlohmann::json::parse(out.read("k.html")).contains("seconds_per_call"));
  CHECK(files() == 2);
  // Under `bazel test` there is a page unasked.
  fakes.page_of_bazel = out / "report.html";
  CHECK(fakes.run({"-k"}) == 0);
  CHECK(nlohmann::json::parse(out.read("report.html"))["kernels"].size() == 3);
  CHECK(files() == 3);
}

TEST_CASE("a page that cannot be made fails the program if it was asked for, and the message names the results") {
  Fakes fakes;
  const pace::test::Scratch out;
  fakes.makes_pages = fakes.folder.write("report", "#!/bin/sh\necho no room >&2; exit 3\n");
  std::filesystem::permissions(fakes.makes_pages, std::filesystem::perms::owner_all);
  CHECK(fakes.run({"-k", "--html", out / "k.html", "--json", out / "k.json"}) == 1);
  CHECK_THAT(fakes.said(),
             ContainsSubstring("k.html: the page was not made, and the results are in " + (out / "k.json") + ": ") &&
                 ContainsSubstring("no room"));
  CHECK(fakes.run({"-k", "--html", out / "none/k.html"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("there is no folder"));
  fakes.page_of_bazel = out / "report.html";
  CHECK(fakes.run({"-k", "--json", out / "k.json"}) == 0);
  CHECK_THAT(fakes.said(), ContainsSubstring("report.html: the page was not made"));
}

TEST_CASE("names and messages give no orders to a terminal") {
  Fakes fakes;
  fakes.report.kernels[0].name = "evil\x1b[31m";
  fakes.report.kernels[0].why_not_alone = "because\x1b]0;title\a";
  fakes.report.notes = {"a note\x1b[2J"};
  CHECK(fakes.run({"-k", "--benchmark-name", "na\x1b[31mme\n"}) == 0);
  CHECK_THAT(fakes.printed(), !ContainsSubstring("\x1b") && ContainsSubstring("evil\\x1b[31m"));
  CHECK(fakes.run({"--benchmark-name", "na\x1b[31mme"}) == 0);
  CHECK_THAT(fakes.printed(), !ContainsSubstring("\x1b"));
  CHECK(fakes.run({"--zebra\x1b[31m"}) == 1);
  CHECK_THAT(fakes.said(), !ContainsSubstring("\x1b"));
}

TEST_CASE("every configuration of the kernels that have some") {
  Fakes fakes;
  fakes.package.facts->kernels[0].configurations.emplace_back();
  auto& all = fakes.report.kernels[0].configurations;
  all = {{.text = "XBLOCK 1", .printed = "XBLOCK: 1", .chosen = true}, {.text = "XBLOCK 2", .printed = "XBLOCK: 2"}};
  all[0].launch = fakes.report.kernels[0].launch;
  all[0].cold = KernelTime{20us, 19us, 21us};
  all[0].compatible = 32us;
  all[1].why_not = "it spills 17 words, more than 16";
  const std::string json = fakes.folder / "k.json";
  CHECK(fakes.run({"-k", "-c", "--json", json}) == 0);
  CHECK_THAT(fakes.printed(),
             ContainsSubstring("triton_poi_fused_add_0: 2 configurations; the chosen one is the best"));
  const auto read = nlohmann::json::parse(fakes.folder.read("k.json"))["kernels"][0]["configurations"];
  REQUIRE(read.size() == 2);
  CHECK(read[0]["chosen"] == true);
  CHECK(read[0]["cold"]["median_ns"] == 20000);
  CHECK(read[0]["launch"]["registers"] == 32);
  CHECK(read[1]["why_not"] == "it spills 17 words, more than 16");
  CHECK(fakes.run({"-k"}) == 0);
  CHECK_THAT(fakes.printed(), !ContainsSubstring("configurations"));
  fakes.report.kernels.resize(1);
  CHECK(fakes.run({"-k", "-c", "--compat"}) == 0);
  CHECK(fakes.printed() ==
        "bench                POI cabc123456\n"
        "  0.032ms    \t0.008 GB \t  250.00GB/s   32 regs    2 spills        64 shared mem @ XBLOCK: 1\n"
        "  infms    \t0.008 GB \t    0.00GB/s @ XBLOCK: 2\n");
}

TEST_CASE("all kernels as the original lists them: Inductor's own, each once, by the original's timer") {
  Fakes fakes;
  CHECK(fakes.run({"-k", "--compat"}) == 0);
  CHECK(fakes.printed() ==
        "bench                POI cabc123456 0.025ms    \t0.008 GB \t  320.00GB/s   32 regs    2 spills        64 "
        "shared mem\n");
  CHECK(fakes.run({"-k", "--compat", "--kernel", "gemm"}) == 1);
  CHECK(fakes.printed() == std::string(pace::benches::kernels::no_kernels) + '\n');
  fakes.report.kernels[0].bytes.reset();
  fakes.report.kernels.erase(fakes.report.kernels.begin() + 1);
  // As the original does without an estimate: the bytes of all arguments, of the first one twice, for one is in and
  // out.
  auto& recorded = fakes.package.facts->kernels[0];
  recorded.arguments = {"in_out_ptr0", "in_ptr0", "xnumel"};
  recorded.argument_bytes = {4e6, 2e6, std::nullopt};
  CHECK(fakes.run({"-k", "--compat", "--profile-bandwidth=triton"}) == 0);
  CHECK(fakes.printed() ==
        "bench                POI cabc123456 0.025ms    \t0.010 GB \t  400.00GB/s   32 regs    2 spills        64 "
        "shared mem\n0.025ms    \t0.010 GB \t  400.00GB/s \t triton_poi_fused_add_0\n"
        "SUMMARY (bench.pt2)\n0.02ms   \t 0.01 GB\t 400.00GB/s\n");
  // The least bytes to move are another matter.
  CHECK(fakes.run({"-k", "--profile-bandwidth=triton"}) == 1);
  recorded.argument_bytes.clear();
  CHECK(fakes.run({"-k", "--compat"}) == 1);
  CHECK(fakes.printed() == std::string(pace::benches::kernels::no_kernels) + '\n');
  CHECK(fakes.said() == "triton_poi_fused_add_0 has no line: how many bytes it moves is not known\n");
  // No time of pace's own stands in for one that the original's timer has not taken.
  fakes.report.kernels[0].compatible.reset();
  fakes.report.notes = {"triton_poi_fused_add_0: PyTorch's timer has no time of it: launching failed"};
  CHECK(fakes.run({"-k", "--compat"}) == 1);
  CHECK(fakes.said() ==
        "triton_poi_fused_add_0 has no line: the original's timer has no time of it\n"
        "kernels: triton_poi_fused_add_0: PyTorch's timer has no time of it: launching failed\n");
  fakes.package.facts.reset();
  CHECK(fakes.run({"-k", "--compat"}) == 1);
  fakes.package.device = "cpu";
  CHECK(fakes.run({"-k", "--compat"}) == 1);
  CHECK(fakes.printed() == std::string(pace::benches::kernels::no_kernels) + '\n');
  CHECK_THAT(fakes.said(),
             ContainsSubstring("bench.pt2 runs on the CPU, and the original lists Triton's kernels alone"));
}

TEST_CASE("bandwidths of all kernels, each time that one runs, and of the whole") {
  Fakes fakes;
  const std::string list = (fakes.run({"-k"}), fakes.printed());
  const std::string add = "0.020ms    \t0.008 GB \t  400.00GB/s \t triton_poi_fused_add_0\n";
  CHECK(fakes.run({"-k", "--profile-bandwidth"}) == 0);
  CHECK(fakes.printed() == list + add + add + "SUMMARY (bench.pt2)\n0.04ms   \t 0.02 GB\t 400.00GB/s\n");
  CHECK(
      fakes.said() ==
      "kernels: --profile-bandwidth: gemm is not in the summary of bandwidths: how many bytes it moves is not known\n");

  // With --compat, the time comes from PyTorch's timer, which the third kernel does not have.
  fakes.report.kernels[2].bytes = 4e6;
  fakes.report.kernels[1].compatible = 75us;
  const std::string compatible = (fakes.run({"-k", "--compat"}), fakes.printed());
  CHECK(fakes.run({"-k", "--compat", "--profile-bandwidth"}) == 0);
  CHECK(fakes.printed() == compatible +
                               "0.025ms    \t0.008 GB \t  320.00GB/s \t triton_poi_fused_add_0\n"
                               "0.075ms    \t0.008 GB \t  106.67GB/s \t triton_poi_fused_add_0\n"
                               "SUMMARY (bench.pt2)\n0.10ms   \t 0.02 GB\t 160.00GB/s\n");
  CHECK(fakes.said() ==
        "kernels: --profile-bandwidth: gemm is not in the summary of bandwidths: PyTorch's timer has no time of it\n");
  fakes.report.kernels[2].why_not_alone = "it waits for other GPUs";
  CHECK(fakes.run({"-k", "--compat", "--profile-bandwidth"}) == 0);
  CHECK_THAT(fakes.said(),
             ContainsSubstring("gemm is not in the summary of bandwidths: it has no time, since it waits"));
}

TEST_CASE("bandwidths of the kernels whose names begin with a match") {
  Fakes fakes;
  fakes.report.kernels[2].bytes = 6e6;
  CHECK(fakes.run({"-k", "--profile-bandwidth=gem+"}) == 0);
  CHECK_THAT(fakes.printed(), EndsWith("\n0.060ms    \t0.006 GB \t  100.00GB/s \t gemm\n"
                                       "SUMMARY (bench.pt2)\n0.06ms   \t 0.01 GB\t 100.00GB/s\n"));
  CHECK_THAT(fakes.printed(), !ContainsSubstring("400.00GB/s"));
  CHECK(fakes.said().empty());
  // --kernel limits this list, too.
  CHECK(fakes.run({"-k", "--kernel", "gemm", "--profile-bandwidth"}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("SUMMARY (bench.pt2)\n0.06ms") && !ContainsSubstring("400.00GB/s"));
  const std::string output = fakes.folder / "bandwidth";
  CHECK(fakes.run({"-k", "--profile-bandwidth=emm", "--profile-bandwidth-output", output}) == 1);
  CHECK_THAT(fakes.printed(), !ContainsSubstring("SUMMARY"));
  CHECK(fakes.said() ==
        "kernels: --profile-bandwidth: no kernel has a name that begins with a match of 'emm'; there is no summary\n");
  CHECK_FALSE(fakes.folder.has("bandwidth"));
  fakes.report.kernels[2].bytes.reset();
  CHECK(fakes.run({"-k", "--profile-bandwidth=gemm"}) == 1);
  CHECK_THAT(fakes.said(), EndsWith("no kernel has a known bandwidth; there is no summary\n"));
  // A missing kernel does not become a finding of the gate.
  CHECK(fakes.run({"-k", "--profile-bandwidth=gemm", "--kernels-at-most", "2"}) == 1);
}

TEST_CASE("a file of bandwidths grows by each run, with the slowest kernel first") {
  Fakes fakes;
  fakes.report.kernels[2].bytes = 6e6;
  fakes.report.kernels[2].name = "gemm\nfoo";
  const std::string output = fakes.folder.write("bandwidth", "earlier\n");
  const std::string block =
      "====================\nTRITON KERNELS BANDWIDTH INFO (bench.pt2)\n"
      "0.060ms    \t0.006 GB \t  100.00GB/s \t 60.00% \t gemm\\nfoo\n"
      "0.020ms    \t0.008 GB \t  400.00GB/s \t 20.00% \t triton_poi_fused_add_0\n"
      "0.020ms    \t0.008 GB \t  400.00GB/s \t 20.00% \t triton_poi_fused_add_0\n"
      "SUMMARY (bench.pt2)\n0.10ms   \t 0.02 GB\t 220.00GB/s\n\n";
  CHECK(fakes.run({"-k", "--profile-bandwidth", "--profile-bandwidth-output", output}) == 0);
  CHECK(fakes.folder.read("bandwidth") == "earlier\n" + block);
  CHECK(fakes.run({"-k", "--profile-bandwidth", "--profile-bandwidth-output", output}) == 0);
  CHECK(fakes.folder.read("bandwidth") == "earlier\n" + block + block);
  CHECK(fakes.run({"-k", "--profile-bandwidth", "--profile-bandwidth-output", fakes.folder / "no/where"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("cannot open") && ContainsSubstring("no/where"));
}

TEST_CASE("limits are judged, and a broken one is the exit code") {
  Fakes fakes;
  CHECK(fakes.run({"-k", "--kernels-at-most", "3", "--spills-at-most", "2", "--registers-at-most", "255"}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("passed: at most 3 kernels"));
  CHECK(fakes.run({"-k", "--kernels-at-most", "2"}) == 42);
  CHECK_THAT(fakes.said(), ContainsSubstring("failed: at most 2 kernels; it has 3: triton_poi_fused_add_0;"));
  CHECK(fakes.run({"-k", "--registers-at-most", "254"}) == 42);
  CHECK_THAT(fakes.said(), ContainsSubstring("gemm has 255 registers"));
  CHECK(fakes.run({"-k", "--bandwidth-at-least", "0.05"}) == 0);
  // The program is no test of Bazel's, as this one is.
  ::unsetenv("TEST_TARGET");
  CHECK(fakes.run({"-k", "--bandwidth-at-least", "0.5"}) == 42);
  CHECK_THAT(fakes.said(), EndsWith("kernels: to repeat this:\n  /bin/kernels --package=bench.pt2 --benchmark-kernels "
                                    "--bandwidth-at-least=0.5\n"));
  // A failure beside a broken limit is not a finding of a gate.
  CHECK(fakes.run({"-k", "--kernels-at-most", "2", "--kernel", "zebra"}) == 1);
}

TEST_CASE("a dry run opens the package, says what would be measured and written, and does neither") {
  Fakes fakes;
  const std::string json = fakes.folder / "k.json";
  CHECK(fakes.run({"-k", "--dry-run", "--json", json, "--kernels-at-most", "3"}) == 0);
  CHECK(fakes.printed() ==
        "bench.pt2 on cuda: would list every kernel with its time\nwould judge its limits\n"
        "would write " +
            json + "\ndry run: nothing was measured\n");
  CHECK(fakes.calls == 0);
  CHECK_FALSE(fakes.folder.has("k.json"));
  CHECK(fakes.run({"--dry-run", "--times", "3"}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("would time 10 readings of 3 calls\n"));
  CHECK(fakes.calls == 0);
  fakes.opens = false;
  CHECK(fakes.run({"--dry-run"}) == 1);
  CHECK(fakes.run({"--list"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("--list is refused: which kernels a package has is known only once"));
}

TEST_CASE("a package that announces nothing is told of") {
  Fakes fakes;
  fakes.report = {.name = "bench", .device = "a CPU", .by_ranges = true, .whole = 100us};
  auto& copy = fakes.report.kernels.emplace_back();
  copy.name = copy.symbol = "aten::copy_";
  copy.profiled = pace::kernel::KernelTime{8us, 7us, 9us};
  const std::string csv = fakes.folder / "k.csv", json = fakes.folder / "k.json";
  CHECK(fakes.run({"-k", "--csv", csv, "--json", json}) == 0);
  const std::string note = "bench.pt2 announces none of its kernels, and 92 % of a call is in no listed one; why: ";
  CHECK_THAT(fakes.printed(), ContainsSubstring(note));
  CHECK_THAT(fakes.folder.read("k.json"), ContainsSubstring(note) && ContainsSubstring("\"unlisted_ns\": 92000"));
  CHECK_THAT(fakes.folder.read("k.csv"), ContainsSubstring("\nbench,a CPU,1e+05,0.08,,not in any listed kernel,"));
  CHECK(fakes.run({"-k", "--kernel", "copy", "--csv", csv}) == 0);
  CHECK_THAT(fakes.printed(), !ContainsSubstring("not in any listed kernel"));
  CHECK_THAT(fakes.folder.read("k.csv"), !ContainsSubstring("not in any listed kernel"));
  fakes.report.kernels.emplace_back().symbol = "graph_0_cpp_fused_add_0";
  CHECK(fakes.run({"-k"}) == 0);
  CHECK_THAT(fakes.printed(), !ContainsSubstring("announces none"));
}

TEST_CASE("snapshot, profile and Nsight Compute, in this order") {
  Fakes fakes;
  const Path path(fakes.folder.path.string());
  (void)fakes.folder.write("ncu", "#!/bin/sh\n");
  ::chmod((fakes.folder / "ncu").c_str(), 0755);
  fakes.recorded.events = {ProfiledEvent{.name = "triton_poi_fused_add_0", .duration = 40ms, .on_device = true},
                           ProfiledEvent{.name = "triton_poi_fused_add_0", .duration = 40ms, .on_device = true}};
  CHECK(fakes.run({"--ncu", "-p", "--cuda-memory-snapshot", "--times", "1", "--repeat", "2", "--compat", "--generation",
                   "new"}) == 0);
  const std::string text = fakes.printed(), folder = fakes.folder.path.string();
  // The module took 1 ms; then ten calls for the snapshot, two for the profile.
  CHECK_THAT(
      text,
      StartsWith("0.001000\nPeak GPU memory usage 12.346 MB\n0.007500\nThe collect memory snapshot has been written "
                 "to " +
                 folder +
                 "/memory_snapshot.pickle\n0.013000\nProfiling result for a compiled module of "
                 "benchmark bench:\nChrome trace for the profile is written to " +
                 folder + "/compiled_module_profile.json\n"));
  CHECK_THAT(text, ContainsSubstring("\n  == triton_pointwise category kernels == \n"
                                     "Kernel                    Self CUDA TIME (ms)    Count  Percent\n"));
  CHECK_THAT(
      text, ContainsSubstring("\nPercent of time when CUDA is busy: 4000.00%\nTotal wall time 1.000 ms\n"
                              "Output for tabulate: bench, 4000.00%, 0.00%, 0.00%, 0.00%, 0.00%, 4000.00%, 1.000ms\n"));
  CHECK_THAT(text, EndsWith("\nNCU profiling results for benchmark bench:\nNCU report has been written to " + folder +
                            "/ncu_output_20240131_235959.ncu-rep\n"));
  CHECK(fakes.folder.has("memory_snapshot.pickle"));
  CHECK(fakes.spawned.front() == "ncu");
  CHECK(fakes.spawned.at(13) == folder + "/ncu_output_20240131_235959.ncu-rep");
  CHECK(fakes.spawned.back() == "1");
  fakes.spawn_problem = "ncu ended with exit code 3";
  CHECK(fakes.run({"--ncu", "--times", "1"}) == 1);
  CHECK_THAT(fakes.printed(), ContainsSubstring("NCU profiling failed with error: ncu ended with exit code 3\n"));
}

TEST_CASE("bytes that the GPU counted stand where none are known, and decide no gate") {
  Fakes fakes;
  const Path path(fakes.folder.path.string());
  (void)fakes.folder.write("ncu", "#!/bin/sh\n");
  ::chmod((fakes.folder / "ncu").c_str(), 0755);
  fakes.spawn_prints =
      "\"Kernel Name\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\"\n\"\",\"byte\",\"byte\"\n"
      "\"triton_poi_fused_add_0\",\"8,000,000\",\"1\"\n\"triton_poi_fused_add_0\",\"8,000,001\",\"1\"\n"
      "\"gemm\",\"6,000,000\",\"0\"\n";
  const std::string json = fakes.folder / "k.json";
  CHECK(fakes.run({"-k", "--count-bytes", "--json", json, "--bandwidth-at-least", "0.05"}) == 0);
  // 6 MB in 60 us.
  CHECK_THAT(fakes.printed(), ContainsSubstring(" *100 ") && ContainsSubstring("\n* of the bytes that memory moved"));
  const auto read = nlohmann::json::parse(fakes.folder.read("k.json"))["kernels"];
  CHECK(read[0]["counted_bytes"] == 8000001);
  CHECK(read[0]["bytes"] == 8000000);
  CHECK(read[2]["counted_bytes"] == 6000000);
  CHECK(read[2]["bytes"].is_null());
  CHECK(fakes.spawned.at(1) == "--import");
  CHECK(fakes.spawned.at(2) == fakes.folder / "counted_bytes_20240131_235959.ncu-rep");

  // The measured times are printed, however the counters end.
  fakes.spawn_prints = "==ERROR== nothing\n";
  CHECK(fakes.run({"-k", "--count-bytes"}) == 1);
  CHECK_THAT(fakes.printed(), ContainsSubstring("gemm"));
  CHECK_THAT(fakes.said(), ContainsSubstring("kernels: --count-bytes: Nsight Compute's report: expected a column"));
  fakes.spawn_problem = "ncu ended with exit code 1";
  CHECK(fakes.run({"-k", "--count-bytes"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("--count-bytes: ncu ended with exit code 1\n"));
}

TEST_CASE("the original's words for a profile, and a device that there is not") {
  Fakes fakes;
  fakes.recorded.events = {ProfiledEvent{.name = "gemm", .duration = 1ms, .on_device = true}};
  CHECK(fakes.run({"-p", "--compat", "--generation", "original"}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("Percent of time when GPU is busy: "));
  fakes.package.device = "cpu";
  fakes.recorded.events = {ProfiledEvent{.name = "cpp_fused_add_0", .duration = 1ms}};
  CHECK(fakes.run({"-p", "--compat"}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("No device detected\n"));
  CHECK(fakes.run({"-p"}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("Self CPU TIME (ms)") && ContainsSubstring("cpp_fused_add_0"));
}

TEST_CASE("results of the whole, for machines") {
  Fakes fakes;
  const std::string csv = fakes.folder / "w.csv", json = fakes.folder / "w.json";
  CHECK(fakes.run({"--times", "1", "--repeat", "1", "--csv", csv, "--json", json}) == 0);
  CHECK(fakes.calls == 2);
  CHECK(fakes.folder.read("w.csv") ==
        "benchmark,device,seconds_per_call,times,repeat,peak_gpu_bytes\nbench,cuda,0.002,1,1,12345678.0\n");
  CHECK(nlohmann::json::parse(fakes.folder.read("w.json"))["seconds_per_call"] == 0.002);
  CHECK(fakes.run({"--csv", fakes.folder / "nowhere/w.csv"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("cannot open") && ContainsSubstring("nowhere/w.csv"));
  for (const auto& [option, file] : {std::pair{"--csv", csv}, {"--json", json}}) {
    fakes.closed_behind = file;
    CHECK(fakes.run({"--profile", option, file}) == 1);
    CHECK_THAT(fakes.said(), ContainsSubstring("cannot close '" + file + "'"));
  }
}

TEST_CASE("options that cannot be met are refused, with the exit code") {
  Fakes fakes;
  CHECK(fakes.run({"--zebra"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("unknown option --zebra; --help lists all options"));
  CHECK(fakes.run({"--benchmark-kernel"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("did you mean --benchmark-kernels?"));
  CHECK(fakes.run({"-c"}) == 1);
  CHECK(fakes.run({"-c", "-k"}) == 1);
  CHECK_THAT(fakes.said(),
             ContainsSubstring("--benchmark-all-configs: no configurations are kept beside bench.pt2; expected"));
  fakes.package.device = "cpu";
  CHECK(fakes.run({"-c", "-k"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("bench.pt2 runs on the CPU, where kernels have no configurations"));
  {
    const Path nothing("/nowhere");
    CHECK(fakes.run({"--ncu"}) == 1);
    CHECK_THAT(fakes.said(), ContainsSubstring("--ncu: there is no `ncu` in PATH"));
    CHECK(fakes.calls == 0);
    CHECK(fakes.run({"-k", "--count-bytes"}) == 1);
    CHECK_THAT(fakes.said(), ContainsSubstring("--count-bytes: there is no `ncu` in PATH"));
    CHECK(fakes.run({"--ncu", "--compat"}) == 1);
    CHECK_THAT(fakes.printed(), ContainsSubstring("NCU profiling failed with error: there is no `ncu`"));
  }
  CHECK(fakes.run({"--count-bytes"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("--count-bytes goes together with --benchmark-kernels (-k)"));
  fakes.package.device = "cpu";
  CHECK(fakes.run({"--cuda-memory-snapshot"}) == 1);
  CHECK_THAT(fakes.said(), ContainsSubstring("--cuda-memory-snapshot: bench.pt2 runs on the CPU"));
  fakes.package.device = "cuda";
  fakes.cuda = false;
  CHECK(fakes.run({"--cuda-memory-snapshot"}) == 1);
  CHECK(fakes.run({"--help"}) == 0);
  CHECK_THAT(fakes.printed(), ContainsSubstring("--ncu-kernel-regex <regex>"));
}
