// The options of benches/kernels, and those that do not go together.
#include "benches/kernels/command_line.hpp"
#include "benches/kernels/ncu.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using pace::benches::kernels::CommandLine;
using pace::benches::kernels::Generation;
using pace::benches::kernels::compat::CompatibleTimer;

CATCH_REGISTER_ENUM(Generation, Generation::original, Generation::v2_6, Generation::newest)
CATCH_REGISTER_ENUM(CompatibleTimer, CompatibleTimer::do_bench, CompatibleTimer::inductor, CompatibleTimer::profiler)

namespace {

CommandLine parsed(const std::vector<std::string>& words) {
  CommandLine line;
  line.given = pace::args::parse(pace::benches::kernels::kernels_options(line), words);
  return line;
}

CommandLine checked(const std::vector<std::string>& words) { return pace::benches::kernels::parse_command_line(words); }

}  // namespace

TEST_CASE("short and long names, with values behind them or behind a sign") {
  const auto line = parsed({"--package", "m.pt2", "-p", "--times=3", "--repeat", "4", "--ncu", "--ncu_kernel_regex",
                            "triton.*", "--ncu-metrics=a,b", "--inputs", "(T([4], f32),)", "--device", "cuda:1"});
  CHECK(line.package == "m.pt2");
  CHECK(parsed({"-k"}).benchmark_kernels);
  CHECK(line.profile);
  CHECK_FALSE(line.all_configs);
  CHECK(line.times == 3);
  CHECK(line.repeat == 4);
  CHECK(line.ncu_options.kernel_regex == "triton.*");
  CHECK(line.ncu_options.metrics == "a,b");
  CHECK(line.inputs == "(T([4], f32),)");
  CHECK(line.device == "cuda:1");
  CHECK(parsed({"--benchmark-kernels", "--benchmark-all-configs"}).all_configs);
  CHECK(parsed({"-k", "--profile-bandwidth=triton_.*"}).profile_bandwidth == "triton_.*");
  CHECK(parsed({"--profile-bandwidth", "-k"}).profile_bandwidth == "");
  CHECK_FALSE(parsed({"-k"}).profile_bandwidth);
  CHECK(parsed({"-k", "--profile-bandwidth", "--profile-bandwidth-output", "b.txt"}).bandwidth_output == "b.txt");
  using pace::kernel::Category;
  CHECK(parsed({"-k", "--category", "sgemm=template,a=b=pointwise"}).categories ==
        pace::benches::kernels::Categories{{"sgemm", Category::template_}, {"a=b", Category::pointwise}});
  CHECK(parsed({}).times == 10);
  CHECK(parsed({}).repeat == 10);
}

TEST_CASE("invalid values") {
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--times", "0"}, "--times: invalid value '0'; expected a whole number from 1 to 1000000"},
           {{"--repeat", "0"}, "--repeat: invalid value '0'; expected a whole number from 1 to 1000000"},
           {{"--repeat", "many"}, "--repeat: invalid value 'many'"},
           {{"--device", "teapot"}, "--device: invalid value 'teapot'; expected cpu, cuda or cuda:NUMBER"},
           {{"--generation", "old"}, "--generation: invalid value 'old'; expected original, 2.6 or new"},
           {{"--kernel", "("}, "--kernel: invalid value '('; expected a regular expression"},
           {{"--kernel", std::string(20'000, '(') + std::string(20'000, ')')}, "of at most 256 characters"},
           {{"--kernel", "(a{8}){8}"}, "--kernel: invalid value '(a{8}){8}'"},
           {{"--kernel", "(a)\\1"}, "without back-references"},
           {{"-k", "--profile-bandwidth=a)(b"}, "--profile-bandwidth: invalid value 'a)(b'; expected a regular"},
           {{"-k", "--profile-bandwidth-output", "b"},
            "--profile-bandwidth-output goes together with --profile-bandwidth, which was not given"},
           {{"--category", "a=pointwise"}, "--category goes together with --benchmark-kernels (-k)"},
           {{"-k", "--category", "gemm=fast"},
            "--category: invalid value 'gemm=fast'; expected TEXT=CATEGORY, with commas between several; categories "
            "are "
            "foreach, persistent_reduction, pointwise, reduction, split_scan, template"},
           {{"-k", "--category", "=pointwise"}, "--category: invalid value '=pointwise'"},
           {{"-k", "--category", "a=pointwise,"}, "--category: invalid value 'a=pointwise,'"},
           {{"-k", "--category", "a=unknown"}, "--category: invalid value 'a=unknown'"},
           {{"--profile-bandwidth"}, "--profile-bandwidth goes together with --benchmark-kernels (-k)"},
           {{"--threads", "100000"}, "--threads: invalid value '100000'; expected a whole number from 1 to "},
           {{"--times", "2147483647"}, "--times: invalid value '2147483647'"},
           {{"--bandwidth-at-least", "1e-320"},
            "--bandwidth-at-least: invalid value '1e-320'; expected a number from 0.001 to 1"},
           {{"--times", "99999999999999999999"}, "--times: invalid value '99999999999999999999'"},
           {{"--bandwidth-at-least", "nan"}, "--bandwidth-at-least: invalid value 'nan'"},
           {{"--bandwidth-at-least", "70"}, "--bandwidth-at-least: invalid value '70'"},
           {{"--zebra"}, "--zebra"}}) {
    INFO(words.front());
    CHECK_THROWS_MATCHES(parsed(words), pace::InputError, MessageMatches(ContainsSubstring(message)));
  }
}

