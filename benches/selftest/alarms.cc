// A/A: how often does a gate say something of identical code, and how often do the rules of others?
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/bounds.hpp"
#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/progress.hpp"
#include "benches/selftest/quiet.hpp"
#include "benches/selftest/replay.hpp"
#include "benches/selftest/rules_of_others.hpp"
#include "benches/selftest/settings.hpp"
#include "benches/selftest/subjects.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/output_file.hpp"
#include "pace/stats/multiplicity.hpp"

namespace {

using namespace pace::benches::selftest;
using pace::ImplementationResult;
using pace::Verdict;

/// Rounds of a gate, for any verdict of it: the others get all of them.
constexpr std::size_t rounds = 300;

constexpr double alpha = 1e-3, suite_alpha = 0.01;
constexpr std::size_t suite = 100;

/// A gate of pace's, and the wrong verdict on identical code.
struct OwnGate {
  std::string name;
  pace::Expectation expectation;
  Verdict alarm;
};

std::vector<OwnGate> own_gates() {
  return {{"pace, NoSlowerThan(1.00)", pace::NoSlowerThan(1.00), Verdict::failed},
          {"pace, NoSlowerThan(1.02)", pace::NoSlowerThan(1.02), Verdict::failed},
          {"pace, SpeedupAtLeast(1.00)", pace::SpeedupAtLeast(1.00), Verdict::passed},
          {"pace, SpeedupAtLeast(1.02)", pace::SpeedupAtLeast(1.02), Verdict::passed}};
}

/// The same guards as one of a hundred gates that share a promise.
std::vector<OwnGate> suite_gates() {
  const double share = pace::stats::alpha_share(suite_alpha, suite);
  std::vector<OwnGate> gates;
  for (const double factor : {1.00, 1.02}) {
    gates.push_back({"suites of 100, NoSlowerThan(" + std::string(factor == 1 ? "1.00" : "1.02") + ")",
                     pace::NoSlowerThan(factor).alpha(share), Verdict::failed});
  }
  return gates;
}

struct Tally {
  std::size_t slower = 0, faster = 0;
  void add(Claim claim) {
    slower += claim == Claim::slower;
    faster += claim == Claim::faster;
  }
  [[nodiscard]] std::size_t both() const { return slower + faster; }
};

std::vector<double> times_of(const ImplementationResult& row) {
  std::vector<double> times;
  for (const auto sample : row.samples) times.push_back(sample.count());
  return times;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : pace::stats::median(values);
}

/// The file of --log, if that is given.
std::optional<pace::OutputFile> log_file;

class Alarms {
 public:
  Alarms() : own_alarms_(own_.size()), suite_alarms_(suites_.size()), rotten_(suites_.size()) {
    if (!log_) return;
    std::string head = "gate,subject,rounds,cycle_us,log_ratio,deviation";
    for (const auto& each : own_) head += ",\"" + each.name + "\",cycles";
    for (const auto& each : rules_of_others) head += ",\"" + std::string(each.name) + "\",one after the other";
    log_->begin_with(head + '\n');
  }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;
  void add(const pace::Result& result) {
    const auto& candidate = result["candidate"];
    const auto& ratios = candidate.log_ratios;
    ++gates_;
    const double cycle_us = candidate.context.cycle.count() / 1e3;
    write("%zu,%s,%zu,%.1f,%.6f,%.6f", gates_, result.name.c_str(), result.rounds, cycle_us, middle(ratios),
          std::sqrt(moments(ratios).variance));
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const auto found = replay(own_[i].expectation, ratios);
      own_alarms_[i] += found.verdict == own_[i].alarm;
      if (i == guard_) {
        undecided_ += found.verdict == Verdict::undecided;
        cycles_.push_back(static_cast<double>(found.cycles));
        milliseconds_.push_back(static_cast<double>(found.cycles) * cycle_us / 1e3);
      }
      write(",%s,%zu", to_string(found.verdict), found.cycles);
    }
    for (std::size_t i = 0; i < suites_.size(); ++i) {
      const bool alarm = replay(suites_[i].expectation, ratios).verdict == suites_[i].alarm;
      suite_alarms_[i] += alarm;
      rotten_[i] = rotten_[i] || alarm;
      if (gates_ % suite == 0) {
        rotten_suites_[i] += rotten_[i];
        rotten_[i] = false;
      }
    }
    const auto before = times_of(result.baseline()), after = times_of(candidate);
    const TwoSamples all{before, after};
    const std::size_t half = before.size() / 2;
    const TwoSamples halves{std::span(before).first(half), std::span(after).subspan(half)};
    for (std::size_t i = 0; i < rules_of_others.size(); ++i) {
      const Claim paired = rules_of_others[i].judge(all), in_turn = rules_of_others[i].judge(halves);
      paired_[i].add(paired);
      in_turn_[i].add(in_turn);
      write(",%d,%d", static_cast<int>(paired), static_cast<int>(in_turn));
    }
    write("\n");
  }

