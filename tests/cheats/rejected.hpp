// Runs a comparison with one candidate on a made-up clock, and requires that pace rejects it, or accepts it.
#pragma once

#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/interfaces/catch_interfaces_reporter.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include "pace/catch2.hpp"
#include "pace/compare/comparison.hpp"
#include "tests/support/comparisons.hpp"

namespace cheats {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using pace::Nanoseconds;
using pace::test::costing;
using pace::test::FakeClock;

/// How many programs a test has seen rejected, and how many honest ones accepted. The listener prints them at its end.
struct Catalogue {
  int rejected = 0, accepted = 0;
};
inline Catalogue catalogue;

struct CataloguePrinter : Catch::EventListenerBase {
  using EventListenerBase::EventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override {
    std::cout << "catalogue: " << catalogue.rejected << " programs rejected, " << catalogue.accepted
              << " honest ones accepted\n";
  }
};
CATCH_REGISTER_LISTENER(CataloguePrinter)

/// strict, or the level that PACE_TEST_AUDIT names: which programs the others let pass (docs/threats.md).
inline pace::Audit audit_of_catalogue() {
  const char* const name = std::getenv("PACE_TEST_AUDIT");
  for (const auto audit : {pace::Audit::off, pace::Audit::standard})
    if (name != nullptr && std::string(name) == pace::to_string(audit)) return audit;
  return pace::Audit::strict;
}

/// Samples of ten calls of the candidate, which takes a third of the baseline's time.
inline pace::Options short_run() {
  pace::Options options;
  options.budget = Nanoseconds(4e6);
  options.hard_limit = Nanoseconds(4e7);
  options.least_duration = {};
  options.warm_up = Nanoseconds(1e4);
  options.min_sample = Nanoseconds(1000);
  options.resolutions_per_sample = 1;
  options.max_rounds = 400;
  options.check_seed = 1;
  options.audit = audit_of_catalogue();
  options.stop = pace::StopPolicy::budget;
  return options;
}

/// The outcome of the candidate, where `declare(comparison)` declares how outputs are compared.
template <class Declare, class Baseline, class Candidate, class... Operands>
pace::Result run_declared(Declare declare, Baseline baseline, Candidate candidate, const Operands&... operands) {
  FakeClock clock;
  auto comparison = pace::compare("cheat", operands...);
  comparison.options(short_run())
      .baseline("eager", costing(clock, 300, baseline))
      .candidate("cheat", costing(clock, 100, candidate))
      .expect(pace::SpeedupAtLeast(1.01))
      .expect(pace::NoSlowerThan(100));
  declare(comparison);
  return comparison.run(clock);
}

/// The outcome of the candidate.
template <class Baseline, class Candidate, class... Operands>
pace::Result run(Baseline baseline, Candidate candidate, const Operands&... operands) {
  return run_declared([](auto&) {}, baseline, candidate, operands...);
}

/// No figures, no gate that lets it through, and a message that names the observation, by a matcher.
template <class WhatWasSeen>
void require_rejected_by(const pace::Result& result, const WhatWasSeen& what_was_seen) {
  const auto& row = result["cheat"];
  INFO("'cheat' " << row.outcome << ": " << row.message);
  CHECK_THAT(pace::to_string(row.outcome), Equals("wrong") || Equals("threw"));
  CHECK_THAT(row.message, what_was_seen);
  CHECK_FALSE(row.speedup.has_value());
  CHECK_THAT(row.samples, Catch::Matchers::IsEmpty());
  CHECK_FALSE(row.acceptable());
  REQUIRE(row.judgements.size() == 2);
  for (const auto& judgement : row.judgements) {
    INFO(judgement.expectation << ": " << judgement.verdict << ": " << judgement.message);
    CHECK(judgement.verdict == pace::Verdict::failed);
    CHECK_FALSE(judgement.acceptable);
  }
  CHECK_THAT(row, !pace::SpeedupAtLeast(1.01));
  CHECK_THAT(result, !pace::Correct());
  INFO("'eager' " << result["eager"].outcome << ": " << result["eager"].message);
  CHECK(result["eager"].outcome == pace::Outcome::measured);
  catalogue.rejected += !row.acceptable();
}

inline void require_rejected(const pace::Result& result, const std::string& what_was_seen) {
  require_rejected_by(result, ContainsSubstring(what_was_seen));
}

/// An honest candidate: figures, and gates that let it through.
inline void require_accepted(const pace::Result& result) {
  const auto& row = result["cheat"];
  INFO("'" << row.outcome << "': " << row.message);
  CHECK(row.outcome == pace::Outcome::measured);
  CHECK(row.acceptable());
  catalogue.accepted += row.acceptable();
}

/// Figures of its rounds, but no claim that these prove, and a message that names the observation.
inline void require_claim_refused(const pace::Result& result, const std::string& what_was_seen) {
  const auto& row = result["cheat"];
  INFO("'cheat' " << row.outcome << ": " << row.message);
  CHECK(row.outcome == pace::Outcome::measured);
  CHECK_FALSE(row.acceptable());
  REQUIRE(row.judgements.size() == 2);
  const auto& claim = row.judgements.front();
  INFO(claim.expectation << ": " << claim.verdict << ": " << claim.message);
  CHECK(claim.verdict == pace::Verdict::failed);
  CHECK_FALSE(claim.acceptable);
  CHECK_THAT(claim.message, ContainsSubstring(what_was_seen));
  CHECK_THAT(row, !pace::SpeedupAtLeast(1.01));
  INFO("'eager' " << result["eager"].outcome << ": " << result["eager"].message);
  CHECK(result["eager"].outcome == pace::Outcome::measured);
  catalogue.rejected += !row.acceptable();
}

}  // namespace cheats
