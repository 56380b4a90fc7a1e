// Definitions of stored_baseline.hpp; see base/config.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/message_parts.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/judge.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/report/processes.hpp"
#include "pace/report/results_file.hpp"
#include "pace/report/stored_baseline.hpp"
#include "pace/report/variables.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/multiplicity.hpp"

namespace pace::report {

PACE_INLINE const std::vector<std::string>& identity_keys() {
  static const std::vector<std::string> keys{
      "cpu",
      "cores",
      "cpu_quota",
      "governor",
      "turbo",
      "kernel",
      "compiler",
      "build_flags",
      "optimized",
      "libtorch",
      "libtorch_cpu_capability",
      "libtorch_threads",
      "gpu",
      "gpu_driver",
      "variables",
  };
  return keys;
}

PACE_INLINE const std::vector<std::string>& measurement_keys() {
  static const std::vector<std::string> keys{"device", "clock", "inputs"};
  return keys;
}

PACE_INLINE std::string measurement_differences(const Result& then, const Result& now,
                                                const std::vector<std::string>& allowed) {
  std::string text;
  const auto compare = [&](const std::string& key, const std::string& before, const std::string& after) {
    if (before == after || std::find(allowed.begin(), allowed.end(), key) != allowed.end()) return;
    text += (text.empty() ? "" : "; ") + key + " was '" + before + "' and is '" + after + '\'';
  };
  compare("device", then.device, now.device);
  compare("clock", then.clock, now.clock);
  compare("inputs", then.inputs, now.inputs);
  return text;
}

PACE_INLINE bool same_process(const ResultsFile& one, const ResultsFile& other) {
  if (one.date != other.date || one.header.environment.hostname != other.header.environment.hostname ||
      one.results.size() != other.results.size())
    return false;
  const auto median = [](const ImplementationResult& row) { return row.time ? row.time->median : Nanoseconds(-1); };
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    const auto &rows = one.results[i].implementations, &others = other.results[i].implementations;
    if (one.results[i].name != other.results[i].name || rows.size() != others.size()) return false;
    for (std::size_t j = 0; j < rows.size(); ++j)
      if (rows[j].name != others[j].name || median(rows[j]) != median(others[j])) return false;
  }
  return true;
}

PACE_INLINE std::string inconsistent(const std::vector<ResultsFile>& files, const std::vector<std::string>& allowed) {
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (same_process(files[j], files[i]))
        return files[i].path + " and " + files[j].path + " hold the same process; a copy is no second measurement";
      if (const auto what = differences(files[j].header.environment, files[i].header.environment, allowed);
          !what.empty())
        return files[j].path + " and " + files[i].path + " are not of one machine and build: " + what;
    }
  return "";
}

}  // namespace pace::report

namespace pace::report {
namespace detail {

PACE_INLINE std::string first_measurement_difference(const Found& found, const Result& now,
                                                     const std::vector<std::string>& allowed) {
  for (const auto* then : found.results)
    if (auto what = report::measurement_differences(*then, now, allowed); !what.empty()) return what;
  return "";
}

PACE_INLINE Found find(const std::vector<ResultsFile>& files, const std::string& comparison,
                       const std::string& implementation) {
  Found found;
  for (const auto& file : files) {
    std::size_t here = 0;
    for (const auto& result : file.results)
      for (const auto& row : result.implementations)
        if (result.name == comparison && row.name == implementation && here++ == 0) {
          found.rows.push_back(&row);
          found.results.push_back(&result);
        }
    found.twice = found.twice || here > 1;
  }
  return found;
}

PACE_INLINE std::optional<double> number_of(const ImplementationResult& row, bool by_speedup) {
  if (row.outcome != Outcome::measured) return std::nullopt;
  const auto log = [](double value) {
    return value > 0 && std::isfinite(value) ? std::optional(std::log(value)) : std::nullopt;
  };
  if (by_speedup) return row.speedup ? log(row.speedup->median) : std::nullopt;
  const auto time = row.time ? log(row.time->median.count()) : std::nullopt;
  return time ? std::optional(-*time) : std::nullopt;
}

}  // namespace detail
}  // namespace pace::report

