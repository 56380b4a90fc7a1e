// A hundred things that go wrong with machines, files and time: none of them is a verdict.
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>

#include "pace/catch2.hpp"
#include "pace/gate/result_matchers.hpp"
#include "pace/pace.hpp"
#include "pace/report/csv.hpp"
#include "pace/report/json.hpp"
#include "pace/report/junit.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/stored_baseline.hpp"
#include "pace/runner/bazel_sinks.hpp"
#include "pace/runner/stored_baseline.hpp"
#include "tests/faults/faulty_machine.hpp"
#include "tests/report/baseline_files.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/temporary_file.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using faults::FaultyMachine;
using pace::Nanoseconds;
using pace::report::Json;

constexpr Nanoseconds ms{1e6}, s{1e9}, hour{3600e9};

/// The outcome of a fault.
struct Aftermath {
  std::vector<pace::Judgement> judgements;
  /// The program ended with a message, or will: its exit code is not 0.
  bool refused = false;
};

/// Two implementations, one twice as fast as the other, so that without a fault the claim passes and the guard fails.
enum class Subject { fast, slow };

using Sabotage = std::function<void()>;

/// `sabotage` is called in every call of the candidate.
pace::Result compare(FaultyMachine& machine, Subject subject, const Sabotage& sabotage = {}) {
  const auto x = at::ones({4});
  const auto cost = subject == Subject::fast ? std::pair(2 * ms, ms) : std::pair(ms, 2 * ms);
  auto comparison = pace::compare("case", x);
  comparison.baseline("old", [&](const at::Tensor& t) { return machine.advance(cost.first), at::add(t, 1); });
  comparison.candidate("new", [&](const at::Tensor& t) {
    if (sabotage) sabotage();
    return machine.advance(cost.second), at::add(t, 1);
  });
  // Long enough for ticks of 10 ms to say something.
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.max_interference = 0.2;
  options.stop = pace::StopPolicy::budget;
  options.budget = 0.5 * s;
  comparison.options(options);
  if (subject == Subject::fast)
    comparison.expect(pace::SpeedupAtLeast(1.2));
  else
    comparison.expect(pace::NoSlowerThan(1.02));
  return comparison.run(machine);
}

Aftermath aftermath(const pace::Result& result) {
  Aftermath found;
  for (const auto& row : result.implementations)
    for (const auto& judgement : row.judgements) found.judgements.push_back(judgement);
  return found;
}

struct Fault {
  std::string kind, name;
  std::function<Aftermath()> inject;
};

using Faults = std::vector<Fault>;

void on_both(Faults& faults, const std::string& kind, const std::string& name,
             const std::function<void(FaultyMachine&)>& spoil) {
  for (const auto subject : {Subject::fast, Subject::slow})
    faults.push_back({kind, name + (subject == Subject::fast ? ", fast" : ", slow"), [=] {
                        FaultyMachine machine;
                        spoil(machine);
                        return aftermath(compare(machine, subject));
                      }});
}

void add_load(Faults& faults) {
  for (const double share : {0.25, 0.35, 0.5, 0.7, 0.9}) {
    const std::string text = std::to_string(share);
    on_both(faults, "hypervisor steals", text, [=](FaultyMachine& machine) { machine.steal = share; });
    on_both(faults, "neighbour takes the core", text, [=](FaultyMachine& machine) { machine.waiting = share; });
  }
  for (const double share : {0.3, 0.6, 0.9})
    on_both(faults, "quota used up", std::to_string(share), [=](FaultyMachine& machine) { machine.throttled = share; });
  for (const double share : {0.975, 0.98, 0.99})
    on_both(faults, "machine full", std::to_string(share), [=](FaultyMachine& machine) { machine.others = share; });
}

void add_events(Faults& faults) {
  const auto name = [](Nanoseconds size, Nanoseconds at) {
    return pace::format_time(size) + " after " + pace::format_time(at);
  };
  // Warm-up is over by then, the rounds are not.
  for (const Nanoseconds at : {150 * ms, 400 * ms}) {
    for (const Nanoseconds size : {2 * s, 10 * s, 60 * s})
      on_both(faults, "process stopped", name(size, at),
              [=](FaultyMachine& machine) { machine.event = {.at = at, .stop = size}; });
    for (const Nanoseconds size : {50 * ms, s, hour}) {
      on_both(faults, "clock jumps forwards", name(size, at),
              [=](FaultyMachine& machine) { machine.event = {.at = at, .jump = size}; });
      on_both(faults, "clock jumps backwards", name(-size, at),
              [=](FaultyMachine& machine) { machine.event = {.at = at, .jump = -size}; });
    }
  }
  for (const Nanoseconds size : {s, hour})
    on_both(faults, "machine sleeps", name(size, 400 * ms),
            [=](FaultyMachine& machine) { machine.event = {.at = 400 * ms, .sleep = size}; });
}

