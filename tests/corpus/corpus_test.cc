#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/corpus/corpus.hpp"

#include "tests/support/scratch.hpp"

using namespace pace::corpus;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string add = "Operator: aten.add.Tensor\n";
const LoadOptions collect{.compat = false, .on_error = OnError::collect, .as_listed = false};
const LoadOptions compat{.compat = true, .on_error = OnError::stop, .as_listed = false};

std::vector<std::string> names(const Corpus& corpus) {
  std::vector<std::string> out;
  for (const auto& op : corpus.operators()) out.push_back(op.name);
  return out;
}

}  // namespace

TEST_CASE("a file becomes operators, samples and counts in the order in which they were seen") {
  const pace::test::Scratch directory;
  const auto path = directory.write("model.txt", add +
                                                     "cnt: 7, ((T([1], f16), 0.0), {})\n"
                                                     "cnt: 1, ((T([2], f16), 0.0), {})\n"
                                                     "cnt: 3, ((T([1], f16), 0.0), {})\n"
                                                     "Operator: aten._softmax.default\n"
                                                     "cnt: 2, ((T([1], f16), 0.0), {})\n");
  const Corpus corpus = Corpus::from_file(path);
  CHECK(names(corpus) == std::vector<std::string>{"aten.add.Tensor", "aten._softmax.default"});
  const OperatorSamples* op = corpus.find("aten.add.Tensor");
  REQUIRE(op != nullptr);
  REQUIRE(op->samples.size() == 2);
  CHECK(op->samples[0].text == "((T([1], f16), 0.0), {})");
  CHECK(op->samples[0].count == 10);
  CHECK(op->samples[0].where.to_string() == path + ":2:9");
  CHECK(op->samples[1].where.to_string() == path + ":3:9");
  CHECK(parse_call(op->samples[1]).args[0] == Value(TensorSpec{{2}, DType::f16, {}}));
  CHECK(corpus.find("aten.mul.Tensor") == nullptr);
  CHECK(corpus.call_frequency("aten.add.Tensor") == 11);
  CHECK(corpus.call_frequency("aten._softmax.default") == 2);
  CHECK(corpus.call_frequency("aten.mul.Tensor") == 0);
  CHECK(corpus.distinct_samples() == 3);
  CHECK(corpus.calls() == 13);
  for (const auto& reject : corpus.rejects()) FAIL_CHECK(reject.where.to_string() << ": " << reject.message);
}

TEST_CASE("byte order mark, CRLF, tabs, blank lines and a missing last newline do no harm") {
  const pace::test::Scratch directory;
  const auto path = directory.write("model.txt",
                                    "\xef\xbb\xbfOperator:\taten.add.Tensor \r\n\r\n\tcnt:\t7,\t((1,), {}) \r\n\n"
                                    "cnt:2,((1,), {})\ncnt: 1, ((2,), {})");
  const Corpus corpus = Corpus::from_file(path);
  const auto& samples = corpus.operators().at(0).samples;
  CHECK(names(corpus) == std::vector<std::string>{"aten.add.Tensor"});
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].text == "((1,), {})");
  CHECK(samples[0].count == 9);
  CHECK(samples[0].where.to_string() == path + ":3:10");
}

