// Cases declared in C++: their names, texts, filters, and what is wrong with some.
#include "benches/operators/cases.hpp"

#include <string>
#include <vector>

#include "benches/operators/selection.hpp"

// After LibTorch's headers, which have a CHECK of their own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::benches::operators::CaseList;
namespace operators = pace::benches::operators;

CaseList addmm() {
  return CaseList("aten.addmm.default", "addmm")
      .list({"M", "N", "K"}, {{1, 64, 32}, {8, 16, 4}})
      .cross("dtype", {"f32", "f16"})
      .cross("device", {"cpu", "cuda"})
      .call("((T([{N}], {dtype}), T([{M}, {K}], {dtype}), T([{K}, {N}], {dtype})), {'beta': 1, 'alpha': 2})");
}

std::vector<std::string> names(const pace::corpus::OperatorSamples& samples) {
  std::vector<std::string> names;
  for (const auto& each : samples.samples) names.push_back(each.label);
  return names;
}

TEST_CASE("the cross product, named as operator_benchmark names its tests, on one device at a time") {
  const auto samples = addmm().samples("cpu", "");
  CHECK(names(samples) == std::vector<std::string>{"addmm_M1_N64_K32_dtypef32_cpu", "addmm_M1_N64_K32_dtypef16_cpu",
                                                   "addmm_M8_N16_K4_dtypef32_cpu", "addmm_M8_N16_K4_dtypef16_cpu"});
  CHECK(samples.samples[2].text == "((T([16], f32), T([8, 4], f32), T([4, 16], f32)), {'beta': 1, 'alpha': 2})");
  CHECK(names(addmm().samples("cuda", "f16")) ==
        std::vector<std::string>{"addmm_M1_N64_K32_dtypef16_cuda", "addmm_M8_N16_K4_dtypef16_cuda"});
}

TEST_CASE("they are selected as recorded ones are") {
  const auto corpus = pace::corpus::Corpus::from_samples({addmm().samples("cpu", "")});
  operators::ReplayOptions options;
  options.op = "aten.addmm.default";
  options.start_idx = 1;
  options.max_samples = 2;
  const auto selection = operators::select(corpus, options, [](const std::string&) {});
  REQUIRE(selection.size() == 1);
  CHECK(operators::case_name(selection[0], 0) == "aten.addmm.default[addmm_M1_N64_K32_dtypef16_cpu]");
  CHECK(operators::case_name(selection[0], 1) == "aten.addmm.default[addmm_M8_N16_K4_dtypef32_cpu]");
}

TEST_CASE("yes and no are 0 and 1 in names, True and False in calls; blanks go") {
  const auto samples = CaseList("aten.sum.dim_IntList", "sum")
                           .cross("dims", {"[0, 1]"})
                           .cross("keepdim", {true, false})
                           .call("((T([4, 4], f32), {dims}, {keepdim}), {})")
                           .samples("cpu", "f32");
  CHECK(names(samples) == std::vector<std::string>{"sum_dims[0,1]_keepdim1", "sum_dims[0,1]_keepdim0"});
  CHECK(samples.samples[1].text == "((T([4, 4], f32), [0, 1], False), {})");
}

TEST_CASE("what is wrong with a declaration is said with its operator") {
  CHECK_THROWS_WITH(CaseList("aten.x.default", "x").list({"M", "N"}, {{1}}),
                    ContainsSubstring("aten.x.default: expected 2 values in each row of cases, found 1"));
  CHECK_THROWS_WITH(CaseList("aten.x.default", "x").cross("M", {1}).cross("M", {2}),
                    ContainsSubstring("the attribute 'M' is there twice"));
  CHECK_THROWS_WITH(CaseList("aten.x.default", "x").cross("M", {1}).call("((T([{N}], f32),), {})").samples("cpu", ""),
                    ContainsSubstring("'{N}', but no case has that attribute"));
  CHECK_THROWS_AS(CaseList("", "x"), pace::InputError);
}

}  // namespace
