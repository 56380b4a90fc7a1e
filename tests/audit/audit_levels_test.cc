// Audit::off, standard and strict: the findings of each level, the cheats that it lets pass, and its cost.
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>

#include "pace/check/clone_input.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "tests/support/comparisons.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using pace::Audit;
using pace::Outcome;
using pace::test::costing;
using pace::test::FakeClock;

/// Bytes of all large blocks that are in use, and the most that were at one time.
std::size_t in_use = 0, most_in_use = 0;

constexpr std::size_t large_block = std::size_t{1} << 20;

pace::Options options_with(Audit audit) {
  auto options = pace::test::few_rounds();
  options.audit = audit;
  return options;
}

struct Run {
  pace::Result result;
  int calls_of_baseline = 0;
};

template <class Candidate>
Run run(Audit audit, const at::Tensor& x, const Candidate& candidate) {
  FakeClock clock;
  Run run;
  run.result = pace::compare("case", x)
                   .options(options_with(audit))
                   .baseline("old", costing(clock, 300,
                                            [&run](const at::Tensor& t) {
                                              ++run.calls_of_baseline;
                                              return at::softmax(t, -1);
                                            }))
                   .candidate("new", costing(clock, 100, candidate))
                   .expect("new", pace::SpeedupAtLeast(1.01))
                   .run(clock);
  return run;
}

}  // namespace

// LibTorch's allocator calls these of the program.
extern "C" int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  *out = ::memalign(alignment, bytes);
  if (*out == nullptr) return ENOMEM;
  if (const std::size_t size = ::malloc_usable_size(*out); size >= large_block) in_use += size;
  most_in_use = std::max(most_in_use, in_use);
  return 0;
}
extern "C" void __libc_free(void*);
extern "C" void free(void* memory) {
  if (memory == nullptr) return;
  if (const std::size_t size = ::malloc_usable_size(memory); size >= large_block && size <= in_use) in_use -= size;
  __libc_free(memory);
}