TEST_CASE("options that do not go together, or cannot be met, are refused") {
  const auto refuses = [](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), {"--package", "m.pt2"});
    INFO(words.back());
    CHECK_THROWS_MATCHES(checked(words), pace::Error, MessageMatches(ContainsSubstring(message)));
  };
  CHECK_THROWS_MATCHES(checked({}), pace::InputError, MessageMatches(ContainsSubstring("expected --package FILE.pt2")));
  refuses({"-c"}, "(-c) goes together with --benchmark-kernels (-k), which was not given");
  refuses({"--ncu-metrics", "a"}, "--ncu-metrics goes together with --ncu");
  refuses({"--ncu-kernel-regex", "a"}, "--ncu-kernel-regex goes together with --ncu");
  refuses({"-k", "--output-directory", "a"},
          "--output-directory goes together with --profile (-p), --cuda-memory-snapshot, --ncu or "
          "--count-bytes, which was not given");
  refuses({"--kernel", "a"}, "--kernel goes together with --benchmark-kernels");
  refuses({"--kernels-at-most", "1"}, "--kernels-at-most goes together with --benchmark-kernels");
  refuses({"--generation", "2.6"}, "--generation goes together with --compat");
  for (const char* const other : {"--profile", "--cuda-memory-snapshot", "--ncu"})
    refuses({"-k", other}, std::string(other) +
                               " does not go together with --benchmark-kernels (-k): that lists kernels and does "
                               "nothing else");
  refuses({"-k", "--times", "3"}, "--times does not go together with");
  refuses({"--audit", "strict"}, "--audit is refused: one package is timed, and no outputs are compared");
  refuses({"-k", "--repeat", "3"}, "--repeat does not go together with");
  refuses({"-k", "--profile-bandwidth", "--csv", "k.out", "--profile-bandwidth-output", "./k.out"},
          "--csv and --profile-bandwidth-output name the same file, 'k.out'");
  refuses({"--html", "k.out", "--json", "./k.out"}, "--json and --html name the same file, './k.out'");
  refuses({"--csv", "k.out", "--json", "./k.out"}, "--csv and --json name the same file, 'k.out'");
  refuses({"--json", "./m.json"}, "--json: './m.json' is read, as the package or its record; expected another name");
  refuses({"--csv", "./m.pt2"}, "--csv: './m.pt2' is read, as the package or its record; expected another name");
}

TEST_CASE("an option that a generation has not is no option of it") {
  const auto as = [](const std::string& generation, const std::vector<std::string>& more) {
    std::vector<std::string> words{"--package", "m.pt2", "--compat", "--generation", generation};
    words.insert(words.end(), more.begin(), more.end());
    return checked(words);
  };
  CHECK_THROWS_MATCHES(
      as("original", {"--ncu"}), pace::InputError,
      MessageMatches(ContainsSubstring("--ncu is not an option of the original form; expected --generation "
                                       "2.6 or new")));
  CHECK_THROWS_MATCHES(as("2.6", {"--times", "3"}), pace::InputError,
                       MessageMatches(ContainsSubstring("--times is not an option of PyTorch 2.6; expected "
                                                        "--generation new")));
  CHECK(as("2.6", {"--ncu", "--cuda-memory-snapshot"}).as_of() == Generation::v2_6);
  CHECK(as("new", {"--times", "3", "--repeat", "2", "--ncu", "--ncu-metrics", "a"}).times == 3);
  CHECK(as("original", {"-k"}).as_of() == Generation::original);
  CHECK(checked({"--package", "m.pt2"}).as_of() == Generation::newest);
}

