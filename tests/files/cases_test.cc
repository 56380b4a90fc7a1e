// Cases are made of text with names and ranges, of files of tensors, and of folders.
#include "benches/files/loaders/cases.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Dict.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "benches/files/sides.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::InputError;
using pace::benches::loaders::Case;
using pace::benches::loaders::find_cases;
using pace::benches::loaders::InputOptions;
using pace::benches::loaders::inputs_to_check;
using pace::benches::loaders::make_inputs;
using pace::benches::loaders::parse_input_text;
using pace::benches::loaders::parse_sweep;
using pace::benches::loaders::places_in_run;

std::vector<Case> cases_of(const InputOptions& options) {
  return find_cases(options, [](const std::string& text) { FAIL("a warning: " << text); });
}

std::vector<at::Tensor> tensors_of(const std::string& text, std::uint64_t seed = 1) {
  const auto cases = cases_of({.inputs = text});
  return make_inputs(cases.at(0), {}, seed, 1).tensors();
}

std::string save(const pace::test::Scratch& scratch, const std::string& name, const c10::IValue& value) {
  const auto bytes = torch::jit::pickle_save(value);
  return scratch.write(name, std::string_view(bytes.data(), bytes.size()));
}

c10::IValue tuple(std::vector<c10::IValue> items) { return c10::ivalue::Tuple::create(std::move(items)); }

TEST_CASE("a recording without calls is refused by its name") {
  const pace::test::Scratch scratch;
  for (const char* const text : {"Operator: aten.relu.default\n", "Operator: aten.relu.default\n\n"}) {
    const std::string path = scratch.write("none.txt", text);
    CHECK_THROWS_WITH(cases_of({.inputs = path}), ContainsSubstring(path + ": the recording has no calls"));
  }
}

TEST_CASE("a message has the beginning of a text, however long that is") {
  const std::string words(600'000, 'a'), places(600'000, '?');
  for (const std::string& text : {'(' + words + ",)", "(T([" + words + "], f32),)", '(' + places + ",)",
                                  "(T([2], f32, low=" + words + ", high=3),)"}) {
    try {
      (void)cases_of({.inputs = text});
      FAIL("it was taken: " << text.substr(0, 20));
    } catch (const InputError& error) {
      const std::string message = error.what();
      CAPTURE(message.substr(0, 1000));
      CHECK(message.size() < 1000);
    }
  }
}

TEST_CASE("names of sizes are refused where nothing sweeps them") {
  CHECK_THROWS_WITH(
      cases_of({.inputs = "(T([batch], f32),)", .size_names = pace::benches::loaders::SizeNames::refused}),
      ContainsSubstring("the size 'batch' has no value; expected a number in its place"));
}

TEST_CASE("the text of a case gives types and sizes") {
  const auto tensors = tensors_of("(T([2, 3], f16), [T([4], f64, stride=(2,))], 3, None)");
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].sizes() == at::IntArrayRef{2, 3});
  CHECK(tensors[0].scalar_type() == at::kHalf);
  CHECK(tensors[1].strides() == at::IntArrayRef{2});
  const auto call = cases_of({.inputs = "((T([2], f32),), {'scale': T([2], f32)})"}).at(0);
  CHECK(make_inputs(call, {}, 1, 1).inputs().kwargs.at(0).first == "scale");
}

