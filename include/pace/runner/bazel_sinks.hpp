// Sinks that tell Bazel what it should know of a test beside its exit code.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "pace/core/output_file.hpp"
#include "pace/core/result.hpp"
#include "pace/report/judged.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/text.hpp"

namespace pace::runner {

/// TEST_WARNINGS_OUTPUT_FILE: a line for each thing that matters although nothing failed.
class WarningsSink final : public report::Sink {
 public:
  explicit WarningsSink(std::string path) : file_(std::move(path)) {}

  void write(const Result& result) override {
    for (const auto& line : report::warnings_of(result)) file_.append(line + '\n');
  }
  void finish() override { file_.close(); }

 private:
  OutputFile file_;
};

/// TEST_INFRASTRUCTURE_FAILURE_FILE: the component that failed in the first line, what happened to it in the second.
/// Written by leave() alone, and only where there is something to say, since its being there says that the test failed for
/// it: a run that ends with exit code 0 must leave none.
class InfrastructureSink final : public report::Sink {
 public:
  explicit InfrastructureSink(std::string path) : path_(std::move(path)) {}

  void write(const Result& result) override {
    if (!result.missing_device.empty()) tell("device", result.name + ": " + result.missing_device);
    for (const auto& disturbance : result.conditions.disturbances) tell("machine", result.name + ": " + disturbance);
  }

  void tell(const std::string& component, const std::string& what) {
    if (component_.empty()) component_ = component;
    if (++told_ <= most) text_ += (text_.empty() ? "" : " ") + report::printable(what);
  }

  /// Throws Error if the file cannot be written.
  void leave() const {
    if (told_ == 0) return;
    OutputFile file(path_);
    file.append(component_ + '\n' + text_);
    if (told_ > most) file.append(" And " + std::to_string(told_ - most) + " more.");
    file.append("\n");
    file.close();
  }

 private:
  /// The first few tell what the matter is; a suite of thousands would say it thousands of times.
  static constexpr std::size_t most = 20;

  std::string path_, component_, text_;
  std::size_t told_ = 0;
};

}  // namespace pace::runner
