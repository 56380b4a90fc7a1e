// Definitions of json.hpp; see base/config.hpp.
#pragma once

#include <string>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/report/json.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/report/schema.hpp"

namespace pace::report {

PACE_INLINE Json to_json(const Result& result) { return detail::write_value(result); }
PACE_INLINE Json to_json(const ResultsHeader& header) { return detail::write_value(header); }
PACE_INLINE Json to_json(const Environment& environment) { return detail::write_value(environment); }

PACE_INLINE Result result_from(const Json& json) {
  Result result;
  detail::read_value(json, result);
  std::string disturbance, baseline;
  std::optional<std::int64_t> baseline_peak_bytes;
  for (const auto& sentence : result.conditions.disturbances)
    disturbance += (disturbance.empty() ? "" : " ") + sentence;
  for (const auto& row : result.implementations) {
    for (const auto* known = result.implementations.data(); known != &row; ++known)
      if (known->name == row.name) throw Error("'" + row.name + "' twice in '" + result.name + "'");
    if (!row.is_baseline) continue;
    baseline = row.name;
    if (row.counts) baseline_peak_bytes = row.counts->peak_bytes;
  }
  // The comparison's facts are in the result once; each row gets them from there.
  for (auto& row : result.implementations) {
    row.context.comparison = result.name;
    row.context.iterations = result.iterations;
    if (!result.device.empty()) row.context.clock = result.clock;
    if (!row.time) continue;  // was not timed
    row.context.disturbance = disturbance;
    row.context.baseline = baseline;
    row.context.baseline_peak_bytes = baseline_peak_bytes;
  }
  return result;
}

PACE_INLINE ResultsHeader header_from(const Json& json) {
  if (!json.is_object() || !json.contains("schema_version")) throw Error("has no \"schema_version\"");
  // The version comes first: the rest may differ in another version.
  if (const auto& found = json.at("schema_version"); found != schema_version) {
    const auto writer = json.find("pace_version");
    throw OtherVersion(
        "its schema_version is " + text_of(found) +
        (writer != json.end() && writer->is_string() ? " (of pace " + writer->get<std::string>() + ')' : "") +
        "; this program (pace " + pace::version + ") reads version " + std::to_string(schema_version) +
        ". try: measure again with this program");
  }
  ResultsHeader header;
  detail::read_value(json, header);
  return header;
}

PACE_INLINE JsonSink::JsonSink(std::string path, const ResultsHeader& header, std::span<const Result> earlier)
    : file_(std::move(path), !earlier.empty()), keeps_earlier_(!earlier.empty()) {
  file_.begin_with(text_of(to_json(header)) + '\n');
  for (const auto& result : earlier) file_.append(text_of(to_json(result)) + '\n');
  file_.replace();
}

PACE_INLINE void JsonSink::write(const Result& result) {
  if (!result.recalled || !keeps_earlier_) file_.append(text_of(to_json(result)) + '\n');
}

PACE_INLINE void JsonSink::finish() { file_.close(); }

}  // namespace pace::report