/// Sets the deadline of the program for as long as it lives.
class Deadline {
 public:
  explicit Deadline(Nanoseconds time) { pace::run_context().deadline = {time, "the test's time is over"}; }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { pace::run_context().deadline.reset(); }
};

void add_time_outs(Faults& faults) {
  const std::pair<const char*, Nanoseconds> moments[] = {{"before it begins", -ms},
                                                         {"after one call", ms},
                                                         {"while checking", 3 * ms},
                                                         {"in the warm-up", 20 * ms},
                                                         {"after few rounds", 60 * ms}};
  for (const auto& [name, after] : moments)
    for (const auto subject : {Subject::fast, Subject::slow})
      faults.push_back({"time-out", std::string(name) + (subject == Subject::fast ? ", fast" : ", slow"), [=] {
                          FaultyMachine machine;
                          const Deadline deadline(machine.now() + after);
                          return aftermath(compare(machine, subject));
                        }});
}

void add_devices(Faults& faults) {
  for (const int call : {1, 2, 20})
    for (const auto subject : {Subject::fast, Subject::slow})
      faults.push_back({"device missing", "from call " + std::to_string(call) + " on", [=] {
                          FaultyMachine machine;
                          int calls = 0;
                          return aftermath(compare(machine, subject, [&] {
                            if (++calls >= call) throw pace::DeviceMissing("cuda:0 was asked for; there is none");
                          }));
                        }});
}

/// A results file where everything took ten times as long as `sample::comparison`, or a tenth, so that the figures
/// alone would pass or fail.
Json stored(double factor) {
  auto result = sample::comparison("case");
  for (auto& row : result.implementations) {
    auto& time = *row.time;
    for (auto* each : {&time.min, &time.q20, &time.median, &time.q80, &time.max}) *each *= factor;
  }
  Json document = pace::report::to_json(
      pace::report::ResultsHeader{.environment = files::environment(), .expires_utc = "2026-12-01T00:00:00Z"});
  document["results"] = Json::array({pace::report::to_json(result)});
  return document;
}

void write(const TemporaryFile& file, const std::string& text) { std::ofstream(file.path()) << text; }

/// Judges a run by a stored baseline of that text.
Aftermath against(const std::string& text, bool twice = false) {
  const TemporaryFile file;
  write(file, text);
  try {
    std::vector<pace::report::ResultsFile> files(twice ? 2 : 1, pace::report::read_results_file(file.path()));
    const pace::report::StoredBaseline baseline(std::move(files), {}, files::environment(),
                                                *pace::report::parse_utc("2026-11-21T00:00:00Z"));
    auto result = sample::comparison("case");
    baseline.judge_all(result);
    return aftermath(result);
  } catch (const pace::InputError&) {
    return {{}, true};
  }
}

void add_baselines(Faults& faults) {
  const auto spoilt = [&](const std::string& kind, const std::string& name, const std::function<void(Json&)>& spoil) {
    const double factor = faults.size() % 2 == 0 ? 10 : 0.1;
    faults.push_back({kind, name, [=] {
                        Json json = stored(factor);
                        spoil(json);
                        return against(lines::text_of(json));
                      }});
  };
  for (const auto& key : pace::report::identity_keys())
    spoilt("baseline of another machine", key, [=](Json& json) { files::change(json["environment"], key); });
  const std::string other = "unusable baseline";
  spoilt(other, "expired", [](Json& json) { json["expires_utc"] = "2026-11-20T23:59:59Z"; });
  spoilt(other, "expired by age", [](Json& json) {
    json.erase("expires_utc");
    json["environment"]["date_utc"] = "2026-10-01T00:00:00Z";
  });
  spoilt(other, "of another schema", [](Json& json) { json["schema_version"] = 99; });
  spoilt(other, "taken under load",
         [](Json& json) { json["results"][0]["conditions"]["disturbances"] = {"The hypervisor gave others 50 %."}; });
  spoilt(other, "without the case", [](Json& json) { json["results"][0]["name"] = "another case"; });
  spoilt(other, "without figures", [](Json& json) {
    for (auto& row : json["results"][0]["implementations"]) {
      row["outcome"] = "refused";
      row["time"] = nullptr;
    }
  });
  spoilt(other, "with a time of zero", [](Json& json) {
    for (auto& row : json["results"][0]["implementations"]) row["time"]["median_ns"] = 0;
  });
  faults.push_back({other, "copied", [] { return against(lines::text_of(stored(10)), true); }});
}

