// The files beside a package: good ones and broken ones. A package that Inductor compiles (about 40 s on two cores)
// announces the facts recorded of it.
#include "benches/files/aot/package_facts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/record_function.h>

#include "benches/files/aot/training_package.hpp"
#include "pace/os/folders.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Kind = pace::benches::aot::PackageKernel::Kind;
CATCH_REGISTER_ENUM(Kind, Kind::triton, Kind::cpp, Kind::external)

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using pace::test::Scratch;
using Tensors = std::vector<at::Tensor>;

class Beside {
 public:
  /// The package itself is not read, so there is none.
  explicit Beside(const std::string& text) { std::ofstream(folder_.path / "net.v2.json") << text; }
  [[nodiscard]] fs::path package() const { return folder_.path / "net.v2.pt2"; }
  [[nodiscard]] fs::path file() const { return folder_.path / "net.v2.json"; }

 private:
  Scratch folder_;
};

std::string why(const std::string& text, const std::string& model = "model") {
  const Beside beside(text);
  try {
    (void)pace::benches::aot::read_package_facts(beside.package(), model);
  } catch (const pace::Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring(beside.file().string() + ": "));
    return error.what();
  }
  return "nothing was thrown";
}

std::string with_kernel(const std::string& kernel) { return R"({"inputs": [], "kernels": [)" + kernel + "]}"; }

constexpr const char* good = R"({
  "status": "ok", "torch": "2.11.0", "problem": null,
  "inputs": [{"sizes": [2, 3], "strides": [1, 2], "dtype": "float16", "device": "cuda:1"}],
  "kernels": [
    {"name": "triton_poi_fused_add_0", "kind": "triton", "category": "pointwise", "key": "cabc", "bytes": 48,
     "arguments": ["in_out_ptr0", "xnumel"], "range": null, "calls": 2, "argument_bytes": [24, null]},
    {"name": "aten::addmm", "kind": "external", "category": null, "key": null, "bytes": null, "arguments": null,
     "range": "aoti_torch_cpu_addmm_out", "calls": null},
    {"name": "cpp_fused_mul_1", "kind": "cpp"}
  ]})";

TEST_CASE("facts are read from beside the package, or from the file itself", "[aot]") {
  const Beside beside(good);
  for (const auto& path : {beside.package(), beside.file()}) {
    const auto facts = pace::benches::aot::read_package_facts(path);
    REQUIRE(facts);
    CHECK(facts->problem == "");
    REQUIRE(facts->inputs.size() == 1);
    CHECK(facts->inputs[0].to_string() == "float16[2, 3] with strides [1, 2] on cuda:1");
    REQUIRE(facts->kernels.size() == 3);
    const auto& triton = facts->kernels[0];
    CHECK(triton.name == "triton_poi_fused_add_0");
    CHECK(triton.kind == Kind::triton);
    CHECK(triton.category == "pointwise");
    CHECK(triton.key == "cabc");
    CHECK(triton.bytes == 48);
    CHECK(triton.arguments == std::vector<std::string>{"in_out_ptr0", "xnumel"});
    CHECK(triton.range == "");
    CHECK(triton.calls == 2);
    REQUIRE(triton.argument_bytes.size() == 2);
    CHECK(triton.argument_bytes[0] == 24);
    CHECK_FALSE(triton.argument_bytes[1]);
    const auto& external = facts->kernels[1];
    CHECK(external.kind == Kind::external);
    CHECK(external.category == "");
    CHECK_FALSE(external.bytes);
    CHECK(external.arguments.empty());
    CHECK(external.range == "aoti_torch_cpu_addmm_out");
    CHECK(external.calls == 0);
    CHECK(external.argument_bytes.empty());
    CHECK(facts->kernels[2].kind == Kind::cpp);
  }
}

constexpr const char* configuration =
    R"({"config": {"XBLOCK": 1024, "num_warps": 4}, "printed": "XBLOCK: 1024", "file": "net.cubins/a-0.cubin", "symbol":
  "a", "grid": [7, 2, 1], "warps": 4, "shared_bytes": 64, "chosen": true})";

