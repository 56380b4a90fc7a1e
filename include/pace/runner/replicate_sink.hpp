// ReplicateSink: findings of one of several processes, for the process that started it.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gate/replicates.hpp"
#include "pace/os/output_file.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/report/schema.hpp"
#include "pace/report/sink.hpp"
#include "pace/runner/repeat.hpp"

namespace pace::runner {

namespace detail {

/// One implementation in one comparison: whether it was measured, or its time was over before it was reached.
struct Reached {
  std::string comparison = {}, implementation = {};
  bool measured = false;
};

/// A judgement that rests on too few figures for a finding, or on none, and leaves its gate open or closes it.
struct OpenQuestion {
  std::string comparison = {}, implementation = {}, expectation = {};
  bool acceptable = false;
};

/// A judgement on a speed-up.
struct Judged {
  gate::Finding finding = {};
  bool acceptable = false;
};

/// One line of the file, which has one of these members.
struct Line {
  std::optional<Judged> judged = {};
  std::optional<Reached> row = {};
  std::optional<OpenQuestion> open = {};
  std::optional<std::string> problem = {};
  std::optional<bool> empty = {};
  std::optional<FailedCase> failed = {};
};

/// Findings of one process, for the process that started it.
struct Left {
  std::vector<gate::Finding> findings;
  std::vector<Reached> rows;
  std::vector<OpenQuestion> open;
  /// Failures that do not come from figures: a wrong implementation, one that threw, a count, an assertion that is not
  /// a gate.
  std::vector<std::string> problems;
  /// Number of gates that this process alone would have closed, by its figures or because it had too few.
  std::size_t closed = 0;
  /// Whether this process is of a shard that has nothing to measure, which is no failure.
  bool empty = false;
  /// What failed in this process alone, for the commands that repeat it.
  std::vector<FailedCase> failed;
};

}  // namespace detail

}  // namespace pace::runner

namespace pace::report {

/// @cond

/// Keys of a gate::Finding.
template <>
struct Schema<gate::Finding> {
  using Finding = gate::Finding;
  static constexpr std::string_view name = "finding";
  static constexpr auto fields = std::tuple{
      required_field("comparison", &Finding::comparison, "its name"),
      required_field("implementation", &Finding::implementation, "its name"),
      required_field("expectation", &Finding::expectation, "what was expected"),
      required_field("demanded", &Finding::demanded, "what was demanded of the speed-up"),
      field("centre", &Finding::centre, "median log ratio; null: no figure"),
      field("unchecked", &Finding::unchecked, "what was not checked in that process"),
  };
};
template <>
struct Schema<runner::detail::Judged> {
  static constexpr std::string_view name = "judged";
  static constexpr auto fields = std::tuple{
      required_field("finding", &runner::detail::Judged::finding, "the figure and what was demanded"),
      required_field("acceptable", &runner::detail::Judged::acceptable, "whether the gate is open"),
  };
};
template <>
struct Schema<runner::detail::Reached> {
  using Reached = runner::detail::Reached;
  static constexpr std::string_view name = "row";
  static constexpr auto fields = std::tuple{
      required_field("comparison", &Reached::comparison, "its name"),
      required_field("implementation", &Reached::implementation, "its name"),
      required_field("measured", &Reached::measured, "false: its time was over before it was reached"),
  };
};
template <>
struct Schema<runner::detail::OpenQuestion> {
  using Open = runner::detail::OpenQuestion;
  static constexpr std::string_view name = "open";
  static constexpr auto fields = std::tuple{
      required_field("comparison", &Open::comparison, "its name"),
      required_field("implementation", &Open::implementation, "its name"),
      required_field("expectation", &Open::expectation, "what was expected"),
      required_field("acceptable", &Open::acceptable, "whether the gate is open"),
  };
};
template <>
struct Schema<runner::FailedCase> {
  using Failed = runner::FailedCase;
  static constexpr std::string_view name = "failed";
  static constexpr auto fields = std::tuple{
      required_field("test", &Failed::test, "name of the test case"),
      required_field("name", &Failed::name, "name of the comparison"),
      required_field("check_seed", &Failed::check_seed, "repeats the values of checks"),
      required_field("inputs", &Failed::inputs, "its inputs, where the name alone is ambiguous"),
  };
};
template <>
struct Schema<runner::detail::Line> {
  using Line = runner::detail::Line;
  static constexpr std::string_view name = "line";
  static constexpr auto fields = std::tuple{
      field("judged", &Line::judged, "a judgement on a speed-up"),
      field("row", &Line::row, "an implementation that was measured, or not reached"),
      field("open", &Line::open, "a judgement without a figure"),
      field("problem", &Line::problem, "what no further process can mend"),
      field("empty", &Line::empty, "true: the shard has nothing to measure"),
      field("failed", &Line::failed, "a case to repeat"),
  };
};
/// @endcond

}  // namespace pace::report

