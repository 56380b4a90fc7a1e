// A KernelReport as CSV and JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "pace/kernels/report.hpp"
#include "pace/kernels/table.hpp"
#include "pace/report/csv_text.hpp"

namespace pace::kernel {

/// Returns the header line of CSV files by RFC 4180 with `\n`, as pace::report::CsvSink writes them. Fields of values
/// that do not exist are empty. Times are in nanoseconds, alone (hot, cold) and in the call (in_place); sizes are in
/// bytes, and bandwidths in bytes per second.
[[nodiscard]] inline std::string_view csv_header() {
  return "call,device,whole_ns,explained,peak_bytes_per_s,kernel,symbol,category,share,in_place_ns,in_place_least_ns,"
         "in_place_most_ns,hot_ns,hot_least_ns,hot_most_ns,cold_ns,cold_least_ns,cold_most_ns,bytes,bytes_per_s,"
         "registers,spills,shared_bytes,grid_x,grid_y,grid_z,block_x,block_y,block_z,occupancy,why_not_alone,counted_"
         "bytes,cluster_x,cluster_y,cluster_z,cooperative,attributes,overlaps,restored_bytes,runs\n";
}

namespace detail {

inline void add_times(report::CsvRow& row, const std::optional<KernelTime>& times) {
  row.member(times, &KernelTime::median).member(times, &KernelTime::least).member(times, &KernelTime::most);
}

[[nodiscard]] inline nlohmann::ordered_json times_json(const std::optional<KernelTime>& times) {
  if (!times) return nullptr;
  return {{"median_ns", times->median.count()}, {"least_ns", times->least.count()}, {"most_ns", times->most.count()}};
}

[[nodiscard]] inline nlohmann::ordered_json attributes_json(const Launch& launch) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : launch.attributes) json[name] = value;
  return json;
}

/// The attributes as `name: value; name: value`.
[[nodiscard]] inline std::string attributes_text(const Launch& launch) {
  std::string text;
  for (const auto& [name, value] : launch.attributes) text += (text.empty() ? "" : "; ") + name + ": " + value;
  return text;
}

[[nodiscard]] inline nlohmann::ordered_json launch_json(const std::optional<Launch>& launch) {
  if (!launch) return nullptr;
  return {{"grid", launch->grid},
          {"block", launch->block},
          {"registers", launch->registers},
          {"spills", launch->spills()},
          {"shared_bytes", launch->shared_bytes()},
          {"occupancy", launch->occupancy},
          {"cluster", launch->cluster},
          {"cooperative", launch->cooperative},
          {"attributes", attributes_json(*launch)},
          {"overlaps", launch->overlaps}};
}

[[nodiscard]] inline nlohmann::ordered_json under_profiler_json(const std::optional<UnderProfiler>& seen) {
  if (!seen) return nullptr;
  return {{"by_profiler_ns", seen->by_profiler.count()}, {"by_clock_ns", seen->by_clock.count()}};
}

}  // namespace detail

/// Returns the line of `kernel`, which must belong to `report`.
[[nodiscard]] inline std::string csv_row(const KernelReport& report, const Kernel& kernel) {
  report::CsvRow row;
  row.text(report.name).text(report.device).number(report.whole).number(report.explained());
  row.number(report.peak_bandwidth > 0 ? std::optional(report.peak_bandwidth) : std::nullopt);
  row.text(kernel.name).text(kernel.symbol).text(to_string(kernel.category)).number(report.share_of(kernel));
  for (const auto& times : {kernel.profiled, kernel.hot, kernel.cold}) detail::add_times(row, times);
  row.number(kernel.bytes).number(kernel.bandwidth());
  if (const auto& launch = kernel.launch) {
    row.number(launch->registers).number(launch->spills()).number(launch->shared_bytes());
    for (const auto& sizes : {launch->grid, launch->block})
      for (const auto size : sizes) row.number(size);
    row.number(launch->occupancy);
  } else {
    row.blank(10);
  }
  row.text(kernel.why_not_alone).number(kernel.counted_bytes);
  if (const auto& launch = kernel.launch) {
    for (const auto size : launch->cluster) row.number(size);
    row.flag(launch->cooperative).text(detail::attributes_text(*launch)).flag(launch->overlaps);
  } else {
    row.blank(6);
  }
  row.number(kernel.restored_bytes).number(kernel.runs);
  return row.line();
}

