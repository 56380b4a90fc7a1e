// Gates of pairs with a known ratio, to count right, undecided and wrong verdicts beside other work.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>

#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/timing/do_not_optimize.hpp"

namespace {

using pace::Verdict;

/// Adds up a buffer of 16 kB some times, in about 4 us each. The result does not depend on how often. It writes one
/// number: with outputs of 16 kB a verdict was once wrong (docs/reliability.md).
struct Passes {
  std::int64_t count;

  [[gnu::noinline]] static float sum(const float* from, std::int64_t size) {
    float all = 0;
    for (std::int64_t i = 0; i < size; ++i) all += from[i];
    return all;
  }
  at::Tensor operator()(const at::Tensor& x) const {
    at::Tensor out = at::empty({1});
    float all = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      all = sum(x.const_data_ptr<float>(), x.numel());
      pace::do_not_optimize(all);
      pace::clobber_memory();
    }
    *out.mutable_data_ptr<float>() = all;
    return out;
  }
};

struct Pair {
  const char* what;
  double work;  ///< of the candidate, as a share of the baseline's
  pace::Expectation expectation;
  Verdict right;
};

struct Counts {
  int right = 0, undecided = 0, wrong = 0;
  std::vector<double> waiting, seconds;
  /// Of the first gate without the right verdict.
  std::string message;

  void add(const pace::Result& result, const pace::Judgement& found, Verdict expected) {
    const bool is_right = found.verdict == expected, is_open = found.verdict == Verdict::undecided;
    ++(is_right ? right : is_open ? undecided : wrong);
    if (!is_right && message.empty()) message = found.message;
    waiting.push_back(100 * result.conditions.waiting.value_or(0));
    seconds.push_back(result.elapsed.count() / 1e9);
  }
};

Counts run(const Pair& pair, std::int64_t passes, int gates) {
  Counts counts;
  std::random_device seeds;
  for (int i = 0; i < gates; ++i) {
    pace::Options options;
    options.seed = seeds();
    const auto work = static_cast<std::int64_t>(std::llround(static_cast<double>(passes) * pair.work));
    const auto result = pace::compare("pair", at::rand({4096}))
                            .options(options)
                            .baseline("baseline", Passes{passes})
                            .candidate("candidate", Passes{work})
                            .expect(pair.expectation)
                            .run();
    counts.add(result, result["candidate"].judgements.at(0), pair.right);
  }
  return counts;
}

double median(std::vector<double> values) { return pace::stats::median(pace::stats::sorted(std::move(values))); }

/// Fastest time of a call, in milliseconds.
double milliseconds_of(std::int64_t passes) {
  const at::Tensor x = at::rand({4096});
  double fastest = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    (void)Passes{passes}(x);
    fastest =
        std::min(fastest, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return fastest;
}

/// A whole number from 1 on; 0 for any other text.
std::int64_t number(const char* text) {
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  return *text != '\0' && *end == '\0' && value > 0 && value <= 100'000'000 ? value : 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> numbers;
  for (int i = 1; i < argc; ++i) numbers.push_back(number(argv[i]));
  if (numbers.size() < 2 || std::find(numbers.begin(), numbers.end(), 0) != numbers.end()) {
    std::fputs("usage: pairs GATES PASSES..., whole numbers from 1 on; gates of each pair, and passes of a call\n",
               stderr);
    return 2;
  }
  at::set_num_threads(1);
  const std::array<Pair, 4> pairs{{
      {"same    NoSlowerThan(1.02)", 1, pace::NoSlowerThan(1.02), Verdict::passed},
      {"+5 %    NoSlowerThan(1.02)", 1.05, pace::NoSlowerThan(1.02), Verdict::failed},
      {"same    SpeedupAtLeast(1.02)", 1, pace::SpeedupAtLeast(1.02), Verdict::failed},
      {"-5 %    SpeedupAtLeast(1.02)", 0.95, pace::SpeedupAtLeast(1.02), Verdict::passed},
  }};
  std::printf("%-9s %-29s %6s %10s %6s %8s %8s\n", "call", "pair", "right", "undecided", "wrong", "waited", "seconds");
  int wrong = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    for (const auto& pair : pairs) {
      const Counts counts = run(pair, numbers[i], static_cast<int>(numbers[0]));
      wrong += counts.wrong;
      std::printf("%6.2f ms %-29s %6d %10d %6d %6.0f %% %8.2f\n", milliseconds_of(numbers[i]), pair.what, counts.right,
                  counts.undecided, counts.wrong, median(counts.waiting), median(counts.seconds));
      if (!counts.message.empty()) std::printf("    %s\n", counts.message.c_str());
      std::fflush(stdout);
    }
  // Without pace's main function a failure that no matcher has examined would decide the exit code.
  std::_Exit(wrong == 0 ? 0 : 1);
}