TEST_CASE("the renamed overload of sum merges with its new name; in Compat the later block replaces the earlier one") {
  const pace::test::Scratch directory;
  const auto both = directory.write("both.txt",
                                    "Operator: aten.sum.SymInt\n"
                                    "cnt: 5, ((T([1], f16), [0]), {})\n"
                                    "cnt: 4, ((T([2], f16), [0]), {})\n"
                                    "Operator: aten.zero_.default\n"
                                    "cnt: 1, ((T([2], f16),), {})\n"
                                    "Operator: aten.sum.dim_IntList\n"
                                    "cnt: 3, ((T([2], f16), [0]), {})\n");
  const auto one = directory.write("one.txt", "Operator: aten.sum.SymInt\ncnt: 9, ((T([7], f16), [0]), {})\n");
  const std::vector<std::string> expected{"aten.sum.dim_IntList", "aten.zero_.default"};

  const Corpus fix = Corpus::from_file(both);
  CHECK(names(fix) == expected);
  CHECK(fix.call_frequency("aten.sum.dim_IntList") == 12);
  CHECK(fix.find("aten.sum.dim_IntList")->samples.size() == 2);
  CHECK(fix.find("aten.sum.dim_IntList")->samples[1].count == 7);

  const Corpus trap = Corpus::from_file(both, compat);
  CHECK(names(trap) == expected);
  CHECK(trap.call_frequency("aten.sum.dim_IntList") == 3);
  CHECK(trap.find("aten.sum.dim_IntList")->samples.size() == 1);

  // The trap is one of a file: blocks of different files always merge.
  CHECK(Corpus::from_directory(directory.path, compat).call_frequency("aten.sum.dim_IntList") == 12);
  CHECK(Corpus::from_directory(directory.path).call_frequency("aten.sum.dim_IntList") == 21);
  CHECK(Corpus::from_file(one, compat).call_frequency("aten.sum.dim_IntList") == 9);
}

TEST_CASE("a directory is its text files by name, merged") {
  const pace::test::Scratch directory;
  directory.write("b.txt", "Operator: aten.mul.Tensor\ncnt: 1, ((1,), {})\n" + add + "cnt: 10, ((1,), {})\n");
  directory.write("a.txt", add + "cnt: 1, ((1,), {})\ncnt: 2, ((2,), {})\n");
  directory.write("c.txt", "Operator: aten.abs.default\ncnt: 100, ((1,), {})\n");
  directory.write("notes.md", "not a corpus");
  const Corpus corpus = Corpus::from_directory(directory.path);
  CHECK(names(corpus) == std::vector<std::string>{"aten.add.Tensor", "aten.mul.Tensor", "aten.abs.default"});
  CHECK(corpus.call_frequency("aten.add.Tensor") == 13);
  CHECK(corpus.find("aten.add.Tensor")->samples.at(0).count == 11);
  CHECK(corpus.find("aten.add.Tensor")->samples.at(0).where.file == (directory.path / "a.txt").string());
  CHECK(corpus.calls() == 114);

  LoadOptions as_listed;
  as_listed.as_listed = true;
  const Corpus listed = Corpus::from_directory(directory.path, as_listed);
  std::vector<std::string> a = names(corpus), b = names(listed);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  CHECK(a == b);
  CHECK(listed.calls() == 114);
}

TEST_CASE("merging adds counts, also with itself") {
  const pace::test::Scratch directory;
  Corpus a = Corpus::from_file(directory.write("a.txt", add + "cnt: 1, ((1,), {})\n"));
  a.merge(Corpus::from_file(directory.write("b.txt", add + "cnt: 2, ((1,), {})\ncnt: 4, ((2,), {})\n")));
  CHECK(a.distinct_samples() == 2);
  CHECK(a.calls() == 7);
  a.merge(a);
  CHECK(a.distinct_samples() == 2);
  CHECK(a.calls() == 14);
}

