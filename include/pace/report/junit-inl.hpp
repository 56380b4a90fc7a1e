// Definitions of junit.hpp; see base/config.hpp.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/c_numbers.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/junit.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/xml.hpp"

namespace pace::report {

PACE_INLINE JUnitSink::JUnitSink(std::string path, const Environment& environment)
    : file_(std::move(path)), hostname_(environment.hostname), environment_(properties_of(environment)) {
  file_.begin_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" + std::string(closing),
                   /*rewritten=*/true);
}

PACE_INLINE void JUnitSink::write(const Result& result) {
  std::vector<Case> cases;
  for (const auto& row : result.implementations) {
    if (row.judgements.empty()) cases.push_back(correctness(row));
    for (const auto& judgement : row.judgements) cases.push_back(gate(row, judgement));
  }
  std::string text = case_name(result);
  if (!result.device.empty()) text += "\nDevice: " + result.device;
  if (!result.inputs.empty()) text += "\nInputs: " + result.inputs;
  for (const auto& note : result.notes) text += "\nNote: " + note;
  add(suite(case_name(result), cases, seconds(result.elapsed), text + '\n'));
}

PACE_INLINE void JUnitSink::merge(std::string_view document) {
  const auto start = document.find("<testsuite "), end = document.rfind("</testsuite>");
  if (start == std::string_view::npos && document.find("<testsuites") != std::string_view::npos) return;
  if (start == std::string_view::npos || end == std::string_view::npos || end < start)
    throw Error("cannot merge test results into '" + file_.path() + "': they hold no <testsuite>");
  add(std::string(document.substr(start, end + std::string_view("</testsuite>").size() - start)) + '\n');
}

PACE_INLINE std::string JUnitSink::attribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + xml_text(value) + '"';
}

PACE_INLINE std::string JUnitSink::property(const char* name, std::string_view value) {
  return value.empty() ? "" : "<property" + attribute("name", name) + attribute("value", value) + "/>\n";
}

PACE_INLINE std::string JUnitSink::seconds(Nanoseconds time) {
  char text[64];
  const CNumbers c_numbers;
  std::snprintf(text, sizeof text, "%.6f", std::chrono::duration<double>(time).count());
  return text;
}

PACE_INLINE std::string JUnitSink::properties_of(const Environment& environment) {
  std::string text = property("date_utc", environment.date_utc) + property("cpu", environment.cpu) +
                     property("cores", std::to_string(environment.cores)) + property("governor", environment.governor) +
                     property("kernel", environment.kernel) + property("compiler", environment.compiler) +
                     property("build_flags", environment.build_flags) + property("commit", environment.commit);
  for (const auto& [key, value] : environment.extra) text += property(key.c_str(), value);
  return text;
}

PACE_INLINE std::string JUnitSink::figures(const ImplementationResult& row) {
  std::string text = property("implementation", row.name) + property("outcome", to_string(row.outcome));
  if (row.time) {
    text += property("median_ns", number(row.time->median.count())) + property("spread", number(row.time->spread)) +
            property("samples", std::to_string(row.time->samples));
    if (row.time->overhead) text += property("shown_ns", number(row.time->shown_median().count()));
    if (const auto& interval = row.time->interval)
      text += property("interval_low_ns", number(interval->low.count())) +
              property("interval_high_ns", number(interval->high.count()));
  }
  if (row.speedup) {
    text += property("speedup", number(row.speedup->median)) +
            property("observations", std::to_string(row.speedup->observations));
    if (const auto& interval = row.speedup->interval)
      text += property("speedup_low", number(interval->low)) + property("speedup_high", number(interval->high)) +
              property("confidence", number(interval->confidence));
  }
  if (!row.context.baseline.empty())
    text += property("baseline", row.context.baseline) + property("alpha", number(row.context.alpha)) +
            property("beta", number(row.context.beta));
  return text + property("disturbance", row.context.disturbance);
}

PACE_INLINE std::string JUnitSink::test_case(const ImplementationResult& row, const std::string& name,
                                             const std::string& properties, const std::string& what_happened,
                                             const std::string& text) {
  const std::string& comparison = row.context.comparison;
  return "<testcase" + attribute("classname", comparison.empty() ? "pace" : comparison) + attribute("name", name) +
         attribute("time", seconds(row.context.cycle * static_cast<double>(row.log_ratios.size()))) +
         ">\n<properties>\n" + properties + "</properties>\n" + what_happened + "<system-out>" + xml_text(text) +
         "</system-out>\n</testcase>\n";
}

PACE_INLINE std::string JUnitSink::outcome(const char* element, std::string_view type, const std::string& message) {
  return std::string("<") + element + attribute("message", message) + attribute("type", type) + "/>\n";
}

PACE_INLINE JUnitSink::Case JUnitSink::gate(const ImplementationResult& row, const Judgement& judgement) {
  Case made;
  made.failure = !judgement.acceptable && judgement.verdict == Verdict::failed;
  made.error = !judgement.acceptable && !made.failure;
  made.skipped = judgement.acceptable && judgement.verdict != Verdict::passed;
  const std::string verdict = to_string(judgement.verdict);
  std::string happened;
  if (made.failure) happened = outcome("failure", verdict, judgement.message);
  if (made.error) happened = outcome("error", verdict, judgement.message);
  if (made.skipped) happened = "<skipped" + attribute("message", verdict + ": " + judgement.message) + "/>\n";
  made.text = test_case(row, row.name + ": " + judgement.expectation,
                        property("expectation", judgement.expectation) + property("verdict", verdict) + figures(row),
                        happened, verdict + ": " + judgement.message);
  return made;
}

PACE_INLINE JUnitSink::Case JUnitSink::correctness(const ImplementationResult& row) {
  Case made;
  made.failure = at_fault(row.outcome);
  made.error = row.outcome == Outcome::refused || row.outcome == Outcome::unreached;
  std::string happened;
  if (made.failure) happened = outcome("failure", to_string(row.outcome), row.message);
  if (made.error) happened = outcome("error", to_string(row.outcome), row.message);
  const bool unchecked = row.outcome == Outcome::measured && !row.checked;
  made.text = test_case(row, row.name + ": " + (unchecked ? "measured" : "correct"), figures(row), happened,
                        row.message.empty() ? to_string(row.outcome) : row.message);
  return made;
}

PACE_INLINE std::string JUnitSink::suite(const std::string& name, const std::vector<Case>& cases,
                                         const std::string& time, const std::string& text) {
  std::size_t failures = 0, errors = 0, skipped = 0;
  std::string inside;
  for (const auto& each : cases) {
    failures += each.failure;
    errors += each.error;
    skipped += each.skipped;
    inside += each.text;
  }
  const auto count = [](const char* what, std::size_t value) { return attribute(what, std::to_string(value)); };
  // The schema's timestamp has no time zone.
  const std::string now = detail::utc_now();
  return "<testsuite" + attribute("name", name) + count("tests", cases.size()) + count("failures", failures) +
         count("errors", errors) + count("skipped", skipped) + attribute("time", time) +
         attribute("timestamp", std::string_view(now).substr(0, now.find('Z'))) +
         attribute("hostname", hostname_.empty() ? "localhost" : hostname_) + ">\n<properties>\n" +
         // The first suite alone has properties: they would be most of the file.
         std::exchange(environment_, "") + "</properties>\n" + inside + "<system-out>" + xml_text(text) +
         "</system-out>\n<system-err></system-err>\n" + "</testsuite>\n";
}

}  // namespace pace::report
