// Files of TorchScript as models: their parameters, batches and inputs, and the rows of runs.
#include "benches/models/from_files/register_files.hpp"

#include <functional>
#include <list>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/jit/api/module.h>

#include "benches/models/from_files/file_model.hpp"
#include "benches/models/resolve.hpp"
#include "benches/models/run/compile_packages.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using pace::test::run;
using pace::test::Scratch;
using pace::test::text;

constexpr const char* linear = R"(
def forward(self, x, scale):
    y = torch.relu(torch.matmul(x, self.weight)) * scale * self.factor
    if self.training:
        y = y + 1
    return y.view([x.size(0), -1])
)";

/// A module with a parameter, a buffer, a tensor beside them, a mode, and a number.
std::string save(const Scratch& scratch, const std::string& name, const std::string& code, bool trains = true) {
  torch::jit::Module inner("Inner"), module("Module");
  at::manual_seed(1);
  const at::Tensor weight = at::randn({6, 3});
  module.register_parameter("weight", trains ? weight.set_requires_grad(true) : weight, /*is_buffer=*/!trains);
  module.register_buffer("factor", at::full({1}, 2.0));
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_attribute("calls", c10::IntType::get(), 0);
  inner.register_parameter("bias", at::ones({3}).set_requires_grad(trains), /*is_buffer=*/!trains);
  inner.define("def forward(self, x):\n    return x + self.bias\n");
  module.register_module("inner", inner);
  module.define(code);
  module.save(scratch / name);
  return scratch / name;
}

constexpr const char* inputs_of_five = "(T([5, 6], f32), T([3], f32))";

ModelEntry entry_of(const std::string& path, const std::string& inputs = inputs_of_five) {
  return std::make_shared<FileModel>(ModelFile{.name = "file", .path = path, .inputs = inputs}, 1,
                                     std::vector<std::string>())
      ->entry();
}

Settings accuracy(bool training = false) {
  Settings settings;
  settings.mode = Mode::accuracy;
  settings.training = training;
  settings.backends = {"torchscript"};
  settings.optimizer_on_cpu = true;
  return settings;
}

Row row_of(const ModelEntry& entry, const Settings& settings) {
  std::string log;
  const auto rows = run(entry, settings, &log);
  REQUIRE(rows.size() == 1);
  UNSCOPED_INFO(text(rows[0], "accuracy") << ": " << rows[0].message << '\n' << log);
  return rows[0];
}

TEST_CASE("a module of TorchScript is cast, moved and trained as one of C++") {
  const Scratch scratch;
  const auto entry = entry_of(save(scratch, "a.pt", linear));
  CHECK(entry.family == "TorchScript");
  CHECK(entry.inference_batch == 5);
  CHECK(entry.suite == Suite::own);
  const auto instance = make_instance(entry, {.batch_size = 5, .cast = at::kDouble, .train_mode = true});
  const auto& module = dynamic_cast<const ScriptModule&>(*instance.model.module);
  CHECK(module.script().attr("training").toBool());
  CHECK(module.script().attr("weight").toTensor().scalar_type() == at::kDouble);
  CHECK(instance.model.forward(instance.model.inputs).toTensor().scalar_type() == at::kDouble);
  std::vector<std::string> names;
  for (const auto& each : instance.model.module->named_parameters()) names.push_back(each.key());
  CHECK(names == std::vector<std::string>{"weight", "inner.bias"});
  CHECK(trained_parameters(instance).size() == 2);
  CHECK(fixed_tensors(instance).size() == 1);
}

TEST_CASE("accuracy of a TorchScript file: pass, in inference and training, in every precision") {
  const Scratch scratch;
  const auto entry = entry_of(save(scratch, "a.pt", linear));
  for (const bool training : {false, true})
    for (const auto precision : {Precision::as_made, Precision::float32, Precision::bfloat16, Precision::amp}) {
      auto settings = accuracy(training);
      settings.precision = precision;
      settings.use_eval_mode = false;
      const auto row = row_of(entry, settings);
      CHECK(text(row, "accuracy") == "pass");
      CHECK(row.batch_size == 5);
      CHECK(pace::test::number(row, "cosine") == 0);
    }
}

TEST_CASE("accuracy of a TorchScript file without parameters that are trained") {
  const Scratch scratch;
  CHECK(text(row_of(entry_of(save(scratch, "a.pt", linear, /*trains=*/false)), accuracy()), "accuracy") == "pass");
}