TEST_CASE("values of a range are in it, and depend on the seed alone") {
  const auto tensors = tensors_of("(T([1000], i64, low=5, high=8), T([1000], f32, high=2), T([9], u8))");
  CHECK(tensors[0].min().item<std::int64_t>() == 5);
  CHECK(tensors[0].max().item<std::int64_t>() == 7);
  CHECK(tensors[1].min().item<float>() >= 0);
  CHECK(tensors[1].max().item<float>() < 2);
  CHECK(tensors[1].max().item<float>() > 1);
  // The whole range of a type is wider than the type holds, and values that are rounded stay below the end.
  const auto half = tensors_of("(T([4000], f16, low=-65504, high=65504), T([4000], f16, low=2040, high=2048))");
  CHECK(half[0].isfinite().all().item<bool>());
  CHECK(half[0].max().item<float>() > 60000);
  CHECK(half[1].max().item<float>() < 2048);
  const std::string text = "(T([100], i32, low=0, high=1000),)";
  CHECK(at::equal(tensors_of(text, 3)[0], tensors_of(text, 3)[0]));
  CHECK_FALSE(at::equal(tensors_of(text, 3)[0], tensors_of(text, 4)[0]));
  // Gaps between strides and elements that share memory hold values, too.
  const auto strided = tensors_of("(T([4, 4], i64, stride=(0, 2), low=3, high=4),)")[0];
  CHECK(strided.eq(3).all().item<bool>());
}

TEST_CASE("a range that is none is refused with the tensor") {
  const auto refusal = [](const std::string& text) {
    try {
      (void)cases_of({.inputs = text});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal("(T([2], i64),)"), ContainsSubstring("T([2], i64): integers have no range"));
  CHECK_THAT(refusal("(T([2], i64, low=0),)"), ContainsSubstring("no high="));
  CHECK_THAT(refusal("(T([2], i64, high=nan),)"), ContainsSubstring("high='nan': expected a number"));
  CHECK_THAT(refusal("(T([2], i64, low=2, high=2),)"), ContainsSubstring("low must be below high"));
  CHECK_THAT(refusal("(T([2], i64, high=2.5),)"), ContainsSubstring("whole numbers"));
  CHECK_THAT(refusal("(T([2], i8, high=300),)"), ContainsSubstring("does not hold"));
  CHECK_THAT(refusal("(T([2], f16, high=1e6),)"),
             ContainsSubstring("T([2], f16): the type does not hold all values from low to high; expected numbers from "
                               "-65504 to 65504"));
  CHECK_THAT(refusal("({'a': T([2], f32)},)"),
             ContainsSubstring("{'a': T([2], f32)}: text has no dicts among the arguments; expected a file"));
  CHECK_THAT(refusal("((T([2], f32), [{'a': 1}]), {'b': 2})"), ContainsSubstring("text has no dicts"));
  CHECK_THAT(refusal("(T([2], b8, high=1),)"), ContainsSubstring("have no range"));
  CHECK_THAT(refusal("(T([2], f4e2m1fnx2, high=1),)"), ContainsSubstring("have no range"));
  CHECK_THAT(refusal("(T([2], i8, high=3, high=4),)"), ContainsSubstring("given twice"));
  CHECK_THAT(refusal("(T([2, f32),)"), ContainsSubstring("expected a tuple such as"));
  CHECK_THAT(refusal("(T([2], f32)"), ContainsSubstring("expected a tuple such as"));
}

TEST_CASE("names of sizes get their values, each combination a case") {
  const std::string text = "(T([batch, width], f32), T([batch], i64, low=0, high=width), 'batch')";
  const auto cases = cases_of({.inputs = text, .sweeps = {parse_sweep("batch=2,3"), parse_sweep("width=5")}});
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].name == "batch=2,width=5");
  CHECK(cases[1].name == "batch=3,width=5");
  const auto inputs = make_inputs(cases[1], {}, 1, 1);
  CHECK(inputs.tensors()[0].sizes() == at::IntArrayRef{3, 5});
  CHECK(inputs.tensors()[1].max().item<std::int64_t>() < 5);
  CHECK(inputs.inputs().args[2].toStringRef() == "batch");
  CHECK_THROWS_WITH(cases_of({.inputs = text, .sweeps = {parse_sweep("batch=2")}}),
                    ContainsSubstring("'width' has no value; expected --sweep width="));
  CHECK_THROWS_WITH(cases_of({.inputs = "(T([2], f32),)", .sweeps = {parse_sweep("batch=2")}}),
                    ContainsSubstring("--sweep batch has no effect"));
}

