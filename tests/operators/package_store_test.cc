// The cache of compiled packages, with a shell script in the place of Python.
#include "benches/operators/backends/package_store.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/Version.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "pace/os/folders.hpp"
#include "pace/os/process.hpp"
#include "pace/run/run_context.hpp"
#include "tests/operators/inputs.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using pace::benches::aot::PackageOptions;
using pace::benches::operators::OperatorCall;
using pace::benches::operators::PackageStore;
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
    folder = pace::detail::make_folder_in(fs::temp_directory_path());
    ::setenv("FAKE_LOG", log().c_str(), 1);
    ::setenv("FAKE_KEEP", (folder / "manifest.json").c_str(), 1);
    mode("ok");
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() { pace::detail::remove_tree(folder); }

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
    options.python = fs::absolute("tests/aot/fake_python.sh").string();
    options.progress = &progress;
    return options;
  }
  fs::path folder;
  std::ostringstream progress;
};

OperatorCall relu(std::int64_t size) { return OperatorCall::bind("aten.relu.default", inputs({random({size})})); }

TEST_CASE("a package is compiled once, and found from then on", "[aot]") {
  Scene scene;
  const auto call = relu(3);
  PackageStore store(scene.options());
  const auto package = store.find(call);
  CHECK(package == scene.cache() / (store.key(call) + ".pt2"));
  CHECK(read(package) == "package");
  CHECK(store.find(relu(3)) == package);                       // other values, same metadata
  CHECK(PackageStore(scene.options()).find(call) == package);  // another process, so to speak
  CHECK(scene.count("run") == 1);
  CHECK(scene.count("run R\"\"\"py(") == 1);           // the script arrives as it stands in the file
  CHECK(scene.progress.str() == "pace: compiling\n");  // only the lines of progress
  for (const auto& kept : fs::directory_iterator(scene.cache() / "build"))  // scripts and modules are gone
    CHECK(fs::is_empty(kept.path()));
}

TEST_CASE("parts that all packages have in common may lie in a folder of their own", "[aot]") {
  Scene scene;
  auto options = scene.options();
  options.common_parts = scene.folder / "parts";
  (void)PackageStore(options).find(relu(3));
  CHECK(!fs::exists(scene.cache() / "build"));
  CHECK(!fs::is_empty(scene.folder / "parts"));
  ::setenv("PACE_COMMON_PARTS", "/parts", 1);
  CHECK(pace::benches::aot::PackageOptions().common_parts == "/parts");
  ::setenv("PACE_COMMON_PARTS", "parts", 1);
  CHECK_THAT(why<pace::InputError>([] { (void)pace::benches::aot::PackageOptions(); }),
             ContainsSubstring("PACE_COMMON_PARTS=parts: expected an absolute path"));
  ::unsetenv("PACE_COMMON_PARTS");
}

TEST_CASE("the store that compiled a package knows how long that took, and no other", "[aot]") {
  Scene scene;
  PackageStore store(scene.options());
  CHECK(store.compile_seconds(relu(3)) == std::nullopt);
  (void)store.find(relu(3));
  CHECK(store.compile_seconds(relu(3)) == 0.5);
  CHECK(store.compile_seconds(relu(4)) == std::nullopt);
  CHECK(PackageStore(scene.options()).compile_seconds(relu(3)) == std::nullopt);
  Scene::mode("fail");
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(relu(4)); }), ContainsSubstring("made to fail"));
  CHECK(store.compile_seconds(relu(4)) == std::nullopt);
}

