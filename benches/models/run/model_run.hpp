// ModelRun: the common facts of all modes of a run, and the rows of back ends that have no figures.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/config.hpp"
#include "benches/models/model.hpp"
#include "benches/models/row.hpp"
#include "benches/models/run/candidates.hpp"
#include "benches/models/run/performance_row.hpp"
#include "benches/models/run/plan.hpp"
#include "benches/models/settings.hpp"

namespace pace::benches::models::detail {

/// The common parts of the modes.
struct ModelRun {
  const ModelEntry& entry;
  const Settings& settings;
  const Config& config;
  const RunPlan& plan;
  std::ostream& log;

  [[nodiscard]] Row row(std::string backend) const {
    return make_row(entry, settings, plan.instance.batch_size, std::move(backend));
  }
  /// The row of a back end that has no figures in this mode; it passed if the status begins so.
  [[nodiscard]] Row status_row(const std::string& backend, const std::string& status,
                               const std::string& message) const {
    Row row = this->row(backend);
    row.message = message;
    if (!status.starts_with("pass")) row.result = RowResult::failed;
    switch (settings.mode) {
      case Mode::performance:
        fill_performance(row, {.status = status}, nullptr, settings.compat);
        break;
      case Mode::accuracy:
      case Mode::batch_invariance:
        row.values.emplace_back("accuracy", status);
        break;
      default:
        row.values.emplace_back("status", status);
    }
    return row;
  }
  /// The rows of all back ends where the model itself does not run.
  [[nodiscard]] std::vector<Row> status_rows(const std::string& status, const std::string& message) const {
    std::vector<Row> rows;
    for (const auto& backend : rows_of(settings)) {
      rows.push_back(status_row(backend, status, message));
      rows.back().result = RowResult::unmeasured;
    }
    return rows;
  }
};

}  // namespace pace::benches::models::detail
