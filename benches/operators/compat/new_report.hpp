// The new generation's output: one line for each operator, and a CSV file.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "benches/operators/compat/error_text.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/compat/report.hpp"
#include "benches/operators/compat/text_file.hpp"
#include "benches/operators/speedups.hpp"
#include "pace/base/format.hpp"
#include "pace/report/csv_text.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::operators::compat {

class NewReport final : public Report {
 public:
  /// `options` as validate() returns them, `columns` as column_names() does. The file is only for `--op all`; throws
  /// InputError if it cannot be opened.
  NewReport(const CompatOptions& options, std::vector<std::string> columns, std::ostream& out, std::ostream& err)
      : columns_(std::move(columns)), compares_two_(columns_.size() == 2), out_(out), err_(err) {
    if (compares_two_) columns_.push_back(columns_[0] + '/' + columns_[1]);
    if (*options.op != "all") return;
    file_name_ = "operatorbench_" + options.suite + '_' + *options.dtype + ".csv";
    file_.emplace(options.output_directory / file_name_, TextFile::Mode::replace);
    file_->begin_with(header());
  }

  void start(const std::string& op, std::size_t samples) override {
    err_ << op << ": " << samples << (samples == 1 ? " sample" : " samples") << std::endl;
  }
  void start_sample(std::size_t /*number*/) override {}
  void failed(const std::string& op, std::size_t index, const std::exception& error) override {
    const auto [type, message] = describe(error);
    out_ << "error " << op << " input " << index << ": " << type << ": " << message << std::endl;
  }
  /// The file is begun anew by every process, so that it holds each operator once.
  void finish(const std::string& op, const SampleTimes& times, double elapsed_seconds, bool /*is_new*/) override {
    std::string row = report::csv_field(op), line = op + ": ";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool is_ratio = compares_two_ && i == 2;
      const Quantiles of = is_ratio ? time_ratio(times, 1, 2) : speedup(times, i + 1);
      line += columns_[i] + '=' + format_fixed(of.q50, 4) + "x (" + format_fixed(of.q20, 4) + '-' +
              format_fixed(of.q80, 4) + ") ";
      for (const double quantile : {of.q20, of.q50, of.q80}) row += ',' + format_fixed(quantile, 6);
    }
    row += ',' + format_fixed(elapsed_seconds, 6);
    for (const double mean : mean_times(times)) row += ',' + format_fixed(mean, 8);
    out_ << line << "took " << format_fixed(elapsed_seconds, 0) << "s" << std::endl;
    if (file_) file_->write(row + line_end);
  }
  void end() override {
    if (!file_) return;
    file_->close();
    out_ << "Wrote " << report::printable(file_name_) << std::endl;
  }

 private:
  /// Python's csv module ends its lines so.
  static constexpr const char* line_end = "\r\n";

  /// A flaw, kept: with two back ends, their ratio has an `abs` column, too, but no row has a value for it.
  [[nodiscard]] std::string header() const {
    std::string text = "operator";
    for (const auto& column : columns_)
      for (const char* quantile : {"20th", "50th", "80th"}) text += ',' + report::csv_field(column + ' ' + quantile);
    text += ",elapsed,eager abs";
    for (const auto& column : columns_) text += ',' + report::csv_field(column + " abs");
    return text + line_end;
  }

  std::vector<std::string> columns_;
  bool compares_two_;
  std::ostream &out_, &err_;
  std::string file_name_;
  std::optional<TextFile> file_;
};

}  // namespace pace::benches::operators::compat
