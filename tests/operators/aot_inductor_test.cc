// Real packages, compiled by Inductor in one process: the one slow test here (about 40 s on two cores).
#include "benches/operators/backends/aot_inductor.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <ATen/ops/allclose.h>
#include <c10/core/InferenceMode.h>

#include "benches/files/aot/package_facts.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/os/folders.hpp"
#include "tests/operators/inputs.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using pace::benches::operators::AotInductorBackend;
using pace::benches::operators::OperatorCall;
using pace::test::inputs;
using pace::test::list;
using pace::test::random;
using pace::test::Scratch;
using pace::test::why;

std::vector<c10::IValue> parts(const c10::IValue& value) {
  if (value.isTuple()) return value.toTupleRef().elements().vec();
  if (value.isList()) return value.toListRef().vec();
  return {value};
}

bool close(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         at::allclose(a.to(at::kDouble), b.to(at::kDouble), 1e-4, 1e-5);
}

std::vector<at::Tensor> copies(const OperatorCall& call) {
  std::vector<at::Tensor> tensors;
  for (const auto& tensor : call.tensors()) tensors.push_back(pace::check::clone_input(tensor));
  return tensors;
}

TEST_CASE("packages give what the operator gives", "[aot][aot_inductor]") {
  const c10::InferenceMode inference;
  const Scratch folder;
  pace::benches::aot::PackageOptions options;
  options.cache = folder.path;
  if (options.python.empty()) SKIP("no Python with torch is known: set PACE_PYTHON");

  const auto x = random({4, 6}), image = random({1, 2, 6, 6});
  const auto none = c10::IValue();
  const std::vector<OperatorCall> calls = {
      // Strides with gaps, and a number in a tensor's place.
      OperatorCall::bind("aten.mul.Tensor", inputs({random({4, 12}).slice(1, 0, 12, 2), 0.1})),
      // Written in place, and returned.
      OperatorCall::bind("aten.add_.Tensor", inputs({x, random({6})})),
      // A tuple with an output that is masked out.
      OperatorCall::bind("aten.native_layer_norm_backward.default",
                         inputs({x, random({4, 6}), list({6}), random({4, 1}), random({4, 1}), random({6}), random({6}),
                                 list({true, false, true})})),
      // Integer outputs.
      OperatorCall::bind("aten.max_pool2d_with_indices.default", inputs({image, list({2, 2}), list({2, 2})})),
      // A list.
      OperatorCall::bind("aten.split.Tensor", inputs({x, 4, 1})),
  };
  std::vector<const OperatorCall*> all;
  for (const auto& call : calls) all.push_back(&call);
  AotInductorBackend backend(options);
  backend.prepare_all(all);

  options.python.clear();  // from here on nothing is compiled
  AotInductorBackend reader(options);
  for (const auto& call : calls) {
    CAPTURE(call.signature());
    const auto executable = reader.prepare(call);
    const auto facts = pace::benches::aot::read_package_facts(reader.store().find(call));
    REQUIRE(facts);
    CHECK(facts->problem == "");
    CHECK(facts->kernels.empty() == (call.name() == "aten.split.Tensor"));  // which only makes views
    REQUIRE(facts->inputs.size() == call.tensors().size());
    for (std::size_t i = 0; i < facts->inputs.size(); ++i) CHECK(facts->inputs[i].fits(call.tensors()[i]));
    for (int run = 0; run < 2; ++run) {
      const auto here = copies(call), there = copies(call);
      const auto expected = parts(call.run(here)), actual = parts(executable->run(there));
      REQUIRE(expected.size() == actual.size());
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(close(expected[i].toTensor(), actual[i].toTensor()));
      for (std::size_t i = 0; i < here.size(); ++i) CHECK(close(here[i], there[i]));
    }
  }

  // Compiled code trusts its inputs, so others must not reach it.
  const auto executable = reader.prepare(calls[4]);
  for (const auto& other : {random({4, 7}), x.t().contiguous().t(), x.to(at::kDouble)}) {
    CHECK_THAT(why([&] { (void)executable->run({other}); }), ContainsSubstring("aten.split.Tensor was compiled for"));
  }
  CHECK_THROWS_AS(executable->run({}), pace::Error);

  // A package of the right size that is none is discarded, and would be compiled again.
  const auto package = reader.store().find(calls[0]);
  {
    std::fstream file(package, std::ios::in | std::ios::out | std::ios::binary);
    const std::string garbage(fs::file_size(package), '\x55');
    file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
  }
  CHECK_THAT(why([&] { (void)reader.prepare(calls[0]); }), ContainsSubstring("no Python with torch"));
}

TEST_CASE("what a package cannot return is refused without compiling", "[aot]") {
  pace::benches::aot::PackageOptions options;
  options.python = "/no/such/python";
  AotInductorBackend backend(options);
  const auto x = random({2});
  CHECK_THAT(why([&] { (void)backend.prepare(OperatorCall::bind("aten.equal.default", inputs({x, x}))); }),
             ContainsSubstring("AOTInductor returns tensors only, aten.equal.default returns bool"));
}

}  // namespace
