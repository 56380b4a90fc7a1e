// Compiled packages: found in given directories or in a cache, or compiled.
#pragma once

#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/subject/operator_call.hpp"
#include "pace/subject/package_compiler.hpp"
#include "pace/subject/package_key.hpp"
#include "pace/subject/package_options.hpp"
#include "pace/subject/package_record.hpp"

namespace pace::subject {

/// Finds, or makes, the AOTInductor package of an operator call.
///
/// A directory of packages holds, for each case, KEY.json (its record: status, reason, seconds, signature) and, if it
/// could be compiled, KEY.pt2. KEY is a hash of the call's signature and of all that the code depends on: options,
/// LibTorch, processor, number of threads, and the compile script.
class PackageStore {
 public:
  explicit PackageStore(PackageOptions options = {}) : options_(std::move(options)) {}

  [[nodiscard]] std::string key(const OperatorCall& call) const { return detail::package_key(call, options_.inductor); }

  /// The package of the call, compiled now if there is none. Throws `Refused` with the reason when it cannot be.
  [[nodiscard]] std::filesystem::path find(const OperatorCall& call) {
    const std::string name = key(call);
    if (const auto found = look_up(name)) return *found;
    const OperatorCall* const calls[] = {&call};
    compile_missing(calls, options_.cache);
    if (const auto found = look_up(name)) return *found;
    if (const auto problem = refused_.find(name); problem != refused_.end()) throw Refused(problem->second);
    throw Refused("the compiler left no package for " + call.name());
  }

  /// Compiles, in one process, what is not there yet. A case that fails says so when it is looked for.
  void prepare_all(std::span<const OperatorCall* const> calls) {
    std::vector<const OperatorCall*> missing;
    for (const OperatorCall* call : calls) {
      try {
        if (!look_up(key(*call))) missing.push_back(call);
      } catch (const Refused&) {  // compiled before, and failed
      }
    }
    if (!missing.empty()) compile_missing(missing, options_.cache);
  }

  /// Compiles all calls into `directory`, which then serves as one of `PackageOptions::directories` (a build output).
  /// Cases that fail leave a record with the reason. Throws `Refused` when there is no Python to compile with, or it
  /// does not get as far as compiling.
  void export_and_compile(std::span<const OperatorCall* const> calls, const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    PackageCompiler(options_).compile(calls, directory);
  }

  /// Seconds that compiling the package took, as its record tells, if this store did it.
  [[nodiscard]] std::optional<double> compile_seconds(const OperatorCall& call) const {
    const std::string name = key(call);
    if (!attempted_.contains(name)) return std::nullopt;
    const std::optional<PackageRecord> record = detail::read_record(options_.cache / (name + ".json"));
    return record && record->ok ? std::optional(record->seconds) : std::nullopt;
  }

  /// Forgets a package that turned out not to load, so that the next `find` compiles it anew. False if that has been
  /// done already.
  [[nodiscard]] bool discard(const OperatorCall& call) {
    const std::string name = key(call);
    if (!discarded_.insert(name).second) return false;
    std::error_code ignored;
    std::filesystem::remove(options_.cache / (name + ".json"), ignored);
    return true;
  }

 private:
  /// Throws `Refused` where it is recorded that the case cannot be compiled.
  [[nodiscard]] std::optional<std::filesystem::path> look_up(const std::string& name) const {
    std::vector<std::filesystem::path> places;
    if (!discarded_.contains(name)) places = options_.directories;  // those cannot be made anew
    places.push_back(options_.cache);
    for (const std::filesystem::path& place : places) {
      const std::filesystem::path record_path = place / (name + ".json");
      const std::optional<PackageRecord> record = detail::read_record(record_path);
      if (!record) continue;
      if (record->ok) {
        const std::filesystem::path package = place / (name + ".pt2");
        std::error_code missing;
        // The size tells a package that was cut short; its checksums, on loading, tell one that was damaged.
        if (std::filesystem::file_size(package, missing) == record->package_bytes && !missing) return package;
      } else if (!record->transient || attempted_.contains(name)) {
        throw Refused(record->reason + " (recorded in " + record_path.string() + "; remove it to try again)");
      }
    }
    return std::nullopt;
  }

  /// Compiles, but keeps what goes wrong for the `find` of each case.
  void compile_missing(std::span<const OperatorCall* const> calls, const std::filesystem::path& directory) {
    std::vector<const OperatorCall*> fresh;  // what failed as a whole once would take as long to fail again
    for (const OperatorCall* call : calls) {
      if (!refused_.contains(key(*call))) fresh.push_back(call);
    }
    if (fresh.empty()) return;
    std::string problem;
    try {
      std::filesystem::create_directories(directory);
      PackageCompiler(options_).compile(fresh, directory);
    } catch (const std::exception& error) {  // Error, filesystem_error, bad_alloc
      problem = error.what();
    }
    for (const OperatorCall* call : fresh) {
      const std::string name = key(*call);
      attempted_.insert(name);
      if (!problem.empty()) refused_.insert({name, problem});
    }
  }

  PackageOptions options_;
  /// Cases for which no attempt got as far as a record, with the reason.
  std::unordered_map<std::string, std::string> refused_;
  std::unordered_set<std::string> attempted_, discarded_;
};

}  // namespace pace::subject
