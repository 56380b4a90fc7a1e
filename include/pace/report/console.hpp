// ConsoleSink: an aligned table for a terminal, printed as results come.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/os/terminal.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/summary.hpp"
#include "pace/report/table.hpp"

namespace pace::report {

/// How a ConsoleSink prints.
struct ConsoleStyle {
  bool use_colour = false;  ///< whether there are escape sequences for colours
  /// Whether each case has a block with a row for each implementation, rather than a line for each candidate.
  bool blocks = false;
  /// Whether messages of Catch2 follow on the same stream, which then need not repeat what the table says.
  bool beside_assertions = false;
  /// Whether names that are wider than their column are shortened, as on a terminal; otherwise the column grows.
  bool shortens = false;
  /// Returns the number of columns of a line. It is called for each result, since a terminal may be resized.
  std::function<std::size_t()> width = [] { return width_without_terminal; };
};

/// Prints a line for each candidate of a case: its time and the baseline's, its speed-up with the interval, and
/// the verdict; in a narrow terminal the time of the baseline is left out. What is wrong, failed, undecided or invalid
/// is explained below its line. With ConsoleStyle::blocks it prints a block for each case: its name, a row for each
/// implementation, and below a row its mean and 99 % quantile if they lie far above the median, and the messages and
/// warnings that belong to it. Lines fit the width unless names or figures are unusually long. `finish` prints the
/// totals.
class ConsoleSink final : public Sink {
 public:
  /// Prints to `out`, which must live as long as the sink.
  ConsoleSink(std::ostream& out, ConsoleStyle style);

  /// Sets the description of the environment, which is printed before the first result.
  void introduce(const Environment& environment);

  /// Drops the description of the environment, because an earlier process of this run has printed it.
  void already_introduced() { introduction_.clear(); }

  using Sink::write;
  void write(const Result& result) override;

  void finish() override;

 private:
  static constexpr std::size_t note_indent = 2, remark_indent = 6, remark_indent_of_lines = 4;
  /// The mean and the 99 % quantile over the median, beyond which the table shows both.
  static constexpr double high_mean = 1.05, high_quantile = 1.5;
  static constexpr std::size_t interval_column = 2, speedup_interval_column = 5, without_rates = 9;

  /// Columns of blocks. Both intervals are in the unit of the figure to their left.
  [[nodiscard]] static const std::vector<Column>& columns();

  /// Columns of the table without blocks for lines of `width` columns.
  [[nodiscard]] static std::vector<Column> columns_of_lines(std::size_t width);

  /// Returns whether a table without blocks has the time of the baseline.
  [[nodiscard]] static bool shows_baseline(std::size_t width) { return width >= 100; }

  [[nodiscard]] std::string block(const Result& result);

  [[nodiscard]] std::string lines(const Result& result);

  /// Begins another table if the terminal was resized.
  void follow_width();

  /// At the second comparison of a name: the inputs of the first one, whose row is without them; empty otherwise.
  [[nodiscard]] std::string first_of_name(const Result& result);

  [[nodiscard]] static std::vector<Cell> row(const ImplementationResult& each);

  /// Returns the cells of a line about `each`; `name`: of the case.
  [[nodiscard]] std::vector<Cell> cells(const std::string& name, const Result& result,
                                        const ImplementationResult& each) const;

  [[nodiscard]] static std::string interval(const TimeSummary& time);
  [[nodiscard]] static std::string interval(const Interval<double>& factors);
  [[nodiscard]] static std::string rate(const std::optional<double>& value);

  /// Coloured only where the interval leaves no doubt which side is faster.
  [[nodiscard]] static Cell speedup(const ImplementationResult& each);

  [[nodiscard]] static Cell check(const ImplementationResult& each);

  [[nodiscard]] static Cell verdict(const ImplementationResult& each);

  /// The verdict, or without one how the implementation ended.
  [[nodiscard]] static Cell verdict_or_outcome(const ImplementationResult& each);

  /// How much was measured, which explains intervals that are too wide.
  [[nodiscard]] static std::string effort(const Result& result);
  /// Whether the GPU's clock changed, and its range.
  [[nodiscard]] static std::string gpu_clock(const Result& result);

  /// "cold 8.1 us 1.20x [1.18x, 1.21x], hot ...": the timing modes of a GPU. The row shows the gate's.
  [[nodiscard]] static std::string modes(const ImplementationResult& each);

  /// "mean 5.00 us, 99 % quantile 8.00 us, speed-up of the means 1.60x"; empty if the median, which the row shows, is
  /// close to both.
  [[nodiscard]] static std::string tails(const ImplementationResult& each);

  /// What a reader must know of a row: why there are no figures, what failed or is open, and what to do. `known`: a
  /// part of the messages that was printed before; empty: there is none.
  [[nodiscard]] std::string explanations(const ImplementationResult& each, std::size_t indent,
                                         const std::string& known) const;

  [[nodiscard]] std::string remarks(const ImplementationResult& each) const;

  [[nodiscard]] std::string indented(const std::string& text, std::size_t indent, Colour colour) const;

  void print(const std::string& text);

  std::ostream& out_;
  ConsoleStyle style_;
  std::size_t width_;
  StreamingTable table_;
  /// Cases with notes that were not printed.
  std::size_t cases_with_notes_ = 0;
  RunSummary summary_;
  /// Inputs of the first comparison of each name; empty once they were printed.
  std::map<std::string, std::string> first_inputs_;
  std::string introduction_;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/console-inl.hpp"
#endif
