// One model, run as its settings say: a row for each back end.
#pragma once

#include <iosfwd>
#include <vector>

#include "benches/models/config.hpp"
#include "benches/models/model.hpp"
#include "benches/models/row.hpp"
#include "benches/models/settings.hpp"

namespace pace::benches::models {

/// One row for each back end asked for, in that order (one for eager where the mode asks for none). `log` takes further
/// messages for a person. Throws InputError for settings that make no sense. A failure of the model, of a back end or
/// of the device is a status in its row, and nothing else is thrown.
[[nodiscard]] std::vector<Row> run_model(const ModelEntry& entry, const Settings& settings, const Config& config,
                                         std::ostream& log);

}  // namespace pace::benches::models