TEST_CASE("configurations of a kernel, whose files are found from the package's folder", "[aot]") {
  const Beside beside(
      with_kernel(R"({"name": "a", "kind": "triton", "configurations": [)" + std::string(configuration) + "]}"));
  const auto facts = pace::benches::aot::read_package_facts(beside.package());
  REQUIRE(facts);
  REQUIRE(facts->kernels.at(0).configurations.size() == 1);
  const auto& read = facts->kernels[0].configurations[0];
  CHECK(read.text == "XBLOCK 1024, num_warps 4");
  CHECK(read.printed == "XBLOCK: 1024");
  CHECK(read.file == beside.package().parent_path() / "net.cubins/a-0.cubin");
  CHECK(read.symbol == "a");
  CHECK(read.grid == std::array<std::uint32_t, 3>{7, 2, 1});
  CHECK(read.warps == 4);
  CHECK(read.shared_bytes == 64);
  CHECK(read.chosen);
}

TEST_CASE("where nothing is kept there is nothing", "[aot]") {
  CHECK_FALSE(pace::benches::aot::read_package_facts("/no/such/model.pt2"));
  const Beside others(R"({"architectures": ["GPT2"]})");
  CHECK_FALSE(pace::benches::aot::read_package_facts(others.package()));
  const Beside unknown(R"({"inputs": null, "kernels": null, "problem": "Inductor has changed"})");
  const auto facts = pace::benches::aot::read_package_facts(unknown.package());
  REQUIRE(facts);
  CHECK(facts->kernels.empty());
  CHECK(facts->problem == "Inductor has changed");
}

TEST_CASE("of several models the one that is asked for, or the only one", "[aot]") {
  const std::string forward = R"("forward": )" + std::string(good);
  const std::string backward = R"("backward": {"inputs": [], "kernels": []})";
  const Beside one(R"({"models": {)" + forward + "}}"), two(R"({"models": {)" + forward + ", " + backward + "}}");
  CHECK(pace::benches::aot::read_package_facts(one.package())->kernels.size() == 3);
  CHECK(pace::benches::aot::read_package_facts(two.package(), "forward")->kernels.size() == 3);
  CHECK(pace::benches::aot::read_package_facts(two.package(), "backward")->kernels.empty());
  CHECK_THAT(why(R"({"models": {)" + forward + ", " + backward + "}}"),
             EndsWith("the package has no model `model`, but `backward`, `forward`"));
  CHECK_THAT(why(R"({"models": {)" + forward + "}}", "backward"), EndsWith("no model `backward`, but `forward`"));
  CHECK_THAT(why(R"({"models": {}})"), EndsWith("no model `model`, but none at all"));
  CHECK_THAT(why(good, "forward"), EndsWith("no model `forward`, but only one, `model`"));
  CHECK_THAT(why(R"({"models": {"model": {"inputs": [], "kernels": [{}]}}})"),
             EndsWith("models.model.kernels[0].name: expected a text, found no such field"));
}

