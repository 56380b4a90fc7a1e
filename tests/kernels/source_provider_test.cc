// Categories of kernels by their sources.
#include "benches/kernels/source_provider.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/support/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Matchers::ContainsSubstring;
using pace::benches::kernels::KernelSources;
using pace::benches::kernels::with_sources;
using pace::kernel::Category;
using pace::kernel::Kernel;
using pace::kernel::Knowledge;

namespace {

/// Writes the source of a kernel as Inductor's code cache keeps it.
void write(const std::filesystem::path& path, const std::string& heuristics, const std::string& name) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "@" << heuristics << "(size_hints={'x': 8})\n@triton.jit\ndef " << name
                      << "(in_ptr0):\n  pass\n";
}

Kernel kernel_of(const std::string& symbol) {
  Kernel kernel;
  kernel.symbol = symbol;
  return kernel;
}

}  // namespace

TEST_CASE("a kernel without a category has its source's category, in any folder") {
  const pace::test::Scratch folder;
  write(folder.path / "ab" / "cab.py", "triton_heuristics.reduction", "rows");
  write(folder.path / "cd" / "ccd.py", "triton_heuristics.pointwise", "rows_of_two");
  std::ofstream(folder.path / "notes.txt") << "@triton_heuristics.template\ndef columns(a):\n";
  const auto provider = with_sources(KernelSources(folder.path));
  CHECK(provider(kernel_of("rows")).value().category == Category::reduction);
  CHECK(provider(kernel_of("graph_0_rows")).value().category == Category::reduction);
  CHECK(provider(kernel_of("rows_of_two")).value().category == Category::pointwise);
  CHECK_FALSE(provider(kernel_of("columns")).has_value());
  CHECK_FALSE(provider(kernel_of("row")).has_value());
}

TEST_CASE("registered patterns count in sources, and what contradicts itself is unknown") {
  const pace::test::Scratch folder;
  pace::kernel::register_category_pattern("my_heuristics.rowwise", Category::persistent_reduction);
  write(folder.path / "a.py", "my_heuristics.rowwise", "rowwise");
  write(folder.path / "b.py", "triton_heuristics.reduction", "twice");
  write(folder.path / "c.py", "triton_heuristics.pointwise", "twice");
  const auto provider = with_sources(KernelSources(folder.path));
  CHECK(provider(kernel_of("rowwise")).value().category == Category::persistent_reduction);
  CHECK_FALSE(provider(kernel_of("twice")).has_value());
}

TEST_CASE("what the name or another provider says comes first, and its other facts stay") {
  const pace::test::Scratch folder;
  write(folder.path / "a.py", "triton_heuristics.reduction", "rows");
  write(folder.path / "b.py", "triton_heuristics.reduction", "triton_poi_fused_add_0");
  const auto knows = [](std::optional<Category> category) {
    return [category](const Kernel&) { return std::optional(Knowledge{.category = category, .bytes = 64}); };
  };
  const KernelSources sources(folder.path);
  CHECK(with_sources(sources, knows(Category::template_))(kernel_of("rows")).value().category == Category::template_);
  const auto both = with_sources(sources, knows(std::nullopt))(kernel_of("rows")).value();
  CHECK(both.category == Category::reduction);
  CHECK(both.bytes == 64);
  CHECK_FALSE(with_sources(sources)(kernel_of("triton_poi_fused_add_0")).has_value());
}

TEST_CASE("a folder without sources is an error that names it") {
  const pace::test::Scratch folder;
  CHECK_THROWS_WITH(KernelSources(folder.path), ContainsSubstring(folder.path.string() + ": --kernel-sources: ") &&
                                                    ContainsSubstring("found no file *.py"));
  CHECK_THROWS_WITH(KernelSources(folder.path / "none"),
                    ContainsSubstring("none: --kernel-sources: expected a folder"));
}