namespace pace::report {

PACE_INLINE std::string describe(const Settings& settings, const std::string& reference) {
  const gate::Demand& demand = settings.expectation.demand();
  const std::string of = ' ' + reference + (reference.ends_with('s') ? "'" : "'s");
  if (settings.by_speedup) return "speed-up of at least " + speedup_limit_text(demand) + of;
  if (demand.burden == gate::Burden::guard) return "time of at most " + demand.limit_text() + of;
  return "speed of at least " + demand.limit_text() + of;
}

PACE_INLINE ProcessVerdict judge(const Settings& settings, const std::string& implementation,
                                 const std::vector<const ImplementationResult*>& then,
                                 const std::vector<const ImplementationResult*>& now, const std::string& reference,
                                 std::size_t gates) {
  const gate::Demand& demand = settings.expectation.demand();
  const std::string own = '\'' + implementation + '\'';
  Judgement judgement{.expectation = describe(settings, reference)};
  const auto open = [&](const std::string& why) -> ProcessVerdict {
    judgement.verdict = Verdict::undecided;
    demand.leave_open(judgement);
    judgement.message = MessageParts{own + " cannot be compared with " + reference, why}.text();
    return {judgement};
  };
  gate::Demand any = demand;
  any.quantity = gate::Quantity::time;
  for (const auto* row : now)
    if (Judgement early; gate::judge_without_figures(any, *row, nullptr, early)) {
      early.expectation = judgement.expectation;
      return {early};
    }
  Processes processes;
  const auto collect = [&](const std::vector<const ImplementationResult*>& rows, std::vector<double>& numbers) {
    for (const auto* row : rows)
      if (const auto number = detail::number_of(*row, settings.by_speedup)) numbers.push_back(*number);
  };
  collect(then, processes.then);
  collect(now, processes.now);
  if (processes.then.empty() || processes.now.empty()) {
    judgement.message =
        MessageParts{own + " has no figures to compare in " + (processes.then.empty() ? reference : "the new results"),
                     "", "measure it there as well (--save-baseline)"}
            .text();
    return {judgement};
  }
  for (const auto* rows : {&then, &now})
    for (const auto* row : *rows)
      if (!row->context.disturbance.empty()) return open(row->context.disturbance);
  const gate::Rates rates{stats::alpha_share(settings.family.alpha, gates),
                          stats::alpha_share(settings.family.beta, gates)};
  auto verdict = judge(demand, own, reference, processes, rates, settings.spread, settings.by_speedup);
  verdict.judgement.expectation = judgement.expectation;
  return verdict;
}

PACE_INLINE std::string differences(const Environment& then, const Environment& now,
                                    const std::vector<std::string>& allowed) {
  const Json before = to_json(then), after = to_json(now);
  std::string text;
  for (const auto& key : identity_keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    const Json first = before.value(key, Json(nullptr)), second = after.value(key, Json(nullptr));
    if (first == second) continue;
    text += (text.empty() ? "" : "; ") + (key == "variables"
                                              ? changed_variables(then.variables, now.variables)
                                              : key + " was " + text_of(first) + " and is " + text_of(second));
  }
  return text;
}

PACE_INLINE StoredBaseline::StoredBaseline(std::vector<ResultsFile> files, Settings settings,
                                           const Environment& environment, std::time_t now)
    : files_(std::move(files)), settings_(std::move(settings)) {
  refusal_ = files_.empty() ? "there is none" : inconsistent(files_, settings_.allowed);
  for (const auto& file : files_) {
    if (!refusal_.empty()) return;
    refusal_ = expired(file, now);
    if (refusal_.empty())
      if (const auto what = differences(file.header.environment, environment, settings_.allowed); !what.empty())
        refusal_ = file.path + " is of another machine or build: " + what;
  }
}

PACE_INLINE std::vector<std::string> StoredBaseline::judge_all(Result& result) const {
  std::vector<std::string> closed;
  static const std::string reference = "the stored baseline";
  for (auto& row : result.implementations) {
    if (settings_.by_speedup && row.is_baseline) continue;
    const auto found = detail::find(files_, result.name, row.name);
    std::string refusal = refusal_;
    if (refusal.empty() && found.rows.empty())
      refusal = "it does not have '" + row.name + "' in '" + result.name + "'; save it again (--save-baseline)";
    if (refusal.empty() && found.twice)
      refusal = "it has '" + result.name + "' twice; give each case a name of its own";
    if (refusal.empty())
      if (const auto what = detail::first_measurement_difference(found, result, settings_.allowed); !what.empty())
        refusal = "it was measured otherwise: " + what;
    if (refusal.empty())
      row.judgements.push_back(
          judge(settings_, row.name, found.rows, {&row}, reference, result.implementations.size()).judgement);
    else
      row.judgements.push_back(
          {describe(settings_, reference), Verdict::invalid, false,
           MessageParts{'\'' + row.name + "' cannot be compared with " + reference, refusal}.text()});
    if (!row.judgements.back().acceptable) closed.push_back(in_one_line(row.judgements.back().message));
  }
  return closed;
}

}  // namespace pace::report
