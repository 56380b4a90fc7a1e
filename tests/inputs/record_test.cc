#include <sys/stat.h>
#include <filesystem>
#include <string>
#include <thread>

#include <ATen/core/Dict.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/_nested_tensor_from_tensor_list.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/hstack.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/split.h>
#include <ATen/ops/stack.h>

#include "pace/base/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/inputs/record.hpp"

// After LibTorch, whose logging header has a CHECK of its own.
#undef CHECK
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/support/scratch.hpp"

using namespace pace::corpus;
using namespace pace::inputs;
using Catch::Matchers::ContainsSubstring;

namespace {

// The recording of `body`, as the text of a file.
template <typename Body>
std::string record(Body body, bool skip_non_compute = true) {
  Recorder recorder;
  body();
  return recorder.text(skip_non_compute);
}

at::Tensor leaf(at::IntArrayRef sizes) { return at::ones(sizes).requires_grad_(true); }

}  // namespace

TEST_CASE("a training step is recorded below its composite operators, backward included, and loads with its counts") {
  const at::Tensor weight = leaf({4, 8}), bias = leaf({4}), x = at::ones({2, 8});
  Recorder recorder;
  for (int step = 0; step < 3; ++step) at::linear(x, weight, bias).relu().sum().backward();
  recorder.stop();
  at::linear(x, weight, bias);  // not any more

  const pace::test::Scratch directory;
  const auto path = directory.path / log_file_name("small", true);
  CHECK(path.filename() == "small_training.txt");
  CHECK(recorder.write(path));
  const Corpus corpus = Corpus::from_file(path);

  std::string names;
  for (const auto& op : corpus.operators()) names += op.name + " ";
  CHECK(names ==
        "aten.add_.Tensor aten.addmm.default aten.mm.default aten.relu.default aten.sum.default "
        "aten.sum.dim_IntList aten.threshold_backward.default ");
  const auto only = [&](const char* name) {
    const auto* op = corpus.find(name);
    REQUIRE(op != nullptr);
    REQUIRE(op->samples.size() == 1);
    return std::to_string(op->samples[0].count) + " " + op->samples[0].text;
  };
  CHECK(only("aten.addmm.default") == "3 ((T([4], f32), T([2, 8], f32), T([8, 4], f32, stride=(1, 8))), {})");
  CHECK(only("aten.mm.default") == "3 ((T([4, 2], f32, stride=(1, 4)), T([2, 8], f32)), {})");
  CHECK(only("aten.relu.default") == "3 ((T([2, 4], f32),), {})");
  CHECK(only("aten.sum.default") == "3 ((T([2, 4], f32),), {})");
  CHECK(only("aten.sum.dim_IntList") == "3 ((T([2, 4], f32), [0], True), {})");
  // The gradient of sum() is expanded.
  CHECK(only("aten.threshold_backward.default") == "3 ((T([2, 4], f32, stride=(0, 0)), T([2, 4], f32), 0), {})");
  // Gradients are added to the gradients of the steps before, for two parameters in steps two and three.
  CHECK(corpus.call_frequency("aten.add_.Tensor") == 4);
}

TEST_CASE("an operator that is defined by others is recorded where the device has a kernel of its own") {
  const at::Tensor x = leaf({2, 8});
  const std::string text = record([&] { at::silu(x).sum().backward(); });
  CHECK_THAT(text, ContainsSubstring("Operator: aten.silu_backward.default\ncnt: 1, ((T([2, 8], f32, stride=(0, 0)), "
                                     "T([2, 8], f32)), {})\n"));
  CHECK_THAT(text, !ContainsSubstring("aten.sigmoid"));  // one of the parts that silu_backward also has
}

TEST_CASE("arguments that have their defaults are left out, as a Python program would have called the operator") {
  const at::Tensor a = at::ones({2, 3});
  CHECK(record([&] { a.add(a); }) == "Operator: aten.add.Tensor\ncnt: 1, ((T([2, 3], f32), T([2, 3], f32)), {})\n");
  CHECK_THAT(record([&] { a.add(a, 2); }), ContainsSubstring("((T([2, 3], f32), T([2, 3], f32)), {'alpha': 2})"));
  CHECK_THAT(record([&] { at::addmm(a, a, at::ones({3, 3}), 1, 0.5); }), ContainsSubstring("{'alpha': 0.5})"));
  CHECK_THAT(record([&] { a.sum(at::kDouble); }), ContainsSubstring("((T([2, 3], f32),), {'dtype': f64})"));
  CHECK_THAT(record([&] { at::cat({a, a}); }), ContainsSubstring("(([T([2, 3], f32), T([2, 3], f32)],), {})"));
  CHECK_THAT(record([&] { at::cat({a, a}, 1); }), ContainsSubstring("(([T([2, 3], f32), T([2, 3], f32)], 1), {})"));
}