TEST_CASE("Nsight Compute's command line, around one run of this very program") {
  auto line = parsed({"--package", "m.pt2", "--ncu"});
  const std::vector<std::string> program{"me", "once"};
  CHECK(pace::benches::kernels::ncu_command({}, "/tmp/out.ncu-rep", program) ==
        std::vector<std::string>{"ncu", "--target-processes", "all", "--replay-mode", "kernel", "--kernel-name-base",
                                 "function", "--print-units", "base", "--import-source", "yes", "--force-overwrite",
                                 "--export", "/tmp/out.ncu-rep", "--set", "full", "me", "once"});
  const pace::benches::kernels::NcuOptions options{.kernel_regex = "triton_poi.*",
                                                   .metrics = "dram__bytes.sum,sm__cycles"};
  CHECK(pace::benches::kernels::ncu_command(options, "r", program) ==
        std::vector<std::string>{"ncu",
                                 "--target-processes",
                                 "all",
                                 "--replay-mode",
                                 "kernel",
                                 "--kernel-name-base",
                                 "function",
                                 "--print-units",
                                 "base",
                                 "--import-source",
                                 "yes",
                                 "--force-overwrite",
                                 "--export",
                                 "r",
                                 "--kernel-name",
                                 "regex:triton_poi.*",
                                 "--metrics",
                                 "dram__bytes.sum,sm__cycles",
                                 "me",
                                 "once"});
  CHECK(pace::benches::kernels::once_command("/bin/kernels", line) ==
        std::vector<std::string>{"/bin/kernels", "--package", "m.pt2", "--compat", "--times", "1", "--repeat", "1"});
  line = parsed({"--package", "m.pt2", "--model", "b", "--inputs", "(T([1], f32),)", "--device", "cuda:1", "--threads",
                 "2", "--benchmark-name", "mine", "--ncu", "--times", "9"});
  CHECK(pace::benches::kernels::once_command("p", line) ==
        std::vector<std::string>{"p", "--package", "m.pt2", "--model", "b", "--inputs", "(T([1], f32),)", "--device",
                                 "cuda:1", "--benchmark-name", "mine", "--threads", "2", "--compat", "--times", "1",
                                 "--repeat", "1"});
}

TEST_CASE("names that match, also where there are very many ways to match") {
  const auto matches = [](const std::string& pattern, const std::string& name) {
    return pace::benches::kernels::NameFilter::parse(pattern).value()(name);
  };
  CHECK(matches("^triton_(poi|red)_\\w+\\d{1,3}$", "triton_poi_fused_add_12"));
  CHECK_FALSE(matches("^triton_(poi|red)_\\w+\\d{1,3}$", "triton_per_fused_add_12"));
  CHECK(matches("gemm", "sm90_xmma_gemm_f32"));
  CHECK(matches("at::native|^gemm", "void at::native::reduce_kernel<512, 1>"));
  CHECK_FALSE(matches("native$|^gemm", "void at::native::gemm<512, 1>"));
  CHECK(matches("", "gemm"));
  using pace::benches::kernels::NameFilter;
  const auto at_start = NameFilter::parse("gemm|red", NameFilter::Where::at_start).value();
  CHECK(at_start("gemm_f32"));
  CHECK(at_start("reduce"));
  CHECK_FALSE(at_start("sm90_gemm"));
  CHECK_FALSE(NameFilter::parse("a)(b", NameFilter::Where::at_start).has_value());
  CHECK_FALSE(pace::benches::kernels::NameFilter::parse("a)(b").has_value());
  CHECK_FALSE(matches("(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*x$", std::string(200, 'a')));
  CHECK_FALSE(matches("(a|a)*b", std::string(2000, 'a')));
}

TEST_CASE("which of PyTorch's timers times each kernel") {
  const auto timer = [](const std::vector<std::string>& words) {
    return pace::benches::kernels::timer_of(parsed(words));
  };
  CHECK_FALSE(timer({"-k"}));
  CHECK(timer({"-k", "--compat"}) == CompatibleTimer::inductor);
  CHECK(timer({"-k", "--compat", "--generation", "2.6"}) == CompatibleTimer::do_bench);
  CHECK(timer({"-k", "--compat", "--generation", "original"}) == CompatibleTimer::do_bench);
  CHECK_THROWS_WITH(checked({"--package", "m.pt2", "-k", "--profile-bandwidth", "--profile-bandwidth-with-profiler"}),
                    ContainsSubstring("--profile-bandwidth-with-profiler goes together with --compat"));
  CHECK(timer({"-k", "--compat", "--profile-bandwidth", "--profile-bandwidth-with-profiler"}) ==
        CompatibleTimer::profiler);
}

TEST_CASE("a program is looked for in the folders of PATH") {
  CHECK(pace::benches::kernels::is_in_path("sh", "/nowhere:/bin"));
  CHECK_FALSE(pace::benches::kernels::is_in_path("sh", "/nowhere"));
  CHECK_FALSE(pace::benches::kernels::is_in_path("sh", ""));
  CHECK_FALSE(pace::benches::kernels::is_in_path("sh", nullptr));
}