TEST_CASE("many cases are compiled in one process, and only those that are missing", "[aot]") {
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

TEST_CASE("the manifest holds all that the compiler needs", "[aot]") {
  Scene scene;
  auto options = scene.options();
  options.inductor = {{"max_autotune", "true"}, {"cpp.simdlen", "256"}};
  options.workers = 3;
  PackageStore store(options);
  const auto call = OperatorCall::bind("aten.add.Tensor", inputs({random({2, 3}).t(), random({2}).to(at::kHalf)}));
  (void)store.find(call);
  const auto manifest = nlohmann::json::parse(read(scene.folder / "manifest.json"));
  CHECK(manifest["torch"] == pace::benches::aot::torch_version());
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

TEST_CASE("the key changes with whatever the code depends on", "[aot]") {
  Scene scene;
  auto other = scene.options();
  other.inductor = {{"max_autotune", "true"}};
  const PackageStore store(scene.options()), tuned(other);
  const auto key = store.key(relu(3));
  CHECK(key.size() == 40);
  CHECK(key == store.key(relu(3)));
  CHECK(key != store.key(relu(4)));
  CHECK(key != tuned.key(relu(3)));
  const auto key_for = [](const at::Device& device) {
    return pace::benches::aot::package_key("f", {}, device, "script");
  };
  // `meta` stands for a GPU, which need not be there.
  const auto elsewhere = key_for(at::kMeta), on_cpu = key_for(at::kCPU);
  const int threads = at::get_num_threads();
  at::set_num_threads(threads + 1);
  CHECK(key != store.key(relu(3)));
  CHECK(key_for(at::kCPU) != on_cpu);
  CHECK(key_for(at::kMeta) == elsewhere);
  at::set_num_threads(threads);
}

TEST_CASE("the key changes with the compiler, Inductor's environment and LibTorch's variant", "[aot]") {
  Scene scene;
  const PackageStore store(scene.options());
  const auto key = [&] { return store.key(relu(3)); };
  const auto compiler = [&](const std::string& name, const std::string& version) {
    const fs::path file = scene.folder / name;
    write(file, "#!/bin/sh\necho " + version + '\n');
    fs::permissions(file, fs::perms::owner_all);
    ::setenv("CXX", file.c_str(), 1);
  };
  const auto standard = key();
  compiler("one", "12");
  const auto one = key();
  CHECK(one != standard);
  CHECK(one == key());
  compiler("two", "12");
  CHECK(key() != one);
  compiler("three", "13");
  CHECK_THAT(pace::benches::aot::compiler(), ContainsSubstring("three\n13\n"));
  ::setenv("CXX", "/no/such/compiler", 1);  // Inductor's own message will say more
  CHECK_THAT(pace::benches::aot::compiler(), ContainsSubstring("cannot run /no/such/compiler"));
  ::unsetenv("CXX");
  CHECK(key() == standard);

  ::setenv("TORCHINDUCTOR_CPP_USE_DECOMPOSE_TANH", "1", 1);
  const auto tuned = key();
  CHECK(tuned != standard);
  ::setenv("TORCHINDUCTOR_CPP_USE_DECOMPOSE_TANH", "0", 1);
  CHECK(key() != tuned);
  ::unsetenv("TORCHINDUCTOR_CPP_USE_DECOMPOSE_TANH");
  ::setenv("TORCHINDUCTOR_CACHE_DIR", "/elsewhere", 1);  // the script sets it
  CHECK(key() == standard);
  ::unsetenv("TORCHINDUCTOR_CACHE_DIR");

  CHECK_THAT(pace::benches::aot::toolchain(), ContainsSubstring(at::show_config()));
}

TEST_CASE("a case that cannot be compiled keeps its reason, and is not tried again", "[aot]") {
  Scene scene;
  Scene::mode("fail");
  const auto call = relu(3);
  PackageStore store(scene.options());
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(call); }),
             ContainsSubstring("made to fail") && ContainsSubstring(".json"));
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(call); }), ContainsSubstring("made to fail"));
  Scene::mode("ok");
  CHECK_THAT(why<pace::Unsupported>([&] { (void)PackageStore(scene.options()).find(call); }),
             ContainsSubstring("made to fail"));
  CHECK(scene.count("run") == 1);
  fs::remove(scene.cache() / (store.key(call) + ".json"));  // as the message says
  CHECK_NOTHROW(store.find(call));
}

TEST_CASE("a failure is believed for a day", "[aot]") {
  Scene scene;
  Scene::mode("fail");
  const auto call = relu(3);
  const auto at = [&](std::int64_t age) {
    ::setenv("FAKE_TIME", std::to_string(static_cast<std::int64_t>(std::time(nullptr)) - age).c_str(), 1);
    fs::remove(scene.cache() / (PackageStore(scene.options()).key(call) + ".json"));
    CHECK_THAT(why<pace::Unsupported>([&] { (void)PackageStore(scene.options()).find(call); }),
               ContainsSubstring("made to fail"));
    ::unsetenv("FAKE_TIME");
  };
  for (const std::int64_t age : {20 * 60 * 60, -30}) {  // and one whose clock is a little ahead
    Scene::mode("fail");
    const int runs = scene.count("run");
    at(age);
    Scene::mode("ok");
    CHECK_THAT(why<pace::Unsupported>([&] { (void)PackageStore(scene.options()).find(call); }),
               ContainsSubstring("a day later"));
    CHECK(scene.count("run") == runs + 1);
  }
  for (const std::int64_t age : {25 * 60 * 60, -25 * 60 * 60}) {  // a clock that was wrong, too
    Scene::mode("fail");
    at(age);
    Scene::mode("ok");
    CHECK_NOTHROW(PackageStore(scene.options()).find(call));
  }
}

TEST_CASE("a failure that a build output records does not hide a package that was compiled since", "[aot]") {
  Scene scene;
  Scene::mode("transient");
  const auto call = relu(3);
  const OperatorCall* const calls[] = {&call};
  auto options = scene.options();
  options.directories = {scene.folder / "made before"};
  PackageStore(options).export_and_compile(calls, options.directories.front());
  Scene::mode("ok");
  PackageStore store(options);
  const auto package = store.find(call);
  CHECK(package.parent_path() == scene.cache());
  CHECK(store.find(call) == package);
}

