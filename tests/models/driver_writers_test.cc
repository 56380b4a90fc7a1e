// Result files: headers that grow, names by back end, columns of a baseline, records and raw timings.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "benches/models/driver/result_files.hpp"
#include "pace/base/error.hpp"
#include "tests/support/scratch.hpp"

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::IsEmpty;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using pace::test::Scratch;

Row fast(const std::string& name, double speedup, const std::string& backend = "aot_inductor") {
  return {.device = "cpu",
          .name = name,
          .batch_size = 4,
          .backend = backend,
          .values = {{"speedup", speedup}, {"abs_latency", 12.5}, {"compilation_latency", 3.25}},
          .message = "ok"};
}

TEST_CASE("CSV is read as RFC 4180 has it") {
  const auto table =
      pace::report::parse_csv("name,what\r\n\"a,b\",\"say \"\"x\"\"\"\n\n\nc,\"two\nlines\"\nd\n,\n", "f.csv");
  CHECK(table.header == std::vector<std::string>{"name", "what"});
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0] == std::vector<std::string>{"a,b", "say \"x\""});
  CHECK(table.rows[1] == std::vector<std::string>{"c", "two\nlines"});
  CHECK(table.text(2, "what") == "");
  CHECK(table.rows[3] == std::vector<std::string>{"", ""});
  CHECK(pace::report::parse_csv("", "f").header == std::vector<std::string>{});
  CHECK(pace::report::parse_csv("a\n\"\"\n", "f").rows == std::vector<std::vector<std::string>>{{""}});
  CHECK_THROWS_MATCHES(pace::report::parse_csv("a\nb\n\"c\nd\n", "f.csv"), pace::InputError,
                       Message("f.csv:3: expected CSV: a quote begins here and never ends"));
  CHECK_THROWS_MATCHES((void)table.require_column("speedup"), pace::InputError,
                       Message("f.csv: expected a column 'speedup'; there are name, what"));
  CHECK_THROWS_MATCHES((void)table.require_number(1, "name"), pace::InputError,
                       Message("f.csv: row 2, column 'name': expected a number, found 'c'"));
  CHECK_THROWS_MATCHES((void)pace::report::read_csv("/nowhere.csv"), pace::InputError,
                       Message("/nowhere.csv: cannot be read: No such file or directory; expected a CSV file"));
  CHECK(pace::report::to_csv(table) == "name,what\n\"a,b\",\"say \"\"x\"\"\"\nc,\"two\nlines\"\nd\n,\n");
}

TEST_CASE("when a row that failed comes first, the header grows and missing figures are 0") {
  const Scratch scratch;
  const auto path = scratch / "r.csv";
  add_row(path, {{"dev", "cpu"}, {"name", "a"}, {"batch_size", std::int64_t{0}}, {"speedup", 0.0}});
  add_row(path,
          {{"dev", "cpu"}, {"name", "b"}, {"batch_size", std::int64_t{4}}, {"speedup", 1.25}, {"abs_latency", 3.0}});
  add_row(path, {{"dev", "cpu"}, {"name", "c"}, {"batch_size", std::int64_t{0}}, {"speedup", 0.0}});
  CHECK(scratch.read("r.csv") ==
        "dev,name,batch_size,speedup,abs_latency\n"
        "cpu,a,0,0.000000,0\ncpu,b,4,1.250000,3.000000\ncpu,c,0,0.000000,0\n");
}

TEST_CASE("values stand below their names, but with --compat where they come") {
  const Scratch scratch;
  const Columns first{{"name", "a"}, {"speedup", 2.0}, {"status", "fine"}};
  const Columns second{{"name", "b"}, {"status", "OOM"}, {"memory", 1.0}};
  const auto by_name = scratch / "n.csv", by_place = scratch / "p.csv";
  for (const auto& columns : {first, second}) {
    add_row(by_name, columns);
    add_row(by_place, columns, /*by_position=*/true);
  }
  CHECK(scratch.read("n.csv") == "name,speedup,status,memory\na,2.000000,fine,0\nb,0,OOM,1.000000\n");
  CHECK(scratch.read("p.csv") == "name,speedup,status\na,2.000000,fine\nb,OOM,1.000000\n");
  add_row(by_place, {{"name", "c"}, {"one", 1.0}, {"two", 2.0}, {"three", 3.0}}, true);
  CHECK(scratch.read("p.csv") ==
        "name,one,two,three\na,2.000000,fine,0\nb,OOM,1.000000,0\nc,1.000000,2.000000,3.000000\n");
}

