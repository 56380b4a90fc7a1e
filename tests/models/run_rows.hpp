// Runs of models in tests, and what stands in their rows.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "pace/families/models/run/run_model.hpp"

namespace pace::test {

/// `log`: what run_model tells beside the rows.
inline std::vector<families::models::Row> run(const families::models::ModelEntry& entry,
                                              const families::models::Settings& settings, std::string* log = nullptr,
                                              const families::models::Config& config = {}) {
  std::ostringstream stream;
  auto rows = families::models::run_model(entry, settings, config, stream);
  if (log != nullptr) *log = stream.str();
  return rows;
}

template <class T>
T cell(const families::models::Row& row, const std::string& column) {
  for (const auto& [name, value] : row.values)
    if (name == column) return std::get<T>(value);
  throw std::runtime_error("no column " + column);
}

}  // namespace pace::test