TEST_CASE("sums of counts stop at the largest number") {
  const pace::test::Scratch directory;
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  const auto path =
      directory.write("a.txt", add + "cnt: " + most + ", ((1,), {})\ncnt: 1, ((1,), {})\ncnt: 1, ((2,), {})\n");
  CHECK(Corpus::from_file(path).calls() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a malformed line stops loading by default, with file, line and column") {
  struct Row {
    std::string text, place, expected;
  };
  const Row rows[] = {
      {"nonsense\n", ":1:1", "expected 'Operator: NAME' or 'cnt: N, ((arguments), {keyword arguments})'"},
      {"cnt: 1, ((1,), {})\n", ":1:1", "expected a line 'Operator: NAME' before this sample"},
      {"Operator:\n", ":1:10", "expected the name of an operator"},
      {"Operator: aten add\n", ":1:15", "expected the end of the line"},
      {add + "cnt 1, ((1,), {})\n", ":2:1", "expected 'Operator: NAME' or"},
      {add + "cnt: x, ((1,), {})\n", ":2:6", "expected a count"},
      {add + "cnt: -3, ((1,), {})\n", ":2:6", "expected a count of at least 0"},
      {add + "cnt: 1.5, ((1,), {})\n", ":2:6", "expected a count, which is a whole number, found '1.5'"},
      {add + "cnt: 99999999999999999999, ((1,), {})\n", ":2:6", "expected a count that 64 bits can hold"},
      {add + "cnt: 1 ((1,), {})\n", ":2:8", "expected ',' behind the count"},
      {add + "cnt: 1, ((1,), {})\ncnt: 12, ((T([1], f17),), {})", ":3:19", "aten.add.Tensor: expected a dtype"},
      {add + "cnt: 1,\n", ":2:8", "expected '('"},
  };
  const pace::test::Scratch directory;
  for (const auto& [text, place, expected] : rows) {
    INFO(text);
    const auto path = directory.write("bad.txt", text);
    CHECK_THROWS_AS(Corpus::from_file(path), pace::InputError);
    CHECK_THROWS_WITH(Corpus::from_file(path), ContainsSubstring(path + place + ": ") && ContainsSubstring(expected));
  }
}

TEST_CASE("collected errors leave the good lines and name the bad ones") {
  const pace::test::Scratch directory;
  const auto path = directory.write("mixed.txt", add +
                                                     "cnt: 1, ((1,), {})\n"
                                                     "cnt: 2, ((1, {})\n"
                                                     "Operator: bad name\n"
                                                     "cnt: 3, ((3,), {})\n"  // of the bad block, not of add
                                                     "Operator: aten.mul.Tensor\n"
                                                     "cnt: 4, ((4,), {})\n");
  const Corpus corpus = Corpus::from_file(path, collect);
  CHECK(names(corpus) == std::vector<std::string>{"aten.add.Tensor", "aten.mul.Tensor"});
  CHECK(corpus.call_frequency("aten.add.Tensor") == 1);
  CHECK(corpus.call_frequency("aten.mul.Tensor") == 4);
  REQUIRE(corpus.rejects().size() == 3);
  CHECK(corpus.rejects()[0].where.to_string() == path + ":3:17");
  CHECK_THAT(corpus.rejects()[0].message, ContainsSubstring(":3:17: aten.add.Tensor: expected ',' between"));
  CHECK(corpus.rejects()[1].where.line == 4);
  CHECK(corpus.rejects()[2].where.line == 5);

  directory.write("binary.txt", std::string("Operator: \0\1\2", 13));
  directory.write("empty.txt", "");
  const Corpus suite = Corpus::from_directory(directory.path, collect);
  CHECK(suite.calls() == 5);
  REQUIRE(suite.rejects().size() == 5);
  CHECK_THAT(suite.rejects()[0].message, ContainsSubstring("binary.txt: is binary; expected recorded operator inputs"));
  CHECK_THAT(suite.rejects()[1].message, ContainsSubstring("empty.txt: expected recorded operator inputs"));
  CHECK_THROWS_AS(Corpus::from_directory(directory.path), pace::InputError);
}

TEST_CASE("sparse samples are kept, and refused when they are wanted") {
  const pace::test::Scratch directory;
  const auto path = directory.write("a.txt",
                                    "Operator: aten.mm.default\n"
                                    "cnt: 2, ((ST([2, 2], f16, torch.sparse_coo, True, 3),), {})\n");
  const Corpus corpus = Corpus::from_file(path);
  CHECK(corpus.calls() == 2);
  for (const auto& reject : corpus.rejects()) FAIL_CHECK(reject.where.to_string() << ": " << reject.message);
  const auto& op = corpus.operators().at(0);
  CHECK_THROWS_AS(parse_call(op.samples.at(0), op.name), pace::Unsupported);
  CHECK_THROWS_WITH(parse_call(op.samples.at(0), op.name),
                    path + ":2:11: aten.mm.default: sparse tensors, ST(...), are not implemented");
}

TEST_CASE("a path that is no corpus is named, with the reason") {
  const pace::test::Scratch directory;
  const auto missing = directory.path / "missing";
  CHECK_THROWS_WITH(
      Corpus::from_file(missing),
      missing.string() + ": cannot be read: No such file or directory; expected recorded operator inputs");
  CHECK_THROWS_WITH(Corpus::from_file(""), ContainsSubstring("No such file"));
  CHECK_THROWS_WITH(Corpus::from_file(directory.path),
                    ContainsSubstring("is a folder; expected recorded operator inputs"));
  CHECK_THROWS_WITH(Corpus::from_file("/dev/null"),
                    "/dev/null: is neither a regular file nor a pipe; expected recorded operator inputs");
  CHECK_THROWS_WITH(Corpus::from_directory(missing), missing.string() + ": no such directory");
  CHECK_THROWS_WITH(Corpus::from_directory(directory.path), ContainsSubstring("expected files named *.txt"));
  const auto file = directory.write("file.txt", "\n \n");
  CHECK_THROWS_WITH(Corpus::from_directory(file), ContainsSubstring("expected a directory, found a file"));
  CHECK_THROWS_WITH(Corpus::from_file(file), ContainsSubstring("expected recorded operator inputs"));
  CHECK_THROWS_AS(Corpus::from_file(missing), pace::InputError);
}

TEST_CASE("a file that is too large to be one model's inputs is not read to its end") {
  const pace::test::Scratch directory;
  const auto path = directory.write("model.txt", add + "cnt: 7, ((T([1], f16), 0.0), {})\n");
  CHECK_NOTHROW(detail::read_text_file(path, true, 100));
  CHECK_THROWS_WITH(detail::read_text_file(path, true, 50),
                    path + ": has more than 50 bytes; expected recorded operator inputs");
}

TEST_CASE("a call with the count 0 is a sample without weight") {
  const pace::test::Scratch directory;
  const auto path = directory.write("by_hand.txt", add + "cnt: 0, ((1,), {})\ncnt: 2, ((2,), {})\n");
  const Corpus corpus = Corpus::from_file(path);
  CHECK(corpus.distinct_samples() == 2);
  CHECK(corpus.calls() == 2);
}

TEST_CASE("recorded calls in JSON are read as those in text are") {
  const pace::test::Scratch directory;
  const auto path = directory.write("trace.json", R"json(
{
  "aten._foreach_add.List": [
    {"count": 3, "inputs": "(([T([2, 8], f32)], [T([2, 8], f32)]), {'alpha': 0.5})", "model": "ignored"},
    {"inputs": "(([T([4], f32)], [T([4], f32)]), {})"}
  ],
  "aten.relu.default": [{"count": 0, "inputs": "((T([128], f32),), {})"}]
})json");
  const Corpus corpus = Corpus::from_file(path);
  CHECK(names(corpus) == std::vector<std::string>{"aten._foreach_add.List", "aten.relu.default"});
  CHECK(corpus.call_frequency("aten._foreach_add.List") == 4);
  CHECK(corpus.call_frequency("aten.relu.default") == 0);
  const auto& samples = corpus.find("aten._foreach_add.List")->samples;
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].where.to_string() == path + ":4:29");
  CHECK(samples[1].where.line == 5);
  CHECK(Corpus::from_directory(directory.path, {}).distinct_samples() == 3);
}

