// Files are told apart by their content, and called with arguments that fit. TorchScript and operators are made here.
#include "benches/files/loaders/loaders.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "benches/files/file_digest.hpp"
#include "benches/files/loaders/call_spec.hpp"
#include "benches/files/loaders/captured_errors.hpp"
#include "benches/files/loaders/operator_by_name.hpp"
#include "benches/files/loaders/program_facts.hpp"
#include "benches/files/loaders/program_of_buffers.hpp"
#include "benches/files/loaders/stand_ins.hpp"
#include "benches/files/loaders/whole_weights.hpp"
#include "benches/files/loaders/written_buffers.hpp"
#include "benches/files/named_file.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::InputError;
using pace::benches::loaders::CallInputs;
using pace::benches::loaders::CallSpec;
using pace::benches::loaders::Content;
using pace::benches::loaders::LoadedOperator;
using pace::benches::loaders::loader_of;

std::string script(const pace::test::Scratch& scratch, const std::string& name, const std::string& code) {
  torch::jit::Module module("Module");
  if (!code.empty()) module.define(code);
  module.save(scratch / name);
  return scratch / name;
}

std::string pickled(const pace::test::Scratch& scratch, const std::string& name, const c10::IValue& value) {
  const auto bytes = torch::jit::pickle_save(value);
  return scratch.write(name, std::string_view(bytes.data(), bytes.size()));
}

TEST_CASE("the range of a size follows from its formula") {
  using pace::benches::loaders::ExpectedSize;
  using Range = std::pair<std::int64_t, std::int64_t>;
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  CHECK(ExpectedSize{.fixed = 8}.range() == Range{8, 8});
  CHECK(ExpectedSize{.symbol = "s", .low = 1, .high = 512}.range() == Range{1, 512});
  CHECK(ExpectedSize{.symbol = "s", .times = 2, .low = 1, .high = 256}.range() == Range{2, 512});
  CHECK(ExpectedSize{.symbol = "s", .times = 2, .plus = 1, .low = 0}.range() == Range{1, largest});
  CHECK(ExpectedSize{.symbol = "s", .times = -1, .plus = 64, .low = 2, .high = 32}.range() == Range{32, 62});
  CHECK(ExpectedSize{.symbol = "s", .times = -1, .plus = 64, .low = 2}.range() == Range{0, 62});
  CHECK(ExpectedSize{.symbol = "s", .times = 4, .low = 1, .high = largest / 2}.range() == Range{4, largest});
}

TEST_CASE("the hash of a file depends on its bytes alone, and a folder has none") {
  using pace::benches::files::digest_of_file;
  const pace::test::Scratch scratch;
  const std::string large(std::size_t{3} << 20, 'a');
  CHECK(digest_of_file(scratch.write("large", large)) == digest_of_file(scratch.write("same", large)));
  CHECK(digest_of_file(scratch / "large") != digest_of_file(scratch.write("other", large + 'b')));
  CHECK(digest_of_file(scratch.write("empty", "")) != digest_of_file(scratch / "other"));
  CHECK_THROWS_WITH(digest_of_file(scratch / "none"), ContainsSubstring("none: the file cannot be read"));
  CHECK_THROWS_WITH(digest_of_file(scratch / "."), ContainsSubstring("expected a file, found a folder"));
}

