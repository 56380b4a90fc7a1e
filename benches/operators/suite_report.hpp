// SuiteReport: operatorbench's lines and table, one row an operator, with pace's additions.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "benches/operators/replay.hpp"
#include "benches/operators/selection.hpp"
#include "benches/operators/suite_summary.hpp"
#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/os/output_file.hpp"
#include "pace/report/csv_text.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/text.hpp"
#include "pace/run/progress.hpp"
#include "pace/run/run_context.hpp"

namespace pace::benches::operators {

/// Hears a replay, reports its progress, prints a line per operator when it is done, and keeps the table in a file.
///
/// The first columns are PyTorch's operatorbench's. `operator` comes first. Each candidate has the 20th, 50th and 80th
/// percentile of its speed-ups over the samples. So does `a/b` if there are exactly two candidates: time of a over time
/// of b. `elapsed (s)` follows, and then the mean times of the baseline and each candidate. They are in milliseconds on
/// every device, as these columns' names say (`eager abs (ms)`). Then come pace's own: recorded calls and samples. Each
/// back end has the number of samples that it was measured on, and why it was not measured. Each candidate has the
/// speed-up weighted by recorded calls. Missing values are empty.
class SuiteReport final : public ReplayListener {
 public:
  /// `path`: the file; empty: none. Throws Error if it cannot be written. `total`: samples of the whole replay.
  /// Without `every_line`, operators of one sample have no line, since the table of results has the same figures.
  SuiteReport(std::vector<std::string> backends, const std::string& path, std::size_t total, bool every_line,
              std::ostream& out)
      : names_(std::move(backends)), total_(total), every_line_(every_line), out_(out) {
    start_ = clock_.now();
    if (path.empty()) return;
    file_ = std::make_unique<OutputFile>(path);
    file_->begin_with(header());
  }

  void begin(const Selected& selected) override {
    current_.emplace(selected.op->name, names_);
    ++begun_;
    announce(selected, 0);
  }

  void result(const Selected& selected, std::size_t offset, const Result& result) override {
    ++seen_;
    announce(selected, offset + 1);
    if (result.recalled) recalled_elapsed_ += result.elapsed;
    current_->add(result, selected.samples[offset].count);
  }

  void end(const Selected& /*selected*/, Nanoseconds elapsed) override {
    // Such as operators without a backward pass.
    if (current_->samples == 0) return current_.reset();
    current_->elapsed = elapsed + std::exchange(recalled_elapsed_, {});
    if (every_line_ || current_->samples > 1) out_ << line(*current_) << std::endl;
    if (file_) file_->append(row(*current_));
    done_.push_back(*std::move(current_));
    current_.reset();
  }

  /// Returns whether no operator was replayed.
  [[nodiscard]] bool empty() const { return begun_ == 0; }

  /// After the last operator: the suite as a whole, and which back ends were not measured. `making_inputs`: time that
  /// took.
  void finish(const std::string& suite, Nanoseconds making_inputs) {
    std::size_t ran = 0;
    for (const auto& each : done_) ran += each.ran();
    out_ << '\n'
         << report::printable(suite) << ": " << done_.size() << " operators, " << ran << " ran, " << done_.size() - ran
         << " refused or failed"
         << (begun_ == done_.size() ? "" : ", " + std::to_string(begun_ - done_.size()) + " left out") << '\n';
    for (const auto& each : suite_speedups(done_)) {
      out_ << "  " << each.name << " over " << names_[0] << ": " << format_factor(each.geometric_mean)
           << " (geometric mean over " << each.operators
           << " operators, of each the median over its samples of the quotient of median times; 20th, 50th, 80th "
              "percentile "
           << format_factor(each.quantiles.q20) << ", " << format_factor(each.quantiles.q50) << ", "
           << format_factor(each.quantiles.q80) << ")";
      if (const auto weighted = each.weighted.speedup())
        out_ << ", " << format_factor(*weighted) << " weighted by recorded calls ("
             << format_time(each.weighted.baseline) << " of " << names_[0] << ')';
      out_ << '\n';
    }
    for (const auto& each : done_)
      for (const auto& backend : each.backends) {
        if (backend.others.empty()) continue;
        out_ << "  " << each.op << ": " << backend.name << ' ' << report::printable(reasons(backend)) << '\n';
      }
    const Nanoseconds elapsed = clock_.now() - start_;
    out_ << "  " << report::rough_duration(elapsed) << ", and making inputs took "
         << report::rough_duration(making_inputs) << " of it" << std::endl;
    if (!file_) return;
    file_->close();
    out_ << "Wrote " << report::printable(file_->path()) << std::endl;
  }

 private:
  /// Reports the sample at `offset` as the part of the run that begins. A sample with a known result takes no time, and
  /// tells nothing about the next ones.
  void announce(const Selected& selected, std::size_t offset) const {
    if (progress() == nullptr || offset >= selected.samples.size()) return;
    const auto* const earlier = run_context().recollection;
    if (earlier != nullptr && earlier->knows(case_name(selected, offset))) return;
    progress()->part(seen_ + 1, total_);
  }