TEST_CASE("accuracy of a TorchScript file: a back end that answers otherwise is fail_accuracy") {
  const Scratch scratch;
  // The trace has the number of one call.
  const auto entry = entry_of(save(scratch, "a.pt", R"(
def forward(self, x, scale):
    self.calls += 1
    return torch.matmul(x, self.weight) * self.calls
)"));
  auto settings = accuracy();
  settings.iterations = 4;
  const auto row = row_of(entry, settings);
  CHECK(text(row, "accuracy") == "fail_accuracy");
  CHECK(row.result == RowResult::failed);
}

TEST_CASE("training a TorchScript file changes and compares its own parameters") {
  const Scratch scratch;
  Settings settings = pace::test::quick({"torchscript"}, true);
  settings.optimizer_on_cpu = true;
  const auto row = run(entry_of(save(scratch, "a.pt", linear)), settings)[0];
  CHECK(text(row, "status") == "pass");
  CHECK(pace::test::number(row, "backward_speedup") > 0);
  const auto none = run(entry_of(save(scratch, "b.pt", linear, /*trains=*/false)), settings)[0];
  CHECK(none.result != RowResult::passed);
  CHECK_THAT(none.message, ContainsSubstring("file has no parameters to train"));
}

TEST_CASE("inputs that a TorchScript file does not take fail its row") {
  const Scratch scratch;
  const auto path = save(scratch, "a.pt", linear);
  auto row = row_of(entry_of(path, "(T([5, 6], f32),)"), accuracy());
  CHECK(text(row, "accuracy") == "model_fail_to_load");
  CHECK(row.result == RowResult::failed);
  CHECK_THAT(row.message, ContainsSubstring(path + ": forward is missing argument 'scale', expected Tensor"));
  row = row_of(entry_of(path, "(T([5, 7], f32), T([3], f32))"), accuracy());
  CHECK(text(row, "accuracy") == "eager_fail_to_run");
  CHECK(row.result == RowResult::failed);
  CHECK_THAT(row.message, ContainsSubstring("5x7 and 6x3"));
}

TEST_CASE("a batch of another size is the given one cut, or its last sample again") {
  const pace::inputs::Inputs given{.args = {at::randn({5, 6}), at::randn({3})}, .kwargs = {{"y", at::randn({5})}}};
  const BatchedInputs inputs{pace::benches::loaders::CallInputs(given)};
  CHECK(inputs.size() == 5);
  const auto& x = given.args[0].toTensor();
  const auto cut = inputs.of_size(2), more = inputs.of_size(7);
  CHECK(at::equal(cut.tensors()[0], x.slice(0, 0, 2)));
  CHECK(at::equal(cut.tensors()[1], given.args[1].toTensor()));
  CHECK(cut.tensors()[2].size(0) == 2);
  CHECK(at::equal(more.tensors()[0].slice(0, 0, 5), x));
  CHECK(at::equal(more.tensors()[0][5], x[4]));
  CHECK(at::equal(more.tensors()[0][6], x[4]));
  CHECK(more.inputs().kwargs[0].second.toTensor().size(0) == 7);
  // A program may have sizes that depend on the batch: here 2 * n + 1 beside n, and the first is the batch.
  const BatchedInputs both(
      pace::benches::loaders::CallInputs({.args = {at::randn({5, 6}), at::randn({2}), at::randn({5})}, .kwargs = {}}),
      {{.number = 0, .times = 2, .plus = 1}, {.number = 1}});
  CHECK(both.size() == 5);
  const auto seven = both.of_size(7);
  CHECK(seven.tensors()[0].size(0) == 7);
  CHECK(seven.tensors()[1].size(0) == 3);
  CHECK(seven.tensors()[2].size(0) == 5);
  CHECK_THROWS_WITH(both.of_size(6), ContainsSubstring("its batch has no size of 6"));
  const BatchedInputs none{pace::benches::loaders::CallInputs({.args = {at::full({}, 1.0), 3}, .kwargs = {}})};
  CHECK_THROWS_WITH(none.of_size(2), ContainsSubstring("no tensor of its inputs has a first size"));
}

TEST_CASE("a TorchScript file runs with the batch that is asked for, and with others in turn") {
  const Scratch scratch;
  const auto entry = entry_of(save(scratch, "a.pt", R"(
def forward(self, x, scale):
    return torch.relu(torch.matmul(x, self.weight)) * scale
)"));
  auto settings = accuracy();
  settings.batch_size = 8;
  const auto row = row_of(entry, settings);
  CHECK(text(row, "accuracy") == "pass");
  CHECK(row.batch_size == 8);
  auto varied = pace::test::quick({"torchscript"});
  varied.dynamic_batch = true;
  varied.batch_size = 10;
  const auto rows = run(entry, varied);
  CHECK(text(rows[0], "status") == "pass");
  CHECK(text(rows[0], "batch_sizes") == "10 8 9 11 12");
}

TEST_CASE("a file that cannot be compiled leaves the others their packages") {
  const Scratch scratch;
  std::list<ModelEntry> entries;  // instances refer to them
  PackageSet packages;
  std::ostringstream log;
  int compiled = 0;
  const auto add = [&](const std::string& name, std::function<OtherForward()> compile) {
    auto& entry = entries.emplace_back(entry_of(save(scratch, name + ".pt", linear)));
    entry.name = name;
    entry.make = [make = entry.make, compile = std::move(compile)](const ModelRequest& request) {
      Model model = make(request);
      model.by_backend = [compile](std::string_view, const pace::benches::aot::PackageOptions&) { return compile(); };
      return model;
    };
    Settings settings;
    settings.backends = {"aot_inductor"};
    packages.add(entry, settings, {}, log);
  };
  add("changed", []() -> OtherForward { throw pace::InputError({"changed.pt2"}, "this archive was cut"); });
  add("broken", []() -> OtherForward { throw std::runtime_error("an error of LibTorch's"); });
  add("whole", [&] { return ++compiled, OtherForward{.forward = {}, .compile_seconds = 2}; });
  std::vector<Row> rows;
  packages.compile({}, [&](const Row& row) { rows.push_back(row); }, log);
  CHECK(packages.failed() == 2);
  CHECK(compiled == 1);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].name == "whole");
  CHECK_THAT(log.str(), ContainsSubstring("changed is not compiled: changed.pt2: this archive was cut") &&
                            ContainsSubstring("broken is not compiled: an error of LibTorch's"));
}