TEST_CASE("cells: six digits, whole numbers, texts with commas") {
  CHECK(to_text(1.0 / 3) == "0.333333");
  CHECK(to_text(-2e-9) == "-0.000000");
  CHECK(to_text(std::nan("")) == "nan");
  CHECK(to_text(std::int64_t{7}) == "7");
  const Scratch scratch;
  add_row(scratch / "t.csv", {{"name", "a,b"}, {"x", "say \"x\""}});
  CHECK(scratch.read("t.csv") == "name,x\n\"a,b\",\"say \"\"x\"\"\"\n");
}

TEST_CASE("a file of its own for each back end, by mode, unless one is named") {
  const Scratch scratch;
  Settings settings{.backends = {"eager", "aot_inductor", "cuda_graph", "aot_inductor"}};
  const auto paths = [&](OutputOptions options) { return ResultFiles(options, {settings}, {}).paths(); };
  using Paths = std::vector<std::string>;
  CHECK(paths({}) == Paths{"speedup_aot_inductor.csv", "speedup_cuda_graph.csv"});
  CHECK(paths({.directory = "d"}) == Paths{"d/speedup_aot_inductor.csv", "d/speedup_cuda_graph.csv"});
  settings.mode = Mode::accuracy;
  CHECK(paths({}) == Paths{"accuracy_aot_inductor.csv", "accuracy_cuda_graph.csv"});
  settings.mode = Mode::batch_invariance;
  CHECK(paths({}).front() == "accuracy_aot_inductor.csv");
  settings.mode = Mode::tolerance;
  CHECK(paths({}).front() == "tolerance_aot_inductor.csv");
  settings.mode = Mode::throughput;
  CHECK(paths({}).front() == "throughput_aot_inductor.csv");
  settings.mode = Mode::find_batch_size;
  CHECK(paths({}) == Paths{"batch_sizes.csv"});
  settings.mode = Mode::operator_inputs;
  CHECK_THAT(paths({}), IsEmpty());
  settings = {.backends = {"eager"}};
  CHECK(paths({}) == Paths{"speedup_eager.csv"});
  CHECK(paths({.experiment_file = "nothing.csv"}) == Paths{"nothing.csv"});
  CHECK_THAT(paths({.disabled = true}), IsEmpty());
  settings.backends = {"aot_inductor:freezing"};
  CHECK(paths({}) == Paths{"speedup_aot_inductor_freezing.csv"});
}

TEST_CASE("rows go into the files of their back ends, or into one with a column for it") {
  const Scratch scratch;
  const Settings settings{.backends = {"aot_inductor", "cuda_graph"}};
  ResultFiles apart({.directory = scratch / "new/folder"}, {settings}, {});
  apart.add(fast("a", 2));
  apart.add(fast("a", 3, "cuda_graph"));
  CHECK(scratch.read("new/folder/speedup_aot_inductor.csv") ==
        "dev,name,batch_size,speedup,abs_latency,compilation_latency,result\ncpu,a,4,2.000000,12.500000,3.250000,"
        "passed\n");
  CHECK(pace::report::read_csv(scratch / "new/folder/speedup_cuda_graph.csv").number(0, "speedup") == 3);

  ResultFiles together({.file = scratch / "all.csv", .tag = "mine"}, {settings}, {});
  together.add(fast("a", 2));
  together.add(fast("a", 3, "cuda_graph"));
  CHECK(scratch.read("all.csv") ==
        "dev,name,batch_size,tag,speedup,abs_latency,compilation_latency,result,backend\n"
        "cpu,a,4,mine,2.000000,12.500000,3.250000,passed,aot_inductor\n"
        "cpu,a,4,mine,3.000000,12.500000,3.250000,passed,cuda_graph\n");
  ResultFiles({.file = scratch / "no.csv", .disabled = true}, {settings}, {}).add(fast("a", 1));
  CHECK_FALSE(scratch.has("no.csv"));
  CHECK_THROWS_AS(ResultFiles({.file = "/proc/no/such.csv"}, {settings}, {}).add(fast("a", 1)), pace::Error);
}

