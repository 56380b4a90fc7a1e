// Runs of models in tests, and their rows.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "benches/models/run/run_model.hpp"

namespace pace::test {

/// `log`: the text that run_model prints beside the rows.
inline std::vector<pace::benches::models::Row> run(const pace::benches::models::ModelEntry& entry,
                                                   const pace::benches::models::Settings& settings,
                                                   std::string* log = nullptr,
                                                   const pace::benches::models::Config& config = {}) {
  std::ostringstream stream;
  auto rows = pace::benches::models::run_model(entry, settings, config, stream);
  if (log != nullptr) *log = stream.str();
  return rows;
}

template <class T>
T cell(const pace::benches::models::Row& row, const std::string& column) {
  for (const auto& [name, value] : row.values)
    if (name == column) return std::get<T>(value);
  throw std::runtime_error("no column " + column);
}
inline std::string text(const pace::benches::models::Row& row, const std::string& column) {
  return cell<std::string>(row, column);
}
/// Whole or not.
inline double number(const pace::benches::models::Row& row, const std::string& column) {
  for (const auto& [name, value] : row.values) {
    if (name != column) continue;
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  }
  return cell<double>(row, column);
}

/// A performance run of few repeats.
inline pace::benches::models::Settings quick(std::vector<std::string> backends, bool training = false) {
  pace::benches::models::Settings settings;
  settings.backends = std::move(backends);
  settings.training = training;
  settings.repeat = 12;
  settings.warm_up_iterations = 2;
  return settings;
}

}  // namespace pace::test
