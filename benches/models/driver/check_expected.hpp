// Compares results with a file of expected ones: accuracy, graph breaks, ratio of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "benches/models/driver/summary.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/report/csv_text.hpp"

namespace pace::benches::models {

namespace detail {

inline constexpr std::size_t model_width = 34;

/// A file without rows would pass for a run without failures.
inline void require_rows(const report::CsvTable& table) {
  (void)table.require_column("name");
  if (table.rows.empty()) throw InputError({table.file}, "holds no results; there is nothing to check");
}

/// Finds the expected row for each row of results. Both have the same model and, if both files have the columns, the
/// same device, tag and back end.
class ExpectedRows {
 public:
  /// Both must outlive it. Throws InputError if results differ in a column that `expected` lacks. Otherwise several
  /// rows would share one expectation.
  ExpectedRows(const report::CsvTable& actual, const report::CsvTable& expected)
      : actual_(actual), expected_(expected) {
    for (const char* column : {"dev", "tag", "backend"}) {
      std::set<std::string, std::less<>> values;
      for (std::size_t i = 0; actual.column(column) && i < actual.rows.size(); ++i)
        values.insert(actual.text(i, column));
      if (values.size() > 1) {
        distinguishing_.emplace_back(column);
        if (!expected.column(column))
          throw InputError({expected.file}, "expected a column '" + std::string(column) + "', for " + actual.file +
                                                " has rows of " + listed(values) +
                                                ", which cannot share one expectation");
      }
      if (!values.empty() && expected.column(column)) common_.emplace_back(column);
    }
  }

  /// None if nothing is expected of it. Throws InputError where several rows are.
  [[nodiscard]] std::optional<std::size_t> find(std::size_t row) const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < expected_.rows.size(); ++i) {
      if (expected_.text(i, "name") != actual_.text(row, "name")) continue;
      if (!std::ranges::all_of(
              common_, [&](const char* column) { return expected_.text(i, column) == actual_.text(row, column); }))
        continue;
      if (found)
        throw InputError({expected_.file}, "expected one row for '" + name(row) + "', found rows " +
                                               std::to_string(*found + 1) + " and " + std::to_string(i + 1));
      found = i;
    }
    return found;
  }

  /// The model, with the other differences of its row.
  [[nodiscard]] std::string name(std::size_t row) const {
    std::string text = actual_.text(row, "name");
    for (const char* column : distinguishing_) text += ' ' + actual_.text(row, column);
    return text;
  }

 private:
  const report::CsvTable& actual_;
  const report::CsvTable& expected_;
  std::vector<const char*> common_, distinguishing_;
};

inline void list_models(std::ostream& out, const char* what, const std::vector<std::string>& models) {
  if (models.empty()) return;
  out << '\n' << models.size() << " models " << what << ":\n   ";
  for (const auto& model : models) out << ' ' << model;
  out << '\n';
}

/// Models that are worse or better than expected.
struct Changes {
  std::vector<std::string> worse = {}, better = {};

  /// Returns the status of a change. A flaky model does not count.
  [[nodiscard]] std::string add(const std::string& model, bool is_better, bool flaky) {
    if (flaky) return is_better ? "PASS_BUT_FLAKY:" : "FAIL_BUT_FLAKY:";
    (is_better ? better : worse).push_back(model);
    return is_better ? "IMPROVED:" : "FAIL:";
  }

  /// Lists them, and returns 1 if there are any.
  [[nodiscard]] int conclude(std::ostream& out, const std::string& subject, const std::string& expected) const {
    list_models(out, ("have a worse " + subject).c_str(), worse);
    list_models(out, ("have a better " + subject).c_str(), better);
    if (worse.empty() && better.empty()) return 0;
    out << "If that is meant to be, put the new values into " << expected << '\n';
    return 1;
  }
};

}  // namespace detail

/// A line for each model. Returns the exit code: 1 if any is worse than expected, and if any is better, for then the
/// file is out of date. `flaky` models may be either. Throws InputError where a file has not the columns `name` and
/// `accuracy`.
[[nodiscard]] inline int check_accuracy(const report::CsvTable& actual, const report::CsvTable& expected,
                                        const std::set<std::string>& flaky, std::ostream& out) {
  detail::require_rows(actual);
  for (const auto* table : {&actual, &expected}) (void)table->require_column("accuracy");
  const detail::ExpectedRows rows(actual, expected);
  detail::Changes changes;
  for (std::size_t i = 0; i < actual.rows.size(); ++i) {
    const std::string model = rows.name(i), is = actual.text(i, "accuracy");
    const auto row = rows.find(i);
    const std::string wanted = row ? expected.text(*row, "accuracy") : "None";
    const std::string status = is != wanted ? changes.add(model, is == "pass", flaky.contains(actual.text(i, "name")))
                               : wanted == "pass" ? "PASS"
                                                  : "XFAIL";
    out << detail::padded(model, detail::model_width) << "  " << detail::padded(status, 9) << " accuracy=" << is
        << ", expected=" << wanted << '\n';
  }
  return changes.conclude(out, "accuracy status", expected.file);
}

/// As check_accuracy, with numbers of graph breaks: more are worse, fewer are better. Throws InputError where nothing
/// is expected of a model.
[[nodiscard]] inline int check_graph_breaks(const report::CsvTable& actual, const report::CsvTable& expected,
                                            const std::set<std::string>& flaky, std::ostream& out) {
  detail::require_rows(actual);
  const detail::ExpectedRows rows(actual, expected);
  detail::Changes changes;
  for (std::size_t i = 0; i < actual.rows.size(); ++i) {
    const std::string model = rows.name(i);
    const auto row = rows.find(i);
    if (!row) throw InputError({expected.file}, "expected a row for '" + model + "', which " + actual.file + " has");
    const double is = actual.require_number(i, "graph_breaks"), wanted = expected.require_number(*row, "graph_breaks");
    const std::string status =
        is == wanted ? "PASS" : changes.add(model, is < wanted, flaky.contains(actual.text(i, "name")));
    out << detail::padded(model, detail::model_width) << "  " << detail::padded(status, 9)
        << " graph_breaks=" << format_fixed(is, 0) << ", expected=" << format_fixed(wanted, 0) << '\n';
  }
  return changes.conclude(out, "number of graph breaks", expected.file);
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

/// The ratio of memory must be at least 95 % of the expected one. Skips a model without an expected row, and prints
/// that. Returns 1 if one has less. Throws InputError where that would be all.
[[nodiscard]] inline int check_memory_compression_ratio(const report::CsvTable& actual,
                                                        const report::CsvTable& expected, std::ostream& out) {
  constexpr double share = 0.95;
  detail::require_rows(actual);
  const detail::ExpectedRows rows(actual, expected);
  std::vector<std::string> failed;
  bool any = false;
  for (std::size_t i = 0; i < actual.rows.size(); ++i) {
    const std::string model = rows.name(i);
    const auto row = rows.find(i);
    any = any || row;
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
  if (!any)
    throw InputError({expected.file}, "expected a row of some model that " + actual.file + " has; nothing was checked");
  detail::list_models(out, "need more memory than expected", failed);
  return failed.empty() ? 0 : 1;
}

}  // namespace pace::benches::models
