// Traces: their paths and their contents.
#include "benches/operators/profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/ones.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "pace/os/folders.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/uncompressed.hpp"

namespace {

namespace fs = std::filesystem;
namespace operators = pace::benches::operators;
using Catch::Matchers::ContainsSubstring;
using pace::test::Scratch;
using pace::test::uncompressed;

struct Span {
  std::string name;
  double begin = 0, end = 0;
  [[nodiscard]] bool holds(const Span& other) const { return begin <= other.begin && other.end <= end; }
};

/// Complete events of those categories, by their beginning.
std::vector<Span> spans(const fs::path& trace, const std::vector<std::string>& categories) {
  std::vector<Span> found;
  const auto json = nlohmann::json::parse(uncompressed(trace));
  for (const auto& event : json.at("traceEvents")) {
    if (event.value("ph", "") != "X") continue;
    if (std::ranges::find(categories, event.value("cat", "")) == categories.end()) continue;
    const double begin = event.at("ts");
    found.push_back({event.at("name"), begin, begin + event.at("dur").get<double>()});
  }
  std::ranges::stable_sort(found, {}, &Span::begin);
  return found;
}

/// Adds `step` to the first tensor.
struct Adder {
  explicit Adder(double step) : step(at::ones({}).mul(step)) {}
  at::Tensor run(const std::vector<at::Tensor>& tensors) const { return tensors[0].add_(step); }
  at::Tensor step;
};

TEST_CASE("a trace is a file of its operator's own, with ranges inside each other and the operators in them") {
  const Scratch folder;
  const at::Tensor x = at::ones({4});
  fs::path path;
  {
    operators::OperatorTrace trace(folder.path, "aten.add.Tensor");
    const std::vector<std::shared_ptr<Adder>> models{std::make_shared<Adder>(1), std::make_shared<Adder>(10)};
    operators::run_for_trace(3, models, {x}, 2);
    path = trace.save();
    CHECK_THROWS_AS(trace.save(), pace::Error);
  }
  CHECK(path.parent_path() == folder.path / "log" / "operator_aten.add.Tensor");
  CHECK_THAT(path.filename().string(), ContainsSubstring("_" + std::to_string(::getpid()) + ".") &&
                                           Catch::Matchers::EndsWith(".pt.trace.json.gz"));
  CHECK(x[0].item<float>() == 1 + 2 * (1 + 10));

  const auto ranges = spans(path, {"user_annotation"});
  std::vector<std::string> names;
  for (const auto& range : ranges) names.push_back(range.name);
  REQUIRE(names == std::vector<std::string>{"iter_3", "rep_0", "model_0", "model_1", "rep_1", "model_0", "model_1"});
  for (const auto& range : ranges) CHECK(ranges[0].holds(range));
  CHECK(ranges[1].holds(ranges[3]));
  CHECK(ranges[4].holds(ranges[6]));
  CHECK_FALSE(ranges[1].holds(ranges[4]));
  int inside = 0;
  for (const auto& call : spans(path, {"cpu_op"}))
    if (call.name == "aten::add_")
      for (const auto& range : ranges) inside += range.name.starts_with("model_") && range.holds(call);
  CHECK(inside == 4);
}

TEST_CASE("a trace that is not saved leaves no file and does not stop the next one") {
  const Scratch folder;
  {
    operators::OperatorTrace trace(folder.path, "aten.neg.default");
    CHECK_THROWS_AS(operators::OperatorTrace(folder.path, "aten.abs.default"), pace::Unsupported);
  }
  CHECK(fs::is_empty(folder.path / "log" / "operator_aten.neg.default"));
  operators::OperatorTrace again(folder.path, "aten.neg.default");
  CHECK(fs::exists(again.save()));
}

TEST_CASE("ranges outside of a recording do nothing") {
  const operators::TraceRange range("rep", 0);
  SUCCEED();
}

TEST_CASE("a folder that cannot be made is named") {
  const Scratch folder;
  std::ofstream(folder.path / "log") << "in the way";
  try {
    operators::OperatorTrace trace(folder.path, "aten.neg.default");
    FAIL("a file stands in the way");
  } catch (const pace::InputError& error) {
    CHECK_THAT(error.what(), ContainsSubstring((folder.path / "log" / "operator_aten.neg.default").string()));
  }
}

}  // namespace
