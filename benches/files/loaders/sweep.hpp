// Sweeps: values for the names of sizes in the text of inputs.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pace/args/value.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/dtype.hpp"

namespace pace::benches::loaders {

/// One name and its values, in the order of measuring.
struct Sweep {
  std::string name;
  std::vector<std::int64_t> values;
};

/// A value for each name.
using Sizes = std::map<std::string, std::int64_t>;

/// Values of one sweep at most, and cases of all together: more are a slip of the pen.
inline constexpr std::size_t most_sweep_values = 1000;

/// Whether the text of inputs has a meaning for this word, so that it can name no size.
[[nodiscard]] inline bool is_reserved_word(std::string_view word) {
  constexpr std::array<std::string_view, 15> words = {"T",    "ST",    "None", "True",   "False",  "inf", "nan", "infj",
                                                      "nanj", "torch", "th",   "device", "stride", "low", "high"};
  return std::ranges::find(words, word) != words.end() || corpus::dtype_from_abbreviation(word).has_value();
}

/// Reads `batch=1:64:x2` (each twice the one before), `batch=8:32:+8` (each 8 more) or `batch=1,7,64`. Throws
/// InputError.
[[nodiscard]] inline Sweep parse_sweep(const std::string& text) {
  const auto refuse = [&](const std::string& why) -> void {
    throw InputError({}, "--sweep '" + text + "': " + why +
                             "; expected NAME=FIRST:LAST:xFACTOR, NAME=FIRST:LAST:+STEP or NAME=VALUE,VALUE, such as "
                             "batch=1:64:x2");
  };
  Sweep sweep;
  const std::size_t sign = text.find('=');
  sweep.name = text.substr(0, sign);
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (sign == std::string::npos || sweep.name.empty() || !std::ranges::all_of(sweep.name, is_word) ||
      std::isdigit(static_cast<unsigned char>(sweep.name.front())) != 0)
    refuse("it does not begin with a name and '='");
  if (is_reserved_word(sweep.name)) refuse("'" + sweep.name + "' means something else in the text of inputs");
  const std::string values = text.substr(sign + 1);
  const auto number = [&](const std::string& each) {
    std::int64_t value = 0;
    if (!args::read_between<std::int64_t>(each, value, 0, std::int64_t{1} << 40))
      refuse("'" + each + "' is no whole number from 0 to 2^40");
    return value;
  };
  const auto split = [](const std::string& whole, char at) {
    std::vector<std::string> parts(1);
    for (const char c : whole) {
      if (c == at)
        parts.emplace_back();
      else
        parts.back() += c;
    }
    return parts;
  };
  const auto range = split(values, ':');
  if (range.size() == 1) {
    for (const auto& each : split(values, ',')) {
      sweep.values.push_back(number(each));
      if (std::ranges::count(sweep.values, sweep.values.back()) > 1) refuse(each + " is there twice");
    }
    return sweep;
  }
  if (range.size() != 3 || range[2].size() < 2 || (range[2][0] != 'x' && range[2][0] != '+'))
    refuse("a range has a first value, a last value and a step such as x2 or +8");
  const std::int64_t first = number(range[0]), last = number(range[1]), step = number(range[2].substr(1));
  const bool multiplies = range[2][0] == 'x';
  if (first > last) refuse("the first value is above the last one");
  if (multiplies && (step < 2 || first < 1)) refuse("a factor is at least 2, and the first value at least 1");
  if (!multiplies && step < 1) refuse("a step is at least 1");
  for (std::int64_t value = first;; value = multiplies ? value * step : value + step) {
    if (sweep.values.size() == most_sweep_values) refuse("these are more than 1000 values");
    sweep.values.push_back(value);
    // The product of two numbers up to 2^40 need not fit into 64 bits, so it is not made where it would be too large.
    if (multiplies ? value > last / step : value > last - step) break;
  }
  return sweep;
}

/// All combinations, the first sweep's value changing slowest; one without names where there are no sweeps. Throws
/// InputError for too many, and for a name that is swept twice.
[[nodiscard]] inline std::vector<Sizes> combinations(const std::vector<Sweep>& sweeps) {
  std::vector<Sizes> all(1);
  for (const auto& sweep : sweeps) {
    std::vector<Sizes> next;
    for (const auto& sizes : all) {
      if (sizes.contains(sweep.name)) throw InputError({}, "--sweep: '" + sweep.name + "' is given twice");
      for (const auto value : sweep.values) {
        next.push_back(sizes);
        next.back()[sweep.name] = value;
      }
    }
    if (next.size() > most_sweep_values)
      throw InputError({}, "--sweep: these are " + std::to_string(next.size()) + " cases; expected at most 1000");
    all = std::move(next);
  }
  return all;
}

/// The values in the order of the sweeps, such as `batch=8,width=64`.
[[nodiscard]] inline std::string sizes_text(const std::vector<Sweep>& sweeps, const Sizes& sizes) {
  std::string text;
  for (const auto& sweep : sweeps)
    text += (text.empty() ? "" : ",") + sweep.name + '=' + std::to_string(sizes.at(sweep.name));
  return text;
}

}  // namespace pace::benches::loaders