TEST_CASE("a compiler that hangs is ended, and the reason names the way to allow more time", "[aot]") {
  Scene scene;
  Scene::mode("hang");
  auto options = scene.options();
  options.timeout_seconds = 0;
  options.time_to_say_so = std::chrono::milliseconds(200);
  PackageStore store(options);
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(relu(3)); }),
             ContainsSubstring("hung: it printed nothing for 200 ms") && ContainsSubstring("PACE_COMPILE_TIMEOUT"));
}

TEST_CASE("a compiler that prints for ever, and gets nowhere, is ended", "[aot]") {
  Scene scene;
  Scene::mode("chatter");
  auto options = scene.options();
  options.timeout_seconds = 0;
  // So long that on a busy machine, too, it is not silent for that time; the clock is a fake one.
  options.time_to_say_so = std::chrono::hours(24);
  options.now = [time = std::chrono::hours(0)]() mutable { return time += std::chrono::hours(20); };
  PackageStore store(options);
  CHECK_THAT(
      why<pace::Unsupported>([&] { (void)store.find(relu(3)); }),
      ContainsSubstring("hung: it printed, but told of no progress for ") && ContainsSubstring("PACE_COMPILE_TIMEOUT"));
}

TEST_CASE("a compiler is ended with the run, whether it is silent or prints", "[aot]") {
  for (const char* mode : {"hang", "chatter"}) {
    CAPTURE(mode);
    Scene scene;
    Scene::mode(mode);
    auto options = scene.options();
    options.now = [time = std::chrono::milliseconds(0)]() mutable { return ++time; };
    options.deadline = [] { return pace::RunContext::Deadline{std::chrono::milliseconds(5), "the time is over"}; };
    PackageStore store(options);
    CHECK(why<pace::Unsupported>([&] { (void)store.find(relu(3)); }) ==
          "compiling packages was ended: the time is over");
  }
}

TEST_CASE("no compiler is started once the run is over", "[aot]") {
  Scene scene;
  auto options = scene.options();
  options.deadline = [] { return pace::RunContext::Deadline{{}, "the time is over"}; };
  PackageStore store(options);
  CHECK(why<pace::Unsupported>([&] { (void)store.find(relu(3)); }) == "compiling packages was ended: the time is over");
  CHECK(scene.count("run") == 0);
}

TEST_CASE("PACE_COMPILE_TIMEOUT allows a case longer", "[aot]") {
  using pace::benches::aot::compile_timeout;
  ::unsetenv("PACE_COMPILE_TIMEOUT");
  CHECK(compile_timeout(240) == 240);
  ::setenv("PACE_COMPILE_TIMEOUT", "3600", 1);
  CHECK(compile_timeout(240) == 3600);
  CHECK(PackageOptions().timeout_seconds == 3600);
  for (const char* bad : {"0", "-1", "1.5", "ten", "10s", "99999999999"}) {
    ::setenv("PACE_COMPILE_TIMEOUT", bad, 1);
    CHECK_THAT(why<pace::InputError>([&] { (void)compile_timeout(240); }),
               ContainsSubstring("PACE_COMPILE_TIMEOUT=" + std::string(bad)) && ContainsSubstring("above 0"));
  }
  ::unsetenv("PACE_COMPILE_TIMEOUT");
}

TEST_CASE("packages in a folder where others can put some are not used", "[aot]") {
  Scene scene;
  const auto call = relu(3);
  (void)PackageStore(scene.options()).find(call);
  for (const auto& [perms, who] :
       {std::pair(fs::perms::all, "every user"), std::pair(fs::perms::owner_all | fs::perms::group_all, "its group")}) {
    fs::permissions(scene.cache(), perms);
    CHECK_THAT(why<pace::Unsupported>([&] { (void)PackageStore(scene.options()).find(call); }),
               ContainsSubstring(scene.cache().string() + " may be written to by " + who) &&
                   ContainsSubstring("PACE_PACKAGE_CACHE"));
  }
  CHECK(scene.count("run") == 1);
  fs::permissions(scene.cache(), fs::perms::owner_all);
  CHECK_NOTHROW(PackageStore(scene.options()).find(call));
  CHECK(scene.count("run") == 1);
}

TEST_CASE("what failed in passing is tried again, once a process", "[aot]") {
  Scene scene;
  Scene::mode("transient");
  const auto call = relu(3);
  PackageStore store(scene.options());
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(call); }), ContainsSubstring("took too long"));
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(call); }), ContainsSubstring("took too long"));
  CHECK(scene.count("run") == 1);
  Scene::mode("ok");
  CHECK_NOTHROW(PackageStore(scene.options()).find(call));
}

