// Packages that pace compiles with AOTInductor from the file of an exported program.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <c10/core/Device.h>
#include <nlohmann/json.hpp>

#include "benches/files/aot/case_store.hpp"
#include "benches/files/aot/definition_store.hpp"
#include "benches/files/aot/package_case.hpp"
#include "benches/files/aot/package_key.hpp"
#include "benches/files/aot/package_model.hpp"
#include "benches/files/aot/package_options.hpp"
#include "benches/files/file_digest.hpp"
#include "benches/files/loaders/exported.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/package.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/units.hpp"

namespace pace::benches::loaders {

namespace detail {

inline constexpr std::string_view exported_script_body =
#include "benches/files/loaders/compile_exported.py"
    ;

[[nodiscard]] inline aot::CompileScript exported_script() {
  auto files = aot::compile_script_files();
  files.emplace_back("compile_exported.py", aot::whole_script(exported_script_body));
  return {std::move(files), std::int64_t{3} << 30};  // whole models
}

}  // namespace detail

/// Finds, or makes, the package of an exported program; aot::CaseStore says how it is kept. Its key is a hash of the
/// file, of the libraries that register its operators, and of all that the code depends on.
class ExportedPackages {
 public:
  /// `libraries`: those that register operators of the programs.
  ExportedPackages(aot::PackageOptions options, std::vector<std::string> libraries)
      : libraries_(std::move(libraries)), store_(std::move(options), detail::exported_script()) {}

  /// The path of the package, compiled now if there is none. Throws Unsupported with the reason if there can be none.
  [[nodiscard]] std::string find(const Content& content, const std::string& model, c10::Device device) {
    const auto wanted = describe(content, model, device);
    auto path = store_.find(wanted).string();
    seconds_ = store_.compile_seconds(wanted.key);
    return path;
  }
  /// Makes find() compile it anew, since the kept one does not load. False if that happened before.
  [[nodiscard]] bool discard(const Content& content, const std::string& model, c10::Device device) {
    return store_.discard(describe(content, model, device).key);
  }
  /// Seconds that the last find() took to compile; none: the package was there.
  [[nodiscard]] std::optional<double> compile_seconds() const { return seconds_; }

 private:
  [[nodiscard]] aot::PackageCase describe(const Content& content, const std::string& model, c10::Device device) const {
    const std::string path = content.path();
    std::string subject = "exported program " + model + ' ' + files::digest_of_file(path);
    for (const auto& library : libraries_) subject += ' ' + files::digest_of_file(library);
    const std::string scripts = aot::compile_script_text() + std::string(detail::exported_script_body);
    return {aot::package_key(subject, store_.options().inductor, device, scripts),
            std::filesystem::path(path).filename().string(), path + ", program " + model, device,
            [path, model, libraries = libraries_](const std::filesystem::path& script) {
              std::filesystem::copy_file(path, script, std::filesystem::copy_options::overwrite_existing);
              return nlohmann::json{{"model", model}, {"libraries", libraries}};
            }};
  }

  std::vector<std::string> libraries_;
  aot::CaseStore store_;
  std::optional<double> seconds_;
};

namespace detail {

class LoadedCompiled final : public Loaded {
 public:
  LoadedCompiled(std::string path, ProgramFacts facts, std::unique_ptr<Loaded> package, std::vector<std::string> notes)
      : path_(std::move(path)), facts_(std::move(facts)), package_(std::move(package)), notes_(std::move(notes)) {}

  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    // The program says more of its inputs than the package.
    (void)leaves_for(path_, facts_, inputs);
    return package_->bind(inputs);
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    auto notes = notes_;
    for (auto& note : package_->notes()) notes.push_back(std::move(note));
    return notes;
  }

 private:
  std::string path_;
  ProgramFacts facts_;
  std::unique_ptr<Loaded> package_;
  std::vector<std::string> notes_;
};

}  // namespace detail

/// The exported program of `content`, compiled by AOTInductor. Throws InputError or Unsupported, which name the file.
[[nodiscard]] inline std::unique_ptr<Loaded> load_compiled(const Content& content, const LoadOptions& options,
                                                           ExportedPackages& packages) {
  const std::string model = choose_model(content, exported_models(content), options.model);
  ProgramFacts facts(content, model);
  if (const auto& output = facts.uncompiled_output(); !output.empty())
    throw Unsupported(content.path() + ": the program returns " + output + ", a " +
                      (output.starts_with('\'') ? "text" : "floating-point number") +
                      "; why: AOTInductor compiles programs that return tensors, whole numbers, bools and None; try: " +
                      "return it as a tensor, or leave it out");
  std::vector<std::string> notes;
  LoadOptions of_package = options;
  of_package.model.clear();
  of_package.argument_names = facts.argument_names();
  std::unique_ptr<Loaded> package;
  try {
    package =
        aot::load_package([&] { return packages.find(content, model, options.device); },
                          [&] { return packages.discard(content, model, options.device); },
                          [&](const std::string& path) { return PackageLoader().load(Content(path), of_package); });
  } catch (const Unsupported& error) {
    throw Unsupported(content.path() + ": " + error.what());
  }
  if (const auto seconds = packages.compile_seconds())
    notes.push_back("AOTInductor compiled " + content.path() + " in " +
                    format_time(std::chrono::duration<double>(*seconds)));
  return std::make_unique<detail::LoadedCompiled>(content.path(), std::move(facts), std::move(package),
                                                  std::move(notes));
}

}  // namespace pace::benches::loaders
