// The options of benches/kernels, and what does not go together.
#include "benches/kernels/asked.hpp"
#include "benches/kernels/ncu.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using pace::benches::Generation;
using pace::benches::KernelsLine;

namespace {

KernelsLine parsed(const std::vector<std::string>& words) {
  KernelsLine line;
  const auto options = pace::benches::kernels_options(line);
  pace::benches::parse_options("kernels", words, options);
  return line;
}

KernelsLine checked(const std::vector<std::string>& words) {
  auto line = parsed(words);
  pace::benches::check(line);
  return line;
}

}  // namespace

TEST_CASE("short and long names, with values behind them or behind a sign") {
  const auto line = parsed({"--package", "m.pt2", "-k", "-p", "--times=3", "--repeat", "4", "--ncu", "--ncu_kernel_regex",
                            "triton.*", "--ncu-metrics=a,b", "--inputs", "(T([4], f32),)", "--device", "cuda:1"});
  CHECK(line.package == "m.pt2");
  CHECK(line.benchmark_kernels);
  CHECK(line.profile);
  CHECK_FALSE(line.all_configs);
  CHECK(line.times == 3);
  CHECK(line.repeat == 4);
  CHECK(line.ncu_asked.kernel_regex == "triton.*");
  CHECK(line.ncu_asked.metrics == "a,b");
  CHECK(line.inputs == "(T([4], f32),)");
  CHECK(line.device == "cuda:1");
  CHECK(parsed({"--benchmark-kernels", "--benchmark-all-configs"}).all_configs);
  CHECK(parsed({}).times == 10);
  CHECK(parsed({}).repeat == 10);
}

TEST_CASE("values that do not do") {
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--times", "0"}, "--times: '0' does not do; expected a whole number above 0"},
           {{"--repeat", "0"}, "--repeat: '0' does not do; expected a whole number above 0"},
           {{"--repeat", "many"}, "--repeat: 'many' does not do"},
           {{"--device", "teapot"}, "--device: 'teapot' does not do; expected cpu, cuda or cuda:NUMBER"},
           {{"--generation", "old"}, "--generation: 'old' does not do; expected original, 2.6 or new"},
           {{"--kernel", "("}, "--kernel: '(' does not do; expected a regular expression"},
           {{"--bandwidth-at-least", "70"}, "--bandwidth-at-least: '70' does not do"},
           {{"--zebra"}, "--zebra"}}) {
    INFO(words.front());
    CHECK_THROWS_MATCHES(parsed(words), pace::InputError, MessageMatches(ContainsSubstring(message)));
  }
}

TEST_CASE("what does not go together, and what cannot be") {
  const auto refuses = [](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), {"--package", "m.pt2"});
    INFO(words.back());
    CHECK_THROWS_MATCHES(checked(words), pace::Error, MessageMatches(ContainsSubstring(message)));
  };
  CHECK_THROWS_MATCHES(checked({}), pace::InputError, MessageMatches(ContainsSubstring("expected --package FILE.pt2")));
  refuses({"-c"}, "(-c) goes together with --benchmark-kernels (-k), which was not given");
  refuses({"--ncu-metrics", "a"}, "--ncu-metrics goes together with --ncu");
  refuses({"--ncu-kernel-regex", "a"}, "--ncu-kernel-regex goes together with --ncu");
  refuses({"--kernel", "a"}, "--kernel goes together with --benchmark-kernels");
  refuses({"--kernels-at-most", "1"}, "a limit of kernels goes together with --benchmark-kernels");
  refuses({"--generation", "2.6"}, "--generation goes together with --compat");
}

TEST_CASE("an option that a generation has not is no option of it") {
  const auto as = [](const std::string& generation, const std::vector<std::string>& more) {
    std::vector<std::string> words{"--package", "m.pt2", "--compat", "--generation", generation};
    words.insert(words.end(), more.begin(), more.end());
    return checked(words);
  };
  CHECK_THROWS_MATCHES(as("original", {"--ncu"}), pace::InputError,
                       MessageMatches(ContainsSubstring("--ncu is not an option of the original form; expected --generation "
                                                        "2.6 or new")));
  CHECK_THROWS_MATCHES(as("2.6", {"--times", "3"}), pace::InputError,
                       MessageMatches(ContainsSubstring("--times is not an option of PyTorch 2.6; expected "
                                                        "--generation new")));
  CHECK(as("2.6", {"--ncu", "--cuda-memory-snapshot"}).as_of() == Generation::v2_6);
  CHECK(as("new", {"--times", "3", "--repeat", "2", "--ncu", "--ncu-metrics", "a"}).times == 3);
  CHECK(as("original", {"-k", "-p"}).as_of() == Generation::original);
  CHECK(checked({"--package", "m.pt2"}).as_of() == Generation::newest);
}

TEST_CASE("Nsight Compute's command line, around one run of this very program") {
  auto line = parsed({"--package", "m.pt2", "--ncu"});
  const std::vector<std::string> program{"me", "once"};
  CHECK(pace::benches::ncu_command({}, "/tmp/out.ncu-rep", program) ==
        std::vector<std::string>{"ncu", "--target-processes", "all", "--replay-mode", "kernel", "--kernel-name-base",
                                 "function", "--print-units", "base", "--import-source", "yes", "--force-overwrite",
                                 "--export", "/tmp/out.ncu-rep", "--set", "full", "me", "once"});
  const pace::benches::NcuAsked asked{.kernel_regex = "triton_poi.*", .metrics = "dram__bytes.sum,sm__cycles"};
  CHECK(pace::benches::ncu_command(asked, "r", program) ==
        std::vector<std::string>{"ncu", "--target-processes", "all", "--replay-mode", "kernel", "--kernel-name-base",
                                 "function", "--print-units", "base", "--import-source", "yes", "--force-overwrite",
                                 "--export", "r", "--kernel-name", "regex:triton_poi.*", "--metrics",
                                 "dram__bytes.sum,sm__cycles", "me", "once"});
  CHECK(pace::benches::once_command("/bin/kernels", line) ==
        std::vector<std::string>{"/bin/kernels", "--package", "m.pt2", "--times", "1", "--repeat", "1"});
  line = parsed({"--package", "m.pt2", "--model", "b", "--inputs", "(T([1], f32),)", "--device", "cuda:1", "--threads", "2",
                 "--benchmark-name", "mine", "--ncu", "--times", "9"});
  CHECK(pace::benches::once_command("p", line) ==
        std::vector<std::string>{"p", "--package", "m.pt2", "--model", "b", "--inputs", "(T([1], f32),)", "--device",
                                 "cuda:1", "--benchmark-name", "mine", "--threads", "2", "--times", "1", "--repeat", "1"});
}

TEST_CASE("a program is looked for in the folders of PATH") {
  CHECK(pace::benches::is_in_path("sh", "/nowhere:/bin"));
  CHECK_FALSE(pace::benches::is_in_path("sh", "/nowhere"));
  CHECK_FALSE(pace::benches::is_in_path("sh", ""));
  CHECK_FALSE(pace::benches::is_in_path("sh", nullptr));
}
