// Cases declared in C++: their names, texts, filters, and the mistakes in some.
#include "benches/operators/cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

TEST_CASE("several operators have the same cases, each under the name of its own module") {
  const auto all = CaseList::of({{"aten.abs.default", "abs"}, {"aten.neg.default", "neg"}})
                       .cross("M", {1, 2})
                       .call("((T([{M}], f32),), {})")
                       .all_samples("cpu", "");
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "aten.abs.default");
  CHECK(names(all[0]) == std::vector<std::string>{"abs_M1", "abs_M2"});
  CHECK(all[1].name == "aten.neg.default");
  CHECK(names(all[1]) == std::vector<std::string>{"neg_M1", "neg_M2"});
}

TEST_CASE("random rows are drawn by their weights, and equal seeds draw equal ones") {
  const auto drawn = [](std::uint64_t seed, double never = 0) {
    return names(CaseList("aten.abs.default", "abs")
                     .sample({{"M", {{1, 3}, {2, 1}, {3, never}}}, {"N", {{4, 1}, {5, 1}}}}, 1000, seed)
                     .call("((T([{M}, {N}], f32),), {})")
                     .samples("cpu", ""));
  };
  const auto rows = drawn(7);
  REQUIRE(rows.size() == 1000);
  CHECK(rows == drawn(7));
  CHECK(rows != drawn(8));
  const auto share = [&](const std::string& part) {
    return static_cast<double>(
               std::ranges::count_if(rows, [&](const auto& row) { return row.find(part) != std::string::npos; })) /
           1000;
  };
  // Ten standard deviations of a thousand draws are less than 0.16; the seed is fixed.
  CHECK(std::abs(share("_M1_") - 0.75) < 0.05);
  CHECK(std::abs(share("_M2_") - 0.25) < 0.05);
  CHECK(share("_M3_") == 0);
  CHECK(std::abs(share("_N4") - 0.5) < 0.05);
  CHECK_THROWS_WITH(drawn(7, -1), ContainsSubstring("'M' has a weight that is no number from 0"));
  CHECK_THROWS_WITH(CaseList("aten.abs.default", "abs").sample({{"M", {{1, 0}}}}, 1, 0),
                    ContainsSubstring("expected weights of 'M' that sum up to more than 0"));
  CHECK_THROWS_WITH(CaseList("aten.abs.default", "abs").sample({{"M", {{1, 1}}}}, 0, 0),
                    ContainsSubstring("expected at least one row of random cases"));
}

PACE_OPERATOR_CASES(
    CaseList::of({{"aten.abs.default", "abs"}, {"aten.neg.default", "neg"}}).tag("short").call("((T([4], f32),), {})"));
PACE_OPERATOR_CASES(CaseList("aten.exp.default", "exp").tag("long").tag("slow").call("((T([4096], f32),), {})"));
PACE_OPERATOR_CASES(CaseList("aten.sin.default", "sin").call("((T([8], f32),), {})"));

TEST_CASE("declared cases are chosen by their tags") {
  const auto chosen = [](const std::vector<std::string>& tags) {
    std::vector<std::string> ops;
    const auto corpus = operators::declared_corpus("cpu", "", tags);
    for (const auto& each : corpus.operators()) ops.push_back(each.name);
    std::ranges::sort(ops);
    return ops;
  };
  CHECK(chosen({}) ==
        std::vector<std::string>{"aten.abs.default", "aten.exp.default", "aten.neg.default", "aten.sin.default"});
  CHECK(chosen({"short"}) == std::vector<std::string>{"aten.abs.default", "aten.neg.default"});
  CHECK(chosen({"slow", "short"}) ==
        std::vector<std::string>{"aten.abs.default", "aten.exp.default", "aten.neg.default"});
  CHECK_THROWS_WITH(chosen({"shrt"}),
                    ContainsSubstring("--tag: no cases have the tag 'shrt'; there are long, short, slow"));
}

TEST_CASE("an error in a declaration names its operator") {
  CHECK_THROWS_WITH(CaseList("aten.x.default", "x").list({"M", "N"}, {{1}}),
                    ContainsSubstring("aten.x.default: expected 2 values in each row of cases, found 1"));
  CHECK_THROWS_WITH(CaseList("aten.x.default", "x").cross("M", {1}).cross("M", {2}),
                    ContainsSubstring("the attribute 'M' is there twice"));
  CHECK_THROWS_WITH(CaseList("aten.x.default", "x").cross("M", {1}).call("((T([{N}], f32),), {})").samples("cpu", ""),
                    ContainsSubstring("'{N}', but no case has that attribute"));
  CHECK_THROWS_AS(CaseList("", "x"), pace::InputError);
}

}  // namespace
