// ReplicateSink: what one of several processes leaves for the one that started it.
#pragma once

#include <cmath>
#include <cstddef>
#include <exception>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/output_file.hpp"
#include "pace/core/parse_json.hpp"
#include "pace/core/read_file.hpp"
#include "pace/gate/replicates.hpp"
#include "pace/report/json.hpp"
#include "pace/report/sink.hpp"

namespace pace::runner {

namespace detail {

using report::Json;

[[nodiscard]] inline Json to_json(const gate::Finding& finding) {
  return {{"comparison", finding.comparison},
          {"implementation", finding.implementation},
          {"expectation", finding.expectation},
          {"guard", finding.demanded.guard},
          {"limit", finding.demanded.limit},
          {"alpha", finding.demanded.alpha},
          {"beta", finding.demanded.beta},
          {"closes", finding.demanded.closes_when_undecided},
          {"allowed", finding.demanded.allowed_undecided},
          {"centre", finding.centre}};
}

[[nodiscard]] inline gate::Finding finding_of(const Json& json) {
  return {json.at("comparison").get<std::string>(),
          json.at("implementation").get<std::string>(),
          json.at("expectation").get<std::string>(),
          {json.at("guard").get<bool>(), json.at("limit").get<double>(), json.at("alpha").get<double>(),
           json.at("beta").get<double>(), json.at("closes").get<bool>(), json.at("allowed").get<bool>()},
          // JSON has no NaN.
          json.at("centre").is_null() ? std::nan("") : json.at("centre").get<double>()};
}

/// One implementation in one comparison: whether it was measured, or its time was over before it was reached.
struct Reached {
  std::string comparison, implementation;
  bool measured = false;
};

/// A judgement that rests on too few figures for a finding, or on none, and leaves its gate open or closes it.
struct OpenQuestion {
  std::string comparison, implementation, expectation;
  bool acceptable = false;
};

/// What one process leaves for the one that started it.
struct Left {
  std::vector<gate::Finding> findings;
  std::vector<Reached> rows;
  std::vector<OpenQuestion> open;
  /// What failed for a reason other than figures: a wrong implementation, one that threw, a count, an assertion that is no
  /// gate.
  std::vector<std::string> problems;
  /// Gates that this process alone would have closed for want of figures, or by them.
  std::size_t closed = 0;
};

}  // namespace detail

/// In a process that is one of several: writes as lines of JSON every judgement on a speed-up; what was
/// measured or not reached; and what is undecided for want of figures.
class ReplicateSink final : public report::Sink {
 public:
  /// Throws Error if the file cannot be written.
  explicit ReplicateSink(std::string path) : file_(std::move(path)) {}

  void write(const Result& result) override {
    if (!result.lost_device.empty())
      line({{"problem", '\'' + result.name + "': the device was lost: " + result.lost_device}});
    for (const auto& row : result.implementations) {
      if (at_fault(row.outcome))
        line(
            {{"problem", '\'' + result.name + "': '" + row.name + "' " + to_string(row.outcome) + ": " + row.message}});
      if (row.outcome == Outcome::measured || row.outcome == Outcome::unreached)
        line({{"comparison", result.name},
              {"implementation", row.name},
              {"measured", row.outcome == Outcome::measured}});
      for (const auto& judgement : row.judgements) write(row, judgement);
    }
  }
  /// What closes the run for a reason other than figures.
  void write_problem(const std::string& problem) { line({{"problem", problem}}); }
  void finish() override { file_.close(); }

 private:
  void write(const ImplementationResult& row, const Judgement& judgement) {
    if (judgement.speed) {
      auto json = detail::to_json(gate::Finding{row.context.comparison, row.name, judgement.expectation,
                                                *judgement.speed, gate::centre_of(row)});
      json["acceptable"] = judgement.acceptable;
      line(json);
    } else if (judgement.unresolved || (!judgement.acceptable && row.outcome == Outcome::unreached)) {
      line({{"comparison", row.context.comparison},
            {"implementation", row.name},
            {"open", judgement.expectation},
            {"acceptable", judgement.acceptable}});
    } else if (!judgement.acceptable && row.outcome == Outcome::measured) {
      line({{"problem", '\'' + row.context.comparison + "': " + judgement.message}});
    }
  }
  void line(const report::Json& json) {
    file_.append(json.dump(-1, ' ', false, report::Json::error_handler_t::replace) + '\n');
  }
  OutputFile file_;
};

namespace detail {

/// Throws InputError if the file is not what ReplicateSink writes.
[[nodiscard]] inline Left read_left(const std::string& path) {
  std::istringstream lines(read_file(path, "what a process found"));
  Left left;
  for (std::string line; std::getline(lines, line);) {
    try {
      const auto json = parse_json<Json>(line);
      if (json.contains("problem")) {
        left.problems.push_back(json.at("problem").get<std::string>());
        continue;
      }
      const auto text = [&](const char* key) { return json.at(key).get<std::string>(); };
      if (json.contains("measured")) {
        left.rows.push_back({text("comparison"), text("implementation"), json.at("measured").get<bool>()});
        continue;
      }
      left.closed += !json.at("acceptable").get<bool>();
      if (json.contains("open")) {
        left.open.push_back(
            {text("comparison"), text("implementation"), text("open"), json.at("acceptable").get<bool>()});
        continue;
      }
      left.findings.push_back(finding_of(json));
    } catch (const std::exception& error) {
      throw InputError({path}, std::string("is not what a process found: ") + error.what());
    }
  }
  return left;
}

}  // namespace detail

}  // namespace pace::runner
