// ConsoleSink: an aligned table for a terminal, printed as results come.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/summary.hpp"
#include "pace/report/table.hpp"

namespace pace::report {

/// Prints a block for each case: its name, a row for each implementation, and below a row its mean and 99 % quantile if
/// they lie far above the median, and the messages and warnings that belong to it. Lines fit 120 columns unless names or
/// figures are unusually long. `finish` prints the totals.
class ConsoleSink final : public Sink {
 public:
  /// Prints to `out`, which must live as long as the sink, with escape sequences for colours if `use_colour` is set.
  ConsoleSink(std::ostream& out, bool use_colour)
      : out_(out), table_({columns().begin(), columns().begin() + without_rates}, use_colour) {}

  /// Sets the description of the environment, which is printed before the first result.
  void introduce(const Environment& environment);

  /// Drops the description of the environment, because an earlier process of this run has printed it.
  void already_introduced() { introduction_.clear(); }

  using Sink::write;
  void write(const Result& result) override;

  void finish() override;

 private:
  static constexpr std::size_t line_width = 120, note_indent = 2, remark_indent = 6;
  /// The mean and the 99 % quantile over the median, beyond which the table shows both.
  static constexpr double high_mean = 1.05, high_quantile = 1.5;
  static constexpr std::size_t interval_column = 2, speedup_interval_column = 5, without_rates = 9;

  /// Both intervals are in the unit of the figure to their left.
  [[nodiscard]] static const std::vector<Column>& columns();

  [[nodiscard]] static std::vector<Cell> row(const ImplementationResult& each);

  [[nodiscard]] static std::string interval(const TimeSummary& time);
  [[nodiscard]] static std::string interval(const Interval<double>& factors);
  [[nodiscard]] static std::string rate(const std::optional<double>& value);

  /// Coloured only where the interval leaves no doubt which side is faster.
  [[nodiscard]] static Cell speedup(const ImplementationResult& each);

  [[nodiscard]] static Cell check(const ImplementationResult& each);

  [[nodiscard]] static Cell verdict(const ImplementationResult& each);

  /// How much was measured, which explains intervals that are too wide.
  [[nodiscard]] static std::string effort(const Result& result);

  /// "cold 8.1 us 1.20x [1.18x, 1.21x], hot ...": the timing modes of a GPU, of which the row shows the gate's.
  [[nodiscard]] static std::string modes(const ImplementationResult& each);

  /// "mean 5.00 us, 99 % quantile 8.00 us, speed-up of the means 1.60x"; empty if the median, which the row shows, is
  /// close to both.
  [[nodiscard]] static std::string tails(const ImplementationResult& each);

  [[nodiscard]] std::string remarks(const ImplementationResult& each) const;

  [[nodiscard]] std::string indented(const std::string& text, std::size_t indent, Colour colour) const;

  void print(const std::string& text);

  std::ostream& out_;
  StreamingTable table_;
  RunSummary summary_;
  std::string introduction_;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/console-inl.hpp"
#endif