namespace {

TEST_CASE("a right candidate has figures and a verdict at each level, which the result names") {
  const Audit audit = GENERATE(Audit::off, Audit::standard, Audit::strict);
  const auto [result, calls] = run(audit, at::randn({4, 64}), [](const at::Tensor& t) { return at::softmax(t, -1); });
  CHECK(result["new"].outcome == Outcome::measured);
  CHECK(result["new"].judgements.at(0).verdict == pace::Verdict::passed);
  CHECK(result.audit == pace::to_string(audit));
}

TEST_CASE("each level makes more calls than the one before") {
  const auto calls_at = [](Audit audit) {
    return run(audit, at::randn({4, 64}), [](const at::Tensor& t) { return at::softmax(t, -1); }).calls_of_baseline;
  };
  const int off = calls_at(Audit::off), standard = calls_at(Audit::standard), strict = calls_at(Audit::strict);
  INFO(off << ", " << standard << ", " << strict);
  CHECK(off < standard);
  CHECK(standard < strict);
}

TEST_CASE("a wrong output for the inputs given is found at each level") {
  const Audit audit = GENERATE(Audit::off, Audit::standard, Audit::strict);
  const auto [result, calls] =
      run(audit, at::randn({4, 64}), [](const at::Tensor& t) { return at::softmax(t, -1).mul(1.01); });
  CHECK(result["new"].outcome == Outcome::wrong);
}

TEST_CASE("a candidate that is right for the inputs given alone is found from standard on") {
  const at::Tensor x = at::randn({4, 64});
  const at::Tensor answer = at::softmax(x, -1);
  const auto candidate = [answer](const at::Tensor&) { return answer.clone(); };
  CHECK(run(Audit::off, x, candidate).result["new"].outcome == Outcome::measured);
  for (const Audit audit : {Audit::standard, Audit::strict}) {
    const auto [result, calls] = run(audit, x, candidate);
    CHECK(result["new"].outcome == Outcome::wrong);
    CHECK_THAT(result["new"].message, ContainsSubstring("not computed"));
  }
}

TEST_CASE("an operand that a timed call changes is found at each level") {
  const Audit audit = GENERATE(Audit::off, Audit::standard, Audit::strict);
  int calls = 0;
  const auto [result, of_baseline] = run(audit, at::randn({4, 64}), [&calls](const at::Tensor& t) {
    const at::Tensor answer = at::softmax(t, -1);
    if (++calls > 40) t.select(0, 0).fill_(7);
    return answer;
  });
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK_THAT(result["new"].message, ContainsSubstring("operand tensor 0"));
}

TEST_CASE("without an audit, the one of two candidates that changes an operand is dropped, and the other measured") {
  FakeClock clock;
  int calls = 0;
  const auto softmax = [](const at::Tensor& t) { return at::softmax(t, -1); };
  const auto writes = [&](const at::Tensor& t) {
    const at::Tensor answer = softmax(t);
    if (++calls > 40) t.select(0, 0).fill_(7);
    return answer;
  };
  auto comparison = pace::compare("case", at::randn({4, 64})).options(options_with(Audit::off));
  comparison.baseline("old", costing(clock, 300, softmax));
  comparison.candidate("writes", costing(clock, 100, writes)).candidate("reads", costing(clock, 100, softmax));
  const auto result = comparison.run(clock);
  CHECK(result["writes"].outcome == Outcome::wrong);
  CHECK_THAT(result["writes"].message, ContainsSubstring("operand tensor 0"));
  CHECK(result["reads"].outcome == Outcome::measured);
}

TEST_CASE("without an audit, all candidates are dropped where none changes an operand a second time") {
  FakeClock clock;
  int calls = 0;
  const auto softmax = [](const at::Tensor& t) { return at::softmax(t, -1); };
  const auto writes_once = [&](const at::Tensor& t) {
    const at::Tensor answer = softmax(t);
    if (++calls == 41) t.select(0, 0).fill_(7);
    return answer;
  };
  const auto compare = [&] {
    calls = 0;
    auto comparison = pace::compare("case", at::randn({4, 64})).options(options_with(Audit::off));
    comparison.baseline("old", costing(clock, 300, softmax)).candidate("writes", costing(clock, 100, writes_once));
    return comparison;
  };
  const std::string says = "correct at first, but not in a timed call: ";
  const auto alone = compare().run(clock);
  CHECK(alone["writes"].outcome == Outcome::wrong);
  CHECK_THAT(alone["writes"].message, StartsWith(says));
  const auto result = compare().candidate("reads", costing(clock, 100, softmax)).run(clock);
  CHECK(result["old"].outcome == Outcome::measured);
  for (const char* const name : {"writes", "reads"}) {
    CHECK(result[name].outcome == Outcome::wrong);
    CHECK_THAT(result[name].message, StartsWith("it or another candidate: " + says));
  }
}

TEST_CASE("an exponential that overflows for large values is found from standard on") {
  const at::Tensor x = at::randn({4, 64});
  const auto candidate = [](const at::Tensor& t) {
    const at::Tensor e = t.exp();
    return e.div(e.sum(-1, true));
  };
  CHECK(run(Audit::off, x, candidate).result["new"].outcome == Outcome::measured);
  CHECK(run(Audit::standard, x, candidate).result["new"].outcome == Outcome::wrong);
}

TEST_CASE("what keeps answers by their operands' values is found by strict alone") {
  // It computes for unseen values and remembers them, by their content: right, but fast in repeated calls only.
  FakeClock clock;
  const at::Tensor x = at::randn({4, 64});
  const auto run_at = [&](Audit audit) {
    std::optional<at::Tensor> known, answer;
    return pace::compare("case", x)
        .options(options_with(audit))
        .baseline("old", costing(clock, 300, [](const at::Tensor& t) { return at::softmax(t, -1); }))
        .candidate("new",
                   [&clock, known, answer](const at::Tensor& t) mutable {
                     if (!known || !known->equal(t)) {
                       clock.advance(pace::Nanoseconds(3000));
                       known = t.clone();
                       answer = at::softmax(t, -1);
                     }
                     clock.advance(pace::Nanoseconds(100));
                     return answer->clone();
                   })
        .expect("new", pace::SpeedupAtLeast(1.01))
        .run(clock);
  };
  CHECK(run_at(Audit::standard)["new"].judgements.at(0).verdict == pace::Verdict::passed);
  CHECK(run_at(Audit::strict)["new"].judgements.at(0).verdict == pace::Verdict::failed);
}

TEST_CASE("random numbers are drawn anew in each round, at each level") {
  auto options = options_with(GENERATE(Audit::off, Audit::standard, Audit::strict));
  pace::test::FakeClock clock;
  std::set<float> first_of_output;
  // A sample is one call.
  const auto draw = pace::test::costing(clock, 2000, [&](const at::Tensor& x) {
    const auto drawn = at::rand_like(x);
    first_of_output.insert(drawn[0].item<float>());
    return drawn;
  });
  const auto result = pace::compare("case", at::ones({64}))
                          .options(options)
                          .random()
                          .baseline("old", draw)
                          .candidate("new", draw)
                          .run(clock);
  CHECK(result["new"].outcome == Outcome::measured);
  CHECK(first_of_output.size() >= result.rounds);
}

TEST_CASE("large operands are copied as seldom as can be") {
  FakeClock clock;
  const at::Tensor x = at::randn({3 << 20}), y = at::randn({3 << 20});
  const auto bytes_of_call = static_cast<double>(3 * x.nbytes());
  in_use = most_in_use = 0;
  auto options = options_with(Audit::standard);
  options.max_rounds = 4;
  const auto result =
      pace::compare("add", x, y)
          .options(options)
          .baseline("a", costing(clock, 300, [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }))
          .candidate("b", costing(clock, 300, [](const at::Tensor& a, const at::Tensor& b) { return at::add(b, a); }))
          .run(clock);
  REQUIRE(result["b"].outcome == Outcome::measured);
  INFO(static_cast<double>(most_in_use) / bytes_of_call << " times the memory of operands and outputs");
  // The blocks are counted: an answer on unseen values and the sets of both sides lie there together.
  CHECK(static_cast<double>(most_in_use) > 2 * bytes_of_call);
  CHECK(static_cast<double>(most_in_use) < 7.4 * bytes_of_call);
  bool noted = false;
  for (const auto& note : result.notes)
    noted = noted || note.find("--audit strict, which tries them") != std::string::npos;
  CHECK(noted);
}

TEST_CASE("a baseline that takes no more unseen values of large operands is noted, and the candidate is measured") {
  FakeClock clock;
  const at::Tensor given = at::randn({5 << 20});
  auto options = options_with(Audit::standard);
  options.max_rounds = 4;
  int unseen = 0;
  const auto at_first = [&](const at::Tensor& x) {
    if (!x.equal(given) && ++unseen > 8) throw std::runtime_error("no more");
    return at::add(x, 1);
  };
  const auto result = pace::compare("add", given)
                          .options(options)
                          .baseline("a", costing(clock, 300, at_first))
                          .candidate("b", costing(clock, 300, [](const at::Tensor& x) { return at::add(x, 1); }))
                          .run(clock);
  CAPTURE(result.notes, unseen);
  CHECK(result["b"].outcome == Outcome::measured);
  CHECK(std::ranges::count(result.notes,
                           "No more calls were made on unseen values: the baseline took none of those that were drawn "
                           "last.") == 1);
}

TEST_CASE("many implementations share one set of large operands") {
  FakeClock clock;
  const at::Tensor x = at::randn({5 << 20});
  auto options = options_with(Audit::off);
  options.max_rounds = 4;
  auto comparison = pace::compare("neg", x);
  const auto neg = costing(clock, 300, [](const at::Tensor& t) { return t.neg(); });
  comparison.options(options).baseline("a", neg).candidate("b", neg).candidate("c", neg).candidate("d", neg);
  const auto result = comparison.run(clock);
  bool noted = false;
  for (const auto& note : result.notes)
    noted = noted || note.find("share one set of operands: 4 copies of 21.0 MB") != std::string::npos;
  CHECK(noted);
}

}  // namespace