TEST_CASE("a package that was cut short, or has a broken record, is compiled again", "[aot]") {
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

TEST_CASE("a package that does not load can be discarded once", "[aot]") {
  Scene scene;
  const auto call = relu(3);
  PackageStore store(scene.options());
  (void)store.find(call);
  CHECK(store.discard(call));
  (void)store.find(call);
  CHECK(scene.count("run") == 2);
  CHECK_FALSE(store.discard(call));
}

TEST_CASE("a compiler that dies is told with its last words, and not called again", "[aot]") {
  Scene scene;
  Scene::mode("crash");
  const auto call = relu(3);
  PackageStore store(scene.options());
  for (int i = 0; i < 2; ++i) {
    CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(call); }),
               ContainsSubstring("ended with exit code 3: Traceback: no module named torch"));
  }
  CHECK(scene.count("run") == 1);
  Scene::mode("silent");
  const auto another = relu(4);
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(another); }),
             ContainsSubstring("left no package for aten.relu.default"));
}

TEST_CASE("without Python, packages made before are used, and others refused", "[aot]") {
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
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(other); }),
             ContainsSubstring("no Python with torch") && ContainsSubstring("PACE_PYTHON"));
  CHECK(store.discard(call));  // a directory is only read: a package that does not load there is compiled into the
                               // cache
  CHECK_THAT(why<pace::Unsupported>([&] { (void)store.find(call); }), ContainsSubstring("no Python with torch"));
  CHECK_THAT(why<pace::Unsupported>([&] { store.export_and_compile(calls, scene.folder / "out"); }),
             ContainsSubstring("PACE_PYTHON"));
  options.python = "/no/such/python";
  CHECK_THAT(why<pace::Unsupported>([&] { (void)PackageStore(options).find(other); }),
             ContainsSubstring("cannot run /no/such/python: No such file or directory"));
}

TEST_CASE("a cache that cannot be written to", "[aot]") {
  Scene scene;
  const auto call = relu(3);
  auto options = scene.options();
  write(scene.folder / "file", "");
  options.cache = scene.folder / "file" / "cache";
  CHECK_THAT(why<pace::Unsupported>([&] { (void)PackageStore(options).find(call); }),
             ContainsSubstring("file is no folder") && ContainsSubstring("PACE_PACKAGE_CACHE"));
  // A build output can be made all the same: sources go to the folder for temporary files.
  const OperatorCall* const calls[] = {&call};
  PackageStore(options).export_and_compile(calls, scene.folder / "out");
  CHECK(fs::exists(scene.folder / "out" / (PackageStore(options).key(call) + ".pt2")));
}

TEST_CASE("where the cache is", "[aot]") {
  for (const char* name : {"PACE_PACKAGE_CACHE", "PACE_HOME", "XDG_CACHE_HOME", "HOME"}) ::unsetenv(name);
  using pace::benches::aot::default_package_cache;
  CHECK(default_package_cache() == fs::temp_directory_path() / ("pace-" + std::to_string(::geteuid())) / "packages");
  ::setenv("HOME", "/h", 1);
  CHECK(default_package_cache() == "/h/.cache/pace/packages");
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  CHECK(default_package_cache() == "/x/pace/packages");
  ::setenv("PACE_HOME", "/p", 1);
  CHECK(default_package_cache() == "/p/packages");
  ::setenv("PACE_PACKAGE_CACHE", "/c", 1);
  CHECK(default_package_cache() == "/c");
  for (const char* name : {"PACE_PACKAGE_CACHE", "PACE_HOME", "XDG_CACHE_HOME", "HOME"}) {
    ::setenv(name, "here", 1);
    CHECK_THAT(why<pace::InputError>([] { (void)default_package_cache(); }),
               ContainsSubstring(std::string(name) + "=here: expected an absolute path"));
    ::unsetenv(name);
  }
}

TEST_CASE("another program's output comes line by line, with how it ended", "[aot]") {
  std::vector<std::string> lines;
  const auto collect = [&](std::string_view line) { lines.emplace_back(line); };
  const auto good = pace::detail::run_process({"sh", "-c", "cat; echo one; echo two >&2; printf three"}, collect);
  CHECK(good.ok());
  CHECK(lines == std::vector<std::string>{"one", "two", "three"});
  CHECK(pace::detail::run_process({"sh", "-c", "exit 5"}, collect).to_string() == "ended with exit code 5");
  CHECK_THAT(pace::detail::run_process({"sh", "-c", "kill -9 $$"}, collect).to_string(), ContainsSubstring("signal 9"));
  CHECK(pace::detail::run_process({"printf", "%s", "a b\\n'c"}, collect).ok());  // no shell in between
  CHECK(lines.back() == "a b\\n'c");
}

}  // namespace