TEST_CASE("files hold a tensor, arguments, or arguments and keyword arguments") {
  const pace::test::Scratch scratch;
  const at::Tensor a = at::arange(6).view({2, 3}), b = at::ones({2});
  const auto inputs_of = [](const std::string& path) {
    const auto cases = cases_of({.inputs = path});
    return make_inputs(cases.at(0), {}, 1, 1);
  };
  CHECK(inputs_of(save(scratch, "one.pt", a)).tensors().size() == 1);
  const auto two = inputs_of(save(scratch, "two.pt", tuple({a, 3, b})));
  REQUIRE(two.tensors().size() == 2);
  CHECK(at::equal(two.tensors()[0], a));
  CHECK(two.inputs().args.at(1).toInt() == 3);
  c10::impl::GenericDict both(c10::StringType::get(), c10::AnyType::get()),
      named(c10::StringType::get(), c10::AnyType::get());
  named.insert("scale", b);
  both.insert("args", tuple({a}));
  both.insert("kwargs", named);
  const auto keywords = inputs_of(save(scratch, "both.pt", both));
  CHECK(keywords.inputs().kwargs.at(0).first == "scale");
  CHECK(keywords.tensors().size() == 2);
  // One tensor that is given twice stays two operands.
  CHECK(inputs_of(save(scratch, "twice.pt", tuple({a, a}))).tensors().size() == 2);
  CHECK_THROWS_WITH(
      inputs_of(save(scratch, "named.pt", named)),
      ContainsSubstring("'args' and 'kwargs', found a dict with the key \"scale\" and a value of the type Tensor"));
  CHECK_THROWS_WITH(inputs_of(save(scratch, "text.pt", "x")), ContainsSubstring("expected a tensor, a tuple"));
}

/// Copies an archive record by record; `change(name, bytes)` changes the bytes of the copy.
template <class Change>
std::string rewritten(const std::string& from, const std::string& to, const Change& change) {
  caffe2::serialize::PyTorchStreamReader reader(from);
  caffe2::serialize::PyTorchStreamWriter writer(to);
  for (const auto& name : reader.getAllRecords()) {
    const auto [data, size] = reader.getRecord(name);
    std::string bytes(static_cast<const char*>(data.get()), size);
    change(name, bytes);
    if (name != "version" && name != ".data/serialization_id") writer.writeRecord(name, bytes.data(), bytes.size());
  }
  writer.writeEndOfFile();
  return to;
}

