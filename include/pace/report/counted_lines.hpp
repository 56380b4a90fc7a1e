// Lines of the console under a row: instructions, energy and counters of one call.
#pragma once

#include <string>

#include "pace/base/format.hpp"
#include "pace/result/counters.hpp"
#include "pace/result/result.hpp"

namespace pace::report {

/// "12345 instructions a call, 0.98x the baseline's (callgrind)"; empty if they were not counted.
[[nodiscard]] inline std::string instructions_line(const ImplementationResult& each) {
  if (!each.instructions) return "";
  const auto& found = *each.instructions;
  const auto range = [](const std::string& low, const std::string& high) {
    return low == high ? low : low + " to " + high;
  };
  const auto factor = [](double ratio) { return format_significant(ratio, 6) + 'x'; };
  std::string text = range(std::to_string(found.low), std::to_string(found.high)) + " instructions a call";
  if (found.ratio_low && found.ratio_high)
    text += ", " + range(factor(*found.ratio_low), factor(*found.ratio_high)) + " the baseline's";
  return text + " (" + found.counter + ')';
}

/// "energy 1191 mJ a call [1180, 1200], 0.98x the baseline's [0.97x, 0.99x]"; empty if it was not measured.
[[nodiscard]] inline std::string energy_line(const ImplementationResult& each) {
  if (!each.energy) return "";
  const auto& found = *each.energy;
  if (!found.missing.empty()) return "no energy: " + found.missing;
  std::string text = "energy " + format_significant(found.millijoules, 4) + " mJ a call";
  if (found.interval)
    text +=
        " [" + format_significant(found.interval->low, 4) + ", " + format_significant(found.interval->high, 4) + ']';
  if (found.ratio) text += ", " + format_significant(*found.ratio, 4) + "x the baseline's";
  if (found.ratio_interval)
    text += " [" + format_significant(found.ratio_interval->low, 4) + "x, " +
            format_significant(found.ratio_interval->high, 4) + "x]";
  return text;
}

/// A figure of a counter with its unit, if that is not in its name: `1234`, `2147 MB`, `79.9 %`.
[[nodiscard]] inline std::string counter_text(double figure, CounterUnit unit) {
  switch (unit) {
    case CounterUnit::events:
      return format_number(figure, 4);
    case CounterUnit::bytes:
      return format_number(1e-6 * figure, 4) + " MB";
    case CounterUnit::percent:
      return format_number(figure, 3) + " %";
  }
  return "";
}

/// "branch_misses 1234 to 1250 (0.9812x), sm_active 98.2 %": of one call, and over the baseline's; empty without any.
[[nodiscard]] inline std::string counters_line(const ImplementationResult& each) {
  std::string text;
  for (const auto& counter : each.counters) {
    text += (text.empty() ? "" : ", ") + counter.name + ' ';
    if (!counter.missing.empty()) {
      text += "not counted (" + counter.missing + ')';
      continue;
    }
    const std::string low = counter_text(counter.low, counter.unit), high = counter_text(counter.high, counter.unit);
    text += low + (low == high ? "" : " to " + high);
    if (const auto ratio = counter.ratio()) text += " (" + format_significant(*ratio, 4) + "x)";
  }
  return text;
}

}  // namespace pace::report
