// The old generation's text: lines on standard output, and a file that grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <ostream>
#include <string>

#include "benches/operators/compat/error_text.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/compat/report.hpp"
#include "benches/operators/compat/text_file.hpp"
#include "benches/operators/speedups.hpp"
#include "pace/corpus/python_repr.hpp"

namespace pace::benches::operators::compat {

class OldReport final : public Report {
 public:
  /// `options` as validate() returns them. The file is only for `--op all`; throws InputError if it cannot be opened.
  OldReport(const CompatOptions& options, std::ostream& out) : has_nvfuser_(options.measure_nvfuser), out_(out) {
    if (*options.op == "all")
      file_.emplace(options.output_directory / file_name(options.suite, *options.op, *options.dtype),
                    TextFile::Mode::append);
  }

  /// `timings_torchbench_allfloat32.txt`: nothing stands between operator and type.
  [[nodiscard]] static std::string file_name(const std::string& suite, std::string op, const std::string& dtype) {
    std::ranges::replace(op, '.', '_');
    return "timings_" + suite + '_' + op + dtype + ".txt";
  }

  void start(const std::string& op, std::size_t /*samples*/) override { out_ << "Running " << op << std::endl; }
  void start_sample(std::size_t number) override { out_ << "Iter " << number << std::endl; }
  void failed(const std::string& op, std::size_t /*index*/, const std::exception& error) override {
    out_ << "error " << op << '\n' << describe(error).second << std::endl;
  }
  void finish(const std::string& op, const SampleTimes& times, double /*elapsed_seconds*/, bool is_new) override {
    std::string text = op + ":\nInductor Speedups : " + list(speedup(times, 1)) + '\n';
    if (has_nvfuser_) text += "NVFUSER Speedups :" + list(speedup(times, 2)) + '\n';
    if (file_ && is_new) file_->write(text);
    out_ << text << std::endl;
  }
  void end() override {}

 private:
  /// A list of floats as Python prints it.
  [[nodiscard]] static std::string list(const Quantiles& quantiles) {
    std::string text = "[";
    corpus::detail::append_repr(text, quantiles.q20);
    text += ", ";
    corpus::detail::append_repr(text, quantiles.q50);
    text += ", ";
    corpus::detail::append_repr(text, quantiles.q80);
    return text + ']';
  }

  bool has_nvfuser_;
  std::ostream& out_;
  std::optional<TextFile> file_;
};

}  // namespace pace::benches::operators::compat