namespace pace::runner {

/// In a process that is one of several: writes lines of JSON. They hold every judgement on a speed-up, which
/// implementations were measured or not reached, and gates that are undecided for want of figures.
class ReplicateSink final : public report::Sink {
 public:
  /// Opens the file. Throws Error if it cannot be written.
  explicit ReplicateSink(std::string path) : file_(std::move(path)) {}

  void write(const Result& result) override {
    if (!result.lost_device.empty())
      write_problem('\'' + case_name(result) + "': the device was lost: " + result.lost_device);
    for (const auto& row : result.implementations) {
      if (at_fault(row.outcome))
        write_problem('\'' + case_name(result) + "': '" + row.name + "' " + to_string(row.outcome) + ": " +
                      row.message);
      if (row.outcome == Outcome::measured || row.outcome == Outcome::unreached)
        line({.row = detail::Reached{result.name, row.name, row.outcome == Outcome::measured}});
      for (const auto& judgement : row.judgements) write(row, judgement);
    }
  }
  /// Writes a failure that does not come from figures.
  void write_problem(const std::string& problem) { line({.problem = problem}); }
  /// Writes that this process is of a shard that has nothing to measure, which is no failure.
  void write_empty() { line({.empty = true}); }
  /// Writes a case that failed, for the command that repeats it.
  void write_failed(const FailedCase& failed) { line({.failed = failed}); }
  void finish() override { file_.close(); }

 private:
  void write(const ImplementationResult& row, const Judgement& judgement) {
    const std::string& comparison = row.context.comparison;
    // What proves nothing in one process proves nothing in several.
    if (judgement.speed && !judgement.speed->guard && row.context.has(Severity::unproven))
      write_problem('\'' + comparison + "': '" + row.name + "': " + judgement.expectation +
                    " is not proven: " + row.context.describe(Severity::unproven));
    else if (judgement.speed)
      line({.judged = detail::Judged{.finding = {.comparison = comparison,
                                                 .implementation = row.name,
                                                 .expectation = judgement.expectation,
                                                 .demanded = *judgement.speed,
                                                 .centre = gate::centre_of(row),
                                                 .unchecked = row.context.describe(Severity::unchecked)},
                                     .acceptable = judgement.acceptable}});
    else if (judgement.unresolved || (!judgement.acceptable && row.outcome == Outcome::unreached))
      line({.open = detail::OpenQuestion{comparison, row.name, judgement.expectation, judgement.acceptable}});
    else if (!judgement.acceptable && row.outcome == Outcome::measured)
      write_problem('\'' + comparison + "': " + judgement.message);
  }
  void line(const detail::Line& line) { file_.append(report::text_of(report::detail::write_value(line)) + '\n'); }
  OutputFile file_;
};

namespace detail {

/// Reads the file of a process. Throws InputError if it is not one that ReplicateSink writes.
[[nodiscard]] inline Left read_left(const std::string& path) {
  std::istringstream lines(read_file(path, "what a process found"));
  Left left;
  for (std::string line; std::getline(lines, line);) {
    try {
      detail::Line found;
      report::detail::read_value(parse_json<report::Json>(line), found);
      if (found.judged) {
        left.closed += !found.judged->acceptable;
        left.findings.push_back(std::move(found.judged->finding));
      }
      if (found.row) left.rows.push_back(*std::move(found.row));
      if (found.open) {
        left.closed += !found.open->acceptable;
        left.open.push_back(*std::move(found.open));
      }
      left.empty = left.empty || found.empty.value_or(false);
      if (found.failed) left.failed.push_back(*std::move(found.failed));
      if (found.problem) left.problems.push_back(*std::move(found.problem));
    } catch (const std::exception& error) {
      throw InputError({path}, std::string("is not what a process found: ") + error.what());
    }
  }
  return left;
}

}  // namespace detail

}  // namespace pace::runner