TEST_CASE("a broken file is named, with the field and what was expected", "[aot]") {
  CHECK_THAT(why(""), EndsWith("expected JSON, as pace writes it beside a package"));
  CHECK_THAT(why("{\"kernels\": ["), ContainsSubstring("expected JSON"));
  CHECK_THAT(why("{\"inputs\": " + std::string(200000, '[') + std::string(200000, ']') + "}"),
             ContainsSubstring("nested more than 100 levels deep; expected JSON"));
  CHECK_THAT(why("[1]"), EndsWith("expected an object, found [1]"));
  CHECK_THAT(why(R"({"kernels": []})"),
             EndsWith(": inputs: expected a list of tensors' metadata, or null, found no such field"));
  CHECK_THAT(why(R"({"inputs": []})"), EndsWith(": kernels: expected a list of kernels, or null, found no such field"));
  CHECK_THAT(why(R"({"inputs": [], "kernels": {"a": 1}})"),
             EndsWith(R"(kernels: expected a list of kernels, or null, found {"a":1})"));
  CHECK_THAT(why(R"({"models": 3})"), EndsWith(": models: expected an object, found 3"));
  CHECK_THAT(
      why(R"({"inputs": [{"sizes": [1]}], "kernels": []})"),
      EndsWith(R"(inputs[0]: expected an object with `sizes`, `strides`, `dtype` and `device`, found {"sizes":[1]})"));
  CHECK_THAT(why(R"({"kernels": [], "inputs": [{"sizes": [1], "strides": [1], "dtype": "float31", "device": "cpu"}]})"),
             ContainsSubstring("inputs[0]: expected an object with `sizes`") && ContainsSubstring("float31"));
  CHECK_THAT(why(R"({"kernels": [], "inputs": [{"sizes": [1], "strides": [1], "dtype": "int8", "device": "no"}]})"),
             ContainsSubstring("inputs[0]: expected an object with `sizes`"));
  CHECK_THAT(why(R"({"kernels": [], "inputs": [{"sizes": [1.5], "strides": [1], "dtype": "int8", "device": "cpu"}]})"),
             ContainsSubstring("inputs[0]: expected an object with `sizes`") && ContainsSubstring("1.5"));
  CHECK_THAT(why(with_kernel("7")), EndsWith(": kernels[0]: expected an object, found 7"));
  CHECK_THAT(why(with_kernel(R"({"name": 7, "kind": "cpp"})")), EndsWith("kernels[0].name: expected a text, found 7"));
  CHECK_THAT(why(with_kernel(R"({"name": "a", "kind": "hip"})")),
             EndsWith(R"(kernels[0].kind: expected `triton`, `cpp` or `external`, found "hip")"));
  const auto field = [](const std::string& text) {
    return why(with_kernel(R"({"name": "a", "kind": "cpp", )" + text + "}"));
  };
  CHECK_THAT(field(R"("bytes": "7")"), EndsWith(R"(kernels[0].bytes: expected a number or null, found "7")"));
  CHECK_THAT(field(R"("bytes": -7)"),
             ContainsSubstring("kernels[0].bytes: expected a number of bytes, or null, found -7"));
  CHECK_THAT(field(R"("calls": [])"), EndsWith("kernels[0].calls: expected a number or null, found []"));
  CHECK_THAT(field(R"("calls": -1)"), EndsWith("kernels[0].calls: expected a number of calls, or null, found -1"));
  for (const std::string calls : {"1.5", "1e+300", "true", "9223372036854775808"})
    CHECK_THAT(field(R"("calls": )" + calls), EndsWith("kernels[0].calls: expected a number or null, found " + calls));
  CHECK_THAT(field(R"("bytes": true)"), EndsWith("kernels[0].bytes: expected a number or null, found true"));
  CHECK_THAT(field(R"("arguments": [1])"),
             EndsWith("kernels[0].arguments: expected a list of names, or null, found [1]"));
  for (const std::string bytes : {"[-1]", R"([1,"2"])"})
    CHECK_THAT(
        field(R"("argument_bytes": )" + bytes),
        EndsWith("kernels[0].argument_bytes: expected a list of numbers of bytes and nulls, or null, found " + bytes));
  CHECK_THAT(field(R"("argument_bytes": 3)"), EndsWith("a list of numbers of bytes and nulls, or null, found 3"));
  CHECK_THAT(field(R"("category": 1)"), EndsWith("kernels[0].category: expected a text or null, found 1"));
  CHECK_THAT(why(R"({"inputs": [], "kernels": [], "problem": [1]})"),
             EndsWith("problem: expected a text or null, found [1]"));
  const auto of_configuration = [&](const std::string& was, const std::string& is) {
    std::string text = configuration;
    text.replace(text.find(was), was.size(), is);
    return field(R"("configurations": [)" + text + "]");
  };
  CHECK_THAT(of_configuration("[7, 2, 1]", "[7, 2]"),
             EndsWith("configurations[0].grid: expected three numbers of blocks, found [7,2]"));
  CHECK_THAT(of_configuration("[7, 2, 1]", "[7, 0, 1]"),
             EndsWith("grid: expected three numbers of blocks, found [7,0,1]"));
  CHECK_THAT(of_configuration("[7, 2, 1]", "[7, 2.5, 1]"),
             EndsWith("grid: expected three numbers of blocks, found [7,2.5,1]"));
  CHECK_THAT(of_configuration("\"warps\": 4", "\"warps\": 33"), EndsWith("warps: expected 1 to 32 warps, found 33"));
  CHECK_THAT(of_configuration("64", "-1"), EndsWith("shared_bytes: expected a number of bytes, found -1"));
  CHECK_THAT(of_configuration("true", "1"), EndsWith("chosen: expected true or false, found 1"));
  CHECK_THAT(of_configuration("\"symbol\"", "\"symbols\""), EndsWith("symbol: expected a text, found no such field"));
}

