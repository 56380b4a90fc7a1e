// Definitions of summary.hpp; see base/config.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "pace/report/summary.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"

namespace pace::report {

PACE_INLINE void RunSummary::add(const Result& result) {
  if (result.repeats_name) repeated_.insert(result.name);
  // The host's time of a case that is known already, whose speed-ups stand there among the modes.
  if (result.phase == host_phase) {
    for (const auto& each : result.implementations)
      for (const auto& judgement : each.judgements) add_judgement(judgement, result, each.name);
    return;
  }
  ++cases_;
  std::string baseline;
  for (const auto& each : result.implementations)
    if (each.is_baseline) baseline = each.name;
  for (const auto& each : result.implementations) {
    ++outcomes_[static_cast<std::size_t>(each.outcome)];
    if (!each.is_baseline) add_candidate(each, baseline);
    for (const auto& judgement : each.judgements) add_judgement(judgement, result, each.name);
  }
}

PACE_INLINE std::vector<std::string> RunSummary::lines() const {
  if (cases_ == 0) return {};
  std::vector<std::string> lines{counted(cases_, "case") + ", " + implementations()};
  for (const auto& candidate : candidates_) lines.push_back("  " + speedup_of(candidate));
  if (expectations_ > 0) lines.push_back("  " + expectations());
  for (const auto& each : unmet_lines_)
    lines.push_back("    " +
                    printable(repeated_.contains(each.name) ? name_with_inputs(each.name, each.inputs) : each.name) +
                    each.rest);
  if (unmet_ > unmet_lines_.size())
    lines.push_back("    and " + std::to_string(unmet_ - unmet_lines_.size()) + " more, see above");
  return lines;
}

PACE_INLINE void RunSummary::add_candidate(const ImplementationResult& each, const std::string& baseline) {
  Candidate* candidate = nullptr;
  for (auto& known : candidates_)
    if (known.name == each.name && known.baseline == baseline) candidate = &known;
  if (candidate == nullptr) candidate = &candidates_.emplace_back(Candidate{.name = each.name, .baseline = baseline});
  ++candidate->cases;
  if (each.outcome != Outcome::measured) return;
  candidate->unchecked += each.checked ? 0 : 1;
  // Outputs that could not be compared may be wrong, and a wrong row has no speed-up either.
  if (each.uncompared) return;
  candidate->mean.add(each.speedup);
  for (const auto& mode : each.modes) {
    auto& known = candidate->modes;
    auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == mode.name; });
    if (found == known.end()) found = known.insert(known.end(), {mode.name, {}});
    found->second.add(mode.speedup);
  }
}

PACE_INLINE void RunSummary::add_judgement(const Judgement& judgement, const Result& result,
                                           const std::string& implementation) {
  ++expectations_;
  if (judgement.acceptable) {
    open_ += judgement.verdict != Verdict::passed;
    return;
  }
  ++unmet_;
  // The table shows them all; this list only saves scrolling.
  constexpr std::size_t most = 20;
  if (unmet_ <= most)
    unmet_lines_.push_back({.name = result.name,
                            .inputs = result.inputs,
                            .rest = ", " + printable(implementation) + ": " + printable(judgement.expectation) + ": " +
                                    to_string(judgement.verdict)});
}

PACE_INLINE std::string RunSummary::counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

PACE_INLINE std::string RunSummary::implementations() const {
  std::size_t total = 0;
  std::string parts;
  for (const auto outcome : {Outcome::measured, Outcome::wrong, Outcome::threw, Outcome::refused, Outcome::unreached,
                             Outcome::crashed, Outcome::timed_out, Outcome::out_of_memory}) {
    total += count(outcome);
    if (count(outcome) == 0 && outcome != Outcome::measured) continue;
    parts += (parts.empty() ? "" : ", ") + std::to_string(count(outcome)) + ' ' + to_string(outcome);
  }
  return counted(total, "implementation") + ": " + parts;
}

PACE_INLINE std::string RunSummary::speedup_of(const Candidate& candidate) {
  const std::string line = printable(candidate.name) + " over " + printable(candidate.baseline) + ": ";
  const std::string unchecked =
      candidate.unchecked == 0 ? "" : ", " + std::to_string(candidate.unchecked) + " unchecked";
  if (candidate.mean.count == 0) return line + "no speed-up in " + counted(candidate.cases, "case") + unchecked;
  std::string over = counted(candidate.cases, "case");
  if (candidate.mean.count < candidate.cases) over = std::to_string(candidate.mean.count) + " of " + over;
  std::string modes;
  for (const auto& [name, mean] : candidate.modes)
    if (mean.count > 0) modes += (modes.empty() ? ": " : ", ") + printable(name) + ' ' + mean.text();
  return line + candidate.mean.text() + " (geometric mean over " + over + unchecked +
         ", of each the median speed-up of its cycles" + modes + ")";
}

PACE_INLINE std::string RunSummary::expectations() const {
  if (unmet_ > 0) return std::to_string(unmet_) + " of " + counted(expectations_, "expectation") + " not met:";
  const std::string all = counted(expectations_, "expectation");
  return open_ == 0 ? all + ", met"
                    : all + ", " + std::to_string(open_) + " of them undecided and let through: not everything passed";
}

}  // namespace pace::report