TEST_CASE("an operator that a JSON file has twice keeps the samples of both, in the order of the file") {
  const pace::test::Scratch directory;
  const auto path = directory.write("twice.json", R"json({
  "aten.relu.default": [{"count": 2, "inputs": "((T([1], f32),), {})"}, {"inputs": "((T([2], f32),), {})"}],
  "aten.abs.default": [{"inputs": "((T([4], f32),), {})"}],
  "aten.relu.default": [{"inputs": "((T([3], f32),), {})"}, {"count": 5, "inputs": "((T([1], f32),), {})"}]
})json");
  const Corpus corpus = Corpus::from_file(path);
  CHECK(names(corpus) == std::vector<std::string>{"aten.relu.default", "aten.abs.default"});
  CHECK(corpus.call_frequency("aten.relu.default") == 9);
  const auto& samples = corpus.find("aten.relu.default")->samples;
  REQUIRE(samples.size() == 3);
  CHECK(samples[2].text == "((T([3], f32),), {})");
  CHECK(samples[2].where.line == 4);
  // PyTorch's reader keeps the last.
  LoadOptions compat;
  compat.compat = true;
  CHECK(Corpus::from_file(path, compat).call_frequency("aten.relu.default") == 6);
  CHECK_THROWS_WITH(Corpus::from_file(directory.write(
                        "entry.json", R"json({"aten.relu.default": [{"count": 1, "inputs": "(", "count": 2}]})json")),
                    ContainsSubstring("entry.json: aten.relu.default: an entry has the key 'count' twice"));
}

