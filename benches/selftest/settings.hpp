// What the self-test is asked for on its command line, and what each of its parts needs to run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "pace/core/options.hpp"
#include "pace/core/random.hpp"
#include "pace/core/run_context.hpp"

namespace pace::benches::selftest {

/// The defaults are the short form: all together in about a minute on two cores.
struct Settings {
  /// A/A gates; a tenth as many for each line of the power table, two at least.
  std::size_t gates = 200;
  std::size_t processes = 4;
  /// A file for one line per A/A gate; empty for none.
  std::string log;
  /// Whether options ask for more than the short form: then nothing is cut off by time.
  bool long_form = false;
};

inline Settings& settings() {
  static Settings settings;
  return settings;
}

/// Opens the file of --log, if that is given. Throws Error if it cannot be written.
void open_log();

/// A new order in every run, unlike elsewhere: the error rates that are counted here rest on those coins.
[[nodiscard]] inline std::uint64_t fresh_seed() {
  static SplitMix64 seeds((static_cast<std::uint64_t>(std::random_device()()) << 32) ^ std::random_device()());
  return seeds();
}

[[nodiscard]] inline Options fresh_options() {
  Options options = run_context().options;
  options.seed = fresh_seed();
  return options;
}

/// While it lives, no results are published: a table of ten thousand comparisons is of no use.
class Quiet {
 public:
  Quiet() { run_context().swap_listeners(*aside_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() { run_context().swap_listeners(*aside_); }

 private:
  std::unique_ptr<RunContext> aside_ = std::make_unique<RunContext>();
};

/// Ends a part of the short form that a busy machine draws out.
class Deadline {
 public:
  explicit Deadline(std::chrono::seconds after) : end_(std::chrono::steady_clock::now() + after) {}
  [[nodiscard]] bool over() const { return !settings().long_form && std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace pace::benches::selftest
