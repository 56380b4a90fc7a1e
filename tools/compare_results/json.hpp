// The comparison as JSON Lines: the first line holds the common facts of all rows, each other line is one row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/base/units.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/version.hpp"
#include "tools/compare_results/outcome.hpp"

namespace pace::tools::compare_results {

/// The version in the first line. It is raised when a reader of the present version would misread the file.
inline constexpr int comparison_version = 1;

namespace detail {

using report::Json;

template <class Value>
[[nodiscard]] Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}
[[nodiscard]] inline Json or_null(const std::optional<Nanoseconds>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}

[[nodiscard]] inline Json json_of(const std::vector<SourceFile>& files) {
  Json list = Json::array();
  for (const auto& file : files)
    list.push_back({{"path", file.path},
                    {"date_utc", file.date_utc},
                    {"commit", file.commit},
                    {"hostname", file.hostname},
                    {"cut_off", file.cut_off}});
  return list;
}

}  // namespace detail

/// Returns the text of the file; docs/results.md describes it.
[[nodiscard]] inline std::string json_lines(const Outcome& outcome) {
  using detail::Json;
  using detail::or_null;
  const auto& settings = outcome.settings;
  const auto& demand = settings.expectation.demand();
  Json steps = Json::array();
  for (const auto& step : outcome.steps)
    steps.push_back({{"old", detail::json_of(step.then)}, {"new", detail::json_of(step.now)}});
  const Json first{{"comparison_version", comparison_version},
                   {"pace_version", pace::version},
                   {"expectation", report::describe(settings, "the old results")},
                   {"by", settings.by_speedup ? "speedup" : "time"},
                   {"guard", demand.burden == gate::Burden::guard},
                   {"limit", demand.limit},
                   {"alpha", settings.family.alpha},
                   {"beta", settings.family.beta},
                   {"process_spread", or_null(settings.spread)},
                   {"steps", std::move(steps)},
                   {"compared", outcome.compared()},
                   {"not_acceptable", outcome.closed()},
                   {"let_through", outcome.let_through()},
                   {"new", outcome.new_rows()},
                   {"exit_code", outcome.exit_code()}};
  std::string text = report::text_of(first) + '\n';
  for (std::size_t i = 0; i < outcome.steps.size(); ++i)
    for (const auto& row : outcome.steps[i].rows) {
      Json interval = nullptr;
      if (row.interval)
        interval = {{"low", row.interval->low}, {"high", row.interval->high}, {"confidence", row.interval->confidence}};
      text += report::text_of(Json{{"step", i + 1},
                                   {"comparison", row.comparison},
                                   {"implementation", row.implementation},
                                   {"then_ns", or_null(row.then)},
                                   {"now_ns", or_null(row.now)},
                                   {"factor", or_null(row.factor)},
                                   {"interval", std::move(interval)},
                                   {"change_proven", is_change(row)},
                                   {"baseline_changed", !row.baseline_change.empty()},
                                   {"verdict", verdict_text(row)},
                                   {"acceptable", row.judgement.acceptable},
                                   {"unresolved", row.judgement.unresolved},
                                   {"message", row.judgement.message},
                                   {"processes_then", row.processes_then},
                                   {"processes_now", row.processes_now},
                                   {"processes_needed", or_null(row.processes_needed)},
                                   {"rounds_needed", or_null(row.rounds_needed)},
                                   {"time_needed_ns", or_null(row.time_needed)}}) +
              '\n';
    }
  return text;
}

}  // namespace pace::tools::compare_results