TEST_CASE("a malformed entry of JSON costs no other, and JSON of another kind is refused") {
  const pace::test::Scratch directory;
  const auto path = directory.write("trace.json", R"json({
  "aten.relu.default": [
    {"count": 1, "inputs": "((T([128], f99),), {})"},
    {"count": -1, "inputs": "((T([128], f32),), {})"},
    {"count": 1},
    {"count": 1, "inputs": "((T([128], f32),), {})"}
  ],
  "no name": [{"inputs": "((1,), {})"}],
  "aten.add.Tensor": 7
})json");
  const Corpus corpus = Corpus::from_file(path, collect);
  CHECK(corpus.distinct_samples() == 1);
  REQUIRE(corpus.rejects().size() == 5);
  CHECK_THAT(corpus.rejects()[0].message, ContainsSubstring(path + ":3:40: aten.relu.default: expected a dtype"));
  CHECK_THAT(corpus.rejects()[1].message, ContainsSubstring("entry 2: expected a whole \"count\" of at least 0"));
  CHECK_THAT(corpus.rejects()[2].message, ContainsSubstring("entry 3: expected an object with the string \"inputs\""));
  CHECK_THAT(corpus.rejects()[3].message, ContainsSubstring("'no name': expected the name of an operator"));
  CHECK_THAT(corpus.rejects()[4].message, ContainsSubstring("aten.add.Tensor: expected a list of recorded calls"));
  CHECK_THROWS_WITH(Corpus::from_file(path), ContainsSubstring("f99"));
  CHECK_THROWS_WITH(
      Corpus::from_file(directory.write("broken.json", "{\"aten.relu.default\": [")),
      ContainsSubstring("broken.json: ") && ContainsSubstring("expected recorded operator inputs as text"));
  CHECK_THROWS_WITH(Corpus::from_file(directory.write("list.json", "[1, 2]")),
                    ContainsSubstring("expected recorded operator inputs as {\"NAME\""));
}

TEST_CASE("a dtype that no tensor can have refuses its own call alone") {
  const pace::test::Scratch directory;
  const auto path =
      directory.write("dtypes.txt", add + "cnt: 1, ((T([2], torch.qint8),), {})\ncnt: 1, ((T([2], f8e4m3fn),), {})\n");
  const Corpus corpus = Corpus::from_file(path);
  const auto& samples = corpus.find("aten.add.Tensor")->samples;
  REQUIRE(samples.size() == 2);
  CHECK_THROWS_WITH(parse_call(samples[0]), ContainsSubstring("no tensor of the dtype qint8 can be made: it needs a "
                                                              "scale, and the text of inputs has none"));
  CHECK(parse_call(samples[1]).args[0] == Value(TensorSpec{{2}, DType::f8e4m3fn, {}}));
}