TEST_CASE("compile times have a file beside the rows, for the back ends that compiled") {
  const Scratch scratch;
  const Settings settings{.backends = {"aot_inductor", "torchscript"}};
  Row compiled = fast("a", 2);
  compiled.compilation = {{"export_seconds", 0.5}, {"compile_seconds", 8.0}};
  {
    ResultFiles files({.file = scratch / "r.csv", .tag = "mine"}, {settings}, {});
    files.claim(EarlierResults::replaced);
    files.add(compiled);
    files.add(fast("a", 1, "torchscript"));
    files.end();
  }
  const std::string held =
      "dev,name,batch_size,tag,backend,export_seconds,compile_seconds\n"
      "cpu,a,4,mine,aot_inductor,0.500000,8.000000\n";
  CHECK(scratch.read("r_compilation_metrics.csv") == held);
  CHECK_THAT(scratch.read("r.csv"), !ContainsSubstring("export_seconds"));
  {
    // Kept rows of an earlier run stay, and a run that compiles without rows adds to them.
    ResultFiles files({.file = scratch / "r.csv", .tag = "mine"}, {settings}, {});
    files.claim(EarlierResults::kept);
    files.add(fast("b", 1));
    compiled.name = "c";
    files.add_compilation(compiled);
    files.end();
  }
  CHECK(scratch.read("r_compilation_metrics.csv") == held + "cpu,c,4,mine,aot_inductor,0.500000,8.000000\n");
  CHECK_THAT(scratch.read("r.csv"), !ContainsSubstring("cpu,c"));
  // A run that replaces the rows leaves no compile times of the earlier ones.
  ResultFiles files({.file = scratch / "r.csv"}, {settings}, {});
  files.claim(EarlierResults::replaced);
  CHECK(scratch.has("r_compilation_metrics.csv"));
  files.add(fast("d", 1));
  CHECK_FALSE(scratch.has("r_compilation_metrics.csv"));
  ResultFiles({.directory = scratch / "apart"}, {settings}, {}).add(compiled);
  CHECK(scratch.has("apart/speedup_aot_inductor_compilation_metrics.csv"));
  ResultFiles({.file = "/dev/null"}, {settings}, {}).add(compiled);
  ResultFiles({.file = scratch / "no.csv", .disabled = true}, {settings}, {}).add_compilation(compiled);
  CHECK_FALSE(scratch.has("no_compilation_metrics.csv"));
}

TEST_CASE("results of an earlier run go when the first row comes, or at the end, and not before") {
  const Scratch scratch;
  const auto path = scratch / "r.csv";
  const auto run = [&] { return ResultFiles({.file = path}, {}, {}); };
  run().add(fast("a", 2));
  const std::string csv = scratch.read("r.csv"), records = scratch.read("r.json");
  {
    auto files = run();
    files.claim(EarlierResults::replaced);
  }
  CHECK(scratch.read("r.csv") == csv);
  CHECK(scratch.read("r.json") == records);
  {
    auto files = run();
    files.claim(EarlierResults::kept);
    files.add(fast("b", 2));
  }
  CHECK(pace::report::read_csv(path).rows.size() == 2);
  {
    auto files = run();
    files.claim(EarlierResults::replaced);
    files.add(fast("c", 3));
    files.add(fast("d", 3));
    files.end();
  }
  const auto table = pace::report::read_csv(path);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.text(0, "name") == "c");
  CHECK_THAT(scratch.read("r.json"), !ContainsSubstring("\"name\":\"a\""));
  {
    auto files = run();
    files.claim(EarlierResults::replaced);
    files.end();
  }
  CHECK_FALSE(scratch.has("r.csv"));
  CHECK_FALSE(scratch.has("r.json"));
}

