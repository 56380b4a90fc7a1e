// Results held against limits: speed-up or latency of all models, and counts that may vary by so much.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/driver/check_expected.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"

namespace pace::benches::models {

struct PerformanceLimit {
  /// Speed-up, or milliseconds.
  double threshold = 1;
  /// At most 1: how much worse than the threshold is still good.
  double scale = 1;
  bool latency = false, fail_on_improvement = false;
  Generation generation = Generation::latest;
};

/// A line for each model. A speed-up may not be below threshold * scale; a latency may not be above threshold / scale.
/// An equally large improvement counts as a failure if requested. Returns 1 if any fails. Throws InputError where the
/// file has not the columns.
[[nodiscard]] inline int check_performance(const report::CsvTable& table, const PerformanceLimit& limit,
                                           std::ostream& out) {
  detail::require_rows(table);
  const char* const metric = limit.latency ? "abs_latency" : "speedup";
  const double low = limit.threshold * limit.scale, high = limit.threshold / limit.scale;
  std::vector<std::string> worse, better;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string model = table.text(i, "name");
    const double value = table.require_number(i, metric);
    // A model that did not run has a latency of 0, which is no good one; and NaN is within no limits.
    const bool none = limit.latency && value == 0;
    if (limit.latency ? none || !(value <= high) : !(value >= low))
      worse.push_back(model);
    else if (limit.fail_on_improvement && (limit.latency ? value < low : value > high))
      better.push_back(model);
    out << detail::padded(model, detail::model_width) << ' ';
    if (limit.generation == Generation::v2_6) {
      out << table.text(i, metric) << '\n';
      continue;
    }
    const double ratio = table.require_number(i, "compression_ratio");
    out << "speedup=" << format_fixed(table.require_number(i, "speedup"), 3)
        << "x, latency=" << format_fixed(table.require_number(i, "abs_latency"), 3)
        << " ms, compile=" << format_fixed(table.require_number(i, "compilation_latency"), 3)
        << " s, mem_ratio=" << format_fixed(ratio > 0 ? 1 / ratio : 0, 3)
        << "x (eager=" << format_fixed(table.require_number(i, "eager_peak_mem"), 3)
        << " GB, dynamo=" << format_fixed(table.require_number(i, "dynamo_peak_mem"), 3) << " GB)\n";
  }
  const std::string bound =
      limit.latency ? "above " + format_fixed(high, 3) + " ms" : "below " + format_fixed(low, 3) + 'x';
  detail::list_models(out, ("have a " + std::string(limit.latency ? "latency " : "speed-up ") + bound).c_str(), worse);
  detail::list_models(out, "are better than the limit allows; raise the threshold", better);
  return worse.empty() && better.empty() ? 0 : 1;
}

/// `value` to four significant digits, for a file that people read.
[[nodiscard]] inline double to_four_digits(double value) {
  std::array<char, 40> text{};
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), "%.3e", value);
  return std::strtod(text.data(), nullptr);
}

namespace detail {

[[nodiscard]] inline std::string shortest(double value) {
  std::array<char, 40> text{};
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

/// `name,metric,value[,noise]`, with or without a first line that names them. The least of several values counts.
struct Counts {
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> values;
  std::vector<std::pair<std::string, std::string>> order;

  Counts(const report::CsvTable& table, bool with_noise) {
    auto lines = table.rows;
    lines.insert(lines.begin(), table.header);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto& line = lines[i];
      const std::size_t needed = with_noise ? 4 : 3;
      double value = 0, noise = 0;
      const bool whole =
          line.size() >= needed && read(line[2], value) && (!with_noise || (read(line[3], noise) && noise >= 0));
      const bool names_columns =
          line.empty() || (line.size() >= needed && line[2].find_first_of("0123456789") == std::string::npos);
      if (!whole && i == 0 && names_columns) continue;
      if (!whole)
        throw InputError({table.file, i + 1},
                         std::string("expected name,metric,value") + (with_noise ? ",noise, a noise from 0 on" : ""));
      const std::pair key{line[0], line[1]};
      const auto [found, is_new] = values.try_emplace(key, value, noise);
      if (is_new)
        order.push_back(key);
      else
        found->second.first = std::min(found->second.first, value);
    }
    if (values.empty()) throw InputError({table.file}, "holds no results; there is nothing to check");
  }

  [[nodiscard]] static bool read(const std::string& text, double& number) {
    char* end = nullptr;
    const CNumbers c_numbers;
    number = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' && std::isfinite(number);
  }
};

}  // namespace detail

/// Counts such as instructions, `name,metric,value` a line, against `name,metric,value,noise`: the least of several
/// runs counts. Above value * (1 + noise) is a REGRESSION, below value * (1 - noise) a WIN, and both fail. So does a
/// name that only one file has. `updated` gets the new expected file. Returns the exit code. Throws InputError with the
/// line that is not so.
[[nodiscard]] inline int check_noise(const report::CsvTable& actual, const report::CsvTable& expected,
                                     std::ostream& out, std::string& updated) {
  const detail::Counts is(actual, false), wanted(expected, true);
  int failures = 0;
  const auto whole = [](double number) { return format_fixed(number, 0); };
  for (const auto& key : wanted.order) {
    const auto& [value, noise] = wanted.values.at(key);
    const auto found = is.values.find(key);
    double next = value;
    std::string line = "MISSING: " + key.first + ", " + key.second + ": there is no result";
    if (found != is.values.end()) {
      const double now = found->second.first, change = 100 * (now - value) / value;
      const bool regression = now - value > value * noise, win = value - now > value * noise;
      line = std::string(regression ? "REGRESSION"
                         : win      ? "WIN"
                                    : "PASS") +
             ": " + key.first + ", " + key.second + ": " + whole(now) + ", expected " + whole(value) + " ± " +
             format_fixed(100 * noise, 2) + " % (" + (change > 0 ? "+" : "") + format_fixed(change, 2) + " %)";
      failures += regression || win ? 1 : 0;
      if (regression || win) next = to_four_digits(now);
    } else {
      ++failures;
    }
    out << line << '\n';
    updated += report::to_csv_line({key.first, key.second, whole(next), detail::shortest(noise)});
  }
  for (const auto& key : is.order) {
    if (wanted.values.contains(key)) continue;
    ++failures;
    out << "UNEXPECTED: " << key.first << ", " << key.second << ": nothing is expected of it\n";
    updated += report::to_csv_line({key.first, key.second, whole(to_four_digits(is.values.at(key).first)), "0.015"});
  }
  if (failures > 0) out << "\nIf that is meant to be, " << expected.file << " should be:\n" << updated;
  return failures > 0 ? 1 : 0;
}

}  // namespace pace::benches::models
