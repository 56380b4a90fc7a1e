// Row: what a run of one model on one device with one back end came to.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pace::families::models {

using Cell = std::variant<double, std::int64_t, std::string>;

struct Row {
  std::string device = {}, name = {};
  std::int64_t batch_size = 0;
  std::string backend = {};
  /// By column, in the order of the file, after `dev,name,batch_size`.
  std::vector<std::pair<std::string, Cell>> values = {};
  /// For a person: what is printed behind the model's name, and why it failed if it did.
  std::string message = {};
  /// Whether a gate that asks for this model may pass.
  bool passed = true;
  /// Seconds, one row for each repeat: eager, compiled. Empty: there are none to keep.
  std::vector<std::vector<double>> raw_timings = {};
};

}  // namespace pace::families::models