TEST_CASE("a TorchScript file is called with tensors in the order of the inputs") {
  const pace::test::Scratch scratch;
  // The name says nothing.
  const Content content(script(scratch, "module.so", R"(
def forward(self, a: Tensor, factor: float, others: List[Tensor], last: Optional[Tensor] = None):
    first = others[0]
    if last is not None:
        first = first + last
    return a * factor - others[1], {"first": first}, 3
)"));
  const auto& loader = loader_of(content);
  CHECK(loader.name() == "TorchScript");
  CHECK_THAT(loader.code_in(content), ContainsSubstring("TorchScript"));
  const auto loaded = loader.load(content, {});
  const at::Tensor one = at::ones({2});
  c10::impl::GenericList list(c10::AnyType::get());
  list.push_back(one * 5);
  list.push_back(one * 2);
  const CallInputs inputs({.args = {one}, .kwargs = {{"last", one * 7}, {"others", list}, {"factor", 3}}});
  const auto call = loaded->bind(inputs);
  const auto outputs = call->run(inputs.tensors());
  REQUIRE(outputs.size() == 3);
  CHECK(at::equal(outputs[0], one));
  CHECK(at::equal(outputs[1], one * 12));
  CHECK(outputs[2].item<std::int64_t>() == 3);
  // Other tensors, in the same places.
  const auto others = call->run({one * 10, one * 8, one, one * 4});
  CHECK(at::equal(others[0], one * 26));
  CHECK(at::equal(others[1], one * 9));
  const auto refusal = [&](const pace::inputs::Inputs& given) { (void)loaded->bind(CallInputs(given)); };
  CHECK_THROWS_WITH(refusal({.args = {one}, .kwargs = {}}), ContainsSubstring("is missing argument 'factor'"));
  CHECK_THROWS_WITH(refusal({.args = {one, "x", list}, .kwargs = {}}),
                    ContainsSubstring("argument 'factor' (number 2): expected float, got the string"));
}

TEST_CASE("None is no output, wherever it stands and however a back end gives it") {
  const pace::test::Scratch scratch;
  const Content content(script(scratch, "none.pt", R"(
def forward(self, a: Tensor):
    nothing: Optional[Tensor] = None
    return None, {"a": nothing, "b": a}, [nothing, a + 1], True, (None, 2.5)
)"));
  const CallInputs inputs({.args = {at::ones({2})}, .kwargs = {}});
  const auto outputs = loader_of(content).load(content, {})->bind(inputs)->run(inputs.tensors());
  REQUIRE(outputs.size() == 4);
  CHECK(at::equal(outputs[1], at::ones({2}) + 1));
  CHECK(outputs[2].scalar_type() == at::kBool);
  CHECK(outputs[3].item<double>() == 2.5);
  // As AOTInductor's packages return it.
  const std::vector<at::Tensor> flat{at::Tensor(), at::ones({2}), at::Tensor()};
  CHECK(pace::benches::loaders::flat_outputs(flat).size() == 1);
}

TEST_CASE("buffers that a TorchScript call writes to are given by the caller, and others are not") {
  const pace::test::Scratch scratch;
  torch::jit::Module module("Module");
  module.register_buffer("total", at::zeros({2}));
  module.register_buffer("scale", at::ones({2}) * 3);
  module.register_buffer("last", at::zeros({2}));
  module.define(R"(
def forward(self, a: Tensor):
    self.total[0:1].add_(1)
    self.last = a * self.scale
    return self.total + self.last
)");
  module.save(scratch / "state.pt");
  const Content content(scratch / "state.pt");
  const auto loaded = loader_of(content).load(content, {});
  const CallInputs inputs({.args = {at::ones({2})}, .kwargs = {}});
  const auto call = loaded->bind(inputs);
  REQUIRE(call->state().size() == 2);
  CHECK(call->state()[0].name == "last");
  CHECK(call->state()[1].name == "total");
  CHECK(at::equal(call->state()[1].value, at::zeros({2})));
  const at::Tensor last = at::zeros({2}), total = at::ones({2}) * 10;
  for (const int sum : {14, 15}) {
    const auto outputs = call->run({inputs.tensors()[0], last, total});
    CHECK(outputs[0][0].item<float>() == static_cast<float>(sum));
    CHECK(outputs[0][1].item<float>() == 13);
    CHECK(at::equal(last, at::ones({2}) * 3));
  }
  CHECK(total[0].item<float>() == 12);
}

TEST_CASE("a note says that a module was saved in training mode, and none says it of a function") {
  const pace::test::Scratch scratch;
  const auto notes_of = [&](const std::string& name) {
    torch::jit::Module module(name);
    module.register_attribute("training", c10::BoolType::get(), true);
    module.define("def forward(self, a: Tensor):\n    return a + 1\n");
    module.save(scratch / "saved.pt");
    const Content content(scratch / "saved.pt");
    return loader_of(content).load(content, {})->notes();
  };
  REQUIRE(notes_of("__torch__.Module").size() == 1);
  CHECK_THAT(notes_of("__torch__.Module")[0], ContainsSubstring("saved in training mode"));
  // As torch.jit.script(function) saves it; there is no eval() to call.
  CHECK(notes_of("__torch__.PlaceholderModule").empty());
}

TEST_CASE("a TorchScript buffer that a call replaces by one of another size is refused") {
  const pace::test::Scratch scratch;
  torch::jit::Module module("Module");
  module.register_buffer("cache", at::zeros({1, 2}));
  module.define(R"(
def forward(self, a: Tensor):
    self.cache = torch.cat([self.cache, a])
    return self.cache.sum()
)");
  module.save(scratch / "grows.pt");
  const Content content(scratch / "grows.pt");
  const auto loaded = loader_of(content).load(content, {});
  const CallInputs inputs({.args = {at::ones({1, 2})}, .kwargs = {}});
  CHECK_THROWS_WITH(loaded->bind(inputs),
                    ContainsSubstring("grows.pt: a call replaces the buffer 'cache', which is float32[1, 2] on cpu, by "
                                      "float32[2, 2] on cpu; why: ") &&
                        ContainsSubstring("; try: "));
}

TEST_CASE("a TorchScript buffer that shares memory is refused if calls write to it") {
  const pace::test::Scratch scratch;
  const auto* const writes = GENERATE("k", "kv", "row", "second.k");
  torch::jit::Module module("Module"), twice("Twice");
  const at::Tensor pair = at::zeros({2, 3}), apart = at::zeros({2, 3});
  twice.register_buffer("k", at::zeros({3}));
  module.register_buffer("k", pair[0]);
  module.register_buffer("kv", pair);
  module.register_buffer("row", apart[0]);
  module.register_buffer("other_row", apart[1]);
  module.register_module("first", twice);
  module.register_module("second", twice);
  module.define(std::string("def forward(self, a: Tensor):\n    self.") + writes +
                ".add_(1)\n    return a + self.k + self.row + self.other_row + self.first.k\n");
  module.save(scratch / "shares.pt");
  const Content content(scratch / "shares.pt");
  const auto loaded = loader_of(content).load(content, {});
  const CallInputs inputs({.args = {at::ones({3})}, .kwargs = {}});
  const std::string name = writes;
  if (name == "k" || name == "kv") {
    CHECK_THROWS_WITH(loaded->bind(inputs), ContainsSubstring("shares.pt: calls write to the buffer '" + name +
                                                              "', which shares memory with the buffer '" +
                                                              (name == "k" ? "kv" : "k") + "'; why: ") &&
                                                ContainsSubstring("; try: "));
    return;
  }
  const auto call = loaded->bind(inputs);
  REQUIRE(call->state().size() == 1);
  CHECK(call->state()[0].name == (name == "row" ? "row" : "first.k"));
}

TEST_CASE("a buffer whose value a first call left equal is given if another file writes to it") {
  const pace::test::Scratch scratch;
  torch::jit::Module module("Module");
  module.register_buffer("ready", at::zeros({1}));
  module.register_buffer("total", at::zeros({1}));
  module.register_buffer("scale", at::ones({1}));
  module.define(R"(
def forward(self, a: Tensor):
    if bool(a.sum() > 0):
        self.ready.fill_(1)
    return self.total.add_(a) * self.scale
)");
  module.save(scratch / "state.pt");
  const Content content(scratch / "state.pt");
  const auto loaded = loader_of(content).load(content, {});
  const auto call = loaded->bind(CallInputs({.args = {at::zeros({1})}, .kwargs = {}}));
  REQUIRE(call->state().size() == 1);
  call->also_take({{"ready", at::zeros({1})}, {"total", at::zeros({1})}, {"unknown", at::zeros({1})}});
  REQUIRE(call->state().size() == 2);
  CHECK(call->state()[0].name == "ready");
  CHECK(call->state()[1].name == "total");
  const at::Tensor ready = at::zeros({1}), total = at::ones({1});
  CHECK(call->run({at::ones({1}), ready, total})[0].item<float>() == 2);
  CHECK(ready.item<float>() == 1);
  CHECK(total.item<float>() == 2);
}

TEST_CASE("who keeps a stand-in keeps no memory of what it stands for") {
  at::Tensor all = at::ones({4, 2});
  const at::Tensor half = all.narrow(0, 2, 2);
  std::vector<at::Tensor> kept;
  {
    pace::benches::loaders::StandIns stand_ins({at::zeros({2, 2})});
    CHECK_FALSE(stand_ins.stands_for(0, half));
    CHECK_FALSE(stand_ins.fits(0, all));
    CHECK_FALSE(stand_ins.fits(0, half.t()[0]));
    REQUIRE(stand_ins.fits(0, half));
    stand_ins.stand_for(0, half);
    CHECK(stand_ins.stands_for(0, half));
    kept = stand_ins.tensors();
    kept[0].add_(1);
    CHECK(at::equal(half, at::ones({2, 2}) * 2));
    CHECK(at::equal(all.narrow(0, 0, 2), at::ones({2, 2})));
    const at::Tensor other = at::ones({2, 2});
    CHECK_FALSE(stand_ins.stands_for(0, other));
    stand_ins.stand_for(0, other);
    CHECK(all.storage().use_count() == 2);  // of all and half
    stand_ins.release();
    CHECK(other.storage().use_count() == 1);
    CHECK_FALSE(stand_ins.stands_for(0, other));
    stand_ins.stand_for(0, all.narrow(0, 0, 2));
  }
  CHECK(all.storage().use_count() == 2);
}

TEST_CASE("an exported program has the buffers among its inputs that it writes to, also through a view") {
  const auto tensor = [](const char* name) { return nlohmann::json{{"as_tensor", {{"name", name}}}}; };
  const auto node = [&](const char* target, const char* input, const char* output) {
    return nlohmann::json{{"target", target},
                          {"inputs", {{{"name", "self"}, {"arg", tensor(input)}, {"kind", 1}}}},
                          {"outputs", nlohmann::json::array({tensor(output)})}};
  };
  const auto buffer = [](const char* input, const char* name) {
    return nlohmann::json{{"buffer", {{"arg", {{"name", input}}}, {"buffer_name", name}}}};
  };
  nlohmann::json program;
  auto& module = program["graph_module"];
  module["module_call_graph"] = nlohmann::json::array();
  module["signature"] = {
      {"input_specs",
       {buffer("b_a", "a"), buffer("b_b", "b"), buffer("b_c", "c"), {{"user_input", {{"arg", tensor("x")}}}}}},
      {"output_specs",
       {{{"buffer_mutation", {{"arg", {{"name", "new_c"}}}, {"buffer_name", "c"}}}},
        {{"user_output", {{"arg", tensor("sum")}}}}}}};
  module["graph"] = {
      {"inputs", {tensor("b_a"), tensor("b_b"), tensor("b_c"), tensor("x")}},
      {"outputs", {tensor("new_c"), tensor("sum")}},
      {"tensor_values", {{"b_c", nlohmann::json::object()}}},
      {"nodes",
       {node("torch.ops.aten.select.int", "b_a", "row"), node("torch.ops.aten.relu_.default", "row", "r"),
        node("torch.ops.aten.relu.default", "b_b", "new_c"), node("torch.ops.aten.relu_.default", "new_c", "sum")}}};
  const auto written = pace::benches::loaders::written_buffers(program);
  CHECK(written == std::vector<std::string>{"a", "c"});
  pace::benches::loaders::make_buffers_inputs(program, written);
  CHECK(module["graph"]["inputs"] == nlohmann::json{tensor("b_b"), tensor("x"), tensor("b_a"), tensor("b_c")});
  CHECK(module["signature"]["input_specs"].size() == 4);
  CHECK(module["signature"]["output_specs"].size() == 1);
  CHECK(module["graph"]["outputs"] == nlohmann::json::array({tensor("sum")}));
  CHECK(module["graph"]["nodes"].back()["target"] == "torch.ops.aten.copy_.default");
}

TEST_CASE("a normalisation writes to its running statistics in training alone") {
  const bool training = GENERATE(true, false);
  const auto tensor = [](const char* name) { return nlohmann::json{{"as_tensor", {{"name", name}}}}; };
  const auto argument = [](const char* name, const nlohmann::json& value) {
    return nlohmann::json{{"name", name}, {"arg", value}, {"kind", 1}};
  };
  const auto buffer = [&](const char* name, const char* input) {
    return nlohmann::json{{"buffer", {{"arg", {{"name", input}}}, {"buffer_name", name}}}};
  };
  nlohmann::json program;
  program["graph_module"]["signature"] = {
      {"input_specs", {buffer("mean", "b_mean"), buffer("var", "b_var"), buffer("scale", "b_scale")}},
      {"output_specs", nlohmann::json::array()}};
  program["graph_module"]["graph"]["nodes"] =
      nlohmann::json::array({{{"target", "torch.ops.aten.batch_norm.default"},
                              {"inputs",
                               {argument("input", tensor("x")), argument("weight", tensor("b_scale")),
                                argument("running_mean", tensor("b_mean")), argument("running_var", tensor("b_var")),
                                argument("training", {{"as_bool", training}})}},
                              {"outputs", nlohmann::json::array({tensor("y")})}}});
  const auto written = pace::benches::loaders::written_buffers(program);
  CHECK(written == (training ? std::vector<std::string>{"mean", "var"} : std::vector<std::string>{}));
}

/// An archive with a program that has one input, and the configuration of its buffers.
std::string program_of(const pace::test::Scratch& scratch, const nlohmann::json& config) {
  const std::string path = scratch / "program.pt2";
  nlohmann::json program;
  program["graph_module"] = {
      {"module_call_graph", nlohmann::json::array()},
      {"signature", {{"input_specs", nlohmann::json::array()}, {"output_specs", nlohmann::json::array()}}},
      {"graph", {{"inputs", nlohmann::json::array()}, {"outputs", nlohmann::json::array()}}}};
  caffe2::serialize::PyTorchStreamWriter writer(path);
  for (const auto& [name, text] : {std::pair("models/model.json", program.dump()),
                                   {"data/weights/model_weights_config.json", config.dump()},
                                   {"data/weights/weight_0", std::string(1 << 16, 'w')}})
    writer.writeRecord(name, text.data(), text.size());
  writer.writeEndOfFile();
  return path;
}

TEST_CASE("a buffer that cannot be given is refused with the reason") {
  const pace::test::Scratch scratch;
  const Content content(program_of(
      scratch, {{"config", {{"pickled", {{"use_pickle", true}}}, {"strange", {{"tensor_meta", {{"dtype", 99}}}}}}}}));
  const auto read = [&](const char* name) {
    (void)pace::benches::loaders::read_buffer(content, "model", name, c10::kCPU);
  };
  CHECK_THROWS_WITH(read("pickled"), ContainsSubstring("the buffer 'pickled', which was pickled; why: "));
  CHECK_THROWS_WITH(read("strange"), ContainsSubstring("the buffer 'strange' of type 99, which"));
  CHECK_THROWS_WITH(read("missing"), ContainsSubstring("'missing', and the archive has no values of it; why: "));
}

TEST_CASE("a copy of a program that has no place is refused with the sizes, and nothing of it is left") {
  using pace::benches::loaders::ProgramOfBuffers;
  const pace::test::Scratch scratch;
  const Content content(program_of(scratch, {}));
  CHECK_THROWS_WITH(ProgramOfBuffers(content, "model", {}, "/proc"),
                    ContainsSubstring("a copy of it does not fit: /proc has 0 MiB of free space, and it needs 1 MiB"));
  const std::filesystem::path folder = scratch / "copies";
  std::filesystem::create_directory(folder);
  {
    const ProgramOfBuffers copy(content, "model", {}, folder);
    CHECK(Content(copy.path()).records().size() >= 3);
  }
  CHECK(std::filesystem::is_empty(folder));
  // A disk that gets full meanwhile.
  struct rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string problem;
  try {
    const ProgramOfBuffers copy(content, "model", {}, folder);
  } catch (const pace::Unsupported& error) {
    problem = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(problem, ContainsSubstring("takes no more than a part of it; why: "));
  CHECK(std::filesystem::is_empty(folder));
}

TEST_CASE("a TorchScript file without a forward, or with an operator that is not there, is refused") {
  const pace::test::Scratch scratch;
  const Content none(script(scratch, "none.pt", ""));
  CHECK_THROWS_WITH(loader_of(none).load(none, {}), ContainsSubstring("has no method forward"));
}

TEST_CASE("a program of an archive is named behind the file's name") {
  using pace::benches::files::named_file;
  const pace::test::Scratch scratch;
  const std::string plain = scratch.write("a.pt2", "x"), colon = scratch.write("b:c.pt2", "x");
  CHECK(named_file(plain).path == plain);
  CHECK(named_file(plain).model.empty());
  CHECK(named_file(plain + ":two").path == plain);
  CHECK(named_file(plain + ":two").model == "two");
  // A colon may be part of a name.
  CHECK(named_file(colon).path == colon);
  CHECK(named_file(colon).model.empty());
  CHECK(named_file(colon + ":two").path == colon);
  for (const std::string& missing : {scratch / "none.pt2", scratch / "none.pt2:two", plain + ':'}) {
    CHECK(named_file(missing).path == missing);
    CHECK(named_file(missing).model.empty());
  }
  const Content module(script(scratch, "module.pt", "def forward(self, x):\n    return x\n"));
  CHECK_THROWS_WITH(loader_of(module).load(module, {.model = "two"}),
                    ContainsSubstring("a TorchScript file holds one module; expected its name without ':two'"));
}

TEST_CASE("a file of an unknown kind is refused, and the message names its kind") {
  const pace::test::Scratch scratch;
  const auto refusal = [](const std::string& path) { (void)loader_of(Content(path)); };
  CHECK_THROWS_WITH(refusal(scratch / "missing.pt"), ContainsSubstring("no such file"));
  CHECK_THROWS_WITH(refusal(scratch.path.string()), ContainsSubstring("found a folder"));
  CHECK_THROWS_WITH(refusal(scratch.write("empty.pt", "")), ContainsSubstring("the file is empty"));
  CHECK_THROWS_WITH(refusal(scratch.write("text.pt", "hello")), ContainsSubstring("neither an archive"));
  CHECK_THROWS_WITH(refusal(scratch.write("old.pt", "\x80\x02 pickle")), ContainsSubstring("a pickle of Python"));
  CHECK_THROWS_WITH(refusal(scratch.write("lib.pt2",
                                          "\x7f"
                                          "ELF...")),
                    ContainsSubstring("a shared library"));
  CHECK_THROWS_WITH(refusal(pickled(scratch, "values.pt", at::ones({2}))),
                    ContainsSubstring("values that torch.save has written"));
  const std::string whole =
      pace::test::read_file(script(scratch, "module.pt", "def forward(self, x):\n    return x\n"));
  CHECK_THROWS_WITH(refusal(scratch.write("cut.pt", whole.substr(0, whole.size() / 2))),
                    ContainsSubstring("was cut or damaged"));
}

TEST_CASE("checksums agree with zip archives, and a damaged archive is refused with the record") {
  // The check value of CRC-32.
  CHECK(pace::benches::loaders::crc32_of("123456789") == 0xCBF43926);
  CHECK(pace::benches::loaders::crc32_of("") == 0);
  const pace::test::Scratch scratch;
  const std::string path = script(scratch, "module.pt", "def forward(self, x):\n    return x + 1234567\n");
  Content(path).require_intact();
  std::string bytes = pace::test::read_file(path);
  const auto at = bytes.find("return torch.add(x, ");
  REQUIRE(at != std::string::npos);
  bytes[at] = 'R';
  CHECK_THROWS_WITH(Content(scratch.write("damaged.pt", bytes)).require_intact(),
                    ContainsSubstring("damaged.pt: the record code/__torch__.py is damaged: expected bytes with "
                                      "the checksum "));
}

/// An archive of torch.export with one weight of `bytes` bytes that is described by `sizes` and `strides`.
std::string weight_of(const pace::test::Scratch& scratch, std::size_t bytes, const std::string& sizes,
                      const std::string& strides) {
  const auto list = [](const std::string& numbers) {
    std::string text;
    for (const char c : numbers) text += c == ' ' ? std::string(", ") : R"({"as_int": )" + std::string(1, c) + "}";
    return "[" + text + "]";
  };
  const std::string config = R"({"config": {"w": {"path_name": "weight_0", "use_pickle": false, "tensor_meta": )"
                             R"({"dtype": 7, "sizes": )" +
                             list(sizes) + R"(, "strides": )" + list(strides) +
                             R"(, "storage_offset": {"as_int": 1}}}}})";
  const std::string path = scratch / "weight.pt2", weight(bytes, 'x');
  caffe2::serialize::PyTorchStreamWriter writer(path);
  writer.writeRecord("data/weights/weight_0", weight.data(), weight.size());
  writer.writeRecord("data/weights/model_weights_config.json", config.data(), config.size());
  writer.writeEndOfFile();
  return path;
}

TEST_CASE("the number of threads that a package was compiled for stands in its sources") {
  const pace::test::Scratch scratch;
  const auto threads_of = [&](const std::string& source) {
    const std::string path = scratch / "package.pt2", folder = "data/aotinductor/model/";
    caffe2::serialize::PyTorchStreamWriter writer(path);
    writer.writeRecord(folder + "a.wrapper.so", "#pragma omp parallel num_threads(7)", 35);
    writer.writeRecord(folder + "b.kernel.cpp", source.data(), source.size());
    writer.writeEndOfFile();
    return pace::benches::loaders::threads_of_package(pace::benches::loaders::Content(path), "model");
  };
  CHECK(threads_of("{\n  #pragma omp parallel num_threads(12)\n  {") == 12);
  CHECK(threads_of("for (;;) {}") == std::nullopt);
}

TEST_CASE("a weight whose record is shorter than its tensor is refused with the record") {
  using pace::benches::loaders::require_whole;
  const pace::test::Scratch scratch;
  // The offset, two rows of three, and the last element: 1 + 3 + 2 + 1 elements of four bytes.
  CHECK_NOTHROW(require_whole(Content(weight_of(scratch, 28, "2 3", "3 1"))));
  CHECK_THROWS_WITH(require_whole(Content(weight_of(scratch, 27, "2 3", "3 1"))),
                    ContainsSubstring("weight.pt2: the record data/weights/weight_0 is too short: 'w' needs 28 bytes, "
                                      "found 27"));
  CHECK_NOTHROW(require_whole(Content(weight_of(scratch, 4, "0 3", "3 1"))));
  CHECK_NOTHROW(require_whole(Content(weight_of(scratch, 8, "9 9", "0 0"))));
  CHECK_THROWS_WITH(require_whole(Content(weight_of(scratch, 28, "2 3", "3"))),
                    ContainsSubstring("model_weights_config.json describes a tensor with other numbers of sizes and"));
}

/// A module that TorchScript saved, whose record of that name has so many bytes, and whose tensors name `device`, of
/// three letters.
std::string script_of(const pace::test::Scratch& scratch, const std::string& shortened, std::size_t bytes,
                      const std::string& device = "cpu") {
  torch::jit::Module inner("__torch__.Inner"), module("__torch__.Outer");
  inner.register_parameter("bias", at::ones({3}), /*is_buffer=*/false);
  inner.define("def forward(self, x: Tensor) -> Tensor:\n    return x + self.bias\n");
  module.register_parameter("weight", at::ones({2, 3}), /*is_buffer=*/false);
  c10::Dict<std::string, at::Tensor> pairs;
  pairs.insert("one", at::ones({5}));
  module.register_attribute("pairs", c10::DictType::create(c10::StringType::get(), c10::TensorType::get()), pairs);
  module.register_module("inner", inner);
  module.define("def forward(self, x):\n    return self.inner.forward(x) + self.weight\n");
  module.save(scratch / "whole.pt");
  const Content whole(scratch / "whole.pt");
  std::string path = scratch / "module.pt";
  caffe2::serialize::PyTorchStreamWriter writer(path);
  for (const auto& record : whole.records()) {
    if (record == "version" || record == "byteorder" || record.starts_with(".data/")) continue;
    auto data = whole.read(record);
    for (auto at = data.find("cpu"); record == "data.pkl" && at != std::string::npos; at = data.find("cpu", at + 1))
      data.replace(at, 3, device);
    writer.writeRecord(record, data.data(), record == shortened ? bytes : data.size());
  }
  writer.writeEndOfFile();
  return path;
}

TEST_CASE("a weight of TorchScript whose record is shorter than its tensor is refused with the record") {
  using pace::benches::loaders::require_whole;
  const pace::test::Scratch scratch;
  CHECK_NOTHROW(require_whole(Content(script_of(scratch, "data/0", 24))));
  CHECK_THROWS_WITH(
      require_whole(Content(script_of(scratch, "data/0", 23))),
      ContainsSubstring("module.pt: the record data/0 is too short: its tensors need 24 bytes, found 23"));
  CHECK_THROWS_WITH(
      require_whole(Content(script_of(scratch, "data/1", 19))),
      ContainsSubstring("module.pt: the record data/1 is too short: its tensors need 20 bytes, found 19"));
  // Saved on a device that this machine does not have.
  CHECK_THROWS_WITH(
      require_whole(Content(script_of(scratch, "data/1", 19, "xpu"))),
      ContainsSubstring("module.pt: the record data/1 is too short: its tensors need 20 bytes, found 19"));
  CHECK_THROWS_WITH(
      require_whole(Content(script_of(scratch, "data/2", 11))),
      ContainsSubstring("module.pt: the record data/2 is too short: its tensors need 12 bytes, found 11"));
}

TEST_CASE("a tensor of TorchScript that reaches beyond its storage is refused") {
  const pace::test::Scratch scratch;
  torch::jit::Module module("__torch__.Module");
  at::Tensor reaches = at::ones({4});
  reaches.unsafeGetTensorImpl()->set_sizes_contiguous({5});
  module.register_attribute("reaches", c10::TensorType::get(), reaches);
  const std::string path = scratch / "module.pt";
  module.save(path);
  CHECK_THROWS_WITH(pace::benches::loaders::require_whole(Content(path)),
                    ContainsSubstring("module.pt: the record data.pkl describes a tensor that needs 20 bytes, and the "
                                      "storage that it is made of has 16"));
}

/// The text of a program that takes `x` of the size `first` and `y` of the size `second`, as sympy prints both.
std::string program_of(const pace::test::Scratch& scratch, const std::string& first, const std::string& second) {
  const auto tensor = [](const std::string& size) {
    return R"({"dtype": 7, "device": {"type": "cpu"}, "sizes": [{"as_expr": {"expr_str": ")" + size + R"("}}]})";
  };
  const auto spec = [](const std::string& name) {
    return R"({"user_input": {"arg": {"as_tensor": {"name": ")" + name + R"("}}}})";
  };
  const std::string json = R"({"schema_version": {"major": 8}, "torch_version": "2", )"
                           R"("range_constraints": {"s1": {"min_val": 2, "max_val": 64}},)"
                           R"("graph_module": {"module_call_graph": [], "graph": {"tensor_values": {"x": )" +
                           tensor(first) + R"(, "y": )" + tensor(second) + R"(}}, "signature": {"input_specs": [)" +
                           spec("x") + ',' + spec("y") + "]}}}";
  caffe2::serialize::PyTorchStreamWriter writer(scratch / "program.pt2");
  writer.writeRecord("models/model.json", json.data(), json.size());
  writer.writeEndOfFile();
  return scratch / "program.pt2";
}

TEST_CASE("sizes that a formula of an exported program gives are checked") {
  const pace::test::Scratch scratch;
  const std::string symbol = "Symbol('s1', positive=True, integer=True)";
  const std::string odd = "Add(Mul(Integer(2), " + symbol + "), Integer(1))";
  const pace::benches::loaders::ProgramFacts facts(Content(program_of(scratch, odd, symbol)), "model");
  const auto check = [&](std::int64_t x, std::int64_t y) { facts.check({at::ones({x}), at::ones({y})}); };
  CHECK_NOTHROW(check(5, 2));
  CHECK_NOTHROW(check(129, 64));
  CHECK_THROWS_WITH(check(4, 2), ContainsSubstring("argument 'x': expected float32[2 * (2 to 64) + 1] on cpu, found "
                                                   "float32[4] on cpu"));
  CHECK_THROWS_WITH(check(131, 65), ContainsSubstring("argument 'x': expected"));
  CHECK_THROWS_WITH(check(3, 1), ContainsSubstring("argument 'x': expected"));
  CHECK_THROWS_WITH(check(5, 3), ContainsSubstring("argument 'y': expected 2 for dimension 0 of 'y', which depends on "
                                                   "dimension 0 of 'x', found float32[3] on cpu"));
  CHECK(facts.inputs().at(0).sizes.at(0).expression == "2*s1+1");
  CHECK(facts.inputs().at(1).sizes.at(0).expression == "s1");
  const pace::benches::loaders::ProgramFacts square(
      Content(program_of(scratch, "Pow(" + symbol + ", Integer(2))", symbol)), "model");
  CHECK_THROWS_WITH(square.check({at::ones({4}, at::kDouble), at::ones({2})}),
                    ContainsSubstring("argument 'x': expected float32[Pow(s1, 2)] on cpu, found float64[4] on cpu"));
  // The device is the run's, and so is the message's.
  CHECK_NOTHROW(facts.check({at::ones({5}), at::ones({2})}, {.moved_to = c10::Device(at::kCPU)}));
  CHECK_THROWS_WITH(facts.check({at::ones({5}), at::ones({2})}, {.moved_to = c10::Device(at::kCUDA, 0)}),
                    ContainsSubstring("on cpu, found float32[5] on cuda:0"));
  CHECK_NOTHROW(facts.check({at::ones({5}), at::ones({2})}, {.matter = false, .moved_to = c10::Device(at::kCUDA, 0)}));
  // Other formulas are left to the program.
  for (const std::string& other : {"Mul(" + symbol + ", " + symbol + ")", "Pow(" + symbol + ", Integer(2))",
                                   "Add(" + symbol + ", Symbol('s2', integer=True))", std::string("Add(Integer(2"),
                                   std::string("Integer(99999999999999999999)")}) {
    INFO(other);
    const pace::benches::loaders::ProgramFacts any(Content(program_of(scratch, other, symbol)), "model");
    CHECK_FALSE(any.inputs().at(0).sizes.at(0).expression.empty());
    CHECK_NOTHROW(any.check({at::ones({7}), at::ones({2})}));
  }
}

TEST_CASE("what code writes to the standard error is kept, and shown when the code ends the process") {
  using pace::benches::loaders::CapturedErrors;
  const pace::test::Scratch scratch;
  const int code = GENERATE(0, SIGABRT, SIGSEGV);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int each : {SIGABRT, SIGSEGV}) std::signal(each, SIG_DFL);
    const int file = ::open((scratch / "errors").c_str(), O_CREAT | O_WRONLY, 0600);
    ::dup2(file, STDERR_FILENO);
    {
      const CapturedErrors errors;
      std::fputs("why it ends\n", stderr);
      if (code != 0) std::raise(code);
      if (errors.text() != "why it ends\n") ::_exit(1);
    }
    std::fputs("after it\n", stderr);
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) ? WTERMSIG(status) : 0) == code);
  CHECK((WIFEXITED(status) ? WEXITSTATUS(status) : 0) == 0);
  CHECK(scratch.read("errors") == (code == 0 ? "after it\n" : "why it ends\n"));
}