  [[nodiscard]] bool pairs() const { return names_.size() == 3; }
  [[nodiscard]] std::string pair_name() const { return names_[1] + '/' + names_[2]; }

  [[nodiscard]] std::string header() const {
    std::string text = "operator";
    const auto percentiles = [&](const std::string& name) {
      for (const char* each : {"20th", "50th", "80th"}) text += ',' + report::csv_field(name + ' ' + each);
    };
    for (std::size_t i = 1; i < names_.size(); ++i) percentiles(names_[i]);
    if (pairs()) percentiles(pair_name());
    text += ",elapsed (s)";
    for (const auto& name : names_) text += ',' + report::csv_field(name + " abs (ms)");
    text += ",calls,samples";
    for (const auto& name : names_) text += ',' + report::csv_field(name + " measured");
    for (std::size_t i = 1; i < names_.size(); ++i) text += ',' + report::csv_field(names_[i] + " weighted");
    return text + ",why\n";
  }

  [[nodiscard]] std::string row(const OperatorSummary& summary) const {
    std::string text = report::csv_field(summary.op), why;
    const auto percentiles = [&](const std::vector<double>& values) {
      if (values.empty()) {
        text += ",,,";
        return;
      }
      const auto found = quantiles(values);
      for (const double each : {found.q20, found.q50, found.q80}) text += ',' + format_fixed(each, 6);
    };
    for (std::size_t i = 1; i < summary.backends.size(); ++i) percentiles(summary.backends[i].speedups);
    if (pairs()) percentiles(summary.ratios);
    text += ',' + format_fixed(summary.elapsed.count() * 1e-9, 6);
    for (const auto& each : summary.backends) {
      const auto mean = each.mean_milliseconds();
      text += ',' + (mean ? format_fixed(*mean, 8) : "");
    }
    text += ',' + std::to_string(summary.calls) + ',' + std::to_string(summary.samples);
    for (const auto& each : summary.backends) {
      text += ',' + std::to_string(each.measured);
      if (!each.others.empty()) why += (why.empty() ? "" : "; ") + each.name + ' ' + reasons(each);
    }
    for (std::size_t i = 1; i < summary.backends.size(); ++i) {
      const auto weighted = summary.backends[i].weighted.speedup();
      text += ',' + (weighted ? format_fixed(*weighted, 6) : "");
    }
    return text + ',' + report::csv_field(why) + '\n';
  }

  /// As operatorbench prints it, and on how many samples no back end failed.
  [[nodiscard]] std::string line(const OperatorSummary& summary) const {
    std::string text = summary.op + ": ";
    const auto factors = [&](const std::string& name, const std::vector<double>& values) {
      if (values.empty()) return;
      const auto found = quantiles(values);
      text += name + '=' + format_fixed(found.q50, 4) + "x (" + format_fixed(found.q20, 4) + '-' +
              format_fixed(found.q80, 4) + ") ";
    };
    for (std::size_t i = 1; i < summary.backends.size(); ++i)
      factors(summary.backends[i].name, summary.backends[i].speedups);
    if (pairs()) factors(pair_name(), summary.ratios);
    text += "took " + format_fixed(summary.elapsed.count() * 1e-9, 0) + 's';
    for (const auto& each : summary.backends)
      if (!each.others.empty()) text += ", " + each.name + ' ' + counts(each);
    return text;
  }

  /// `refused on 2 of 15, crashed on 1 of 15`.
  [[nodiscard]] static std::string counts(const BackendSummary& backend) { return listed(backend, ", ", false); }

  /// `refused on 2 of 15: REASON; crashed on 1 of 15: REASON`, each with the first line of its first reason.
  [[nodiscard]] static std::string reasons(const BackendSummary& backend) { return listed(backend, "; ", true); }

  [[nodiscard]] static std::string listed(const BackendSummary& backend, const char* between, bool with_reasons) {
    std::size_t samples = backend.measured;
    for (const auto& [outcome, ended] : backend.others) samples += ended.count;
    std::string text;
    for (const auto& [outcome, ended] : backend.others)
      text += (text.empty() ? "" : between) + std::string(to_string(outcome)) + " on " + std::to_string(ended.count) +
              " of " + std::to_string(samples) + (with_reasons ? ": " + first_line(ended.why) : "");
    return text;
  }

  [[nodiscard]] static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  std::vector<std::string> names_;
  std::size_t total_, begun_ = 0;
  bool every_line_;
  std::ostream& out_;
  timing::WallClock clock_;
  Nanoseconds start_{}, recalled_elapsed_{};
  std::size_t seen_ = 0;
  std::unique_ptr<OutputFile> file_;
  std::optional<OperatorSummary> current_;
  std::vector<OperatorSummary> done_;
};

}  // namespace pace::benches::operators
