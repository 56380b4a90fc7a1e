// The cache of compiled packages, with a shell script in the place of Python.
#include "pace/subject/package_store.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/subject/files.hpp"
#include "pace/subject/process.hpp"
#include "tests/subject/inputs.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using pace::subject::OperatorCall;
using pace::subject::PackageOptions;
using pace::subject::PackageStore;
using pace::test::inputs;
using pace::test::random;
using pace::test::why;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

/// A folder of its own for each test, and the script's settings.
class Scene {
 public:
  Scene() {
    folder = pace::subject::detail::make_folder_in(fs::temp_directory_path());
    ::setenv("FAKE_LOG", log().c_str(), 1);
    ::setenv("FAKE_KEEP", (folder / "manifest.json").c_str(), 1);
    mode("ok");
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() { pace::subject::detail::remove_tree(folder); }

  static void mode(const char* mode) { ::setenv("FAKE_MODE", mode, 1); }
  [[nodiscard]] fs::path log() const { return folder / "log"; }
  [[nodiscard]] fs::path cache() const { return folder / "cache"; }
  /// Lines of the script's log that start so: how often it ran, how many cases it saw.
  [[nodiscard]] int count(const std::string& start) const {
    std::istringstream lines(read(log()));
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.starts_with(start);
    return count;
  }
  [[nodiscard]] PackageOptions options() {
    PackageOptions options;
    options.cache = cache();
    options.python = fs::absolute("tests/subject/fake_python.sh").string();
    options.progress = &progress;
    return options;
  }
  fs::path folder;
  std::ostringstream progress;
};

OperatorCall relu(std::int64_t size) {
  return OperatorCall::bind("aten.relu.default", inputs({random({size})}));
}

TEST_CASE("a package is compiled once, and found from then on", "[subject]") {
  Scene scene;
  const auto call = relu(3);
  PackageStore store(scene.options());
  const auto package = store.find(call);
  CHECK(package == scene.cache() / (store.key(call) + ".pt2"));
  CHECK(read(package) == "package");
  CHECK(store.find(relu(3)) == package);                         // other values, same metadata
  CHECK(PackageStore(scene.options()).find(call) == package);    // another process, so to speak
  CHECK(scene.count("run") == 1);
  CHECK(scene.count("run R\"\"\"py(") == 1);                     // the script arrives as it stands in the file
  CHECK(scene.progress.str() == "pace: compiling\n");            // only what is meant for people
  CHECK(fs::is_empty(scene.cache() / "build"));                  // scripts and modules are gone
}

TEST_CASE("who compiled a package knows how long that took, and nobody else", "[subject]") {
  Scene scene;
  PackageStore store(scene.options());
  CHECK(store.compile_seconds(relu(3)) == std::nullopt);
  (void)store.find(relu(3));
  CHECK(store.compile_seconds(relu(3)) == 0.5);
  CHECK(store.compile_seconds(relu(4)) == std::nullopt);
  CHECK(PackageStore(scene.options()).compile_seconds(relu(3)) == std::nullopt);
  Scene::mode("fail");
  CHECK_THAT(why<pace::Refused>([&] { (void)store.find(relu(4)); }), ContainsSubstring("made to fail"));
  CHECK(store.compile_seconds(relu(4)) == std::nullopt);
}

TEST_CASE("many cases are compiled in one process, and only those that are missing", "[subject]") {
  Scene scene;
  PackageStore store(scene.options());
  const auto a = relu(1), b = relu(2), c = relu(3);
  (void)store.find(b);
  const OperatorCall* const calls[] = {&a, &b, &c};
  store.prepare_all(calls);
  CHECK(scene.count("run") == 2);
  CHECK(scene.count("case") == 3);
  store.prepare_all(calls);
  (void)store.find(a), (void)store.find(c);
  CHECK(scene.count("run") == 2);
  const auto d = relu(4), same = relu(4);
  const OperatorCall* const twice[] = {&d, &same};
  store.prepare_all(twice);
  CHECK(scene.count("case") == 4);
}

TEST_CASE("the manifest tells the compiler all it needs", "[subject]") {
  Scene scene;
  auto options = scene.options();
  options.inductor = {{"max_autotune", "true"}, {"cpp.simdlen", "256"}};
  options.workers = 3;
  PackageStore store(options);
  const auto call = OperatorCall::bind("aten.add.Tensor", inputs({random({2, 3}).t(), random({2}).to(at::kHalf)}));
  (void)store.find(call);
  const auto manifest = nlohmann::json::parse(read(scene.folder / "manifest.json"));
  CHECK(manifest["torch"] == pace::subject::detail::torch_version());
  CHECK(manifest["device"] == "cpu");
  CHECK(manifest["threads"] == at::get_num_threads());
  CHECK(manifest["workers"] == 3);
  CHECK(manifest["options"] == nlohmann::json({{"max_autotune", true}, {"cpp.simdlen", 256}}));
  const auto& described = manifest["cases"].at(0);
  CHECK(described["key"] == store.key(call));
  CHECK(described["name"] == "aten.add.Tensor");
  CHECK(described["signature"] == call.signature());
  CHECK(described["tensors"].at(0) ==
        nlohmann::json({{"sizes", {3, 2}}, {"strides", {1, 3}}, {"dtype", "float32"}, {"device", "cpu"}}));
  CHECK(described["tensors"].at(1)["dtype"] == "float16");
}

TEST_CASE("the key changes with whatever the code depends on", "[subject]") {
  Scene scene;
  auto other = scene.options();
  other.inductor = {{"max_autotune", "true"}};
  const PackageStore store(scene.options()), tuned(other);
  const auto key = store.key(relu(3));
  CHECK(key.size() == 40);
  CHECK(key == store.key(relu(3)));
  CHECK(key != store.key(relu(4)));
  CHECK(key != tuned.key(relu(3)));
  const auto key_for = [](const at::Device& device) { return pace::subject::detail::package_key("f", {}, device, "script"); };
  // `meta` stands for a GPU, which need not be there.
  const auto elsewhere = key_for(at::kMeta), on_cpu = key_for(at::kCPU);
  const int threads = at::get_num_threads();
  at::set_num_threads(threads + 1);
  CHECK(key != store.key(relu(3)));
  CHECK(key_for(at::kCPU) != on_cpu);
  CHECK(key_for(at::kMeta) == elsewhere);
  at::set_num_threads(threads);
}

TEST_CASE("a case that cannot be compiled keeps its reason, and is not tried again", "[subject]") {
  Scene scene;
  Scene::mode("fail");
  const auto call = relu(3);
  PackageStore store(scene.options());
  CHECK_THAT(why<pace::Refused>([&] { (void)store.find(call); }), ContainsSubstring("made to fail") && ContainsSubstring(".json"));
  CHECK_THAT(why<pace::Refused>([&] { (void)store.find(call); }), ContainsSubstring("made to fail"));
  Scene::mode("ok");
  CHECK_THAT(why<pace::Refused>([&] { (void)PackageStore(scene.options()).find(call); }), ContainsSubstring("made to fail"));
  CHECK(scene.count("run") == 1);
  fs::remove(scene.cache() / (store.key(call) + ".json"));  // as the message says
  CHECK_NOTHROW(store.find(call));
}

TEST_CASE("what failed in passing is tried again, once a process", "[subject]") {
  Scene scene;
  Scene::mode("transient");
  const auto call = relu(3);
  PackageStore store(scene.options());
  CHECK_THAT(why<pace::Refused>([&] { (void)store.find(call); }), ContainsSubstring("took too long"));
  CHECK_THAT(why<pace::Refused>([&] { (void)store.find(call); }), ContainsSubstring("took too long"));
  CHECK(scene.count("run") == 1);
  Scene::mode("ok");
  CHECK_NOTHROW(PackageStore(scene.options()).find(call));
}

TEST_CASE("a package that was cut short, or has a broken record, is compiled again", "[subject]") {
  Scene scene;
  const auto call = relu(3);
  PackageStore store(scene.options());
  const auto package = store.find(call), record = fs::path(package).replace_extension(".json");
  write(package, "pack");
  CHECK(read(store.find(call)) == "package");
  for (const std::string broken : {"", "{\"status\": ", "[]", "{\"status\": \"ok\", \"package_bytes\": \"7\"}"}) {
    write(record, broken);
    CHECK(read(store.find(call)) == "package");
  }
  fs::remove(package);
  CHECK(read(store.find(call)) == "package");
  CHECK(scene.count("run") == 7);
}

TEST_CASE("a package that does not load can be discarded once", "[subject]") {
  Scene scene;
  const auto call = relu(3);
  PackageStore store(scene.options());
  (void)store.find(call);
  CHECK(store.discard(call));
  (void)store.find(call);
  CHECK(scene.count("run") == 2);
  CHECK_FALSE(store.discard(call));
}

TEST_CASE("a compiler that dies is told with its last words, and not called again", "[subject]") {
  Scene scene;
  Scene::mode("crash");
  const auto call = relu(3);
  PackageStore store(scene.options());
  for (int i = 0; i < 2; ++i) {
    CHECK_THAT(why<pace::Refused>([&] { (void)store.find(call); }),
               ContainsSubstring("ended with exit code 3: Traceback: no module named torch"));
  }
  CHECK(scene.count("run") == 1);
  Scene::mode("silent");
  const auto another = relu(4);
  CHECK_THAT(why<pace::Refused>([&] { (void)store.find(another); }), ContainsSubstring("left no package for aten.relu.default"));
}

TEST_CASE("without Python, packages made before are used, and others refused", "[subject]") {
  Scene scene;
  const auto call = relu(3), other = relu(4);
  const OperatorCall* const calls[] = {&call};
  PackageStore(scene.options()).export_and_compile(calls, scene.folder / "made before");
  CHECK_FALSE(fs::exists(scene.cache() / (PackageStore(scene.options()).key(call) + ".pt2")));

  auto options = scene.options();
  options.python.clear();
  options.directories = {scene.folder / "not there", scene.folder / "made before"};
  PackageStore store(options);
  CHECK(store.find(call).parent_path() == scene.folder / "made before");
  CHECK_THAT(why<pace::Refused>([&] { (void)store.find(other); }),
             ContainsSubstring("no Python with torch") && ContainsSubstring("PACE_PYTHON"));
  CHECK(store.discard(call));  // a directory is only read: what does not load there is compiled into the cache
  CHECK_THAT(why<pace::Refused>([&] { (void)store.find(call); }), ContainsSubstring("no Python with torch"));
  CHECK_THAT(why<pace::Refused>([&] { store.export_and_compile(calls, scene.folder / "out"); }), ContainsSubstring("PACE_PYTHON"));
  options.python = "/no/such/python";
  CHECK_THAT(why<pace::Refused>([&] { (void)PackageStore(options).find(other); }),
             ContainsSubstring("cannot run /no/such/python: No such file or directory"));
}

TEST_CASE("a cache that cannot be written to", "[subject]") {
  Scene scene;
  const auto call = relu(3);
  auto options = scene.options();
  write(scene.folder / "file", "");
  options.cache = scene.folder / "file" / "cache";
  CHECK(why<pace::Refused>([&] { (void)PackageStore(options).find(call); }).find("cache") != std::string::npos);
  // A build output can be made all the same: sources go to the folder for temporary files.
  const OperatorCall* const calls[] = {&call};
  PackageStore(options).export_and_compile(calls, scene.folder / "out");
  CHECK(fs::exists(scene.folder / "out" / (PackageStore(options).key(call) + ".pt2")));
}

TEST_CASE("where the cache is", "[subject]") {
  for (const char* name : {"PACE_PACKAGE_CACHE", "PACE_HOME", "XDG_CACHE_HOME", "HOME"}) ::unsetenv(name);
  using pace::subject::default_package_cache;
  CHECK(default_package_cache() == fs::temp_directory_path() / "pace" / "packages");
  ::setenv("HOME", "/h", 1);
  CHECK(default_package_cache() == "/h/.cache/pace/packages");
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  CHECK(default_package_cache() == "/x/pace/packages");
  ::setenv("PACE_HOME", "/p", 1);
  CHECK(default_package_cache() == "/p/packages");
  ::setenv("PACE_PACKAGE_CACHE", "/c", 1);
  CHECK(default_package_cache() == "/c");
}

TEST_CASE("another program's output comes line by line, with how it ended", "[subject]") {
  std::vector<std::string> lines;
  const auto collect = [&](std::string_view line) { lines.emplace_back(line); };
  const auto good = pace::subject::detail::run_process({"sh", "-c", "cat; echo one; echo two >&2; printf three"}, collect);
  CHECK(good.ok());
  CHECK(lines == std::vector<std::string>{"one", "two", "three"});
  CHECK(pace::subject::detail::run_process({"sh", "-c", "exit 5"}, collect).to_string() == "ended with exit code 5");
  CHECK_THAT(pace::subject::detail::run_process({"sh", "-c", "kill -9 $$"}, collect).to_string(),
             ContainsSubstring("signal 9"));
  CHECK(pace::subject::detail::run_process({"printf", "%s", "a b\\n'c"}, collect).ok());  // no shell in between
  CHECK(lines.back() == "a b\\n'c");
}

}  // namespace
