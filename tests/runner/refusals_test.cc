// The messages of the program for a command line that it refuses, whole and once, to be read as a user reads them.
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/runner/run_program.hpp"

namespace {

/// Each command line behind a `$`, and the program's message for it.
std::string refused(const std::vector<std::string>& command_lines) {
  std::string text;
  for (const auto& each : command_lines) {
    // A machine may have a GPU.
    const auto program = program::run(each, "CUDA_VISIBLE_DEVICES=");
    CAPTURE(each);
    CHECK(program.code == 1);
    text += "$ " + each + '\n' + program.err;
  }
  return text;
}

TEST_CASE("counters are names of counters, each at most once") {
  const std::string expected =
      "; expected names of counters: cycles, instructions, branches, branch_misses, cache_references, cache_misses, "
      "page_faults, dram_bytes, l2_hit_rate, sm_active, tensor_active, occupancy\n";
  for (const std::string value : {"cycles,cycle", "cycles,cycles", "cycles,", ",cycles"})
    CHECK(refused({"--counters " + value}) ==
          "$ --counters " + value + "\npace: --counters: invalid value '" + value + "'" + expected);
}

TEST_CASE("refused values of options say these texts, word for word") {
  CHECK(refused({"--budget 1s", "--max-rounds 0", "--confidence 95", "--operands mine", "--csv",
                 "--allow-undecided perhaps", "--clock sundial", "--mode-share 11", "--no-table=yes"}) ==
        R"($ --budget 1s
pace: --budget: invalid value '1s'; expected a number of seconds from 0.000000001 to 1000000, such as 0.5
$ --max-rounds 0
pace: --max-rounds: invalid value '0'; expected a whole number from 1 to 10000000
$ --confidence 95
pace: --confidence: invalid value '95'; expected a number from 0.01 to 0.999999, such as 0.95
$ --operands mine
pace: --operands: invalid value 'mine'; expected crossover, fixed or shared
$ --csv
pace: --csv: expected a value after it: a file name
$ --allow-undecided perhaps
pace: --allow-undecided: invalid value 'perhaps'; expected on or off
$ --clock sundial
pace: --clock: invalid value 'sundial'; expected graph, hot, cold, host, profiler, wall or automatic
$ --mode-share 11
pace: --mode-share: invalid value '11'; expected a number from 0.001 to 10, or 0
$ --no-table=yes
pace: --no-table: takes no value, found 'yes'
)");
}

TEST_CASE("options that do not go together say these texts, word for word") {
  CHECK(refused({"--list --dry-run", "--no-table --verbose", "--list --json a.json", "--list --case x",
                 "--dry-run -r compact", "--suite-alpha 0.01 --alpha 0.001", "--suite-alpha 0.01 --baseline a.json",
                 "--suite-alpha 0.01 --processes 2", "--suite-alpha 0.01 --resume --json a.json"}) ==
        R"($ --list --dry-run
pace: --list does not go together with --dry-run: each of them prints and ends
$ --no-table --verbose
pace: --no-table does not go together with --verbose: that one asks for a longer table
$ --list --json a.json
pace: --list: does not go with --json, since no result is written; expected one of them
$ --list --case x
pace: --list: does not go with --case, which chooses among the names that are listed; expected one of them
$ --dry-run -r compact
pace: --dry-run: does not go with Catch2's --reporter and --out, since no assertion is reported
$ --suite-alpha 0.01 --alpha 0.001
pace: --suite-alpha does not go with --alpha, which gives each comparison an error rate of its own; expected one of them
$ --suite-alpha 0.01 --baseline a.json
pace: --suite-alpha does not go with --baseline, whose gates spend the error rate of each comparison; )"
        R"(expected one of them
$ --suite-alpha 0.01 --processes 2
pace: --suite-alpha does not go with --processes, whose gates on a speed-up over the baseline spend the error rate of )"
        R"(each comparison; expected one of them
$ --suite-alpha 0.01 --resume --json a.json
pace: --suite-alpha does not go with --resume, since the earlier run may have spent any part of that rate; expected )"
        R"(one of them
)");
  CHECK(refused({"--call-timeout 5", "--isolate sides --threads 2", "--baseline-margin 1.1", "--process-spread 0.01",
                 "--baseline-expires 7", "--clock graph", "--mode-share 0.1", "--energy", "--lock-gpu-clocks max",
                 "--lock-gpu-clocks highest", "--processes 2 --save-baseline a.json", "--processes 2 --stop decided",
                 "--processes 2 --resume --json a.json", "--processes 2 -r compact"}) ==
        R"($ --call-timeout 5
pace: --call-timeout has no meaning where the tests run in this process; expected --isolation on beside it
$ --isolate sides --threads 2
pace: --isolate sides: does not go with --threads 2, since a process cannot be copied together with the threads of )"
        R"(its pool; expected --threads 1
$ --baseline-margin 1.1
pace: --baseline-margin: has no meaning without --baseline FILE; expected both or neither
$ --process-spread 0.01
pace: --process-spread: has no meaning without --baseline FILE; expected both or neither
$ --baseline-expires 7
pace: --baseline-expires: has no meaning without --save-baseline FILE; expected both or neither
$ --clock graph
pace: --clock graph has no meaning on a CPU: there is no GPU that this program can use
$ --mode-share 0.1
pace: --mode-share has no meaning on a CPU: there is no GPU that this program can use
$ --energy
pace: --energy has no meaning on a CPU: there is no GPU that this program can use
$ --lock-gpu-clocks max
pace: --lock-gpu-clocks has no meaning on a CPU: there is no GPU that this program can use
$ --lock-gpu-clocks highest
pace: --lock-gpu-clocks: invalid value 'highest'; expected base, max, or a whole number of MHz from 100 to 10000
$ --processes 2 --save-baseline a.json
pace: --processes: does not go with --baseline and --save-baseline, since the gates decide how many processes there )"
        R"(are; expected a fixed number of runs, each with --save-baseline FILE
$ --processes 2 --stop decided
pace: --processes: does not go with --stop decided, since all processes together decide the gates, and each spends )"
        R"(its budget; expected --stop budget, or no --stop
$ --processes 2 --resume --json a.json
pace: --processes: does not go with --resume; expected one of them
$ --processes 2 -r compact
pace: --processes: does not go with Catch2's --reporter and --out; expected --junit FILE, which is written for each )"
        R"(process
)");
}

}  // namespace