TEST_CASE("one run at a time writes to a file") {
  const Scratch scratch;
  ResultFiles first({.file = scratch / "r.csv"}, {}, {});
  first.claim(EarlierResults::replaced);
  for (const auto& name : {scratch / "r.csv", scratch.path.string() + "/./r.csv"}) {
    ResultFiles second({.file = name}, {}, {});
    CHECK_THROWS_MATCHES(
        second.claim(EarlierResults::kept), pace::Error,
        MessageMatches(ContainsSubstring("r.json': another run, or another option of this one, writes")));
    CHECK_THROWS_AS(second.add(fast("b", 1)), pace::Error);
  }
  first.add(fast("a", 2));
  CHECK(pace::report::read_csv(scratch / "r.csv").rows.size() == 1);
}

TEST_CASE("what closing the records reports is an error of the run") {
  const Scratch scratch;
  ResultFiles files({.file = scratch / "r.csv"}, {}, {});
  files.claim(EarlierResults::replaced);
  files.add(fast("a", 2));
  pace::test::close_behind(scratch / "r.json");
  CHECK_THROWS_MATCHES(files.end(), pace::Error,
                       MessageMatches(ContainsSubstring("cannot close '" + (scratch / "r.json"))));
}

TEST_CASE("a run without rows removes no empty file that was there before it") {
  const Scratch scratch;
  (void)scratch.write("there.json", "");
  for (const char* name : {"there.csv", "new.csv"}) {
    ResultFiles files({.file = scratch / name}, {}, {});
    files.claim(EarlierResults::kept);
  }
  CHECK(scratch.has("there.json"));
  CHECK_FALSE(scratch.has("new.json"));
}