void add_broken_files(Faults& faults) {
  const std::string whole = lines::text_of(stored(10));
  for (const double part : {0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999})
    faults.push_back(
        {"broken file", "cut off at " + std::to_string(part),
         [=] { return against(whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size())))); }});
  for (const std::string text : {"", "null", "[]", "{}", "{\"schema_version\": 3}\n", "\x1f\x8b\x08 gzip"})
    faults.push_back({"broken file", '\'' + text + '\'', [=] { return against(text); }});
}

void add_full_disks(Faults& faults) {
  const auto full = [&](const std::string& name, const std::function<std::unique_ptr<pace::report::Sink>()>& make) {
    faults.push_back({"full disk", name, [=] {
                        pace::report::FanOut sinks([](const std::string&) {});
                        auto result = sample::comparison("case");
                        result.conditions.disturbances = {"so that there is something to write"};
                        try {
                          sinks.add(make());
                        } catch (const pace::Error&) {
                          return Aftermath{{}, true};
                        }
                        sinks.write(result);
                        sinks.finish();
                        // A failed write makes the program's exit code 1.
                        return Aftermath{{}, sinks.failures() > 0};
                      }});
  };
  const std::string disk = "/dev/full";
  full("csv", [=] { return std::make_unique<pace::report::CsvSink>(disk); });
  full("json", [=] { return std::make_unique<pace::report::JsonSink>(disk, pace::report::ResultsHeader{}); });
  full("junit", [=] { return std::make_unique<pace::report::JUnitSink>(disk, pace::report::Environment{}); });
  full("warnings", [=] { return std::make_unique<pace::runner::WarningsSink>(disk); });
  faults.push_back({"full disk", "infrastructure", [=] {
                      pace::runner::InfrastructureSink sink(disk);
                      sink.tell("machine", "so that there is something to write");
                      try {
                        sink.leave();
                      } catch (const pace::Error&) {
                        return Aftermath{{}, true};
                      }
                      return Aftermath{{}, false};
                    }});
  full("baseline", [=] {
    pace::runner::BaselineOptions options;
    options.save = disk;
    return pace::runner::baseline_sink(options, {});
  });
}

Faults all_faults() {
  Faults faults;
  add_load(faults);
  add_events(faults);
  add_time_outs(faults);
  add_devices(faults);
  add_baselines(faults);
  add_broken_files(faults);
  add_full_disks(faults);
  return faults;
}

}  // namespace

TEST_CASE("without a fault, the claim passes and the guard fails") {
  FaultyMachine machine;
  const auto fast = compare(machine, Subject::fast), slow = compare(machine, Subject::slow);
  CHECK(fast["new"].judgements.at(0).verdict == pace::Verdict::passed);
  CHECK(slow["new"].judgements.at(0).verdict == pace::Verdict::failed);
  CHECK_THAT(fast.conditions.disturbances, Catch::Matchers::IsEmpty());
  CHECK(fast.conditions.waiting == 0.0);
  // The moments of the events above lie within the rounds.
  CHECK(fast.elapsed > 0.4 * s);
  CHECK(against(lines::text_of(stored(10))).judgements.at(0).verdict == pace::Verdict::passed);
  CHECK(against(lines::text_of(stored(0.1))).judgements.at(0).verdict == pace::Verdict::failed);
}

TEST_CASE(
    "the deadline of the program ends the rounds: a guard is decided by then, a claim lacks questions after them") {
  {
    FaultyMachine machine;
    const Deadline deadline(machine.now() + 300 * ms);
    CHECK(compare(machine, Subject::slow)["new"].judgements.at(0).verdict == pace::Verdict::failed);
  }
  FaultyMachine machine;
  const Deadline deadline(machine.now() + 300 * ms);
  const auto result = compare(machine, Subject::fast);
  CHECK(result.stop_reason == pace::StopReason::deadline);
  CHECK(machine.now() - (s + 300 * ms) < 20 * ms);
  CHECK(result["new"].context.describe(pace::Severity::cut_short) == "the test's time is over");
  CHECK(
      result["new"].context.describe(pace::Severity::unchecked) ==
      "it was not checked further after the rounds, since the time limit had passed; try: give the program more time");
  CHECK(result["new"].judgements.at(0).verdict == pace::Verdict::undecided);
  CHECK_THAT(result["new"].judgements.at(0).message, !Catch::Matchers::ContainsSubstring("--budget"));
}

TEST_CASE("a comparison that is not reached is told all the same, is not incorrect, and passes no claim") {
  FaultyMachine machine;
  int told = 0;
  pace::run_context().on_result([&](const pace::Result&) { ++told; });
  const Deadline deadline(machine.now());
  const auto result = compare(machine, Subject::slow);
  pace::run_context().clear_listeners();
  CHECK(told == 1);
  for (const auto& row : result.implementations) CHECK(row.outcome == pace::Outcome::unreached);
  CHECK(result["new"].judgements.at(0).message == "'new' was not measured\nwhy: the test's time is over");
  CAPTURE(result);
  CHECK(pace::Correct().match(result));
  CHECK_FALSE((!pace::Correct()).match(result));
  CHECK_FALSE(pace::SpeedupAtLeast(1.2).match(result["new"]));
}