/// The outermost ranges that the profiler hears of, less the number of the graph.
class Ranges {
 public:
  Ranges() : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(enter, leave))) { heard().clear(); }
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;
  ~Ranges() { at::removeCallback(handle_); }

  static std::vector<std::string>& heard() {
    static std::vector<std::string> names;
    return names;
  }

 private:
  static int& depth() {
    static int depth = 0;
    return depth;
  }
  static std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& range) {
    if (depth()++ == 0) heard().emplace_back(range.name());
    return nullptr;
  }
  static void leave(const at::RecordFunction&, at::ObserverContext*) { --depth(); }

  at::CallbackHandle handle_;
};

TEST_CASE("a package announces the kernels that were recorded of it, in their order", "[aot][aot_inductor]") {
  const Scratch folder;
  auto options = pace::benches::aot::definition_package_options();
  options.cache = folder.path;
  options.inductor = {{"cpp.enable_kernel_profile", "true"}};
  if (options.python.empty()) SKIP("no Python with torch is known: set PACE_PYTHON");
  const auto parameter = [](std::vector<std::int64_t> sizes) { return at::randn(sizes).requires_grad_(); };
  const pace::benches::aot::Definition definition = {
      .name = "network",
      .parameters = {parameter({32, 16}), parameter({32}), parameter({8, 32}), parameter({8})},
      .inputs = {at::randn({4, 16})},
      .forward = [](const Tensors& p, const Tensors& x) {
        return Tensors{at::softmax(at::linear(at::relu(at::linear(x[0], p[0], p[1])), p[2], p[3]), 1)};
      }};
  const auto traced = pace::benches::aot::trace(definition);
  pace::benches::aot::DefinitionStore store(options);
  auto package = pace::benches::aot::InferencePackage::open(store, traced);

  const auto facts =
      pace::benches::aot::read_package_facts(store.find(traced, pace::benches::aot::PackageKind::inference));
  REQUIRE(facts);
  CHECK(facts->problem == "");
  REQUIRE(facts->inputs.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK(facts->inputs[i].fits(definition.parameters[i]));
  CHECK(facts->inputs[4].fits(definition.inputs[0]));

  Tensors operands = definition.parameters;
  operands.push_back(definition.inputs[0]);
  {
    const Ranges ranges;
    (void)package.run(operands);
  }
  std::vector<std::string> recorded;
  for (const auto& kernel : facts->kernels) recorded.push_back(kernel.range);
  CHECK(Ranges::heard() == recorded);

  // Product, relu, product, softmax; by hand, in bytes of float32.
  REQUIRE(facts->kernels.size() == 4);
  const std::vector<double> bytes = {4 * (4 * 16 + 16 * 32 + 32 + 4 * 32), 4 * 2 * (4 * 32),
                                     4 * (4 * 32 + 32 * 8 + 8 + 4 * 8), 4 * 2 * (4 * 8)};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& kernel = facts->kernels[i];
    CAPTURE(kernel.name);
    CHECK(kernel.bytes == bytes[i]);
    CHECK(kernel.calls == 1);
    CHECK(kernel.kind == (i % 2 == 0 ? Kind::external : Kind::cpp));
  }
  CHECK(facts->kernels[0].name == "aten::addmm");
  CHECK(facts->kernels[1].category == "pointwise");
  CHECK(facts->kernels[3].category == "reduction");
  CHECK_FALSE(facts->kernels[1].key.empty());
  CHECK(facts->kernels[1].key != facts->kernels[3].key);
  CHECK(facts->kernels[1].arguments == std::vector<std::string>{"in_out_ptr0"});  // relu in place
}

}  // namespace
