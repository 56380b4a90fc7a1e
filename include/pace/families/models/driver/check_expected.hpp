// Results held against a file of what is expected: accuracy, graph breaks, ratio of memory.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/format.hpp"
#include "pace/families/models/driver/summary.hpp"
#include "pace/report/csv_table.hpp"

namespace pace::families::models {

namespace detail {

inline constexpr std::size_t model_width = 34;

/// A file without rows would pass for a run without failures.
inline void require_rows(const report::CsvTable& table) {
  (void)table.require_column("name");
  if (table.rows.empty()) throw InputError({table.file}, "holds no results; there is nothing to check");
}

/// The row of a model that is expected; none if there is none.
[[nodiscard]] inline std::optional<std::size_t> row_of(const report::CsvTable& table, const std::string& model) {
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (table.text(i, "name") == model) return i;
  return std::nullopt;
}

inline void list_models(std::ostream& out, const char* what, const std::vector<std::string>& models) {
  if (models.empty()) return;
  out << '\n' << models.size() << " models " << what << ":\n   ";
  for (const auto& model : models) out << ' ' << model;
  out << '\n';
}

/// What is worse and what is better than expected, and 1 if there is any of either.
[[nodiscard]] inline int conclude(std::ostream& out, const std::string& subject, const std::vector<std::string>& worse,
                                  const std::vector<std::string>& better, const std::string& expected) {
  list_models(out, ("have a worse " + subject).c_str(), worse);
  list_models(out, ("have a better " + subject).c_str(), better);
  if (worse.empty() && better.empty()) return 0;
  out << "If that is meant to be, put the new values into " << expected << '\n';
  return 1;
}

}  // namespace detail

/// A line for each model. Returns the exit code: 1 if any is worse than expected, and if any is better, for then the
/// file is out of date. `flaky` models may be either. Throws InputError where a file has not the columns `name` and
/// `accuracy`.
[[nodiscard]] inline int check_accuracy(const report::CsvTable& actual, const report::CsvTable& expected,
                                        const std::set<std::string>& flaky, std::ostream& out) {
  detail::require_rows(actual);
  for (const auto* table : {&actual, &expected}) (void)table->require_column("accuracy");
  std::vector<std::string> worse, better;
  for (std::size_t i = 0; i < actual.rows.size(); ++i) {
    const std::string model = actual.text(i, "name"), is = actual.text(i, "accuracy");
    const auto row = detail::row_of(expected, model);
    const std::string wanted = row ? expected.text(*row, "accuracy") : "None";
    std::string status;
    if (is == wanted) {
      status = wanted == "pass" ? "PASS" : "XFAIL";
    } else if (flaky.contains(model)) {
      status = is == "pass" ? "PASS_BUT_FLAKY:" : "FAIL_BUT_FLAKY:";
    } else if (is == "pass") {
      status = "IMPROVED:";
      better.push_back(model);
    } else {
      status = "FAIL:";
      worse.push_back(model);
    }
    out << detail::padded(model, detail::model_width) << "  " << detail::padded(status, 9) << " accuracy=" << is
        << ", expected=" << wanted << '\n';
  }
  return detail::conclude(out, "accuracy status", worse, better, expected.file);
}

/// As check_accuracy, with numbers of graph breaks: more are worse, fewer are better. Throws InputError where nothing
/// is expected of a model.
[[nodiscard]] inline int check_graph_breaks(const report::CsvTable& actual, const report::CsvTable& expected,
                                            const std::set<std::string>& flaky, std::ostream& out) {
  detail::require_rows(actual);
  std::vector<std::string> worse, better;
  for (std::size_t i = 0; i < actual.rows.size(); ++i) {
    const std::string model = actual.text(i, "name");
    const auto row = detail::row_of(expected, model);
    if (!row) throw InputError({expected.file}, "expected a row for '" + model + "', which " + actual.file + " has");
    const double is = actual.require_number(i, "graph_breaks"), wanted = expected.require_number(*row, "graph_breaks");
    std::string status = "PASS";
    if (is != wanted && flaky.contains(model)) {
      status = is > wanted ? "FAIL_BUT_FLAKY:" : "PASS_BUT_FLAKY:";
    } else if (is > wanted) {
      status = "FAIL:";
      worse.push_back(model);
    } else if (is < wanted) {
      status = "IMPROVED:";
      better.push_back(model);
    }
    out << detail::padded(model, detail::model_width) << "  " << detail::padded(status, 9)
        << " graph_breaks=" << format_fixed(is, 0) << ", expected=" << format_fixed(wanted, 0) << '\n';
  }
  return detail::conclude(out, "number of graph breaks", worse, better, expected.file);
}

/// Every status must have "pass" in it. Returns 1 if one has not.
[[nodiscard]] inline int check_csv(const report::CsvTable& table, std::ostream& out) {
  detail::require_rows(table);
  (void)table.require_column("accuracy");
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string model = table.text(i, "name"), status = table.text(i, "accuracy");
    if (status.find("pass") == std::string::npos) failed.push_back(model);
    out << detail::padded(model, detail::model_width) << ' ' << status << '\n';
  }
  detail::list_models(out, "did not pass", failed);
  return failed.empty() ? 0 : 1;
}

/// The ratio of memory must be at least 95 % of the expected one. A model of which nothing is expected is skipped,
/// which is said. Returns 1 if one has less.
[[nodiscard]] inline int check_memory_compression_ratio(const report::CsvTable& actual, const report::CsvTable& expected,
                                                        std::ostream& out) {
  constexpr double share = 0.95;
  detail::require_rows(actual);
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < actual.rows.size(); ++i) {
    const std::string model = actual.text(i, "name");
    const auto row = detail::row_of(expected, model);
    out << detail::padded(model, detail::model_width) << ' ';
    if (!row) {
      out << "skipped: " << expected.file << " has no such model\n";
      continue;
    }
    const double is = actual.require_number(i, "compression_ratio");
    const double wanted = expected.require_number(*row, "compression_ratio");
    const bool enough = is >= share * wanted;
    if (!enough) failed.push_back(model);
    out << (enough ? "PASS " : "FAIL:") << " compression_ratio=" << format_fixed(is, 3)
        << ", expected=" << format_fixed(wanted, 3) << '\n';
  }
  detail::list_models(out, "need more memory than expected", failed);
  return failed.empty() ? 0 : 1;
}

}  // namespace pace::families::models
