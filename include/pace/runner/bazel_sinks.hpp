// Sinks for the files that tell Bazel more of a test than its exit code.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "pace/os/output_file.hpp"
#include "pace/report/judged.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"

namespace pace::runner {

/// Writes TEST_WARNINGS_OUTPUT_FILE: a line for each gate that is open although nothing was proven.
class WarningsSink final : public report::Sink {
 public:
  /// Opens the file. Throws Error if that fails.
  explicit WarningsSink(std::string path) : file_(std::move(path)) {}

  void write(const Result& result) override {
    for (const auto& line : report::warnings_of(result)) file_.append(line + '\n');
  }
  void finish() override { file_.close(); }

 private:
  OutputFile file_;
};

/// Writes TEST_INFRASTRUCTURE_FAILURE_FILE: the component that failed in the first line, and its failures in the
/// second. Only leave() writes the file, and only if there was a failure: Bazel takes a test with this file as one that
/// failed for that reason, so a run that ends with exit code 0 must not have it.
class InfrastructureSink final : public report::Sink {
 public:
  /// Keeps the path; no file is opened.
  explicit InfrastructureSink(std::string path) : path_(std::move(path)) {}

  void write(const Result& result) override {
    if (!result.missing_device.empty()) tell("device", case_name(result) + ": " + result.missing_device);
    for (const auto& disturbance : result.conditions.disturbances)
      tell("machine", case_name(result) + ": " + disturbance);
  }

  /// Adds a failure of a component, such as `device` or `machine`. The first one names the component in the file.
  void tell(const std::string& component, const std::string& what) {
    if (component_.empty()) component_ = component;
    if (++told_ <= most) text_ += (text_.empty() ? "" : " ") + report::printable(what);
  }

  /// Writes the file if there was a failure. Throws Error if the file cannot be written.
  void leave() const {
    if (told_ == 0) return;
    OutputFile file(path_);
    file.append(component_ + '\n' + text_);
    if (told_ > most) file.append(" And " + std::to_string(told_ - most) + " more.");
    file.append("\n");
    file.close();
  }

 private:
  /// The first few failures show the cause; thousands of comparisons would repeat it.
  static constexpr std::size_t most = 20;

  std::string path_, component_, text_;
  std::size_t told_ = 0;
};

}  // namespace pace::runner
