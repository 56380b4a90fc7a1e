// The models' bench as a program, with models that hang, crash and eat memory: rows, messages and exit codes.
// All cases are runs of one program, and share the code that starts it and reads its files.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benches/models/driver/comparisons.hpp"
#include "benches/models/driver/json_record.hpp"
#include "benches/models/driver/status_row.hpp"
#include "pace/os/folders.hpp"
#include "pace/os/memory.hpp"
#include "pace/os/process.hpp"
#include "pace/report/csv_text.hpp"
#include "tests/models/processes.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using namespace pace::benches::models;
using pace::test::Scratch;
using Strings = std::vector<std::string>;

struct Variable {
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

std::string program() {
  const char* const given = std::getenv("FAKE_MODELS");
  return given == nullptr ? "tests/models/fake_models" : given;
}

struct Bench {
  Scratch scratch;
  const Variable hung{"FAKE_MODELS_HUNG", scratch / "hung"};
  int code = -1;
  /// The output of it and its processes, in whatever order both streams came.
  std::string printed;

  /// Results go into r.csv unless told otherwise. `script`: of a shell whose arguments are the program and its words.
  int run(Strings words, bool into_one = true, const std::string& script = {}) {
    if (into_one) words.push_back("--output=" + (scratch / "r.csv"));
    words.insert(words.begin(), program());
    if (!script.empty()) words.insert(words.begin(), {"/bin/bash", "-o", "pipefail", "-c", script});
    printed.clear();
    const auto status =
        pace::detail::run_process(words, [&](std::string_view line) { printed += std::string(line) + '\n'; });
    CAPTURE(printed);
    REQUIRE(status.signal == 0);
    return code = status.code;
  }
  int performance(Strings words, bool into_one = true, const std::string& script = {}) {
    words.insert(words.begin(), {"--performance", "--inference"});
    return run(words, into_one, script);
  }
  int accuracy(Strings words) {
    words.insert(words.begin(), {"--accuracy", "--inference"});
    return run(words);
  }
  [[nodiscard]] std::string csv() const { return scratch.read("r.csv"); }
  /// Lines of the log that the fake models write.
  [[nodiscard]] Strings log() const {
    std::istringstream lines(scratch.read("log"));
    Strings all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
  }
};

const std::string header =
    "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,eager_peak_mem,"
    "dynamo_peak_mem,status,result\n";
const std::string good_figures = ",4,2.000000,10.000000,3.000000,0.500000,1.000000,2.000000,pass,passed\n";

TEST_CASE("each model has a process, a line and a row") {
  Bench bench;
  CHECK(bench.performance({"-k", "good|better", "--progress", "--print-memory", "--print-compilation-time"}) == 0);
  CHECK(bench.csv() == header + "cpu,better" + good_figures + "cpu,good" + good_figures);
  CHECK_THAT(bench.printed, ContainsSubstring("Running model 1/2\ncpu  eval  better                             "));
  CHECK_THAT(
      bench.printed,
      ContainsSubstring("2.000x\nmemory: eager: 1.00 GB, dynamo: 2.00 GB, ratio: 0.50\nCompilation time: 3.00\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("Running model 2/2\ncpu  eval  good                               "));
  CHECK_THAT(bench.printed, ContainsSubstring("speedup             gmean=2.00x mean=2.000x\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("compilation_latency mean=3.000 seconds\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("  cnn    2.00x    1 of 1 ran\n  other  2.00x    1 of 1 ran\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("log of good\n"));
  // The files of an earlier run are gone, unless they are to stay.
  CHECK(bench.performance({"-k", "good"}) == 0);
  CHECK(bench.csv() == header + "cpu,good" + good_figures);
  CHECK(bench.performance({"-k", "better", "--retain-output", "--quiet"}) == 0);
  CHECK(bench.csv() == header + "cpu,good" + good_figures + "cpu,better" + good_figures);
  CHECK_THAT(bench.printed, !ContainsSubstring("log of better"));
}

TEST_CASE("several back ends have a file each, and several devices a row each") {
  Bench bench;
  const auto folder = "--output-directory=" + (bench.scratch / "new");
  CHECK(bench.performance(
            {"-k^good$", "--backend=torchscript,aot_inductor", "--device=cpu,cuda", "--dump-raw-metrics", folder},
            false) == 0);
  CHECK(bench.scratch.read("new/speedup_aot_inductor.csv") ==
        header + "cpu,good" + good_figures + "cuda,good" + good_figures);
  CHECK(pace::report::read_csv(bench.scratch / "new/speedup_torchscript.csv").number(0, "speedup") == 1);
  CHECK(bench.scratch.has("new/speedup_torchscript.json"));
  CHECK(bench.scratch.has("new/speedup_torchscript-raw_timings-good-cuda.npy"));
  CHECK_THAT(bench.printed, ContainsSubstring("cuda eval  good                               aot_inductor: 2.000x\n"));
  CHECK(bench.performance({"-k^good$", "--backend=torchscript,aot_inductor", "--tag=t"}) == 0);
  CHECK_THAT(bench.csv(), ContainsSubstring(",pass,passed,aot_inductor\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("Summary for tag=t:\n\nSummary for backend=torchscript:\n"));
}

TEST_CASE("a model that the YAML file skips on one device has its rows of the others") {
  Bench bench;
  const auto config = "--config=" + bench.scratch.write("m.yaml", "skip:\n  device:\n    cpu: [good]\n");
  CHECK(bench.performance({"-k^good$", "-k^better$", "--device=cpu,cuda", "--verbose", config}) == 0);
  CHECK_THAT(bench.csv(), ContainsSubstring("cuda,good") && ContainsSubstring("cpu,better") &&
                              ContainsSubstring("cuda,better") && !ContainsSubstring("cpu,good"));
  CHECK_THAT(bench.printed, ContainsSubstring("pace: good on cpu is skipped by skip.device.cpu\n"));
  // Models that nobody asked for are not missing from an earlier run.
  CHECK(bench.performance({"-k^good$", "-k^better$", "--device=cpu,cuda", "--verbose", "--resume", config}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("2 models of the earlier run kept"));
}

TEST_CASE("a model that hangs is ended, with all that it has started") {
  Bench bench;
  CHECK(bench.performance({"-k", "hangs", "--timeout=2000", "--device=cuda,cpu"}) == 0);
  CHECK(bench.csv() == header + "cuda,hangs" + good_figures + "cpu,hangs,0,0.000000,0.000000,0,0,0,0,timeout,failed\n");
  CHECK_THAT(bench.printed, ContainsSubstring("pace: hangs: timed out after 2000 s\n"));

  const Variable pid("FAKE_MODELS_PID", bench.scratch / "pid");
  CHECK(bench.performance({"-k", "forks", "--timeout=2000"}) == 42);
  pace::test::wait_for_end_of(bench.scratch.read("pid"));

  CHECK(bench.accuracy({"-k", "hangs", "--timeout=2000", "--gate"}) == 42);
  CHECK(bench.csv() == "dev,name,batch_size,accuracy,result\ncpu,hangs,0,timeout,failed\n");
}

TEST_CASE("one that crashes, ends, vanishes or is killed has a row that says so") {
  Bench bench;
  CHECK(bench.performance({"-k", "crashes|exits|vanishes|is_killed|good"}) == 0);
  CHECK(bench.csv() == header + "cpu,crashes,0,0.000000,0.000000,0,0,0,0,fail_to_run,failed\n" +
                           "cpu,exits,0,0.000000,0.000000,0,0,0,0,fail_to_run,failed\n" + "cpu,good" + good_figures +
                           "cpu,is_killed,0,0.000000,0.000000,0,0,0,0,OOM,failed\n" +
                           "cpu,vanishes,0,0.000000,0.000000,0,0,0,0,fail_to_run,failed\n");
  CHECK_THAT(bench.printed,
             ContainsSubstring("pace: crashes: its process was killed by signal 11 (Segmentation fault)\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("pace: exits: its process ended with exit code 7\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("pace: vanishes: its process ended without a result\n"));
  CHECK_THAT(
      bench.printed,
      ContainsSubstring("pace: is_killed: its process was killed by signal 9 (Killed), as the system does when memory "
                        "runs out\n"));
  // The reason is in the records.
  CHECK_THAT(bench.scratch.read("r.json"), ContainsSubstring("\"message\":\"its process ended with exit code 7\""));
  CHECK(bench.performance({"-k", "crashes|good", "--gate"}) == 42);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: 1 row failed\n"));
}

TEST_CASE("memory is limited, and what runs out of it is a row") {
  if (!pace::limit_on_data()) SKIP("a sanitizer has reserved more than there is, and a limit counts that");
  Bench bench;
  CHECK(bench.performance({"-k", "eats|runs_out|throws", "--memory-limit=0.3"}) == 42);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: nothing was measured: 3 rows failed\n"));
  CHECK(bench.csv() ==
        "dev,name,batch_size,speedup,abs_latency,status,result\ncpu,eats,0,0.000000,0.000000,OOM,failed\n"
        "cpu,runs_out,0,0.000000,0.000000,OOM,failed\ncpu,throws,0,0.000000,0.000000,fail_to_run,failed\n");
  CHECK_THAT(bench.printed,
             ContainsSubstring("cpu  eval  eats                               failed: no memory was left\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("cpu  eval  throws                             failed: it throws\n"));
}

TEST_CASE("with --compat there are torchbench's columns, and no row of a process that failed") {
  Bench bench;
  CHECK(bench.performance({"-k", "crashes|hangs", "--compat", "--timeout=2000"}) == 0);
  CHECK(bench.csv() == "dev,name,batch_size,speedup,abs_latency\ncpu,hangs,0,0.000000,0.000000\n");
  CHECK_THAT(bench.printed, ContainsSubstring("pace: crashes: its process was killed by signal 11"));
  CHECK(bench.run({"--tolerance", "--inference", "-k", "hangs", "--compat", "--timeout=2000"}) == 0);
  CHECK(bench.csv() == "dev,name,batch_size,max\ncpu,hangs,0,0.000000\n");
  CHECK(bench.accuracy({"-k", "differs", "--compat"}) == 0);
  CHECK(bench.csv() == "dev,name,batch_size,accuracy\ncpu,differs,4,fail_accuracy\n");
}

TEST_CASE("tolerances") {
  Bench bench;
  CHECK(bench.run({"--tolerance", "--inference", "-k", "good|hangs", "--device=cuda", "--quiet"}) == 0);
  CHECK(bench.csv() ==
        "dev,name,batch_size,max,mean,std,result\ncuda,good,4,0.500000,0.250000,0.125000,passed\n"
        "cuda,hangs,4,0.500000,0.250000,0.125000,passed\n");
  CHECK_THAT(
      bench.printed,
      ContainsSubstring("cuda eval  good                               max=0.500000, mean=0.250000, std=0.125000\n"));
}

TEST_CASE("gates: accuracy always, performance where it is asked for") {
  Bench bench;
  CHECK(bench.accuracy({"-k", "good"}) == 0);
  CHECK(bench.csv() == "dev,name,batch_size,accuracy,result\ncpu,good,4,pass,passed\n");
  CHECK(bench.accuracy({"-k", "differs"}) == 42);
  CHECK(bench.accuracy({"--only=differs"}) == 42);
  const auto expected =
      bench.scratch.write("m.yaml", "expected:\n  differs:\n    inference: {status: fail_accuracy, reason: r}\n");
  CHECK(bench.accuracy({"-k", "differs", "--config=" + expected}) == 0);
  CHECK(bench.performance({"-k", "throws|good"}) == 0);
  CHECK(bench.performance({"-k", "throws"}) == 42);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: nothing was measured: 1 row failed\n"));
  CHECK(bench.performance({"-k", "throws|good", "--gate"}) == 42);
  CHECK(bench.performance({"-k", "throws", "--no-slower-than=2"}) == 42);
  const Variable test("FAKE_TEST", "1");
  CHECK(bench.performance({"-k", "throws"}) == 42);
  CHECK(bench.performance({"-k", "good"}) == 0);
  CHECK(bench.performance({"--only=half"}) == 42);
}

TEST_CASE("rows that are undecided or could not be measured are told apart from those that passed or failed") {
  Bench bench;
  const Strings undecided{"-k", "^undecided$|^good$", "--no-slower-than=2"};
  const auto with = [](Strings words, const Strings& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  CHECK(bench.performance(undecided) == 43);
  CHECK_THAT(bench.printed,
             ContainsSubstring(
                 "pace: 1 guard was let through undecided: neither a regression nor its absence is proven (exit code "
                 "43; 0 with --allow-undecided on)\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("undecided: 2.000x\n"));
  const auto table = pace::report::read_csv(bench.scratch / "r.csv");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.text(0, "result") == "passed");
  CHECK(table.text(1, "result") == "undecided");
  // A model that is not run again has the result that it had.
  CHECK(bench.performance(with(undecided, {"--resume"})) == 43);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: 2 models of the earlier run kept\n"));
  CHECK(bench.performance(with(undecided, {"--allow-undecided=on"})) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("(allowed by --allow-undecided on)\n"));
  CHECK(bench.performance(with(undecided, {"--allow-undecided=on", "--allow-undecided", "off"})) == 43);
  CHECK(bench.performance({"--only=undecided", "--no-slower-than=2"}) == 43);
  CHECK(bench.performance({"-k", "undecided|throws", "--no-slower-than=2"}) == 42);

  CHECK(bench.performance({"-k", "no_device"}) == 4);
  CHECK(bench.csv() ==
        "dev,name,batch_size,speedup,abs_latency,status,result\n"
        "cpu,no_device,0,0.000000,0.000000,fail_to_run,unmeasured\n");
  CHECK_THAT(bench.printed,
             ContainsSubstring("no_device                          unmeasured: there is no such device\n"));
  CHECK_THAT(bench.printed,
             ContainsSubstring("pace: no implementation could be measured; nothing was measured (exit code 4; 0 with "
                               "--allow-unmeasured on)\n"));
  CHECK(bench.performance({"-k", "no_device", "--allow-unmeasured=on"}) == 0);
  CHECK(bench.performance({"-k", "no_device", "--gate"}) == 4);
  CHECK(bench.performance({"-k", "no_device", "--compat"}) == 0);
  CHECK(bench.performance({"-k", "no_device|good"}) == 0);
  CHECK(bench.performance({"-k", "no_device|good", "--gate", "--allow-unmeasured=on"}) == 42);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: 1 row failed, 1 of them since the model does not run here\n"));
  CHECK(bench.performance({"-k", "crashes", "--allow-unmeasured=on"}) == 42);
}

TEST_CASE("--model chooses models by their names, and each of these must run") {
  Bench bench;
  CHECK(bench.performance({"--model", "better", "--model=good"}) == 0);
  CHECK_THAT(bench.csv(), ContainsSubstring("cpu,better,4") && ContainsSubstring("cpu,good,4"));
  CHECK_THAT(bench.csv(), !ContainsSubstring("compares"));
  CHECK(bench.performance({"-k", "^good$", "-k", "^throws$"}) == 0);
  CHECK(bench.performance({"--model", "good", "--model", "throws"}) == 42);
  CHECK_THAT(bench.csv(), ContainsSubstring("cpu,good,4"));
  CHECK(bench.performance({"--model", "good", "--model", "throws", "--compat"}) == 0);
  CHECK(bench.run({"--list", "--model", "good"}, false) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("good") && !ContainsSubstring("better"));
  const auto refused = [&](const Strings& words, const std::string& message) {
    CHECK(bench.performance(words) == 1);
    CHECK_THAT(bench.printed, ContainsSubstring(message));
  };
  refused({"--model", "zebra"}, "--model: no model is called 'zebra', and there is no such file; there are better, ");
  refused({"--model", "good", "--model", "good"}, "--model: two models are called 'good'");
  refused({"--model", "good", "-k", "better"}, "--filter has no meaning here; expected no --model");
  refused({"--model", "good", "--inputs", "x"}, "--inputs has no meaning here; expected --model FILE");
  refused({"--model", "good", "--trust"}, "--trust has no meaning here; expected --model FILE");
  refused({"--model", "good", "--library", "x"}, "--library has no meaning here; expected --model FILE");
  refused({"--model", "good", "--only", "better"}, "--only: 'better' is none of --model; expected one of good");
  // Files are told from names by their ending, or by being there.
  refused({"--model", "a.pt", "--inputs", "x"}, "--model: this program runs no files");
  refused({"--model", "a.pt2:two", "--inputs", "x"}, "--model: this program runs no files");
  refused({"--model", bench.scratch.write("a.file", "x"), "--inputs", "x"}, "--model: this program runs no files");
  refused({"--model", "a.pt"}, "--inputs is missing, for a.pt");
  refused({"--model", "a.pt", "--model", "b.pt", "--model", "c.pt", "--inputs", "x", "--inputs", "y"},
          "--inputs: found 2 for 3 files of --model; expected one for all");
  refused({"--model", "a/a.pt", "--model", "b/a.pt", "--inputs", "x"}, "two models are called 'a.pt'");
}

TEST_CASE("--only runs in this process and adds to the file") {
  Bench bench;
  CHECK(bench.performance({"--only=good"}) == 0);
  CHECK(bench.performance({"--only", "better", "--batch-size=2"}) == 0);
  CHECK(bench.csv() == header + "cpu,good" + good_figures +
                           "cpu,better,2,2.000000,10.000000,3.000000,0.500000,1.000000,2.000000,pass,passed\n");
  CHECK_THAT(bench.printed, !ContainsSubstring("gmean"));
  CHECK(bench.performance({"--only=unknown"}) == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("pace: no model is called 'unknown'; there are better, compares, crashes,"));
  CHECK(bench.performance({"--only=throws"}) == 42);
  CHECK_THAT(bench.csv(), EndsWith("cpu,throws,0,0.000000,0.000000,0,0,0,0,fail_to_run,failed\n"));
}

TEST_CASE("a run goes on from an interrupted one") {
  Bench bench;
  const Variable log("FAKE_MODELS_LOG", bench.scratch / "log");
  const Strings all{"-k", "better|good|interrupts|throws"};
  CHECK(bench.performance(all) == 128 + 2);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: interrupted; the rows so far are in " + (bench.scratch / "r.csv") +
                                              ", and --resume goes on\n"));
  CHECK(bench.csv() == header + "cpu,better" + good_figures + "cpu,good" + good_figures);
  CHECK(bench.log().size() == 3);

  CHECK(bench.performance({"-k", "better|good|throws", "--resume"}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: 2 models of the earlier run kept\n"));
  CHECK(bench.csv() == header + "cpu,better" + good_figures + "cpu,good" + good_figures +
                           "cpu,throws,0,0.000000,0.000000,0,0,0,0,fail_to_run,failed\n");
  CHECK(bench.log().size() == 4);
  // The rest of a row is no row.
  const auto whole = bench.csv();
  std::filesystem::resize_file(bench.scratch / "r.csv", whole.size() - 8);
  CHECK(bench.performance({"-k", "better|good|throws", "--resume"}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: 2 models of the earlier run kept\n"));
  CHECK(bench.csv() == whole);
  CHECK(bench.log().size() == 5);
  // One that failed then fails a gate now, without being run again.
  CHECK(bench.performance({"-k", "good|throws", "--resume", "--gate"}) == 42);
  CHECK(bench.log().size() == 5);
  CHECK(bench.performance({"-k", "good", "--resume", "--gate"}) == 0);

  CHECK(bench.performance({"-k", "good", "--resume", "--repeat=7"}) == 1);
  CHECK_THAT(
      bench.printed,
      ContainsSubstring(
          "r.json:1: --resume: the earlier run had other options (--repeat: nothing there, '7' here); give the same, "
          "or write to another file\n"));
  CHECK(bench.performance({"-k", "good", "--resume", "--device=cuda"}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("(--devices: \"cpu\" there, 'cuda' here)"));
  {
    const Variable machine("FAKE_MACHINE", "another");
    CHECK(bench.performance({"-k", "good", "--resume"}) == 1);
    CHECK_THAT(bench.printed, ContainsSubstring("machine: \"mine\" there, 'another' here"));
  }
  // A line cut off in the middle does no harm; a file that is no record at all does.
  const std::string records = bench.scratch.read("r.json");
  (void)bench.scratch.write("r.json", records.substr(0, records.size() - 9));
  CHECK(bench.performance({"-k", "good", "--resume"}) == 0);
  const std::size_t first = records.find('\n') + 1;
  for (const std::string& line : {std::string("{}"), std::string(1'000'000, '[')}) {
    (void)bench.scratch.write("r.json", records.substr(0, first) + line + '\n' + records.substr(first));
    CHECK(bench.performance({"-k", "good", "--resume"}) == 1);
    CHECK_THAT(bench.printed, ContainsSubstring("r.json:2: --resume: expected a record of the earlier run"));
  }
  ::unlink((bench.scratch / "r.json").c_str());
  CHECK(bench.performance({"-k", "good", "--resume"}) == 1);
  CHECK_THAT(
      bench.printed,
      ContainsSubstring("r.json: --resume: expected the records of the earlier run, with its options; found none"));
  CHECK(bench.log().size() == 5);
  // Where there is nothing yet, everything is run.
  ::unlink((bench.scratch / "r.csv").c_str());
  CHECK(bench.performance({"-k", "good", "--resume"}) == 0);
  CHECK(bench.log().size() == 6);
}

TEST_CASE("records whose row a killed run has not written are written once") {
  Bench bench;
  const Strings words{"-k", "better|good", "--resume"};
  const auto goes_on_from = [&](const std::string& rows, const std::string& records, std::size_t kept) {
    CAPTURE(rows, kept);
    (void)bench.scratch.write("r.csv", rows);
    (void)bench.scratch.write("r.json", records);
    CHECK(bench.performance(words) == 0);
    CHECK((bench.printed.find("of the earlier run kept") != std::string::npos) == (kept > 0));
  };
  CHECK(bench.performance(words) == 0);
  const std::string rows = bench.csv(), records = bench.scratch.read("r.json");
  const auto is_whole = [&] {
    CHECK(bench.csv() == rows);
    CHECK(bench.scratch.read("r.json") == records);
  };
  goes_on_from(header + "cpu,better" + good_figures, records, 1);
  is_whole();
  goes_on_from("", records, 0);
  is_whole();
  // It was killed once more before the first row.
  goes_on_from("", "", 0);
  is_whole();
  ::unlink((bench.scratch / "r.csv").c_str());
  CHECK(bench.performance(words) == 0);
  is_whole();
}

TEST_CASE("a run that was killed between two rows of a model has each of them once") {
  Bench bench;
  const Strings words{"-k", "^good$", "--backend=torchscript,aot_inductor", "--resume"};
  CHECK(bench.performance(words) == 0);
  const std::string rows = bench.csv(), records = bench.scratch.read("r.json");
  (void)bench.scratch.write("r.csv", rows.substr(0, rows.rfind("cpu,good")));
  CHECK(bench.performance(words) == 0);
  CHECK(bench.csv() == rows);
  CHECK(bench.scratch.read("r.json") == records);
}

TEST_CASE("a run removes the folders that killed ones have left, and none that is in use") {
  Bench bench;
  const std::filesystem::path folder = bench.scratch / "tmp", used = folder / ".pace-models-Used01",
                              left = folder / ".pace-models-Left01";
  const Variable temporary("TMPDIR", folder);
  std::filesystem::create_directories(used);
  const pace::detail::FolderLock in_use(used);
  for (const Strings& words : {Strings{"-k", "good"}, {"-k", "good", "--resume"}}) {
    (void)bench.scratch.write("tmp/.pace-models-Left01/pace-Model1/rows", "text");
    CHECK(bench.performance(words) == 0);
    CHECK_FALSE(std::filesystem::exists(left));
    CHECK(std::filesystem::exists(used));
    // Its own has gone, too.
    CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  }
}

TEST_CASE("compile times are written for the models that compiled, also where nothing else is done") {
  Bench bench;
  const auto metrics = [&] { return bench.scratch.read("r_compilation_metrics.csv"); };
  const std::string columns = "dev,name,batch_size,backend,export_seconds,compile_seconds\n";
  const std::string better = "cpu,better,4,aot_inductor,0.500000,2.500000\n";
  CHECK(bench.performance({"-k", "better|interrupts"}) == 128 + 2);
  CHECK(metrics() == columns + better);
  CHECK(bench.performance({"-k", "better|good", "--resume"}) == 0);
  CHECK(metrics() == columns + better);
  CHECK(bench.performance({"-k", "good"}) == 0);
  CHECK_FALSE(bench.scratch.has("r_compilation_metrics.csv"));

  const std::string rows = bench.csv();
  CHECK(bench.performance({"-k", "good|throws", "--compile-only"}) == 42);
  CHECK(metrics() == columns + "cpu,good,4,aot_inductor,1.500000,3.500000\n");
  CHECK(bench.csv() == rows);
  CHECK(bench.performance({"-k", "good", "--compile-only", "--output-directory=" + (bench.scratch / "d")}, false) == 0);
  CHECK(bench.scratch.read("d/speedup_aot_inductor_compilation_metrics.csv") ==
        columns + "cpu,good,4,aot_inductor,1.500000,3.500000\n");
  for (const char* file : {"d/speedup_aot_inductor.csv", "d/speedup_aot_inductor.json"})
    CHECK_FALSE(bench.scratch.has(file));
  // Where no place is named there is no file.
  CHECK(bench.performance({"-k", "good", "--compile-only"}, false) == 0);
  CHECK_FALSE(std::filesystem::exists("speedup_aot_inductor_compilation_metrics.csv"));
}

TEST_CASE("a run goes on neither from one of another build nor from one with another file of the same name") {
  Bench bench;
  const auto config = bench.scratch.write("m.yaml", "");
  const Strings words{"-k", "good", "--config=" + config, "--resume"};
  CHECK(bench.performance(words) == 0);
  CHECK(bench.performance(words) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: 1 model of the earlier run kept\n"));
  (void)bench.scratch.write("m.yaml", "slow: [good]\n");
  CHECK(bench.performance(words) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("--resume: the earlier run had other options (content of --config: "));
  (void)bench.scratch.write("m.yaml", "");
  const std::string other = bench.scratch / "other_build";
  std::filesystem::copy_file(program(), other);
  {
    const Variable build("FAKE_MODELS", other);
    CHECK(bench.performance(words) == 0);
    std::ofstream(other, std::ios::app) << "another build";
    CHECK(bench.performance(words) == 1);
    CHECK_THAT(bench.printed, ContainsSubstring("--resume: the earlier run had other options (program: "));
  }
  CHECK(bench.performance({"-k", "good", "--config=" + config, "--resume", "--timeout=3"}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("(--timeout: nothing there, '3' here)"));
}

TEST_CASE("a run that cannot start leaves earlier results as they are") {
  Bench bench;
  CHECK(bench.performance({"-k", "good"}) == 0);
  const std::string csv = bench.csv(), records = bench.scratch.read("r.json");
  const auto is_kept = [&](const Strings& words, int code) {
    CAPTURE(words, bench.printed);
    CHECK(bench.performance(words) == code);
    CHECK(bench.csv() == csv);
    CHECK(bench.scratch.read("r.json") == records);
  };
  is_kept({"-k", "makes_no_sense"}, 1);
  is_kept({"-k", "zebra"}, 1);
  is_kept({"--baseline=/nowhere.csv"}, 1);
  is_kept({"--baseline=" + (bench.scratch / "r.csv")}, 1);
  is_kept({"-k", "interrupts"}, 128 + 2);
  CHECK_THAT(bench.printed,
             ContainsSubstring("pace: interrupted before the first row; results of earlier runs are as they were\n"));
}

TEST_CASE("a second run on the same file is refused while the first one lasts") {
  Bench bench;
  const Variable log("FAKE_MODELS_LOG", bench.scratch / "log");
  const Variable again("FAKE_MODELS_AGAIN", bench.scratch / "r.csv");
  CHECK(bench.performance({"-k", "runs_another|good"}) == 0);
  CHECK_THAT(
      bench.printed,
      ContainsSubstring("r.json': another run, or another option of this one, writes to it; expected a file of its "
                        "own for each\n"));
  CHECK(pace::report::read_csv(bench.scratch / "r.csv").rows.size() == 2);
}

TEST_CASE("what fits no file is said, and rows before it stay") {
  if (!pace::limit_on_data()) SKIP("a sanitizer has files of its own");
  Bench bench;
  CHECK(bench.performance({"-k", "good"}) == 0);
  const auto size = std::filesystem::file_size(bench.scratch / "r.json");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit limit{.rlim_cur = size + 100, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  const int code = bench.performance({"-k", "better|good"});
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(code == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("pace: good: cannot write '" + (bench.scratch / "r.json") + "': File too large\n"));
  CHECK(bench.csv() == header + "cpu,better" + good_figures);
  std::istringstream lines(bench.scratch.read("r.json"));
  for (std::string line; std::getline(lines, line);) CHECK(Json::accept(line));
  CHECK(bench.performance({"-k", "better|good", "--resume"}) == 0);
  CHECK(bench.csv() == header + "cpu,better" + good_figures + "cpu,good" + good_figures);
}

TEST_CASE("a reader of the output that goes away ends no run before its rows are there") {
  Bench bench;
  const std::string script = "exec 3> >(exec true); wait $!; exec \"$0\" \"$@\" >&3";
  CHECK(bench.performance({"-k", "good|better"}, true, script) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: not all that was printed could be written"));
  CHECK_THAT(bench.printed, !ContainsSubstring("its process "));
  CHECK(pace::report::read_csv(bench.scratch / "r.csv").rows.size() == 2);
}

TEST_CASE("no control character reaches the terminal") {
  Bench bench;
  CHECK(bench.performance({"-k",
                           "(\x1b[8m\xc2\x9b"
                           "2J"}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("(\\x1b[8m\\u009b2J"));
  CHECK(bench.performance({"--tag=\x1b]0;title\a", "-k", "good"}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("\\x1b]0;title\\x07"));
  CHECK_THAT(bench.printed, !ContainsSubstring("\x1b"));
}

TEST_CASE("an input may be a pipe, which the process of each model has, too") {
  Bench bench;
  const auto old = bench.scratch.write("old.csv", "dev,name,batch_size,speedup\ncpu,good,4,1.5\ncpu,better,4,1.6\n"),
             sizes = bench.scratch.write("sizes", "good,16\nbetter,32\n"),
             config = bench.scratch.write("m.yaml", "slow: [good]\n");
  // Unit tests wait for no pipe.
  const std::string program = "export PACE_PIPE_TIMEOUT=30; exec \"$0\" \"$@\"";
  for (const auto& [option, file] :
       {std::pair{"--config", config}, {"--batch-size-file", sizes}, {"--baseline", old}}) {
    CAPTURE(option);
    REQUIRE(bench.performance({"-k", "good|better", std::string(option) + '=' + file}) == 0);
    const std::string expected = bench.csv();
    (void)bench.performance({"-k", "good|better"}, true, program + ' ' + option + " <(cat " + file + ')');
    CAPTURE(bench.printed);
    CHECK(bench.code == 0);
    CHECK(bench.csv() == expected);
  }
  CHECK_THAT(bench.csv(), ContainsSubstring("1.600000"));
  const auto pipe = bench.scratch / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  (void)bench.performance({"-k", "good|better", "--baseline=" + pipe}, true,
                          "cat " + old + " > " + pipe + " & " + program);
  CAPTURE(bench.printed);
  CHECK(bench.code == 0);
  CHECK_THAT(bench.csv(), ContainsSubstring("1.600000"));
}

/// The folder of packages that a line of the log names.
std::string cache_of(const std::string& line) { return line.substr(line.find("cache=") + 6); }

TEST_CASE("cold start: packages of one's own for each model; warm start: twice on the same") {
  Bench bench;
  const Variable log("FAKE_MODELS_LOG", bench.scratch / "log");
  CHECK(bench.performance({"-k", "good|better", "--cold-start-latency"}) == 0);
  auto lines = bench.log();
  REQUIRE(lines.size() == 2);
  CHECK_FALSE(cache_of(lines[0]).empty());
  CHECK(cache_of(lines[0]) != cache_of(lines[1]));
  CHECK_FALSE(std::filesystem::exists(std::filesystem::path(cache_of(lines[0])).parent_path()));

  ::unlink((bench.scratch / "log").c_str());
  for (const Strings& words : {Strings{"-k", "good"}, Strings{"--only=good"}}) {
    CHECK(bench.performance({words[0], words.back(), "--warm-start-latency"}) == 0);
    lines = bench.log();
    REQUIRE(lines.size() == 2);
    CHECK_THAT(lines[0], StartsWith("good cpu repeat=1 "));
    CHECK_THAT(lines[1], StartsWith("good cpu repeat=30 "));
    CHECK(cache_of(lines[0]) == cache_of(lines[1]));
    CHECK(bench.csv() == header + "cpu,good" + good_figures);
    ::unlink((bench.scratch / "log").c_str());
    ::unlink((bench.scratch / "r.csv").c_str());
  }
  CHECK(bench.performance({"-k", "good"}) == 0);
  CHECK(cache_of(bench.log().at(0)) == "");
}

TEST_CASE("warm start: with options that concern files, the packages are filled, too") {
  for (const char* const option : {"--resume", "--retain-output", "--dump-raw-metrics"}) {
    CAPTURE(option);
    Bench bench;
    const Variable log("FAKE_MODELS_LOG", bench.scratch / "log");
    CHECK(bench.performance({"-k", "good", "--warm-start-latency", option}) == 0);
    const auto lines = bench.log();
    REQUIRE(lines.size() == 2);
    CHECK_THAT(lines[0], StartsWith("good cpu repeat=1 "));
    CHECK(cache_of(lines[0]) == cache_of(lines[1]));
  }
}

TEST_CASE("warm start: where the packages were not filled, nothing is measured cold in their place") {
  Bench bench;
  const Variable log("FAKE_MODELS_LOG", bench.scratch / "log");
  CHECK(bench.performance({"-k", "exits|good", "--warm-start-latency"}) == 0);
  REQUIRE(bench.log().size() == 3);
  CHECK_THAT(bench.log()[0], StartsWith("exits cpu repeat=1 "));
  CHECK_THAT(bench.log()[1], StartsWith("good cpu repeat=1 "));
  CHECK_THAT(bench.printed, ContainsSubstring("pace: exits: the first of its two processes ended with exit code 7\n"));
  // A cold row is none that a warm run goes on from.
  CHECK(bench.performance({"-k", "good", "--cold-start-latency"}) == 0);
  CHECK(bench.performance({"-k", "good", "--warm-start-latency", "--resume"}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("--resume: the earlier run had other options ("));
}

TEST_CASE("a standard output that is full or closed is no success, and rows are there") {
  for (const char* const script : {"\"$0\" \"$@\" >/dev/full", "\"$0\" \"$@\" >&-"}) {
    CAPTURE(script);
    Bench bench;
    CHECK(bench.performance({"-k", "good"}, true, script) == 1);
    CHECK_THAT(
        bench.printed,
        ContainsSubstring("pace: not all that was printed could be written: the standard output is closed or full\n"));
    CHECK(bench.csv() == header + "cpu,good" + good_figures);
    CHECK(bench.performance({"--only=good"}, true, script) == 1);
    // All that is printed comes from the process of the model.
    CHECK(bench.run({"--find-batch-sizes", "--inference", "-k", "good", "--output=" + (bench.scratch / "b.csv")}, false,
                    script) == 1);
    CHECK_THAT(bench.printed, !ContainsSubstring("its process ended"));
  }
}

TEST_CASE("a run that cannot start leaves no folder behind") {
  Bench bench;
  const std::string folder = bench.scratch / "new";
  CHECK(bench.performance({"-k", "makes_no_sense", "--output=" + folder + "/a/r.csv"}, false) == 1);
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("batch sizes from a file") {
  Bench bench;
  const auto file = bench.scratch.write("b.csv", "other,3\ngood,16\nbetter,-1\n");
  CHECK(bench.performance({"-k^good$", "--batch-size-file=" + file}) == 0);
  CHECK_THAT(bench.csv(), ContainsSubstring("cpu,good,16,"));
  CHECK(bench.performance({"-k^hangs$", "--device=cuda", "--batch-size-file=" + file}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("b.csv: no batch size for hangs; its own is taken\n"));
  CHECK(bench.performance({"-k^better$", "--batch-size-file=" + file}) == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("b.csv:3: no batch size was found for 'better' when the file was made\n"));
  // Before a model is run that has one.
  CHECK(bench.performance({"-k", "^good$|^better$", "--batch-size-file=" + file}) == 1);
  CHECK_THAT(bench.printed, !ContainsSubstring("eval"));
  const auto torn = bench.scratch.write("torn.csv", "good,16\n\nexits,x\n");
  CHECK(bench.performance({"-k^good$", "--batch-size-file=" + torn}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("torn.csv:3: expected 'name,size', a size above 0; found 'exits,x'\n"));
  CHECK(bench.performance({"-k^good$", "--batch-size-file=" + bench.scratch.write("none.csv", "\n")}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("none.csv: holds no lines; expected some such as 'resnet18,64'\n"));
  std::filesystem::create_directory(bench.scratch / "benchmarks");
  (void)bench.scratch.write("benchmarks/b.csv", "good,64\n");
  CHECK(bench.performance({"-k^good$", "--batch-size-file=" + file}) == 0);
  CHECK_THAT(bench.csv(), ContainsSubstring("cpu,good,64,"));
  // --find-batch-sizes writes such a file.
  CHECK(bench.run({"--find-batch-sizes", "--inference", "-k", "good|crashes", "--batch-size=32"}) == 0);
  CHECK(bench.csv() == "good,32\n");
}

TEST_CASE("an older file gives a line and two columns more") {
  Bench bench;
  const auto old = bench.scratch.write("old.csv", "dev,name,speedup\ncpu,good,1.0\n");
  CHECK(bench.performance({"-k", "good", "--baseline=" + old}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("1.000x -> 2.000x [2.000x]\n"));
  CHECK_THAT(bench.csv(),
             StartsWith("dev,name,batch_size,speedup,abs_latency,baseline,speedup_vs_baseline,compilation_latency"));
  CHECK_THAT(bench.csv(), ContainsSubstring("cpu,good,4,2.000000,10.000000,1.000000,2.000000,"));
}

TEST_CASE("paths that cannot be what they should be are found before a model is run") {
  Bench bench;
  const auto file = bench.scratch.write("file", "x"), folder = bench.scratch / "none";
  const auto refuses = [&](const Strings& words, const std::string& message) {
    CAPTURE(words, bench.printed);
    CHECK(bench.run(words, words.size() < 5) == 1);
    CHECK_THAT(bench.printed, ContainsSubstring(message));
    CHECK_THAT(bench.printed, !ContainsSubstring("eval  good"));
  };
  const std::string no_folder = "is no folder; expected one, or a name for a new one\n";
  const Strings performance{"--performance", "--inference", "-k^good$"};
  const auto with = [](Strings words, const std::string& more) { return words.push_back(more), words; };
  refuses(with(performance, "--packages=" + folder), "pace: " + folder + ": --packages: there is no such folder\n");
  refuses(with(performance, "--packages=" + file), "pace: " + file + ": --packages: is no folder; expected one of");
  refuses({"--performance", "--inference", "-k^good$", "--export-profiler-trace", "--profiler-trace-name=" + file},
          "--export-profiler-trace: " + no_folder);
  refuses(with(performance, "--snapshot-memory"), "pace: --snapshot-memory: expected --device cuda, found cpu\n");
  const Strings trains{"--performance", "--training", "--optimizer-code=fused"};
  refuses(
      with(trains, "--device=cpu"),
      "pace: --optimizer-code: expected --optimizer-on-cpu or --device cuda, found cpu, where training steps have no "
      "optimiser\n");
  refuses(with(performance, "--device-index=0"), "pace: --device-index: expected --device cuda, found cpu\n");
  const Strings accuracy{"--accuracy", "--inference", "-k^good$"};
  refuses(with(accuracy, "--save-model-outputs-to=" + file), "--save-model-outputs-to: " + no_folder);
  for (const auto& path : {file, folder})
    refuses(with(accuracy, "--compare-model-outputs-with=" + path),
            path + ": --compare-model-outputs-with: expected a folder of outputs that an earlier run has saved\n");
  for (const std::string option : {"--baseline=", "--batch-size-file=", "--config="})
    for (const std::string path : {"/dev/null", "/tmp"}) {
      refuses(with(performance, option + path), "pace: " + path + ": is ");
    }
  const auto others = bench.scratch.write("old.csv", "dev,name,speedup\ncpu,zebra,1.0\n");
  refuses(with(performance, "--baseline=" + others), "--baseline: expected results of the models that are run (good)");
}

TEST_CASE("bad input ends the run with a message that names it") {
  Bench bench;
  CHECK(bench.performance({"--total-partitions=2", "--partition-id=2"}) == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("pace: --partition-id: invalid value '2'; expected 0 to 1, since there are 2 "
                               "partitions (--total-partitions)\n"));
  CHECK(bench.performance({"--total-partitions=3", "--partition-id=7", "--compat"}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: --partition-id: invalid value '7'; expected 0 to 2"));
  CHECK(bench.performance({"-k", "good", "--backend=eager,teapot"}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: --backend: no back end is called 'teapot'; expected one of eager, "
                                              "torchscript, cuda_graph, torchscript_cuda_graph, aot_inductor, "
                                              "aot_inductor_cuda_graph, nativert\n"));
  CHECK(bench.performance({"-k", "zebra"}) == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("pace: --filter: no model matches 'zebra'; there are better, compares, crashes, "));
  CHECK(bench.performance({"-k", "good|makes_no_sense|throws"}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: nothing can be run like that\n"));
  CHECK_THAT(bench.printed, !ContainsSubstring("it throws"));
  CHECK(bench.csv() == header + "cpu,good" + good_figures);
  CHECK(bench.performance({"-k", "good|makes_no_sense", "--json=" + (bench.scratch / "c.json")}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("the comparisons so far are in " + (bench.scratch / "c.json")));
  CHECK_THAT(bench.scratch.read("c.json"), ContainsSubstring("\"name\":\"good\""));
  CHECK(bench.performance({"--config=" + bench.scratch.write("bad.yaml", "skip:\n  all: good\n")}) == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("bad.yaml:2: section 'skip.all': expected a list of models, found 'good'\n"));
  CHECK(bench.performance({"-k", "good", "--baseline=/nowhere.csv"}) == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("pace: /nowhere.csv: cannot be read: No such file or directory; expected a CSV file\n"));
  CHECK(bench.performance({"-k", "good", "--output=/dev/null"}, false) == 0);
  CHECK_FALSE(std::filesystem::exists("/dev/null.json"));
  CHECK(bench.performance({"-k", "good", "--output=/dev/full"}, false) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: good: cannot write '/dev/full': No space left on device\n"));
  CHECK(bench.performance({"--ddp"}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: --ddp is refused: "));
  CHECK(bench.performance({"-k", "good", "--output=/proc/nothing/r.csv"}, false) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: /proc/nothing: the folder cannot be made: "));
}

TEST_CASE("what the YAML file says is heeded and told") {
  Bench bench;
  const auto config = "--config=" + bench.scratch.write("m.yaml", "skip:\n  all: [better, zebra]\n");
  CHECK(bench.performance({"-k", "good|better", config, "--nopython"}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("m.yaml:2: section 'skip.all': no model is called 'zebra'\n"));
  CHECK_THAT(bench.printed, ContainsSubstring("pace: 1 model is skipped by " + (bench.scratch / "m.yaml") +
                                              "; --verbose lists them, --no-skip runs them\n"));
  CHECK(bench.csv() == header + "cpu,good" + good_figures);
  CHECK(bench.performance({"-k", "good|better", config, "--verbose"}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: better is skipped by skip.all\n"));
  CHECK(bench.performance({"-k", "good|better", config, "--no-skip", "--quiet"}) == 0);
  CHECK(pace::report::read_csv(bench.scratch / "r.csv").rows.size() == 2);
  CHECK_THAT(bench.printed, !ContainsSubstring("zebra"));
  CHECK(bench.performance({"--total-partitions=15", "--partition-id=0", "-k^good$"}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: this partition holds none of the models that are asked for\n"));
}

TEST_CASE("a dry run says which models would be run, for how long and to which files, and leaves these as they were") {
  Bench bench;
  CHECK(bench.performance({"-k", "good"}) == 0);
  const auto before = bench.csv();
  CHECK(bench.performance({"-k", "good|better", "--dry-run", "--backend=torchscript,aot_inductor"}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("better  cpu  performance, inference, audit standard  torchscript, "
                                              "aot_inductor\n"
                                              "good  cpu  performance, inference, audit standard  torchscript, "
                                              "aot_inductor\n"
                                              "2 models would be run, each for 2000 s at most, 1 h 7 min together\n"
                                              "would write " +
                                              (bench.scratch / "r.csv") + "\ndry run: nothing was measured\n"));
  CHECK_THAT(bench.printed, !ContainsSubstring("2.000x"));
  CHECK(bench.csv() == before);
  // A mistake in the options fails a dry run as it fails a run.
  CHECK(bench.performance({"--only=unknown", "--dry-run"}) == 1);
  CHECK(bench.performance({"-k", "good", "--dry-run", "--backend=warp"}) == 1);
  CHECK(bench.performance({"-k", "good", "--dry-run", "--batch-size-file=/nonexistent"}) == 1);
}

TEST_CASE("after a failure, one line repeats each model that failed, alone and with the same options") {
  // The program is no test of Bazel's, as this one is.
  ::unsetenv("TEST_TARGET");
  Bench bench;
  CHECK(bench.performance({"-k", "^throws$|^good$", "--gate", "--batch-size=2", "--seed", "7"}) == 42);
  const std::string head = "pace: to repeat what failed:\n  ";
  REQUIRE_THAT(bench.printed, ContainsSubstring(head));
  std::string command = bench.printed.substr(bench.printed.find(head) + head.size());
  CHECK_THAT(command, !ContainsSubstring("--only good"));
  command.resize(command.find('\n'));
  CHECK_THAT(command, ContainsSubstring("/fake_models --only throws --performance --inference "));
  CHECK_THAT(command, ContainsSubstring("--batch-size=2") && ContainsSubstring("--seed=7") &&
                          EndsWith(" --disable-output") && !ContainsSubstring("r.csv") && !ContainsSubstring("-k"));
  const auto before = bench.csv();
  std::string printed;
  const auto status = pace::detail::run_process({"/bin/bash", "-c", command},
                                                [&](std::string_view line) { printed += std::string(line) + '\n'; });
  CHECK(status.code == 42);
  CHECK_THAT(printed, ContainsSubstring("cpu  eval  throws ") && !ContainsSubstring("cpu  eval  good "));
  CHECK(bench.csv() == before);
  CHECK(bench.performance({"-k", "good"}) == 0);
  CHECK_THAT(bench.printed, !ContainsSubstring("to repeat"));
}

TEST_CASE("lists and help need nothing else") {
  Bench bench;
  CHECK(bench.run({"--list"}, false) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("good            timm   cnn     1               1\n"));
  CHECK(bench.run({"--list", "-k", "good"}, false) == 0);
  CHECK_THAT(bench.printed, !ContainsSubstring("better"));
  CHECK(bench.run({"--list", "-k", "zebra"}, false) == 1);
  CHECK(bench.run({"--help"}, false) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("bazel run //benches/models -- MODE DIRECTION OPTIONS"));
}

/// A program of pages that copies the results to the page, or with `commands` does that; returns the setting of the
/// variable that names it.
Variable makes_pages(const Scratch& scratch, const std::string& commands = "cat \"$1\" >\"$3\"") {
  const auto path = scratch.write("bin/report", "#!/bin/sh\n" + commands + '\n');
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return {"PACE_REPORT", path};
}

/// `name implementation outcome` of each row in lines of results.
Strings comparisons_in(const std::string& text) {
  Strings found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto json = Json::parse(line);
    if (!json.contains("implementations")) continue;
    for (const auto& each : json.at("implementations"))
      found.push_back(json.at("name").get<std::string>() + ' ' + each.at("name").get<std::string>() + ' ' +
                      each.at("outcome").get<std::string>());
  }
  return found;
}

TEST_CASE("--html makes a page of all models, of crashed ones too, and --json keeps its results") {
  Bench bench;
  const Variable maker = makes_pages(bench.scratch);
  const Strings options{"-k",
                        "^(good|compares|crashes|hangs)$",
                        "--timeout=1",
                        "--backend=torchscript",
                        "--html=" + (bench.scratch / "p.html"),
                        "--json=" + (bench.scratch / "c.json")};
  CHECK(bench.performance(options) == 0);
  CAPTURE(bench.printed);
  const std::string page = bench.scratch.read("p.html");
  CHECK(page == bench.scratch.read("c.json"));
  CHECK_THAT(page, StartsWith("{\"schema_version\":3"));
  CHECK(comparisons_in(page) == Strings{"compares eager measured", "compares torchscript measured",
                                        "crashes eager measured", "crashes torchscript crashed", "good eager measured",
                                        "good torchscript measured", "hangs eager measured",
                                        "hangs torchscript timed out"});
  // A comparison in a process comes with its samples.
  CHECK_THAT(page, ContainsSubstring("\"samples_ns\":[2.0,2.0,2.0]") && ContainsSubstring("was killed by signal"));
}

TEST_CASE("without --json the results of a page are kept where it cannot be made, and only there") {
  Bench bench;
  const auto files = [&] {
    std::size_t found = 0;
    for (const auto& each : std::filesystem::directory_iterator(bench.scratch.path))
      found += each.path().filename().string().starts_with("p.html");
    return found;
  };
  const std::string html = "--html=" + (bench.scratch / "p.html");
  CHECK(bench.performance({"-k", "^good$", html}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("--html: this program has no program of tools/report beside it"));
  {
    const Variable maker = makes_pages(bench.scratch);
    CHECK(bench.performance({"-k", "^good$", html, "--dry-run"}) == 0);
    CHECK_THAT(bench.printed, ContainsSubstring("would write " + (bench.scratch / "p.html")));
    CHECK(files() == 0);
    CHECK(bench.performance({"-k", "^good$", html}) == 0);
    CHECK(files() == 1);
    // A single model runs in this process.
    CHECK(bench.performance({"--only=compares", "--backend=torchscript", html}) == 0);
    CHECK_THAT(bench.scratch.read("p.html"), ContainsSubstring("\"samples_ns\":[2.0,2.0,2.0]"));
    CHECK(files() == 1);
  }
  const Variable maker = makes_pages(bench.scratch, "echo no room; exit 3");
  CHECK(bench.performance({"-k", "^good$", html}) == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("the page was not made, and the results are in ") && ContainsSubstring("no room"));
  CHECK(files() == 2);
}

TEST_CASE("the page of an accuracy run has the statuses as verdicts") {
  Bench bench;
  const Variable maker = makes_pages(bench.scratch);
  CHECK(bench.accuracy({"-k", "^(good|differs|no_device)$", "--backend=torchscript",
                        "--html=" + (bench.scratch / "p.html")}) == 42);
  CAPTURE(bench.printed);
  const std::string page = bench.scratch.read("p.html");
  CHECK(comparisons_in(page) == Strings{"differs eager measured", "differs torchscript wrong", "good eager measured",
                                        "good torchscript measured", "no_device eager refused",
                                        "no_device torchscript refused"});
  CHECK_THAT(page, ContainsSubstring("accuracy as torchbench checks it") &&
                       ContainsSubstring("\"message\":\"fail_accuracy\""));
}

TEST_CASE("a status says what became of eager, and of the back end that is compared with it") {
  Settings settings;
  const auto outcomes = [&](const std::string& status, Mode mode) {
    settings.mode = mode;
    const auto row = status_row(settings, "cpu", "m", "torchscript", status, "why");
    const auto results = results_of({row}, {}, settings, false);
    std::string found;
    for (const auto& each : results.at(0).implementations)
      found += (found.empty() ? "" : ", ") + each.name + ' ' + pace::to_string(each.outcome);
    return found;
  };
  CHECK(outcomes("eager_fail_to_run", Mode::performance) == "eager threw, torchscript threw");
  CHECK(outcomes("eager_fail_to_run", Mode::accuracy) == "eager threw, torchscript threw");
  CHECK(outcomes("eager_1st_run_fail", Mode::accuracy) == "eager threw, torchscript threw");
  CHECK(outcomes("eager_2nd_run_OOM", Mode::accuracy) == "eager out of memory, torchscript out of memory");
  CHECK(outcomes("model_fail_to_load", Mode::performance) == "eager refused, torchscript refused");
  CHECK(outcomes("fail_to_run", Mode::performance) == "eager measured, torchscript threw");
  CHECK(outcomes("fail_accuracy", Mode::accuracy) == "eager measured, torchscript wrong");
  CHECK(outcomes("eager_two_runs_differ", Mode::accuracy) == "eager measured, torchscript wrong");
}

TEST_CASE("under bazel test comparisons and their page are kept unasked, of runs that have any") {
  Bench bench;
  const Variable maker = makes_pages(bench.scratch), outputs{"FAKE_MODELS_OUTPUTS", bench.scratch.path.string()};
  CHECK(bench.run({"--throughput", "--inference", "-k", "^good$"}) == 0);
  CHECK_FALSE(bench.scratch.has("report.html"));
  CHECK(bench.performance({"-k", "^good$", "--backend=torchscript"}) == 0);
  CHECK(comparisons_in(bench.scratch.read("results.json")) ==
        Strings{"good eager measured", "good torchscript measured"});
  CHECK(bench.scratch.read("report.html") == bench.scratch.read("results.json"));
  // A page that was not asked for is no reason to fail.
  const Variable none = makes_pages(bench.scratch, "exit 3");
  CHECK(bench.performance({"-k", "^good$", "--backend=torchscript"}) == 0);
  CHECK_THAT(bench.printed, ContainsSubstring("report.html: the page was not made, and the results are in "));
}

TEST_CASE("each of several devices has a comparison of its own name") {
  Bench bench;
  CHECK(bench.performance({"-k", "^(compares|good)$", "--device=cpu,cuda", "--backend=torchscript",
                           "--json=" + (bench.scratch / "c.json")}) == 0);
  CAPTURE(bench.printed);
  CHECK(comparisons_in(bench.scratch.read("c.json")) ==
        Strings{"compares/cpu eager measured", "compares/cpu torchscript measured", "compares/cuda eager measured",
                "compares/cuda torchscript measured", "good/cpu eager measured", "good/cpu torchscript measured",
                "good/cuda eager measured", "good/cuda torchscript measured"});
}

TEST_CASE("comparisons that get lost fail the run, which keeps its rows and makes no page") {
  Bench bench;
  const Variable maker = makes_pages(bench.scratch), removed{"FAKE_MODELS_REMOVED", bench.scratch / "c.json"};
  CHECK(bench.performance({"-k", "^(good|removes)$", "--json=" + (bench.scratch / "c.json"),
                           "--html=" + (bench.scratch / "p.html")}) == 1);
  CHECK_THAT(bench.printed, ContainsSubstring("c.json': the file was removed, moved or replaced") &&
                                ContainsSubstring("pace: no page was made, since the results could not be written to"));
  CHECK_FALSE(bench.scratch.has("p.html"));
  CHECK(bench.csv() == header + "cpu,good" + good_figures + "cpu,removes" + good_figures);
}

TEST_CASE("a file of comparisons that cannot be written is found before anything is measured") {
  Bench bench;
  CHECK(bench.performance({"-k", "^good$", "--json=/dev/full"}) == 1);
  CHECK_THAT(bench.printed,
             ContainsSubstring("'/dev/full': No space left on device") && !ContainsSubstring("cpu  eval"));
}

TEST_CASE("an interrupted run names the file that has its comparisons, and makes no page") {
  Bench bench;
  const Variable maker = makes_pages(bench.scratch);
  CHECK(bench.performance({"-k", "^(good|interrupts)$", "--html=" + (bench.scratch / "p.html")}) == 130);
  CHECK_THAT(bench.printed, ContainsSubstring("pace: the comparisons so far are in " + (bench.scratch / "p.html.")));
  CHECK_FALSE(bench.scratch.has("p.html"));
}

}  // namespace