/// Returns the line of KernelReport::unlisted(), with a share and a time in the call; empty if nothing is left.
[[nodiscard]] inline std::string csv_unlisted_row(const KernelReport& report) {
  if (report.unlisted().count() <= 0) return "";
  report::CsvRow row;
  row.text(report.name).text(report.device).number(report.whole).number(report.explained());
  row.number(report.peak_bandwidth > 0 ? std::optional(report.peak_bandwidth) : std::nullopt);
  row.text(unlisted_name).blank(2).number(report.unlisted_share()).number(report.unlisted()).blank(30);
  return row.line();
}

/// Returns the report as JSON, with the kernels that `shown` accepts, or all without `shown`. Shares are always of all
/// kernels. Unknown values are null.
[[nodiscard]] inline nlohmann::ordered_json to_json(const KernelReport& report,
                                                    const std::function<bool(const Kernel&)>& shown = {}) {
  using Json = nlohmann::ordered_json;
  const auto maybe = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json json{{"call", report.name},
            {"device", report.device},
            {"by_ranges", report.by_ranges},
            {"whole_ns", report.whole.count()},
            {"kernels_ns", report.sum().count()},
            {"unlisted_ns", report.by_ranges ? Json(report.unlisted().count()) : Json(nullptr)},
            {"unlisted_share", report.by_ranges ? Json(report.unlisted_share()) : Json(nullptr)},
            {"copies", report.copies},
            {"fills", report.fills},
            {"conditional_nodes", report.conditionals},
            {"bodies_profiled", report.bodies_profiled},
            {"other_nodes", report.other_nodes},
            {"host_function_runs", report.host_function_runs},
            {"notes", notes_of(report)},
            {"copying_ns", report.copying.count()},
            {"gap_ns", report.gap.count()},
            {"recording_ns", report.recording.count()},
            {"explained", report.explained()},
            {"peak_bytes_per_s", report.peak_bandwidth > 0 ? Json(report.peak_bandwidth) : Json(nullptr)},
            {"kernels", Json::array()}};
  for (const Kernel& kernel : report.kernels) {
    if (shown && !shown(kernel)) continue;
    Json each{{"name", kernel.name},
              {"symbol", kernel.symbol},
              {"category", to_string(kernel.category)},
              {"share", report.share_of(kernel)},
              {"runs", kernel.runs},
              {"in_place", detail::times_json(kernel.profiled)},
              {"hot", detail::times_json(kernel.hot)},
              {"cold", detail::times_json(kernel.cold)},
              {"under_profiler", detail::under_profiler_json(kernel.under_profiler)},
              {"compatible_ns", kernel.compatible ? Json(kernel.compatible->count()) : Json(nullptr)},
              {"bytes", maybe(kernel.bytes)},
              {"bytes_per_s", maybe(kernel.bandwidth())},
              {"counted_bytes", maybe(kernel.counted_bytes)},
              {"launch", detail::launch_json(kernel.launch)},
              {"restored_bytes", kernel.restored_bytes},
              {"restoring_ns", kernel.restoring.count()},
              {"why_not_alone", kernel.why_not_alone.empty() ? Json(nullptr) : Json(kernel.why_not_alone)}};
    for (const Configuration& configuration : kernel.configurations)
      each["configurations"].push_back(
          {{"configuration", configuration.text},
           {"chosen", configuration.chosen},
           {"hot", detail::times_json(configuration.hot)},
           {"cold", detail::times_json(configuration.cold)},
           {"compatible_ns", configuration.compatible ? Json(configuration.compatible->count()) : Json(nullptr)},
           {"launch", detail::launch_json(configuration.launch)},
           {"why_not", configuration.why_not.empty() ? Json(nullptr) : Json(configuration.why_not)}});
    json["kernels"].push_back(std::move(each));
  }
  return json;
}

}  // namespace pace::kernel
