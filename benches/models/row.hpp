// Row: the result of one model on one device with one back end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pace::benches::models {

/// How a gate judges a row.
enum class RowResult {
  passed,      ///< measured or checked, and nothing speaks against it
  undecided,   ///< measured; a guard lets it through although nothing is proven
  failed,      ///< wrong, slower than a guard allows, or a back end or process that broke down
  unmeasured,  ///< the model cannot be run here at all, eager included: nothing is known of the back end
};

inline constexpr std::array all_row_results{RowResult::passed, RowResult::undecided, RowResult::failed,
                                            RowResult::unmeasured};

[[nodiscard]] inline const char* to_string(RowResult result) {
  switch (result) {
    case RowResult::passed:
      return "passed";
    case RowResult::undecided:
      return "undecided";
    case RowResult::failed:
      return "failed";
    case RowResult::unmeasured:
      return "unmeasured";
  }
  return "";
}

/// None for a word that is none of to_string()'s.
[[nodiscard]] inline std::optional<RowResult> row_result_of(std::string_view word) {
  for (const auto result : all_row_results)
    if (word == to_string(result)) return result;
  return std::nullopt;
}

/// How many rows have which result.
class RowCounts {
 public:
  void add(RowResult result) { ++counts_[static_cast<std::size_t>(result)]; }
  [[nodiscard]] std::size_t of(RowResult result) const { return counts_[static_cast<std::size_t>(result)]; }
  [[nodiscard]] std::size_t all() const {
    std::size_t sum = 0;
    for (const auto count : counts_) sum += count;
    return sum;
  }

 private:
  std::array<std::size_t, all_row_results.size()> counts_{};
};

using Cell = std::variant<double, std::int64_t, std::string>;

struct Row {
  std::string device = {}, name = {};
  std::int64_t batch_size = 0;
  std::string backend = {};
  /// By column, in the order of the file, after `dev,name,batch_size`.
  std::vector<std::pair<std::string, Cell>> values = {};
  /// For a person: the text behind the model's name, and the reason of a failure.
  std::string message = {};
  RowResult result = RowResult::passed;
  /// Seconds of each phase of compiling, by column, in the order of the file. Empty: this run compiled nothing.
  std::vector<std::pair<std::string, double>> compilation = {};
  /// Seconds, one row for each repeat: eager, compiled. Empty: there are none to keep.
  std::vector<std::vector<double>> raw_timings = {};
  /// Whether the process that would have made the row has ended before it did; the process that started it knows.
  bool of_ended_process = false;
};

}  // namespace pace::benches::models
