// CsvSink: one row per case and implementation.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pace/base/config.hpp"
#include "pace/os/output_file.hpp"
#include "pace/report/sink.hpp"

namespace pace::report {

/// Writes RFC 4180 with `\n` as the line end: a field with a comma, a quote or a line end stands in quotes. The first
/// row names the columns. Times are nanoseconds per iteration. A figure that does not exist leaves its field empty; one
/// that is not finite is `nan`, `inf` or `-inf`. New columns are only ever added at the end.
///
/// | column | meaning |
/// |---|---|
/// | case, implementation, baseline | what was measured; `true` for the implementation that others are compared with |
/// | outcome | measured, wrong, threw, refused, unreached, crashed, timed out, out of memory |
/// | correct | `true`, `false`, or empty if the outputs were not compared |
/// | max_abs_error | largest absolute difference to the baseline's outputs |
/// | median_ns, interval_low_ns, interval_high_ns | time per iteration and the interval of the median |
/// | min_ns, q20_ns, q80_ns, max_ns | quantiles of the samples |
/// | spread | scaled median absolute deviation over the median (0.01 is 1 %) |
/// | samples | timed samples of this implementation |
/// | speedup, speedup_low, speedup_high | baseline time / own time, and its interval |
/// | observations, ties | paired observations behind the speed-up, and those where both sides took equally long |
/// | confidence | of all speed-up intervals of the case together |
/// | first_call_ns | the very first call, apart from all others |
/// | warm_up_iterations, warmed_up | calls before timing, and whether the times had settled by then |
/// | iterations, rounds | calls per sample, and rounds of the case |
/// | gb_per_s, gflop_per_s | at the shown time, if bytes and flops were declared (1e9, not 2^30) |
/// | verdict | worst of the case's own expectations: passed, undecided, invalid, failed; empty if there are none |
/// | expectation, message | what was expected (`; ` between several), and everything that is not fine |
/// | clock, seed | what timed it, and what repeats its order and inputs |
/// | steal, others, waiting, throttled | shares of time that others took during the rounds (see Conditions) |
/// | involuntary_switches, longest_cycle_ns, median_cycle_ns, clock_error_ns | figures of the rounds (see Conditions) |
/// | stop_reason, disturbance | why the rounds ended, and why no verdict may rest on them |
/// | operator_calls, allocations, bytes_allocated | exact counts of one call |
/// | device, inputs | the GPU (empty: the CPU), and types and sizes of what was called with |
/// | mean_ns, q99_ns, speedup_mean | mean and 99 % quantile of the samples; mean baseline time / mean own time |
/// | instructions_low, instructions_high | fewest and most instructions of one call, of several counts |
/// | instructions_ratio_low, instructions_ratio_high | least and largest ratio to the baseline's instructions |
/// | share_of_peak | of what the machine was measured to move or compute at most, if bytes or flops are known |
/// | shown_ns | the median without what the clock adds, as tables show it |
/// | peak_bytes | most bytes of LibTorch's allocators that one call holds at once |
/// | clock_adds_ns, clock_adds_error_ns | what the clock adds to each call, and its uncertainty; empty: nothing |
/// | energy_mj, energy_low_mj, energy_high_mj | energy of one call on a GPU in millijoules, and its interval |
/// | energy_ratio | own energy over the baseline's |
class CsvSink final : public Sink {
 public:
  /// Opens the file, which begins with the header; its former content stays until the first result, or finish(). Throws
  /// Error if it cannot be opened or written. `earlier`: see JsonSink.
  explicit CsvSink(std::string path, std::span<const Result> earlier = {});

  /// Returns the first line of the file, with its line end.
  [[nodiscard]] static std::string_view header();

  using Sink::write;
  void write(const Result& result) override;
  void finish() override { file_.close(); }

  /// Returns the line of one implementation, with its line end. `each` is one of those in `result`.
  [[nodiscard]] static std::string row(const Result& result, const ImplementationResult& each);

 private:
  [[nodiscard]] static std::string expectations(const ImplementationResult& each);

  void append(const Result& result);

  OutputFile file_;
  bool keeps_earlier_;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/csv-inl.hpp"
#endif
