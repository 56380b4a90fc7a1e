#include "pace/kernels/category.hpp"
#include "pace/kernels/category_patterns.hpp"

#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <string>

#include "pace/base/error.hpp"
#include "pace/kernels/knowledge.hpp"

using namespace pace::kernel;

CATCH_REGISTER_ENUM(Category, Category::foreach, Category::persistent_reduction, Category::pointwise,
                    Category::reduction, Category::split_scan, Category::template_, Category::unknown)

TEST_CASE("categories have a name and three letters") {
  CHECK(to_string(Category::persistent_reduction) == "persistent_reduction");
  CHECK(to_string(Category::template_) == "template");
  std::string all;
  for (std::size_t i = 0; i < category_names.size(); ++i)
    all += std::string(abbreviation(static_cast<Category>(i))) + ' ';
  CHECK(all == "FOR PER POI RED SPL TEM UNK ");
}

TEST_CASE("by the name that Inductor gave") {
  CHECK(category_of_name("triton_poi_fused_add_relu_0") == Category::pointwise);
  CHECK(category_of_name("triton_red_fused_sum_1") == Category::reduction);
  CHECK(category_of_name("triton_per_fused__softmax_2") == Category::persistent_reduction);
  CHECK(category_of_name("triton_tem_fused_mm_3") == Category::template_);
  CHECK(category_of_name("triton_for_fused_4") == Category::foreach);
  CHECK(category_of_name("triton_spl_fused_cumsum_5") == Category::split_scan);
  CHECK(category_of_name("triton_unknown_0") == Category::unknown);
  CHECK(category_of_name("ampere_sgemm_128x64_tn") == Category::unknown);
  CHECK(category_of_name("my_triton_poi_fused") == Category::unknown);
}

TEST_CASE("by the heuristics in a kernel's source, each once") {
  const std::vector pointwise{Category::pointwise};
  CHECK(heuristics_in("import x\n@triton_heuristics.pointwise(\n  size_hints=[1])\n@triton.jit") == pointwise);
  // Not a reduction as well: the name follows the dot.
  CHECK(heuristics_in("@triton_heuristics.persistent_reduction(") == std::vector{Category::persistent_reduction});
  CHECK(heuristics_in("@triton_heuristics.reduction(") == std::vector{Category::reduction});
  CHECK(heuristics_in("@triton_heuristics.split_scan(") == std::vector{Category::split_scan});
  CHECK(heuristics_in("@triton_heuristics.foreach(") == std::vector{Category::foreach});
  CHECK(heuristics_in("@triton_heuristics.template(\n@triton_heuristics.template(") ==
        std::vector{Category::template_});
  CHECK(heuristics_in("@triton_heuristics.pointwise(\n@triton_heuristics.reduction(").size() == 2);
  CHECK(heuristics_in("def f(): pass").empty());
}

TEST_CASE("by a registered part of a name, where Inductor names no category") {
  CHECK(find_category_of_name("my_flash_forward") == Category::unknown);
  register_category_pattern("flash_", Category::template_);
  register_category_pattern("flash_", Category::template_);
  register_category_pattern("_backward", Category::reduction);
  CHECK(find_category_of_name("my_flash_forward") == Category::template_);
  CHECK(find_category_of_name("sum_backward") == Category::reduction);
  // Its parts belong to two categories.
  CHECK(find_category_of_name("flash_backward") == Category::unknown);
  CHECK(find_category_of_name("triton_poi_flash_") == Category::pointwise);
  CHECK_THROWS_AS(register_category_pattern("", Category::pointwise), pace::Error);
  Kernel kernel;
  kernel.symbol = "flash_forward_kernel";
  static_cast<void>(apply_knowledge({}, kernel));
  CHECK(kernel.category == Category::template_);
}

TEST_CASE("by a registered part of a source, as one of the heuristics") {
  register_category_pattern("@my_heuristics.rowwise", Category::persistent_reduction);
  CHECK(find_category_of_source("@my_heuristics.rowwise(") == Category::persistent_reduction);
  CHECK(find_category_of_source("@triton_heuristics.pointwise(") == Category::pointwise);
  CHECK(find_category_of_source("@triton_heuristics.pointwise(\n@my_heuristics.rowwise(") == Category::unknown);
  CHECK(find_category_of_source("@triton_heuristics.persistent_reduction(\n@my_heuristics.rowwise(") ==
        Category::persistent_reduction);
  CHECK(find_category_of_source("def f(): pass") == Category::unknown);
}
