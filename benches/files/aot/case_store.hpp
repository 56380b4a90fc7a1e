// Compiled packages of any kind: found in given directories or in a cache, or compiled.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>
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

#include "benches/files/aot/package_case.hpp"
#include "benches/files/aot/package_compiler.hpp"
#include "benches/files/aot/package_options.hpp"
#include "benches/files/aot/package_record.hpp"
#include "pace/base/error.hpp"
#include "pace/os/folders.hpp"

namespace pace::benches::aot {

/// A failure that was recorded is believed for so long. The cause of a failure may go away unseen: a library that was
/// missing, a fault of the machine that looked like one of the case.
inline constexpr std::int64_t failure_holds_seconds = 24 * 60 * 60;

/// A directory of packages holds, for each case, KEY.json (its record: status, reason, seconds, signature) and, if it
/// could be compiled, KEY.pt2.
class CaseStore {
 public:
  CaseStore(PackageOptions options, CompileScript script) : options_(std::move(options)), script_(std::move(script)) {}

  /// The package of the case, compiled now if there is none. Throws `Unsupported` with the reason when it cannot be.
  [[nodiscard]] std::filesystem::path find(const PackageCase& wanted) {
    if (const auto found = look_up(wanted.key)) return *found;
    compile_missing({&wanted, 1});
    if (const auto found = look_up(wanted.key)) return *found;
    if (const auto problem = refused_.find(wanted.key); problem != refused_.end()) throw Unsupported(problem->second);
    throw Unsupported("the compiler left no package for " + wanted.name);
  }

  /// Compiles the missing packages in one process. A case that fails says so when it is looked for.
  void prepare_all(std::span<const PackageCase> cases) {
    std::vector<PackageCase> missing;
    for (const PackageCase& wanted : cases) {
      try {
        if (!look_up(wanted.key)) missing.push_back(wanted);
      } catch (const Unsupported&) {  // compiled before, and failed
      }
    }
    if (!missing.empty()) compile_missing(missing);
  }

  /// Compiles all cases into `directory`, which then serves as one of `PackageOptions::directories` (a build output).
  /// Cases that fail leave a record with the reason. Throws `Unsupported` when there is no Python to compile with, or
  /// it does not get as far as compiling.
  void export_and_compile(std::span<const PackageCase> cases, const std::filesystem::path& directory) const {
    std::filesystem::create_directories(directory);
    PackageCompiler(options_, script_).compile(cases, directory);
  }

  /// The times of compiling the package, from its record, if this store did it.
  [[nodiscard]] std::optional<CompileTimes> compile_times(const std::string& key) const {
    return attempted_.contains(key) ? recorded_times(key, options_.cache) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> compile_seconds(const std::string& key) const {
    const auto times = compile_times(key);
    return times ? std::optional(times->whole) : std::nullopt;
  }

  /// The same of a package in `directory`, whichever process compiled it there.
  [[nodiscard]] static std::optional<CompileTimes> recorded_times(const std::string& key,
                                                                  const std::filesystem::path& directory) {
    const std::optional<PackageRecord> record = detail::read_record(directory / (key + ".json"));
    return record && record->ok ? std::optional(record->times) : std::nullopt;
  }

  /// Forgets a package that turned out not to load, so that the next `find` compiles it anew. False if that has been
  /// done already.
  [[nodiscard]] bool discard(const std::string& key) {
    if (!discarded_.insert(key).second) return false;
    std::error_code ignored;
    std::filesystem::remove(options_.cache / (key + ".json"), ignored);
    return true;
  }

  [[nodiscard]] const PackageOptions& options() const noexcept { return options_; }

 private:
  /// Packages are code that this process loads, so no other user may put them there. Throws `Unsupported`.
  void make_cache() const {
    pace::detail::make_safe_folder(options_.cache,
                                   "change that (chown, chmod go-w), or name another folder for compiled "
                                   "packages by PACE_PACKAGE_CACHE");
  }
  [[nodiscard]] bool cache_is_safe() const {
    std::error_code unreadable;
    if (!cache_is_safe_ && std::filesystem::exists(options_.cache, unreadable)) {
      try {
        make_cache();
        cache_is_safe_ = true;
      } catch (const Unsupported&) {  // said when something is to be compiled into it
        cache_is_safe_ = false;
      }
    }
    return cache_is_safe_.value_or(false);
  }

  [[nodiscard]] static bool is_recent(const PackageRecord& record) {
    // A record may be from a moment ahead: `time` runs up to a clock tick behind the clock that the script reads.
    return std::abs(static_cast<std::int64_t>(std::time(nullptr)) - record.time) < failure_holds_seconds;
  }

  /// Throws `Unsupported` where it is recorded that the case cannot be compiled.
  [[nodiscard]] std::optional<std::filesystem::path> look_up(const std::string& key) const {
    std::vector<std::filesystem::path> places;
    if (!discarded_.contains(key)) places = options_.directories;  // those cannot be made anew
    if (cache_is_safe()) places.push_back(options_.cache);
    std::string failure;
    for (const std::filesystem::path& place : places) {
      const std::filesystem::path record_path = place / (key + ".json");
      const std::optional<PackageRecord> record = detail::read_record(record_path);
      if (!record) continue;
      if (record->ok) {
        const std::filesystem::path package = place / (key + ".pt2");
        std::error_code missing;
        // The size shows a package that was cut short; its checksums, on loading, show one that was damaged.
        if (std::filesystem::file_size(package, missing) == record->package_bytes && !missing) return package;
      } else if (attempted_.contains(key) || (!record->transient && is_recent(*record))) {
        failure = record->reason + " (recorded in " + record_path.string() +
                  "; it is tried again a day later, or when that file is removed)";
      }
    }
    if (!failure.empty()) throw Unsupported(failure);
    return std::nullopt;
  }

  /// Compiles into the cache, but keeps failures for the `find` of each case.
  void compile_missing(std::span<const PackageCase> cases) {
    std::vector<PackageCase> fresh;  // a batch that failed as a whole once would take as long to fail again
    for (const PackageCase& wanted : cases) {
      if (!refused_.contains(wanted.key)) fresh.push_back(wanted);
    }
    if (fresh.empty()) return;
    std::string problem;
    try {
      make_cache();
      export_and_compile(fresh, options_.cache);
    } catch (const std::exception& error) {  // Error, filesystem_error, bad_alloc
      problem = error.what();
    }
    for (const PackageCase& wanted : fresh) {
      attempted_.insert(wanted.key);
      if (!problem.empty()) refused_.insert({wanted.key, problem});
    }
  }

  PackageOptions options_;
  CompileScript script_;
  /// Cases without a record from any attempt, with the reason.
  std::unordered_map<std::string, std::string> refused_;
  std::unordered_set<std::string> attempted_, discarded_;
  /// Once it has been looked at.
  mutable std::optional<bool> cache_is_safe_;
};

}  // namespace pace::benches::aot
