// The row of a model without a report from its run: it hung, or its process is gone.
#pragma once

#include <string>

#include "benches/models/driver/names.hpp"
#include "benches/models/row.hpp"
#include "benches/models/settings.hpp"

namespace pace::benches::models {

/// As torchbench writes a time-out: the status in accuracy runs, zeros in others; with pace's column `status` behind
/// them, unless --compat is asked for.
[[nodiscard]] inline Row status_row(const Settings& settings, const std::string& device, const std::string& model,
                                    const std::string& backend, const std::string& status, const std::string& message) {
  Row row{.device = device, .name = model, .backend = backend, .message = message, .result = RowResult::failed};
  if (has_statuses(settings.mode)) {
    row.values = {{"accuracy", status}};
    return row;
  }
  if (settings.mode == Mode::performance)
    row.values = {{"speedup", 0.0}, {"abs_latency", 0.0}};
  else if (settings.compat)
    row.values = {{"max", 0.0}};
  if (!settings.compat) row.values.emplace_back("status", status);
  return row;
}

}  // namespace pace::benches::models