TEST_CASE("a file of tensors that was damaged, or whose records are too short, is refused with the record") {
  const pace::test::Scratch scratch;
  const auto read = [](const std::string& path) {
    return make_inputs(cases_of({.inputs = path}).at(0), {}, 1, 1).tensors();
  };
  const at::Tensor numbers = at::arange(1000).to(at::kDouble);
  const std::string whole = save(scratch, "whole.pt", tuple({numbers, at::arange(3)}));
  CHECK(at::equal(read(whole).at(0), numbers));
  // As torch.save writes float8.
  const auto newer = rewritten(whole, scratch / "newer.pt", [](const std::string& name, std::string& record) {
    if (name == "data.pkl") record.replace(record.find("_rebuild_tensor_v2"), 18, "_rebuild_tensor_v3");
  });
  CHECK_THROWS_WITH(read(newer), ContainsSubstring("newer.pt: there is a tensor among the values whose type LibTorch's "
                                                   "unpickler does not know, such as float8; try: text such as"));
  // A bit of a value that is still one.
  std::string bytes = pace::test::read_file(whole);
  const double value = 777;
  const auto at = bytes.find(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
  REQUIRE(at != std::string::npos);
  bytes[at + 5] = static_cast<char>(bytes[at + 5] ^ 1);
  CHECK_THROWS_WITH(read(scratch.write("damaged.pt", bytes)),
                    ContainsSubstring("damaged.pt: the record data/0 is damaged: expected bytes with the checksum ") &&
                        ContainsSubstring("found 8000 bytes with the checksum "));
  const auto shortened = rewritten(whole, scratch / "short.pt", [](const std::string& name, std::string& record) {
    if (name == "data/0") record.resize(4096);
  });
  CHECK_THROWS_WITH(read(shortened),
                    ContainsSubstring("short.pt: the record data/0 is too short: its tensors need 8000 "
                                      "bytes, found 4096"));
  // Checksums that were not computed are 0.
  caffe2::serialize::PyTorchStreamReader reader(whole);
  caffe2::serialize::PyTorchStreamWriter writer(scratch / "without.pt", /*compute_crc32=*/false);
  for (const char* const name : {"data.pkl", "data/0", "data/1"}) {
    const auto [data, size] = reader.getRecord(name);
    writer.writeRecord(name, data.get(), size);
  }
  writer.writeEndOfFile();
  CHECK(at::equal(read(scratch / "without.pt").at(0), numbers));
}

TEST_CASE("an OrderedDict of Python among the inputs is named as such") {
  const pace::test::Scratch scratch;
  // collections.OrderedDict(), into which {'a': 1} is put.
  const std::string pickle(
      "\x80\x02"
      "ccollections\nOrderedDict\n)R(X\x01\x00\x00\x00"
      "aK\x01u.",
      43);
  caffe2::serialize::PyTorchStreamWriter writer(scratch / "ordered.pt");
  writer.writeRecord("data.pkl", pickle.data(), pickle.size());
  writer.writeEndOfFile();
  CHECK_THROWS_WITH(make_inputs(cases_of({.inputs = scratch / "ordered.pt"}).at(0), {}, 1, 1),
                    ContainsSubstring("there is a collections.OrderedDict among them; expected tensors"));
}

TEST_CASE("only the inputs that a case has are read for --trust and for a dry run") {
  const pace::test::Scratch scratch;
  torch::jit::Module module("Module");
  module.register_attribute("0", c10::TensorType::get(), at::ones({2}));
  (void)save(scratch, "folder/a.pt", at::ones({2}));
  module.save(scratch / "folder/left_out.bin");
  pace::benches::files::CommandLine line;
  line.inputs = scratch / "folder";
  CHECK_NOTHROW(require_trust(line, {}));
  module.save(scratch / "folder/b.pt");
  CHECK_THROWS_WITH(require_trust(line, {}), ContainsSubstring("b.pt holds TorchScript"));
  CHECK(inputs_to_check({.file = scratch / "folder/a.pt"}).tensors().at(0).is_cpu());
  CHECK_THROWS_WITH(inputs_to_check({.file = scratch.write("x.pt", "x")}),
                    ContainsSubstring("expected tensors that torch.save has written"));
}

TEST_CASE("common mistakes in a text of inputs are named") {
  const auto refuses = [](const std::string& text, const std::string& message) {
    INFO(text);
    CHECK_THROWS_WITH(cases_of({.inputs = text}), ContainsSubstring(message));
  };
  refuses("(T([8, 64], float32),)", "'float32' is no type here; expected 'f32'");
  refuses("(T([8], int64, low=0, high=2),)", "'int64' is no type here; expected 'i64'");
  refuses("(T([8], f99),)", "expected a dtype (bf16 f64 f32");
  refuses("(T([8], f99),)", "found 'f99");
  refuses("(T([8, 64], f32), T([64], f32)", "')' is missing at the end of the inputs (T([8, 64], f32), T([64], f32)");
  refuses("(T([8, 64, f32),)", "')' closes no bracket in the inputs (T([8, 64, f32),)");
  refuses("(T([8], f32)))", "')' closes no bracket");
  refuses("(T([8], f32))", "expected ',' (a tuple of one element is written (x,)), found ')'; expected a tuple");
  refuses("(T([8]), T([4]))", "expected ',' between the sizes and the dtype, found '), T([4]))'; expected a tuple");
  refuses("T([8], f32)", "T([8], f32): no such file; expected a tuple where this is text: (T([8], f32),)");
  // Brackets of strings are no brackets.
  CHECK(cases_of({.inputs = "(T([8], f32), ')(', \"]\")"}).size() == 1);
}

TEST_CASE("inputs of text are checked without memory, as if they were where a run has them") {
  const auto one = cases_of({.inputs = "(T([1099511627776, 8], f16, stride=(8, 1)), 3)"}).at(0);
  const auto inputs = inputs_to_check(one);
  const auto& tensor = inputs.tensors().at(0);
  CHECK(tensor.is_meta());
  CHECK(tensor.scalar_type() == at::kHalf);
  CHECK(tensor.size(0) == 1099511627776);
  CHECK(inputs.inputs().args.at(1).toInt() == 3);
  CHECK(places_in_run(one, {}).of(tensor) == c10::Device(at::kCPU));
  const c10::Device gpu(at::kCUDA, 1);
  CHECK(places_in_run(one, gpu).of(tensor) == gpu);
  CHECK(places_in_run({.file = "x.pt"}, {}).of(tensor).is_meta());
}

TEST_CASE("a folder has a case for each file, and one for each line of text") {
  const pace::test::Scratch scratch;
  (void)save(scratch, "folder/b.pt", at::ones({2}));
  scratch.write("folder/a.txt", "(T([2], f32),)\n\n(T([3], f32),)\n");
  std::vector<std::string> names;
  for (const auto& each : cases_of({.inputs = scratch / "folder"})) names.push_back(each.name);
  CHECK(names == std::vector<std::string>{"a[0]", "a[1]", "b"});
  scratch.write("folder/readme.md", "x");
  std::string warning;
  (void)find_cases({.inputs = scratch / "folder"}, [&](const std::string& text) { warning = text; });
  CHECK_THAT(warning, ContainsSubstring("readme.md is left out"));
  scratch.write("folder/b.txt", "(T([2], f32),)\n");
  CHECK_THROWS_WITH(find_cases({.inputs = scratch / "folder"}, [](const std::string&) {}),
                    ContainsSubstring("two cases are called 'b'"));
  scratch.write("empty/readme.md", "x");
  CHECK_THROWS_WITH(find_cases({.inputs = scratch / "empty"}, [](const std::string&) {}),
                    ContainsSubstring("found none"));
  CHECK_THROWS_WITH(cases_of({.inputs = scratch / "missing"}), ContainsSubstring("no such file"));
  scratch.write("lines.txt", "(T([2], f32),)\n(T([2, f32),)\n");
  CHECK_THROWS_WITH(cases_of({.inputs = scratch / "lines.txt"}), ContainsSubstring("lines.txt:2:1"));
}

TEST_CASE("recorded calls of one operator are cases, and among several operators the named one's calls are") {
  const pace::test::Scratch scratch;
  const std::string one = "Operator: aten.relu.default\ncnt: 1, ((T([2], f32),), {})\ncnt: 2, ((T([3], f32),), {})\n";
  scratch.write("one.txt", one);
  CHECK(cases_of({.inputs = scratch / "one.txt"}).size() == 2);
  scratch.write("two.txt", one + "Operator: aten.neg.default\ncnt: 1, ((T([2], f32),), {})\n");
  CHECK_THROWS_WITH(cases_of({.inputs = scratch / "two.txt"}),
                    ContainsSubstring("several operators (aten.relu.default, aten.neg.default)") ||
                        ContainsSubstring("several operators (aten.neg.default, aten.relu.default)"));
  CHECK(cases_of({.inputs = scratch / "two.txt", .operator_name = "aten.neg.default"}).size() == 1);
}

}  // namespace
