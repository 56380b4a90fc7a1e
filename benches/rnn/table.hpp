// fastrnns' table: a line for each runner, in columns of 16 characters.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "benches/rnn/bench_result.hpp"
#include "benches/rnn/python_text.hpp"

namespace pace::benches::rnn {

namespace detail {

/// `text` in 16 characters: filled up on its left, or cut.
[[nodiscard]] inline std::string in_column(const std::string& text) {
  constexpr std::size_t width = 16;
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text.substr(0, width);
}

[[nodiscard]] inline std::string join_columns(const std::array<std::string, 7>& cells, const std::string& separator) {
  std::string line;
  for (const auto& cell : cells) line += (&cell == cells.data() ? "" : separator) + in_column(cell);
  return line;
}

}  // namespace detail

/// The names of the columns, without a newline.
[[nodiscard]] inline std::string table_header(const std::string& separator = " ") {
  return detail::join_columns({"name", "avg_fwd", "std_fwd", "info_fwd", "avg_bwd", "std_bwd", "info_bwd"}, separator);
}

/// One runner, without a newline. The single times have columns, but are not told there.
[[nodiscard]] inline std::string table_line(const BenchResult& result, const std::string& separator = " ") {
  const auto figure = [](double value) { return python_format("%.4g", value); };
  return detail::join_columns({result.name, figure(result.avg_fwd), figure(result.std_fwd), "None",
                               figure(result.avg_bwd), figure(result.std_bwd), "None"},
                              separator);
}

}  // namespace pace::benches::rnn
