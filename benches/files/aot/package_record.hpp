// The facts of one compiled package: the file KEY.json beside KEY.pt2.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::aot {

/// Seconds of compiling, by their use.
struct CompileTimes {
  /// All of it, putting the package together included.
  double whole = 0;
  /// Making a graph of the definition; compiling the forward, and the backward (0 where there is none).
  double exporting = 0, forward = 0, backward = 0;
  /// All of the package of the optimiser's step (0 where there is none), which is a part of the whole.
  double optimizer = 0;
};

/// The outcome of compiling one case. The file also holds the operator, its signature, seconds and LibTorch's version.
struct PackageRecord {
  bool ok = false;
  /// Why there is no package. Empty when `ok`.
  std::string reason;
  /// The compiler died or took too long: another attempt may succeed.
  bool transient = false;
  /// When it was compiled, in seconds since 1970; 0: long ago.
  std::int64_t time = 0;
  std::uintmax_t package_bytes = 0;
  /// How the exported program was made: `by_graph` or `by_converter`.
  std::string route;
  CompileTimes times;
};

namespace detail {

/// Nothing if there is no such file, or it is no record: then the case counts as not compiled.
[[nodiscard]] inline std::optional<PackageRecord> read_record(const std::filesystem::path& path) {
  try {
    const auto json = read_json_file<nlohmann::json>(path.string(), "a record of how a package was compiled");
    if (!json.is_object() || !json.contains("status")) return std::nullopt;
    PackageRecord record;
    record.ok = json.at("status") == "ok";
    record.reason = json.value("reason", record.ok ? "" : "no reason was recorded");
    record.transient = json.value("transient", false);
    record.time = json.value("time", std::int64_t{0});
    record.package_bytes = json.value("package_bytes", std::uintmax_t{0});
    record.route = json.value("route", "");
    record.times.whole = json.value("seconds", 0.0);
    record.times.exporting = json.value("export_seconds", 0.0);
    // A package of a forward alone has no times of its parts.
    const auto layout = json.value("layout", nlohmann::json::object());
    record.times.forward = layout.value("forward_seconds", json.value("compile_seconds", 0.0));
    record.times.backward = layout.value("backward_seconds", 0.0);
    return record;
  } catch (const InputError&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {  // a field of another type
    return std::nullopt;
  }
}

}  // namespace detail

}  // namespace pace::benches::aot
