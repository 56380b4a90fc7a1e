// The packages of definitions, with a shell script in the place of Python.
#include "benches/files/aot/definition_store.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "benches/files/aot/compile_definitions.hpp"
#include "benches/files/aot/training_package.hpp"
#include "pace/os/folders.hpp"
#include "tests/aot/definitions.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using pace::benches::aot::DefinitionStore;
using pace::benches::aot::PackageKind;
using pace::benches::aot::PackageRequest;
using pace::test::why;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Scene {
  Scene() {
    ::setenv("FAKE_LOG", (folder / "log").c_str(), 1);
    ::setenv("FAKE_KEEP", (folder / "manifest.json").c_str(), 1);
    ::setenv("FAKE_MODE", "ok", 1);
    options.cache = folder / "cache";
    options.python = fs::absolute("tests/aot/fake_python.sh").string();
    options.progress = nullptr;
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() { pace::detail::remove_tree(folder); }

  [[nodiscard]] nlohmann::json manifest() const { return nlohmann::json::parse(read(folder / "manifest.json")); }

  fs::path folder = pace::detail::make_folder_in(fs::temp_directory_path());
  pace::benches::aot::PackageOptions options = pace::benches::aot::definition_package_options();
};

TEST_CASE("a definition is compiled once for inference and once for training", "[aot]") {
  Scene scene;
  const auto traced = pace::benches::aot::trace(pace::test::mlp());
  DefinitionStore store(scene.options);
  const auto package = store.find(traced, PackageKind::training);
  REQUIRE(package == scene.options.cache / (store.key(traced, PackageKind::training) + ".pt2"));
  const auto times = store.compile_times(traced, PackageKind::training);
  REQUIRE(times.has_value());
  REQUIRE(times->whole == 0.5);
  REQUIRE(times->exporting == 0.125);
  REQUIRE(times->forward == 0.25);
  REQUIRE(times->backward == 0);
  REQUIRE_FALSE(store.compile_times(traced, PackageKind::inference).has_value());
  REQUIRE(store.find(traced, PackageKind::training) == package);
  // Other values make no other package; nor does another process.
  REQUIRE(DefinitionStore(scene.options).find(pace::benches::aot::trace(pace::test::mlp()), PackageKind::training) ==
          package);
  REQUIRE(read(scene.folder / "log") == "run R\"\"\"py(\ncase\n");
  REQUIRE(store.find(traced, PackageKind::inference) != package);
}

TEST_CASE("the manifest holds how the compiler shall differentiate", "[aot]") {
  Scene scene;
  const auto traced = pace::benches::aot::trace(pace::test::odd());
  DefinitionStore store(scene.options);
  const std::vector<PackageRequest> both = {{&traced, PackageKind::training}, {&traced, PackageKind::inference}};
  store.prepare_all(both);
  const auto manifest = scene.manifest();
  REQUIRE(manifest["timeout_s"] == 1800);
  REQUIRE(manifest["device"] == "cpu");
  const auto& training = manifest["cases"].at(0);
  REQUIRE(training["name"] == "odd (training)");
  REQUIRE(training["kind"] == "training");
  REQUIRE(training["parameters"] == 2);
  REQUIRE(training["differentiated"] == nlohmann::json({0, 2}));
  REQUIRE(training["tensors"].size() == 5);
  REQUIRE(training["tensors"].at(2) ==
          nlohmann::json({{"sizes", {3, 4}}, {"strides", {1, 3}}, {"dtype", "float32"}, {"device", "cpu"}}));
  REQUIRE(training["tensors"].at(3)["dtype"] == "int64");
  const auto& inference = manifest["cases"].at(1);
  REQUIRE(inference["kind"] == "inference");
  REQUIRE(inference["differentiated"] == nlohmann::json::array());
}

TEST_CASE("the key of a definition changes with whatever its code depends on", "[aot]") {
  Scene scene;
  const DefinitionStore store(scene.options);
  const auto key = [&](const pace::benches::aot::Definition& definition) {
    return store.key(pace::benches::aot::trace(definition), PackageKind::training);
  };
  const auto mlp = key(pace::test::mlp());
  REQUIRE(mlp == key(pace::test::mlp()));
  REQUIRE(mlp != store.key(pace::benches::aot::trace(pace::test::mlp()), PackageKind::inference));
  auto renamed = pace::test::mlp();
  renamed.name = "another";
  REQUIRE(mlp == key(renamed));
  auto larger = pace::test::mlp();
  larger.inputs[0] = at::randn({5, 16});
  REQUIRE(mlp != key(larger));
  auto transposed = pace::test::mlp();
  transposed.inputs[0] = at::randn({16, 4}).t();
  REQUIRE(mlp != key(transposed));
  auto fewer = pace::test::mlp();  // the same calls, but a parameter is an input
  fewer.inputs.insert(fewer.inputs.begin(), fewer.parameters.back().detach());
  fewer.parameters.pop_back();
  fewer.forward = [](const auto& p, const auto& x) {
    return pace::test::Tensors{at::linear(at::relu(at::linear(x[1], p[0], p[1])), p[2], x[0])};
  };
  REQUIRE(mlp != key(fewer));
  auto once = pace::test::odd();
  once.differentiated = {0};
  REQUIRE(key(pace::test::odd()) != key(once));
  scene.options.inductor = {{"max_autotune", "true"}};
  REQUIRE(mlp !=
          DefinitionStore(scene.options).key(pace::benches::aot::trace(pace::test::mlp()), PackageKind::training));
}

TEST_CASE("packages of definitions can be build outputs", "[aot]") {
  Scene scene;
  const auto traced = pace::benches::aot::trace(pace::test::mlp());
  const std::vector<PackageRequest> requests = {{&traced, PackageKind::training}};
  DefinitionStore(scene.options).export_and_compile(requests, scene.folder / "made before");
  auto options = scene.options;
  options.python.clear();
  options.directories = {scene.folder / "made before"};
  REQUIRE(DefinitionStore(options).find(traced, PackageKind::training).parent_path() == scene.folder / "made before");
  REQUIRE_THAT(why<pace::Unsupported>([&] { (void)DefinitionStore(options).find(traced, PackageKind::inference); }),
               ContainsSubstring("no Python with torch"));
}

TEST_CASE("many definitions are compiled at once, and those that cannot be traced hold up no other", "[aot]") {
  Scene scene;
  auto untraceable = pace::test::mlp();
  untraceable.forward = [](const auto& p, const auto& x) { return pace::test::Tensors{p[0] * x[0].sum().item()}; };
  const std::vector<pace::benches::aot::Definition> definitions = {pace::test::mlp(), untraceable, pace::test::odd()};
  const std::vector<PackageKind> kinds = {PackageKind::inference, PackageKind::training};
  DefinitionStore store(scene.options);
  pace::benches::aot::prepare_all(store, definitions, kinds);
  REQUIRE(read(scene.folder / "log") == "run R\"\"\"py(\ncase\ncase\ncase\ncase\n");
  (void)store.find(pace::benches::aot::trace(definitions[2]), PackageKind::training);
  pace::benches::aot::prepare_all(store, definitions, kinds);
  REQUIRE(read(scene.folder / "log") == "run R\"\"\"py(\ncase\ncase\ncase\ncase\n");
  pace::benches::aot::compile_definitions(definitions, std::vector{PackageKind::inference}, scene.folder / "out",
                                          store);
  REQUIRE(fs::exists(scene.folder / "out" /
                     (store.key(pace::benches::aot::trace(definitions[0]), PackageKind::inference) + ".pt2")));
  REQUIRE_FALSE(fs::exists(scene.folder / "out" /
                           (store.key(pace::benches::aot::trace(definitions[0]), PackageKind::training) + ".pt2")));
}

TEST_CASE("a definition that cannot be compiled says why", "[aot]") {
  Scene scene;
  ::setenv("FAKE_MODE", "fail", 1);
  const auto traced = pace::benches::aot::trace(pace::test::mlp());
  DefinitionStore store(scene.options);
  REQUIRE_THAT(why<pace::Unsupported>([&] { (void)pace::benches::aot::TrainingPackage::open(store, traced); }),
               ContainsSubstring("made to fail"));
  REQUIRE_THAT(why<pace::Unsupported>([&] { (void)pace::benches::aot::InferencePackage::open(store, traced); }),
               ContainsSubstring("made to fail"));
}

TEST_CASE("a package with constants belongs to their values, and the compiler gets these", "[aot]") {
  Scene scene;
  const auto definition = pace::test::mlp();
  auto traced = pace::benches::aot::trace(definition);
  const DefinitionStore store(scene.options);
  const std::string inference = store.key(traced, PackageKind::inference),
                    training = store.key(traced, PackageKind::training);
  const auto freeze = [&](const std::vector<at::Tensor>& constants) {
    traced.constants = constants;
    traced.constants_digest = pace::benches::aot::digest_of_tensors(constants);
    return store.key(traced, PackageKind::inference);
  };
  std::vector<at::Tensor> constants = definition.parameters;
  constants.resize(definition.parameters.size() + definition.inputs.size());
  const std::string frozen = freeze(constants);
  CHECK(frozen != inference);
  CHECK(store.key(traced, PackageKind::training) == training);
  std::vector<at::Tensor> copies;
  for (const auto& each : constants) copies.push_back(each.defined() ? each.detach().clone() : each);
  CHECK(freeze(copies) == frozen);
  (void)copies[0].view({-1})[0].add_(1);
  CHECK(freeze(copies) != frozen);
  copies[0] = at::Tensor();
  CHECK(freeze(copies) != frozen);

  (void)freeze(constants);
  (void)DefinitionStore(scene.options).find(traced, PackageKind::inference);
  auto described = scene.manifest().at("cases").at(0);
  CHECK(described.at("values").get<std::string>().ends_with(frozen + ".values"));
  (void)DefinitionStore(scene.options).find(traced, PackageKind::training);
  CHECK_FALSE(scene.manifest().at("cases").at(0).contains("values"));
}

TEST_CASE("times of a record: of a training step by its parts, of an old record what it has", "[aot]") {
  const Scene scene;
  const auto times_of = [&](const std::string& record) {
    pace::detail::write_file(scene.folder / "key.json", record);
    return pace::benches::aot::CaseStore::recorded_times("key", scene.folder);
  };
  auto times = times_of(R"({"status": "ok", "seconds": 9, "export_seconds": 1, "compile_seconds": 8,
                            "layout": {"outputs": 1, "forward_seconds": 3, "backward_seconds": 4}})");
  REQUIRE(times.has_value());
  CHECK(times->whole == 9);
  CHECK(times->exporting == 1);
  CHECK(times->forward == 3);
  CHECK(times->backward == 4);
  times = times_of(R"({"status": "ok", "seconds": 9})");
  REQUIRE(times.has_value());
  CHECK(times->whole == 9);
  CHECK(times->exporting == 0);
  CHECK(times->forward == 0);
  CHECK_FALSE(times_of(R"({"status": "failed", "reason": "it is", "seconds": 9})").has_value());
  CHECK_FALSE(times_of(R"({"status": "ok", "seconds": 9, "layout": 3})").has_value());
}

TEST_CASE("a package without a layout is compiled anew once, then refused", "[aot]") {
  Scene scene;
  const auto traced = pace::benches::aot::trace(pace::test::mlp());
  DefinitionStore store(scene.options);
  REQUIRE_THAT(why<pace::Unsupported>([&] { (void)pace::benches::aot::TrainingPackage::open(store, traced); }),
               ContainsSubstring("does not load, though compiled anew") && ContainsSubstring("layout"));
  REQUIRE(read(scene.folder / "log") == "run R\"\"\"py(\ncase\nrun R\"\"\"py(\ncase\n");
}

}  // namespace