TEST_CASE("an operator is found by its name in either spelling") {
  const at::Tensor one = at::ones({2});
  const CallInputs inputs({.args = {one, one * 2}, .kwargs = {}});
  for (const std::string name : {"aten::sub.Tensor", "aten.sub.Tensor"}) {
    LoadedOperator loaded(name);
    CHECK(at::equal(loaded.bind(inputs)->run(inputs.tensors()).at(0), one - one * 2));
  }
  CHECK_THROWS_WITH(LoadedOperator("myops::fused"), ContainsSubstring("op:myops::fused: there is no such operator"));
  CHECK_THROWS_WITH(LoadedOperator("relu"),
                    ContainsSubstring("there is no such operator; expected one of op:aten::relu, op:aten::relu.out"));
  CHECK_THROWS_WITH(LoadedOperator("aten.relu"),
                    ContainsSubstring("op:aten.relu: there is no such operator; expected one of op:aten::relu, "));
  CHECK_THROWS_WITH(LoadedOperator("aten.leaky_relu.function"),
                    ContainsSubstring("there is no such operator; expected one of op:aten::leaky_relu, "));
  for (const char* const misspelt : {"aten::rleu", "aten.rleu", "rleu"})
    CHECK_THROWS_WITH(
        LoadedOperator(misspelt),
        ContainsSubstring(std::string("op:") + misspelt + ": there is no such operator; did you mean op:aten."));
  CHECK_THROWS_WITH(LoadedOperator("aten::layer_nrom"), ContainsSubstring("did you mean op:aten.layer_norm.default"));
  CHECK_THROWS_WITH(LoadedOperator("aten.no_such_operator"),
                    ContainsSubstring("there is no such operator; expected a name such as op:myops::fused, and"));
  CHECK_THROWS_WITH(
      LoadedOperator("aten::sub"),
      ContainsSubstring("expected one of op:aten::sub.Scalar, op:aten::sub.Scalar_out, op:aten::sub.Tensor"));
  LoadedOperator relu("aten::relu");
  CHECK_THROWS_WITH(relu.bind(inputs), ContainsSubstring("takes at most 1 positional arguments, got 2"));
}

