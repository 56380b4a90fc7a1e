// JUnitSink: one test case per gate, with its figures, for tools that show test results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/format.hpp"
#include "pace/os/output_file.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/sink.hpp"

namespace pace::report {

/// Writes JUnit's XML: a `testsuite` per comparison, and in it a `testcase` per gate, which is an expectation of an
/// implementation; an implementation without expectations has one test case, for its correctness. Figures
/// are `property` elements of the test case and text in its `system-out`. A gate that is closed is a `failure` if that
/// was proven and an `error` if nothing could be; an open question that is let through is `skipped`, with the reason.
/// The file is a complete document after every result.
class JUnitSink final : public Sink {
 public:
  /// Opens the file. Its document has no results at first; the former content of the file stays until the first result,
  /// or finish(). Throws Error if the file cannot be opened.
  JUnitSink(std::string path, const Environment& environment);

  void write(const Result& result) override;

  /// Adds the suites of another JUnit document, such as the test framework's own. Throws Error if `document` is not
  /// one.
  void merge(std::string_view document);

  void finish() override { file_.close(); }

 private:
  static constexpr std::string_view closing = "</testsuites>\n";

  struct Case {
    std::string text;
    bool failure = false, error = false, skipped = false;
  };

  [[nodiscard]] static std::string attribute(const char* name, std::string_view value);
  [[nodiscard]] static std::string property(const char* name, std::string_view value);
  [[nodiscard]] static std::string number(double value) { return format_significant(value, 6); }
  [[nodiscard]] static std::string seconds(Nanoseconds time);

  [[nodiscard]] static std::string properties_of(const Environment& environment);

  [[nodiscard]] static std::string figures(const ImplementationResult& row);

  /// A test case with `what_happened`, its `failure`, `error` or `skipped` element, inside.
  [[nodiscard]] static std::string test_case(const ImplementationResult& row, const std::string& name,
                                             const std::string& properties, const std::string& what_happened,
                                             const std::string& text);

  [[nodiscard]] static std::string outcome(const char* element, std::string_view type, const std::string& message);

  [[nodiscard]] static Case gate(const ImplementationResult& row, const Judgement& judgement);

  [[nodiscard]] static Case correctness(const ImplementationResult& row);

  [[nodiscard]] std::string suite(const std::string& name, const std::vector<Case>& cases, const std::string& time,
                                  const std::string& text);

  void add(const std::string& suite) { file_.replace_tail(closing, suite + std::string(closing)); }

  OutputFile file_;
  std::string hostname_, environment_;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/junit-inl.hpp"
#endif