  void print() const {
    std::printf("\nA/A: %zu gates of identical code, %zu samples a side\n", gates_, rounds);
    std::printf("%-46s %10s %9s %11s   %s\n", "rule", "claims", "rate", "at most", "one side after the other");
    std::printf("%-46s %10s %9s %11s   %s\n", "", "", "", "(95 %)", "(half of the same samples)");
    for (std::size_t i = 0; i < own_.size(); ++i) line(own_[i].name, own_alarms_[i], gates_);
    for (std::size_t i = 0; i < suites_.size(); ++i) line(suites_[i].name + ", a gate", suite_alarms_[i], gates_);
    for (std::size_t i = 0; i < suites_.size(); ++i)
      if (gates_ >= suite) line(suites_[i].name + ", a suite", rotten_suites_[i], gates_ / suite);
    for (std::size_t i = 0; i < rules_of_others.size(); ++i)
      line(std::string(rules_of_others[i].name), paired_[i].both(), gates_, &in_turn_[i]);
    std::printf("NoSlowerThan(1.02): %.2f %% undecided after %zu rounds; median %.0f cycles, %.1f ms to the verdict\n",
                100 * static_cast<double>(undecided_) / static_cast<double>(gates_), rounds, middle(cycles_),
                middle(milliseconds_));
    std::fflush(stdout);
  }

  [[nodiscard]] std::size_t gates() const { return gates_; }
  [[nodiscard]] std::string remark() const {
    std::string text = "alarms";
    for (const std::size_t each : own_alarms_) text += ' ' + std::to_string(each);
    return text;
  }
  [[nodiscard]] const std::vector<std::size_t>& own_alarms() const { return own_alarms_; }
  [[nodiscard]] const std::vector<std::size_t>& suite_alarms() const { return suite_alarms_; }
  [[nodiscard]] const std::string& own_name(std::size_t i) const { return own_[i].name; }

 private:
  template <class... Values>
  void write(const char* format, Values... values) {
    if (!log_) return;
    std::array<char, 512> text;
    const int length = std::snprintf(text.data(), text.size(), format, values...);
    log_->append({text.data(), std::min(static_cast<std::size_t>(length), text.size() - 1)});
  }
  void write(const char* text) {
    if (log_) log_->append(text);
  }
  static void line(const std::string& name, std::size_t claims, std::size_t tries, const Tally* in_turn = nullptr) {
    std::printf("%-46s %10zu %8.3f%% %10.4f%%", name.c_str(), claims,
                100 * static_cast<double>(claims) / static_cast<double>(tries), 100 * upper_bound(claims, tries));
    if (in_turn != nullptr)
      std::printf("   %.2f %%", 100 * static_cast<double>(in_turn->both()) / static_cast<double>(tries));
    std::printf("\n");
  }

  std::vector<OwnGate> own_ = own_gates(), suites_ = suite_gates();
  /// The index in own_ of the guard with a margin, which is the usual one.
  static constexpr std::size_t guard_ = 1;
  std::size_t gates_ = 0, undecided_ = 0;
  std::vector<std::size_t> own_alarms_, suite_alarms_;
  std::vector<bool> rotten_;
  std::array<std::size_t, 2> rotten_suites_{};
  std::vector<double> cycles_, milliseconds_;
  std::array<Tally, rules_of_others.size()> paired_{}, in_turn_{};
  std::optional<pace::OutputFile>& log_ = log_file;
};

TEST_CASE("identical code raises no more alarms than promised", "[aa]") {
  const Quiet quiet;
  const std::size_t planned = settings().gates;
  Alarms alarms;
  Progress progress("A/A gates", planned);
  const Deadline deadline(std::chrono::seconds(12));
  for (std::size_t gate = 0; gate < planned && !deadline.over(); ++gate) {
    auto options = fresh_options();
    options.max_rounds = rounds;
    options.budget = options.hard_limit = std::chrono::seconds(20);
    const auto result = compare_subject(gate, options);
    REQUIRE(result["candidate"].outcome == pace::Outcome::measured);
    alarms.add(result);
    progress.show(gate + 1, alarms.remark());
    if (settings().long_form && (gate + 1) % 1000 == 0 && gate + 1 < planned) alarms.print();
  }
  alarms.print();
  // A gate's chance is at most alpha for any findings of the gates before it. So the binomial distribution of `planned`
  // gates bounds the count, also if time ran out.
  for (std::size_t i = 0; i < alarms.own_alarms().size(); ++i) {
    INFO(alarms.own_name(i) << ": " << alarms.own_alarms()[i] << " alarms in " << alarms.gates() << " gates");
    CHECK(alarms.own_alarms()[i] < too_many(planned, alpha, check_error));
  }
  for (const std::size_t each : alarms.suite_alarms()) {
    INFO(each << " alarms in " << alarms.gates() << " gates of suites of " << suite);
    CHECK(each < too_many(planned, suite_alpha / suite, check_error));
  }
}

}  // namespace

void pace::benches::selftest::open_log() {
  if (!settings().log.empty()) log_file.emplace(pace::output_path(settings().log));
}