TEST_CASE("load that a machine always has, and a hiccup, change no verdict") {
  const auto spoil =
      GENERATE(std::function<void(FaultyMachine&)>([](FaultyMachine& machine) { machine.steal = 0.1; }),
               std::function<void(FaultyMachine&)>([](FaultyMachine& machine) { machine.waiting = 0.1; }),
               std::function<void(FaultyMachine&)>([](FaultyMachine& machine) { machine.others = 0.5; }),
               std::function<void(FaultyMachine&)>(
                   [](FaultyMachine& machine) { machine.event = {.at = 400 * ms, .stop = 200 * ms}; }),
               std::function<void(FaultyMachine&)>(
                   [](FaultyMachine& machine) { machine.event = {.at = 400 * ms, .jump = ms}; }));
  FaultyMachine machine;
  spoil(machine);
  const auto result = compare(machine, Subject::fast);
  INFO(result["new"].outcome << ": " << result["new"].message);
  const auto& judgement = result["new"].judgements.at(0);
  INFO(judgement.message);
  CHECK(judgement.verdict == pace::Verdict::passed);
}

/// A claim on a candidate of 1 us against a baseline of 2 us. The clock takes `first_reading` for its first reading in
/// each sample, and shows `rate` seconds in a second of the candidate.
pace::Judgement claim_by_clock(Nanoseconds first_reading, double rate) {
  FaultyMachine machine;
  machine.first_reading = first_reading;
  const auto call = [&machine](Nanoseconds takes, double shown) {
    return [&machine, takes, shown](const at::Tensor& x) {
      machine.rate = shown;
      machine.advance(takes);
      machine.rate = 1;
      return at::add(x, 1);
    };
  };
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.max_interference = 0.2;
  options.stop = pace::StopPolicy::budget;
  options.budget = 0.1 * s;
  const auto result = pace::compare("case", at::ones({4}))
                          .options(options)
                          .baseline("old", call(Nanoseconds(2e3), 1))
                          .candidate("new", call(Nanoseconds(1e3), rate))
                          .expect(pace::SpeedupAtLeast(1.2))
                          .run(machine);
  return result["new"].judgements.at(0);
}

TEST_CASE("a clock that takes longer to be read than at other times does not run differently") {
  // A first reading of 1 us is 2 % of a sample of the candidate, and 1 % of one of the baseline.
  const auto judgement = claim_by_clock(Nanoseconds(1e3), 1);
  INFO(judgement.message);
  CHECK(judgement.verdict == pace::Verdict::passed);
}

TEST_CASE("a clock that hides time is seen, however long its readings take") {
  const auto& [first_reading, rate] =
      GENERATE(std::pair(Nanoseconds(0), 0.99), std::pair(Nanoseconds(1e3), 0.97), std::pair(Nanoseconds(2e4), 0.9));
  const auto judgement = claim_by_clock(first_reading, rate);
  INFO(judgement.message);
  CHECK(judgement.verdict == pace::Verdict::invalid);
  CHECK_THAT(judgement.message,
             Catch::Matchers::ContainsSubstring("\ntry: leave clock_gettime() as the system has it"));
}

TEST_CASE("no fault is a verdict, and no claim passes on one") {
  static const Faults faults = all_faults();
  const auto& fault = faults[GENERATE(range(std::size_t{0}, all_faults().size()))];
  INFO(fault.kind << ": " << fault.name);
  const Aftermath after = fault.inject();
  if (!after.refused) CHECK(after.judgements.size() > 0);
  for (const auto& judgement : after.judgements) {
    INFO(judgement.verdict << ": " << judgement.message);
    CHECK(judgement.verdict != pace::Verdict::passed);
    CHECK(judgement.verdict != pace::Verdict::failed);
    // Claims are closed by anything but proof; an invalid result closes guards, too.
    const bool claim = judgement.expectation.starts_with("speed-up of at least");
    if (claim || judgement.verdict == pace::Verdict::invalid) CHECK_FALSE(judgement.acceptable);
    CHECK(judgement.message.size() > 20);
  }
}

TEST_CASE("the faults are a hundred at least") {
  const Faults faults = all_faults();
  std::map<std::string, int> kinds;
  for (const auto& fault : faults) ++kinds[fault.kind];
  for (const auto& [kind, count] : kinds) std::printf("%4d  %s\n", count, kind.c_str());
  std::printf("%4zu  in all\n", faults.size());
  CHECK(faults.size() >= 100);
  CHECK(kinds.size() >= 13);
}