TEST_CASE("the arguments of an exported program are put in its order") {
  const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  const std::string text = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)"
                           R"({"type": "builtins.tuple", "context": "null", "children_spec": [)" +
                           leaf + R"(, {"type": "builtins.list", "context": "null", "children_spec": [)" + leaf + ',' +
                           leaf + R"(]}]}, {"type": "builtins.dict", "context": "[\"mask\"]", "children_spec": [)" +
                           leaf + "]}]}]";
  const CallSpec spec(text, {"x", "pair", "mask"});
  c10::impl::GenericList pair(c10::IntType::get());
  pair.push_back(2);
  pair.push_back(3);
  const auto numbers = [](const std::vector<c10::IValue>& leaves) {
    std::vector<std::int64_t> all;
    for (const auto& each : leaves) all.push_back(each.toInt());
    return all;
  };
  const std::vector<std::int64_t> expected = {1, 2, 3, 4};
  CHECK(numbers(spec.flatten({.args = {1, pair}, .kwargs = {{"mask", 4}}})) == expected);
  CHECK(numbers(spec.flatten({.args = {1}, .kwargs = {{"mask", 4}, {"pair", pair}}})) == expected);
  CHECK(numbers(spec.flatten({.args = {1, pair, 4}, .kwargs = {}})) == expected);
  CHECK_THROWS_WITH(spec.flatten({.args = {1}, .kwargs = {}}),
                    ContainsSubstring("takes 3 arguments (x, pair, mask), and the inputs have 1"));
  CHECK_THROWS_WITH(spec.flatten({.args = {1, pair}, .kwargs = {{"other", 4}}}),
                    ContainsSubstring("no argument 'other'; expected x, pair, mask"));
  CHECK_THROWS_WITH(spec.flatten({.args = {1, 2}, .kwargs = {{"mask", 4}}}),
                    ContainsSubstring("argument 'pair': expected a list of 2, found a Int"));
  CHECK_THROWS_AS(CallSpec("[2, {}]", {}), pace::Unsupported);
  CHECK_THROWS_AS(CallSpec("", {}), pace::Unsupported);
}

}  // namespace
