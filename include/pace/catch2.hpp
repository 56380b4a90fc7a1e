// The test-harness door: what a test file needs to run under Catch2 and to state what it expects.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <string>

#include "pace/core/format.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/as_expected.hpp"
#include "pace/gate/correct.hpp"
#include "pace/gate/expectation.hpp"

/// How Catch2 shows an implementation in a message: what was measured, in one line.
template <>
struct Catch::StringMaker<pace::ImplementationResult> {
  static std::string convert(const pace::ImplementationResult& result) {
    std::string text = "'" + result.name + "'";
    if (result.outcome != pace::Outcome::measured) return text + " (" + pace::to_string(result.outcome) + ")";
    if (result.time) text += " (" + pace::format_time(result.time->median);
    if (result.time && result.is_baseline) text += ", the baseline";
    if (result.speedup) {
      text += ", speed-up " + pace::format_factor(result.speedup->median);
      if (result.speedup->interval) text += " " + pace::format_interval(*result.speedup->interval);
    }
    return result.time ? text + ")" : text;
  }
};

/// The same of a whole comparison.
template <>
struct Catch::StringMaker<pace::Result> {
  static std::string convert(const pace::Result& result) {
    std::string text = "'" + result.name + "': ";
    for (const auto& each : result.implementations) {
      if (&each != result.implementations.data()) text += "; ";
      text += StringMaker<pace::ImplementationResult>::convert(each);
    }
    return text;
  }
};
