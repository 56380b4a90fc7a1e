#include "benches/kernels/package_provider.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using pace::benches::aot::PackageFacts;
using pace::benches::aot::PackageKernel;
using pace::kernel::Category;
using pace::kernel::Kernel;
using pace::kernel::Knowledge;
using Kind = PackageKernel::Kind;

namespace {

PackageKernel recorded(std::string name, Kind kind, std::string category, std::optional<double> bytes,
                       std::string range = "") {
  PackageKernel kernel;
  kernel.name = std::move(name);
  kernel.kind = kind;
  kernel.category = std::move(category);
  kernel.bytes = bytes;
  kernel.range = std::move(range);
  return kernel;
}

PackageFacts facts() {
  PackageFacts facts;
  facts.kernels = {
      recorded("triton_poi_fused_add_1", Kind::triton, "pointwise", 100),
      recorded("triton_poi_fused_add_1_2", Kind::triton, "reduction", 200),
      recorded("triton_unk_fused_3", Kind::triton, "", 300),
      recorded("triton_tem_fused_mm_4", Kind::triton, "template", std::nullopt),
      recorded("cpp_fused_mul_0", Kind::cpp, "pointwise", 400, "cpp_fused_mul_0"),
      recorded("aten::addmm", Kind::external, "", 500, "aoti_torch_cpu_addmm_out"),
      recorded("aten::mm", Kind::external, "", 600, "aoti_torch_cpu_mm_out"),
      recorded("aten::mm", Kind::external, "", 700, "aoti_torch_cpu_mm_out"),
      recorded("aten::sort", Kind::external, "", 800),
  };
  return facts;
}

std::optional<Knowledge> told(const std::string& symbol, const std::string& name = "a demangled name") {
  Kernel kernel;
  kernel.symbol = symbol;
  kernel.name = name;
  return pace::benches::kernels::package_provider(facts())(kernel);
}

}  // namespace

TEST_CASE("a Triton kernel is known by its symbol, or by what its symbol begins with") {
  const auto exact = told("triton_poi_fused_add_1");
  REQUIRE(exact);
  CHECK(to_string(exact->category.value()) == "pointwise");
  CHECK(exact->bytes == 100);
  const auto longer = told("triton_poi_fused_add_1_0d1d2de");
  REQUIRE(longer);
  CHECK(longer->bytes == 100);
  // The longest of the names that fit is its own.
  CHECK(told("triton_poi_fused_add_1_2_0d1d2de")->bytes == 200);
  CHECK(told("triton_poi_fused_add_1_2")->bytes == 200);
}

TEST_CASE("the package says nothing of a kernel that it does not hold") {
  CHECK_FALSE(told("triton_poi_fused_add_10"));
  CHECK_FALSE(told("my_triton_poi_fused_add_1"));
  CHECK_FALSE(told("sm90_xmma_gemm_f32f32"));
  CHECK_FALSE(told(""));
  CHECK_FALSE(told("cpp_fused_mul_0_0"));  // only Triton puts something behind a name
}

TEST_CASE("an unknown category or number of bytes stays unknown") {
  CHECK_FALSE(told("triton_unk_fused_3")->category);
  CHECK(told("triton_unk_fused_3")->bytes == 300);
  CHECK(to_string(told("triton_tem_fused_mm_4")->category.value()) == "template");
  CHECK_FALSE(told("triton_tem_fused_mm_4")->bytes);
}

TEST_CASE("steps of a package for the CPU are known by their names, and by what they announce") {
  CHECK(told("graph_0_cpp_fused_mul_0")->bytes == 400);
  CHECK(to_string(told("graph_12_cpp_fused_mul_0")->category.value()) == "pointwise");
  CHECK(told("cpp_fused_mul_0")->bytes == 400);
  CHECK_FALSE(told("graph__cpp_fused_mul_0"));
  CHECK_FALSE(told("graph_x_cpp_fused_mul_0"));
  CHECK_FALSE(told("graph_12"));
  CHECK(told("aoti_torch_cpu_addmm_out")->bytes == 500);
  CHECK(told("aten::addmm")->bytes == 500);
  CHECK(told("", "aten::addmm")->bytes == 500);  // by the name where there is no symbol
}

TEST_CASE("of two calls of one operator what they have in common is told") {
  REQUIRE(told("aoti_torch_cpu_mm_out"));
  CHECK_FALSE(told("aoti_torch_cpu_mm_out")->bytes);
  PackageFacts alike = facts();
  alike.kernels[7].bytes = 600;
  Kernel kernel;
  kernel.symbol = "aten::mm";
  CHECK(pace::benches::kernels::package_provider(alike)(kernel)->bytes == 600);
}

TEST_CASE("a provider is asked before names are") {
  Kernel kernel;
  kernel.symbol = "triton_poi_fused_add_1_2";
  pace::kernel::apply_knowledge({pace::benches::kernels::package_provider(facts())}, kernel);
  CHECK(to_string(kernel.category) == "reduction");
  CHECK(kernel.bytes == 200);
  kernel.symbol = "triton_per_fused_9";
  kernel.bytes.reset();
  pace::kernel::apply_knowledge({pace::benches::kernels::package_provider(facts())}, kernel);
  CHECK(to_string(kernel.category) == "persistent_reduction");
  CHECK_FALSE(kernel.bytes);
}