TEST_CASE("values are written in the words of the file format") {
  const at::Tensor a = at::ones({2, 3});
  const std::string text = record([&] {
    a.to(at::TensorOptions().dtype(at::kDouble).device(at::kCPU).layout(at::kStrided));
    a.clamp(c10::nullopt, 0.5);
    a.to(at::kComplexDouble).mul(c10::complex<double>(1, -2));
    at::native_layer_norm(a, {3}, {}, {}, 1e-5);
    a.index({c10::nullopt, at::ones({1}, at::kLong)});
    a.div(a, "floor");
  });
  CHECK_THAT(text, ContainsSubstring("{'dtype': f64, 'layout': torch.strided, 'device': 'cpu'}"));
  CHECK_THAT(text, ContainsSubstring("((T([2, 3], f32), None, 0.5), {})"));
  CHECK_THAT(text, ContainsSubstring("((T([2, 3], c128), (1-2j)), {})"));
  CHECK_THAT(text, ContainsSubstring("((T([2, 3], f32), [3], None, None, 1e-05), {})"));
  CHECK_THAT(text, ContainsSubstring("((T([2, 3], f32), [None, T([1], i64)]), {})"));
  CHECK_THAT(text, ContainsSubstring("((T([2, 3], f32), T([2, 3], f32)), {'rounding_mode': 'floor'})"));
}

TEST_CASE("a number that a program gave, which LibTorch wraps in a tensor, is recorded as the number") {
  const auto with = [](const at::Scalar& number) {
    at::Tensor wrapped = at::scalar_tensor(number, at::TensorOptions().dtype(number.type()));
    wrapped.unsafeGetTensorImpl()->set_wrapped_number(true);
    const at::Tensor a = at::ones({2});
    return record([&] { a.mul(wrapped); });
  };
  CHECK_THAT(with(true), ContainsSubstring("((T([2], f32), True), {})"));
  CHECK_THAT(with(3), ContainsSubstring("((T([2], f32), 3), {})"));
  CHECK_THAT(with(0.5), ContainsSubstring("((T([2], f32), 0.5), {})"));
  CHECK_THAT(with(c10::complex<double>(1, -2)), ContainsSubstring("((T([2], f32), (1-2j)), {})"));
}

TEST_CASE("an operator on a list of tensors that is defined by others is recorded as these") {
  const at::Tensor a = at::ones({2});
  CHECK(record([&] { at::hstack({a, a}); }) ==
        "Operator: aten.cat.default\ncnt: 1, (([T([2], f32), T([2], f32)],), {})\n");
}

TEST_CASE("views, constructors and calls with a memory format are left out; views on request are not") {
  const at::Tensor a = at::ones({2, 3});
  const auto body = [&] {
    at::ones({7});
    at::ones_like(a);
    a.t();
    a.transpose(0, 1).contiguous();  // clone with a memory format
    at::split(a, 1);
    a.clone().zero_();
  };
  CHECK(record(body) ==
        "Operator: aten.clone.default\ncnt: 1, ((T([2, 3], f32),), {})\n"
        "Operator: aten.split.Tensor\ncnt: 1, ((T([2, 3], f32), 1), {})\n"
        "Operator: aten.zero_.default\ncnt: 1, ((T([2, 3], f32),), {})\n");
  const std::string all = record(body, false);
  CHECK_THAT(all, ContainsSubstring("Operator: aten.t.default\n") && ContainsSubstring("aten.ones_like.default"));
  CHECK_THAT(all, !ContainsSubstring("aten.ones.default"));
}

TEST_CASE("inputs are written as they were before the operator ran") {
  at::Tensor a = at::ones({2});
  CHECK_THAT(record([&] { a.resize_({5}); }), !ContainsSubstring("T([5]"));
}

TEST_CASE("an operator without tensors in or out, or one that throws, is not recorded") {
  const at::Tensor a = at::ones({2});
  CHECK(record([&] {
          at::ones({}).item();  // a number comes out
          CHECK_THROWS(a.add(at::ones({3})));
        }) == "");
  CHECK_THAT(record([&] { a.neg(); }), ContainsSubstring("aten.neg.default"));  // the recorder has not lost its way
}

TEST_CASE("sparse tensors are written as ST, types and tensors without a word are skipped by name") {
  Recorder recorder;
  const at::Tensor indices = at::ones({2, 3}, at::kLong), values = at::ones({3});
  const at::Tensor sparse = at::_sparse_coo_tensor_unsafe(indices, values, {4, 4});
  const at::Tensor quantized = at::quantize_per_tensor(values, 0.1, 0, at::kQInt8);
  sparse.neg();
  quantized.clone();
  at::_nested_tensor_from_tensor_list({values, values}).mul(2);
  const at::Tensor unknown = at::scalar_tensor(2, at::TensorOptions().device(at::kMeta));
  unknown.unsafeGetTensorImpl()->set_wrapped_number(true);
  unknown.mul(unknown);
  const std::string text = recorder.text();
  CHECK_THAT(text, ContainsSubstring("((ST([4, 4], f32, torch.sparse_coo, False, 3),), {})"));
  CHECK_FALSE(recorder.skipped().empty());
  CHECK_THAT(recorder.skipped().at("aten.clone.default"), ContainsSubstring("QInt8"));
  CHECK_THAT(recorder.skipped().at("aten.mul.Tensor"), !ContainsSubstring("raised from"));
  CHECK(recorder.skipped().at("aten.mul.Scalar") == "recorded operator inputs have no word for a nested tensor");
}

