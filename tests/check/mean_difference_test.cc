// MeanDifference: it tells equal sources apart as rarely as the permutation test promises, for any distribution.
#include "pace/check/mean_difference.hpp"

#include <ATen/ops/equal.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "pace/base/random.hpp"
#include "values.hpp"

namespace {

using pace::check::ElementMoments;
using pace::check::MeanDifference;

/// Draws of `elements` float64 numbers, each `number(random, place)`.
struct Source {
  std::function<double(pace::SplitMix64&, int place)> number;
  int elements = 3;
  std::uint64_t seed = 1;
  pace::SplitMix64 random{seed};

  [[nodiscard]] std::vector<at::Tensor> draw() {
    std::vector<double> values;
    for (int place = 0; place < elements; ++place) values.push_back(number(random, place));
    return {doubles(values)};
  }
};

double uniform(pace::SplitMix64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// The test after the first draws of both.
MeanDifference first_draws(Source& expected, Source& actual) {
  ElementMoments of_expected, of_actual;
  for (int i = 0; i < 8; ++i) {
    of_expected.add(expected.draw());
    of_actual.add(actual.draw());
  }
  return {of_expected, of_actual, [](std::size_t) { return false; }};
}

/// How many pairs of further draws the test goes through.
int pairs_until_closed(Source& expected, Source& actual, std::string& problem) {
  auto difference = first_draws(expected, actual);
  int pairs = 0;
  for (; difference.open(); ++pairs) difference.add(expected.draw(), actual.draw());
  problem = difference.problem();
  return pairs;
}

}  // namespace

TEST_CASE("means and variances of draws, by hand") {
  ElementMoments moments;
  for (const double draw : {1.0, 3.0, 8.0}) moments.add({doubles({draw, 2})});
  CHECK(at::equal(moments.mean(0), doubles({4, 2})));
  CHECK(at::equal(moments.variance(0), doubles({13, 0})));
}

TEST_CASE("equal sources of any distribution go on for n pairs with a probability of at most 2 / C(2 n, n)") {
  const auto normal = [](pace::SplitMix64& random, int) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform(random);
    return sum;
  };
  const auto heavy = [](pace::SplitMix64& random, int) { return std::pow(uniform(random) + 1e-12, -1.5); };
  const auto coin = [](pace::SplitMix64& random, int place) { return uniform(random) < 0.1 * (place + 1) ? 1.0 : 0.0; };
  const auto rare = [](pace::SplitMix64& random, int) { return uniform(random) < 0.01 ? 1000.0 : 0.0; };
  const auto skewed = [](pace::SplitMix64& random, int place) { return place - std::log(uniform(random) + 1e-12); };
  for (const auto& number :
       std::vector<std::function<double(pace::SplitMix64&, int)>>{normal, heavy, coin, rare, skewed}) {
    constexpr int comparisons = 2000;
    // After n pairs, added by one: counted for n = 1 to 5, where the probabilities are large enough to count.
    std::vector<int> open_after(MeanDifference::most_pairs + 1, 0);
    for (int i = 0; i < comparisons; ++i) {
      Source expected{.number = number, .seed = 2 * static_cast<std::uint64_t>(i) + 1};
      Source actual{.number = number, .seed = 2 * static_cast<std::uint64_t>(i) + 2};
      std::string problem;
      const int pairs = pairs_until_closed(expected, actual, problem);
      REQUIRE(problem.empty());
      for (int n = 1; n < pairs; ++n) ++open_after[static_cast<std::size_t>(n)];
    }
    double orders = 1;
    for (int n = 1; n <= MeanDifference::most_pairs; ++n) {
      orders *= 2.0 * (2 * n - 1) / n;
      const double most = std::min(1.0, 2 / orders) * comparisons;
      // Five standard deviations of a Poisson number.
      INFO(n << " pairs: " << open_after[static_cast<std::size_t>(n)] << " of " << comparisons << ", at most " << most);
      if (n <= 5) CHECK(open_after[static_cast<std::size_t>(n)] <= most + 5 * std::sqrt(most));
    }
    // Before and after the rounds, for ten candidates.
    CHECK(20 * 2 / orders <= 1e-6);
  }
}

TEST_CASE("one element of another mean is found, and an equal one beside rounding is none") {
  const auto noise = [](pace::SplitMix64& random, int place) { return place + 0.1 * uniform(random); };
  const auto shifted = [&](pace::SplitMix64& random, int place) {
    return noise(random, place) + (place == 70 ? -1 : 0);
  };
  Source expected{.number = noise, .elements = 100, .seed = 3}, actual{.number = shifted, .elements = 100, .seed = 4};
  std::string problem;
  CHECK(pairs_until_closed(expected, actual, problem) == MeanDifference::most_pairs);
  CHECK_THAT(problem, Catch::Matchers::StartsWith(
                          "its elements have other means than the baseline's: element [70] of output tensor 0 is 69"));
  const auto fixed = [](pace::SplitMix64&, int place) { return place / 3.0; };
  const auto rounded = [](pace::SplitMix64&, int place) { return place * (1 / 3.0); };
  Source exact{.number = fixed, .elements = 100}, other{.number = rounded, .elements = 100};
  CHECK(pairs_until_closed(exact, other, problem) == 0);
  CHECK(problem.empty());
}

TEST_CASE("many elements of slightly other means are found together") {
  const auto number = [](double shift) {
    return [=](pace::SplitMix64& random, int place) { return uniform(random) + (place % 2 == 0 ? shift : -shift); };
  };
  Source expected{.number = number(0), .elements = 2000, .seed = 5};
  Source actual{.number = number(0.15), .elements = 2000, .seed = 6};
  std::string problem;
  CHECK(pairs_until_closed(expected, actual, problem) == MeanDifference::most_pairs);
  CHECK_THAT(problem, Catch::Matchers::StartsWith("its elements have other means"));
}

TEST_CASE("tensors of other shapes, and ones that are left out, are no difference") {
  ElementMoments of_expected, of_actual;
  for (int i = 0; i < 8; ++i) {
    of_expected.add({doubles({1, 2}), doubles({1})});
    of_actual.add({doubles({5, 6}), doubles(std::vector<double>(static_cast<std::size_t>(i) + 1, 7))});
  }
  const MeanDifference left_out(of_expected, of_actual, [](std::size_t i) { return i == 0; });
  CHECK_FALSE(left_out.open());
  MeanDifference changing(of_expected, of_actual, [](std::size_t) { return false; });
  CHECK(changing.open());
  changing.add({doubles({1, 2})}, {doubles({5})});
  CHECK_FALSE(changing.open());
  CHECK(changing.problem().empty());
}