TEST_CASE("files that are none of results are neither removed nor added to") {
  const Scratch scratch;
  const auto complaint = [&](const std::string& file, const std::string& baseline = {}) -> std::string {
    try {
      ResultFiles files({.file = scratch / file, .baseline = baseline}, {}, {});
      files.claim(EarlierResults::replaced);
      files.add(fast("a", 2));
    } catch (const pace::InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  (void)scratch.write("package.json", "{\"name\": \"mine\"}\n");
  CHECK(complaint("package.csv") == (scratch / "package.json") +
                                        ": holds no records of results, which the run would write there, beside '" +
                                        (scratch / "package.csv") + "'; give another --output, or move the file away");
  CHECK(scratch.read("package.json") == "{\"name\": \"mine\"}\n");
  CHECK_FALSE(scratch.has("package.csv"));
  (void)scratch.write("mine_compilation_metrics.csv", "when,what\nnow,this\n");
  CHECK(complaint("mine.csv") == (scratch / "mine_compilation_metrics.csv") +
                                     ": is no file of compilation metrics; expected columns 'name' and 'batch_size', "
                                     "another --output, or no file of that name");
  CHECK(scratch.read("mine_compilation_metrics.csv") == "when,what\nnow,this\n");
  (void)scratch.write("deep.json", std::string(1'000'000, '['));
  CHECK_THAT(complaint("deep.csv"), StartsWith((scratch / "deep.json") + ": holds no records of results"));
  CHECK(scratch.read("deep.json").size() == 1'000'000);
  (void)scratch.write("notes.csv", "when,what\nnow,this\n");
  CHECK(complaint("notes.csv") ==
        (scratch / "notes.csv") +
            ": is no file of results; expected a column 'name', another --output, or no file of that name");
  CHECK(scratch.read("notes.csv") == "when,what\nnow,this\n");
  const auto old = scratch.write("old.csv", "dev,name,speedup\ncpu,a,1\n");
  CHECK(complaint("old.csv", old) == old + ": is the file of --baseline, too, which this run would replace");
  for (const char* pipe : {"pipe.csv", "p.json"}) REQUIRE(::mkfifo((scratch / pipe).c_str(), 0600) == 0);
  CHECK(complaint("pipe.csv") ==
        (scratch / "pipe.csv") + ": is no regular file; expected a name under which results can be written");
  CHECK(complaint("p.csv") ==
        (scratch / "p.json") + ": is no regular file; expected a name under which results can be written");
}

TEST_CASE("lines that were cut off are taken away before others follow") {
  const Scratch scratch;
  ResultFiles({.file = scratch / "r.csv"}, {}, {}).add(fast("a", 2));
  const std::string whole = scratch.read("r.json");
  for (int run = 1; run <= 2; ++run) {
    (void)scratch.write("r.json", scratch.read("r.json") + "{\"benchmark\":{\"na");
    ResultFiles({.file = scratch / "r.csv"}, {}, {}).add(fast("b", 2));
    const std::string records = scratch.read("r.json");
    CHECK_THAT(records, StartsWith(whole));
    std::istringstream lines(records);
    for (std::string line; std::getline(lines, line);) CHECK(Json::accept(line));
  }
  const Settings sizes{.mode = Mode::find_batch_size};
  (void)scratch.write("b.csv", "a,64\nb,12");
  ResultFiles files({.file = scratch / "b.csv"}, {sizes}, {});
  files.claim(EarlierResults::kept);
  files.add({.name = "c", .batch_size = 2});
  CHECK(scratch.read("b.csv") == "a,64\nc,2\n");
}

TEST_CASE("one record for each metric") {
  const Scratch scratch;
  Settings settings{.training = true, .precision = Precision::amp};
  const std::vector<KnownModel> models{{.name = "a", .suite = Suite::timm}};
  Row row = fast("a", 2);
  row.values.emplace_back("status", "slow");
  row.result = RowResult::failed;
  ResultFiles({.file = scratch / "r.csv"}, {settings, {{"--repeat", "30"}}}, models).add(row);
  std::istringstream lines(scratch.read("r.json"));
  std::vector<Json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(Json::parse(line));
  REQUIRE(records.size() == 4);
  CHECK(records[0].dump() ==
        R"({"benchmark":{"name":"pace","mode":"training","dtype":"bfloat16","extra_info":{"device":"cpu",)"
        R"("quantization":null,"batch_size":4,"args":{"--repeat":"30"},"result":"failed","message":"ok"}},)"
        R"("model":{"name":"a","type":"OSS model","backend":"aot_inductor","origins":["timm"]},)"
        R"("metric":{"name":"speedup","benchmark_values":[2.0]}})");
  CHECK(records[3]["metric"].dump() ==
        R"({"name":"status","benchmark_values":[],"extra_info":{"benchmark_values":["slow"]}})");
  settings.compat = true;
  settings.precision = Precision::float32;
  const auto compat = Json::parse(records_of({.values = {{"x", 1.0}}}, "timm", {settings}));
  CHECK(compat["benchmark"]["name"] == "TorchInductor");
  CHECK(compat["benchmark"]["dtype"] == "float32");
}

TEST_CASE("an older file gives two columns more") {
  const Scratch scratch;
  const auto old = scratch.write("old.csv", "dev,name,batch_size,speedup\ncuda,a,4,9.0\ncpu,a,4,1.5\ncpu,b,4,0.0\n");
  ResultFiles files({.file = scratch / "r.csv", .baseline = old}, {}, {});
  auto row = fast("a", 3);
  row.message = "3.000x";
  row = files.compared(row);
  CHECK(row.message == "1.500x -> 3.000x [2.000x]");
  files.add(row);
  CHECK(scratch.read("r.csv") ==
        "dev,name,batch_size,speedup,abs_latency,baseline,speedup_vs_baseline,compilation_latency,result\n"
        "cpu,a,4,3.000000,12.500000,1.500000,2.000000,3.250000,passed\n");
  // One that failed then, and one that was not there.
  for (const char* name : {"b", "c"}) CHECK(files.compared(fast(name, 2)).values.size() == 3);
  CHECK(files.compared(fast("a", 0)).values.size() == 3);
  const auto by_backend =
      scratch.write("two.csv", "dev,name,speedup,backend\ncpu,a,2,cuda_graph\ncpu,a,4,aot_inductor\n");
  CHECK(BaselineFile(by_backend).speedup(fast("a", 1)) == 4);
  CHECK_THROWS_MATCHES(BaselineFile(scratch.write("bad.csv", "dev,name\n")), pace::InputError,
                       Message((scratch / "bad.csv") + ": expected a column 'speedup'; there are dev, name"));
  Settings accuracy{.mode = Mode::accuracy};
  CHECK(ResultFiles({.baseline = old}, {accuracy}, {}).compared(fast("a", 3)).values.size() == 3);
}

TEST_CASE("raw timings are a file that NumPy reads") {
  const Scratch scratch;
  Row row = fast("a", 2);
  row.device = "cuda:1";
  row.raw_timings = {{1.5, 2.5}, {3.5, 4.5}, {5.5, 6.5}};
  ResultFiles({.file = scratch / "r.csv", .raw_timings = true}, {}, {}).add(row);
  const auto bytes = scratch.read("r-raw_timings-a-cuda_1.npy");
  REQUIRE(bytes.size() == 128 + 6 * sizeof(double));
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(static_cast<unsigned char>(bytes[8]) == 118);
  CHECK_THAT(bytes.substr(10, 118), StartsWith("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }   "));
  CHECK(bytes[127] == '\n');
  double third = 0;
  std::memcpy(&third, bytes.data() + 128 + 2 * sizeof(double), sizeof third);
  CHECK(third == 3.5);
  CHECK(to_npy({}).size() == 128);
  CHECK_THROWS_AS(to_npy({{1}, {1, 2}}), pace::Error);
  ResultFiles({.file = scratch / "s.csv"}, {}, {}).add(row);
  CHECK_FALSE(scratch.has("s-raw_timings-a-cuda_1.npy"));
  const Settings two{.backends = {"x", "y"}};
  row.backend = "y";
  ResultFiles({.file = scratch / "t.csv", .raw_timings = true}, {two}, {}).add(row);
  CHECK(scratch.has("t-raw_timings-a-cuda_1-y.npy"));
}

TEST_CASE("sizes of batches are a file that --batch-size-file reads") {
  const Scratch scratch;
  const Settings settings{.mode = Mode::find_batch_size};
  ResultFiles files({.file = scratch / "b.csv"}, {settings}, {});
  files.add({.name = "a", .batch_size = 64});
  files.add({.name = "b", .batch_size = 0, .result = RowResult::failed});
  files.add({.name = "c", .batch_size = 2});
  CHECK(scratch.read("b.csv") == "a,64\nc,2\n");
}

TEST_CASE("a row goes to another process and is the same there") {
  Row row = fast("a\n\"b\"", 1.0 / 3);
  row.values.emplace_back("infinite", std::numeric_limits<double>::infinity());
  row.values.emplace_back("whole", std::int64_t{1} << 60);
  row.values.emplace_back("text", "x,y");
  row.values.emplace_back("none", std::nan(""));
  row.raw_timings = {{0.1, 0.2}};
  row.compilation = {{"export_seconds", 0.1}, {"compile_seconds", 1.0 / 3}};
  row.result = RowResult::failed;
  const std::string line = to_line(row);
  CHECK(line.find('\n') == line.size() - 1);
  const Row other = row_from(line);
  CHECK(other.name == row.name);
  CHECK(other.device == "cpu");
  CHECK(other.batch_size == 4);
  CHECK(other.backend == "aot_inductor");
  CHECK(other.message == "ok");
  CHECK(other.result == RowResult::failed);
  CHECK(other.raw_timings == row.raw_timings);
  CHECK(other.compilation == row.compilation);
  REQUIRE(other.values.size() == row.values.size());
  CHECK(std::isnan(std::get<double>(other.values.back().second)));
  for (std::size_t i = 0; i + 1 < row.values.size(); ++i) CHECK(other.values[i] == row.values[i]);
  CHECK_THROWS_AS(row_from("{}"), pace::Error);
  CHECK_THROWS_AS(row_from(line.substr(0, line.size() / 2)), pace::Error);
  (void)to_line({.message = "\xff"});  // no UTF-8, which is no reason to fail
}

}  // namespace