/// The message of registering a file, for the words of a command line.
std::string refusal(std::vector<std::string> words, const std::string& path, const std::string& inputs) {
  words.insert(words.end(), {"--model", path, "--inputs", inputs});
  auto line = parse_command_line(words);
  line.devices = {"cpu"};
  try {
    (void)register_files({{.name = "a.pt", .path = path, .inputs = inputs}}, line);
    return "";
  } catch (const pace::InputError& error) {
    return error.what();
  }
}

TEST_CASE("what speaks against a file is said before it is loaded") {
  const Scratch scratch;
  const auto path = save(scratch, "a.pt", linear);
  const std::vector<std::string> plain{"--accuracy", "--inference", "--backend", "torchscript"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), plain.begin(), plain.end());
    return more;
  };
  CHECK_THAT(refusal(plain, path, inputs_of_five), ContainsSubstring(path + " holds a program in TorchScript"));
  CHECK_THAT(refusal(with({"--trust", "--small"}), path, inputs_of_five),
             ContainsSubstring("--small: a.pt has one size"));
  CHECK_THAT(refusal(with({"--trust", "--batch-size", "3"}), path, "(T([], f32),)"),
             ContainsSubstring("--batch-size 3: " + path + ": no tensor of its inputs has a first size"));
  CHECK_THAT(refusal(with({"--trust"}), scratch.write("b.pt", "text"), inputs_of_five),
             ContainsSubstring("b.pt: this is neither an archive of LibTorch's nor a shared library"));
  CHECK_THAT(refusal(with({"--trust"}), path, "(T([b, 6], f32),)"), ContainsSubstring("the size 'b' has no value"));
  CHECK_THAT(refusal(with({"--trust"}), path, scratch.write("two.txt", "(T([2], f32),)\n(T([3], f32),)\n")),
             ContainsSubstring("two.txt: these are 2 sets of inputs; expected one for a model"));
  CHECK_THAT(refusal(with({"--trust"}), path, scratch / "none.pt"), ContainsSubstring("none.pt: no such file"));
  CHECK_THAT(refusal(with({"--dry-run"}), path, inputs_of_five), ContainsSubstring("--trust was not given"));
  CHECK(refusal(with({"--trust", "--dry-run"}), path, inputs_of_five).empty());
  CHECK_THAT(refusal(with({"--trust"}), path, "(T([0, 6], f32), T([3], f32))"),
             ContainsSubstring("argument 0 of a.pt: expected at least 1 sample as its first size, which is the batch, "
                               "found 0 in a tensor of the sizes [0, 6]"));
  CHECK_THAT(refusal(with({"--trust"}), path, "((3, T([], f32), T([0, 6], f32)), {'scale': T([3], f32)})"),
             ContainsSubstring("argument 2 of a.pt: expected at least 1 sample"));
  CHECK_THAT(refusal(with({"--trust"}), path, "((), {'x': T([0, 6], f32)})"),
             ContainsSubstring("argument 'x' of a.pt: expected at least 1 sample"));
  REQUIRE_FALSE(registered_models().empty());
  CHECK(registered_models().back().name == "a.pt");
}

TEST_CASE("a dry run fails for a file that does not load, and for a library that is none") {
  const Scratch scratch;
  const auto path = save(scratch, "a.pt", linear);
  std::string bytes = scratch.read("a.pt");
  const auto weight = bytes.find("data/0");
  REQUIRE(weight != std::string::npos);
  bytes[weight + 100] = static_cast<char>(bytes[weight + 100] ^ 1);
  const auto damaged = scratch.write("damaged.pt", bytes);
  const std::vector<std::string> run{"--accuracy", "--inference", "--backend", "torchscript", "--trust"};
  auto dry = run;
  dry.emplace_back("--dry-run");
  // In a run it is the row of the file.
  CHECK(refusal(run, damaged, inputs_of_five).empty());
  CHECK_THAT(refusal(dry, damaged, inputs_of_five), ContainsSubstring("damaged.pt: the record data/0 is damaged"));
  dry.insert(dry.end(), {"--library", scratch / "none.so"});
  CHECK_THAT(refusal(dry, path, inputs_of_five), ContainsSubstring("none.so: --library: no such file"));
  dry.back() = scratch.write("text.so", "text");
  CHECK_THAT(refusal(dry, path, inputs_of_five), ContainsSubstring("text.so: --library: it does not load"));
}

}  // namespace