TEST_CASE("a value of a kind that no operator of PyTorch's takes is named") {
  const c10::IValue dict = c10::Dict<std::string, at::Tensor>();
  CHECK_THROWS_WITH(pace::inputs::detail::to_value(dict, *c10::AnyType::get()),
                    "recorded operator inputs have no word for a value of type GenericDict");
}

TEST_CASE("other threads are recorded, in one count") {
  const at::Tensor a = at::ones({2});
  const std::string text = record([&] {
    std::thread other([&] {
      for (int i = 0; i < 100; ++i) a.neg();
    });
    for (int i = 0; i < 100; ++i) a.neg();
    other.join();
  });
  CHECK(text == "Operator: aten.neg.default\ncnt: 200, ((T([2], f32),), {})\n");
}

TEST_CASE("one recorder at a time, and as many after each other as one likes") {
  const at::Tensor a = at::ones({2});
  Recorder first;
  a.neg();
  CHECK_THROWS_WITH(Recorder(), ContainsSubstring("another Recorder is recording"));
  a.neg();
  first.stop();
  Recorder second;
  a.abs();
  CHECK(first.text() == "Operator: aten.neg.default\ncnt: 2, ((T([2], f32),), {})\n");
  CHECK(second.text() == "Operator: aten.abs.default\ncnt: 1, ((T([2], f32),), {})\n");
}

TEST_CASE("a file that exists is left alone, one that cannot be written is named") {
  const pace::test::Scratch directory;
  Recorder recorder;
  at::ones({2}).neg();
  const auto path = directory.write("model_eval.txt", "precious");
  CHECK_FALSE(recorder.write(path));
  CHECK(pace::test::read_file(path) == "precious");
  CHECK(log_file_name("model", false) == "model_eval.txt");
  CHECK_FALSE(recorder.write_as({directory.path, "model", false}));  // the same file
  CHECK(pace::test::read_file(path) == "precious");
  // A link or a pipe in the place of a file is neither followed nor waited for.
  directory.write("victim", "untouched");
  std::filesystem::create_symlink("victim", directory / "linked.txt.new");
  CHECK_THROWS_WITH(recorder.write(directory / "linked.txt"), ContainsSubstring("linked.txt.new"));
  CHECK(directory.read("victim") == "untouched");
  REQUIRE(::mkfifo((directory / "waits.txt.new").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(recorder.write(directory / "waits.txt"), ContainsSubstring("waits.txt.new"));
  std::filesystem::create_symlink("/dev/full", directory / "full.txt.new");
  CHECK_THROWS_AS(recorder.write(directory / "full.txt"), pace::Error);
  for (const char* name : {"linked.txt", "waits.txt", "full.txt"}) CHECK_FALSE(directory.has(name));
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(recorder.write(directory / "pipe"));
  const auto nowhere = directory.path / "missing" / "a.txt";
  CHECK_THROWS_AS(recorder.write(nowhere), pace::Error);
  CHECK_THROWS_WITH(recorder.write(nowhere), ContainsSubstring(nowhere.string()));
}

TEST_CASE("a step is written under the name of its model, into a directory that is made, and recording ends") {
  const pace::test::Scratch directory;
  const auto below = directory.path / "some" / "where";
  const at::Tensor a = at::ones({2});
  Recorder recorder;
  a.neg();
  CHECK(recorder.write_as({below, "model", true}));
  CHECK(pace::test::read_file(below / "model_training.txt") ==
        "Operator: aten.neg.default\ncnt: 1, ((T([2], f32),), {})\n");
  a.abs();  // not any more
  CHECK_FALSE(recorder.write_as({below, "model", true}));
  CHECK(recorder.write_as({below, "model", false}));
  CHECK(pace::test::read_file(below / "model_eval.txt") == pace::test::read_file(below / "model_training.txt"));
  CHECK_NOTHROW(Recorder());

  CHECK_THROWS_WITH(recorder.write_as({below, "a/b", true}), ContainsSubstring("found 'a/b'"));
  CHECK_THROWS_WITH(recorder.write_as({below, "", true}), ContainsSubstring("the name of a model"));
  CHECK_THROWS_WITH(recorder.write_as({below / "model_eval.txt", "model", true}), ContainsSubstring("cannot be made"));
  Recorder idle;
  CHECK_THROWS_WITH(idle.write_as({below, "idle", true}), ContainsSubstring("none was recorded"));
  CHECK_FALSE(std::filesystem::exists(below / "idle_training.txt"));
  CHECK_THROWS_WITH(idle.write_as({directory.path / "new" / "folder", "idle", true}),
                    ContainsSubstring("none was recorded"));
  CHECK_FALSE(directory.has("new"));
}
