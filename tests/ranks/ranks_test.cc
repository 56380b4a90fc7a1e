// Comparisons of several ranks, with processes and clocks of the test's own.
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "pace/os/memory.hpp"
#include "pace/ranks.hpp"
#include "pace/subject/background.hpp"
#include "tests/support/fake_clock.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::Outcome;
using pace::ranks::Patience;
using pace::ranks::Rank;

constexpr Nanoseconds us{1e3}, s{1e9};

pace::Options short_options() {
  pace::Options options;
  options.budget = options.least_duration = 0.02 * s;
  options.warm_up = 0.001 * s;
  options.max_interference = 1;
  return options;
}

/// Memory that all processes of a test share.
template <class T>
class Shared {
 public:
  Shared() : memory_(new(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T{}) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(memory_, sizeof(T)); }
  T* operator->() const { return memory_; }
  T& operator*() const { return *memory_; }

 private:
  T* memory_;
};

/// Time passes with each look, so that a rank that hangs is found after a number of looks: 0.2 s of 5 ms. It begins
/// once `ranks` of them are there, however long a busy machine takes until then; at the latest after some minutes, so
/// that a test ends if they never come.
class Impatient {
 public:
  explicit Impatient(int ranks) : ranks_(ranks) {}
  /// A rank calls it where it hangs, throws or waits for one that does.
  void arrive() { ++*there_; }
  /// Looks since then.
  [[nodiscard]] int looks() const { return *looks_; }
  [[nodiscard]] Patience patience() {
    Patience patience;
    patience.silence = 100 * s;
    patience.after_problem = 40 * s;
    patience.now = [this] { return looks() * 0.2 * s; };
    patience.pause = [this, pause = Patience().pause] {
      pause();
      constexpr int latest = 40'000;
      if (*there_ >= ranks_ || ++before_ > latest) ++*looks_;
    };
    return patience;
  }

 private:
  int ranks_, before_ = 0;
  Shared<std::atomic<int>> there_, looks_;
};

/// Adds up the numbers of all ranks.
struct Sum {
  std::atomic<double> of[8];
  /// Returns the sum of what all ranks give.
  double all(Rank& rank, double own) {
    of[rank.number()] = own;
    rank.barrier();
    double sum = 0;
    for (int i = 0; i < rank.count(); ++i) sum += of[i];
    rank.barrier();
    return sum;
  }
};

/// An all-reduce of one number, which takes `cost` by the rank's clock.
auto all_reduce(Rank& rank, Sum& sum, pace::test::FakeClock& clock, Nanoseconds cost, double error = 0) {
  return [&rank, &sum, &clock, cost, error](const at::Tensor& x) {
    clock.advance(cost);
    return at::full({1}, sum.all(rank, x.item<double>()) + error, at::kDouble);
  };
}

at::Tensor operand_of(const Rank& rank) { return at::full({1}, 1.0 + rank.number(), at::kDouble); }

std::size_t children() {
  std::size_t found = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc"))
    if (const std::string name = task.path().filename();
        std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) {
      std::string line;
      std::ifstream file(task.path() / "stat");
      std::getline(file, line);
      std::istringstream rest(line.substr(std::min(line.rfind(')') + 1, line.size())));
      char state = 0;
      pid_t parent = 0;
      found += rest >> state >> parent && parent == ::getpid();
    }
  return found;
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Runs what must fail. Returns the message, and requires that nothing stays behind.
template <class Body>
std::string message_of(int ranks, const Body& body, const Patience& patience = {}) {
  const auto children_before = children(), files_before = open_files();
  std::string message = "nothing was thrown";
  try {
    (void)pace::ranks::run(ranks, body, patience);
  } catch (const pace::Error& error) {
    message = error.what();
  }
  CHECK(children() == children_before);
  CHECK(open_files() == files_before);
  return message;
}

TEST_CASE("a call takes as long as on the slowest rank") {
  const int ranks = GENERATE(1, 2, 3, 5);
  CAPTURE(ranks);
  Shared<Sum> sum;
  const auto results = pace::ranks::run(ranks, [&](Rank& rank) {
    pace::test::FakeClock clock;
    const Nanoseconds own = (10.0 + rank.number()) * us;
    pace::ranks::compare(rank, "all-reduce", operand_of(rank))
        .options(short_options())
        .baseline("one", all_reduce(rank, *sum, clock, own))
        // The first rank is twice as slow here, all others are as fast as before.
        .candidate("other", all_reduce(rank, *sum, clock, rank.number() == 0 ? 2 * own : own))
        .run(clock);
  });
  REQUIRE(results.size() == 1);
  const auto& result = results.front();
  REQUIRE(result["one"].outcome == Outcome::measured);
  REQUIRE(result["other"].outcome == Outcome::measured);
  CHECK_THAT(result["one"].time->median / us, WithinRel(10.0 + ranks - 1, 1e-9));
  CHECK_THAT(result["other"].time->median / us, WithinRel(std::max(20.0, 10.0 + ranks - 1), 1e-9));
  CHECK(result.clock == "fake");
  REQUIRE_FALSE(result.notes.empty());
  CHECK_THAT(result.notes.front(), StartsWith(ranks == 1 ? "1 rank," : std::to_string(ranks) + " ranks in lock-step"));
}

TEST_CASE("expectations of several ranks are judged as any other, and listeners get the results") {
  Shared<Sum> sum;
  std::vector<std::string> heard;
  const auto listener =
      pace::run_context().on_result([&](const pace::Result& result) { heard.push_back(result.name); });
  const auto results = pace::ranks::run(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    for (const auto cost : {15.0, 10.0})
      pace::ranks::compare(rank, cost > 12 ? "slower" : "faster", operand_of(rank))
          .options(short_options())
          .baseline("one", all_reduce(rank, *sum, clock, 12 * us))
          .candidate("other", all_reduce(rank, *sum, clock, rank.number() == 1 ? cost * us : 5 * us))
          .expect(pace::NoSlowerThan(1.02))
          .run(clock);
  });
  pace::run_context().remove_listener(listener);
  REQUIRE(results.size() == 2);
  CHECK(results[0]["other"].judgements.at(0).verdict == pace::Verdict::failed);
  CHECK(results[1]["other"].judgements.at(0).verdict == pace::Verdict::passed);
  CHECK(heard == std::vector<std::string>{"slower", "faster"});
}

TEST_CASE("comparisons that the run passes over are returned as such, and nobody hears of them") {
  struct OnlyOne final : pace::CaseSelection {
    std::string passes_over(const pace::PlannedCase& planned) override {
      seen.push_back(planned.name);
      return planned.name == "one" ? "" : "not selected";
    }
    std::vector<std::string> seen;
  } cases;
  std::vector<std::string> heard;
  const auto listener =
      pace::run_context().on_result([&](const pace::Result& result) { heard.push_back(result.name); });
  pace::run_context().cases = &cases;
  const auto results = pace::ranks::run(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    const auto copy = [&](const at::Tensor& x) {
      clock.advance(10 * us);
      return x.clone();
    };
    pace::Options options = short_options();
    options.seed = 42;
    for (const char* name : {"other", "one"})
      pace::ranks::compare(rank, name, operand_of(rank))
          .options(options)
          .baseline("first", copy)
          .candidate("second", copy)
          .run(clock);
  });
  pace::run_context().cases = nullptr;
  pace::run_context().remove_listener(listener);
  REQUIRE(results.size() == 2);
  CHECK(results[0].name == "other");
  CHECK(results[0].passed_over == "not selected");
  CHECK(results[0].seed == 42);
  REQUIRE(results[0].implementations.size() == 2);
  CHECK(results[0].implementations[0].is_baseline);
  CHECK(results[0].implementations[1].name == "second");
  CHECK(results[0].implementations[1].outcome == Outcome::unreached);
  CHECK(results[1].passed_over.empty());
  CHECK(cases.seen == std::vector<std::string>{"other", "one"});
  CHECK(heard == std::vector<std::string>{"one"});
}

TEST_CASE("a candidate that is wrong on one rank alone is wrong, and the rank is named") {
  const int wrong = GENERATE(0, 2);
  Shared<Sum> sum;
  const auto results = pace::ranks::run(3, [&](Rank& rank) {
    pace::test::FakeClock clock;
    pace::ranks::compare(rank, "all-reduce", operand_of(rank))
        .options(short_options())
        .baseline("one", all_reduce(rank, *sum, clock, 10 * us))
        .candidate("other", all_reduce(rank, *sum, clock, 5 * us, rank.number() == wrong ? 1 : 0))
        .candidate("third", all_reduce(rank, *sum, clock, 5 * us))
        .run(clock);
  });
  const auto& row = results.at(0)["other"];
  CHECK(row.outcome == Outcome::wrong);
  CHECK_THAT(row.message,
             StartsWith("rank " + std::to_string(wrong) + ": ") && ContainsSubstring("expected 6.0, got 7.0"));
  CHECK(results.at(0)["third"].outcome == Outcome::measured);
}

TEST_CASE("an implementation is called with the given values alone, on all ranks") {
  const Shared<Sum> sum;
  const Shared<std::atomic<int>> other_values;
  const auto body = [&](Rank& rank) {
    pace::test::FakeClock clock;
    const auto look_at = [&](const at::Tensor& x) {
      *other_values += x.scalar_type() != at::kFloat || !x.eq(1.0 + rank.number()).all().item<bool>();
    };
    const auto function = [&](const at::Tensor& x) {
      look_at(x);
      return all_reduce(rank, *sum, clock, 10 * us)(x.to(at::kDouble));
    };
    pace::ranks::compare(rank, "all-reduce", operand_of(rank).to(at::kFloat))
        .options(short_options())
        .baseline("theirs", function)
        .candidate("mine", function)
        .run(clock);
  };
  CHECK(pace::ranks::run(2, body).at(0).implementations.at(1).outcome == pace::Outcome::measured);
  CHECK(*other_values == 0);
}

TEST_CASE("operands that calls write to are restored on each rank") {
  Shared<Sum> sum;
  const auto results = pace::ranks::run(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    const auto in_place = [&](double cost) {
      return [&, cost](at::Tensor& x) {
        clock.advance(cost * us);
        x.fill_(sum->all(rank, x.item<double>()));
      };
    };
    pace::ranks::compare(rank, "all-reduce in place", operand_of(rank))
        .options(short_options())
        .baseline("one", in_place(10))
        .candidate("other", in_place(5))
        .run(clock);
  });
  REQUIRE(results.at(0)["other"].outcome == Outcome::measured);
  CHECK_THAT(results.at(0)["other"].speedup->median, WithinRel(2.0, 1e-9));
}

TEST_CASE("a candidate that is wrong on one rank only after a while is an error that names it") {
  Shared<Sum> sum;
  const std::string message = message_of(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    int calls = 0;
    pace::ranks::compare(rank, "all-reduce", operand_of(rank))
        .options(short_options())
        .baseline("one", all_reduce(rank, *sum, clock, 10 * us))
        .candidate("other",
                   [&](const at::Tensor& x) {
                     clock.advance(5 * us);
                     const double late = ++calls > 20 && rank.number() == 1 ? 1 : 0;
                     return at::full({1}, sum->all(rank, x.item<double>()) + late, at::kDouble);
                   })
        .run(clock);
  });
  CHECK_THAT(message, ContainsSubstring("'other' was right at first, but not after the rounds: rank 1: "));
}

TEST_CASE("a candidate that throws on a rank is a row with the rank's number") {
  const int throws = GENERATE(0, 1);
  Shared<Sum> sum;
  const auto results = pace::ranks::run(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    pace::ranks::compare(rank, "all-reduce", operand_of(rank))
        .options(short_options())
        .baseline("one", all_reduce(rank, *sum, clock, 10 * us))
        .candidate("other",
                   [&](const at::Tensor& x) {
                     if (rank.number() == throws) throw std::runtime_error("no such kernel");
                     return x;
                   })
        .run(clock);
  });
  const auto& row = results.at(0)["other"];
  CHECK(row.outcome == Outcome::threw);
  CHECK_THAT(row.message, Equals("rank " + std::to_string(throws) + ": no such kernel"));
  CHECK(results.at(0)["one"].outcome == Outcome::measured);
}

TEST_CASE("a candidate that throws on a rank in the rounds is dropped with the rank's number") {
  const int throws = GENERATE(0, 1);
  Shared<Sum> sum;
  const auto results = pace::ranks::run(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    int calls = 0;
    pace::ranks::compare(rank, "copy", operand_of(rank))
        .options(short_options())
        .baseline("one",
                  [&](const at::Tensor& x) {
                    clock.advance(10 * us);
                    return x.clone();
                  })
        .candidate("other",
                   [&](const at::Tensor& x) {
                     clock.advance(10 * us);
                     if (++calls > 20 && rank.number() == throws) throw std::runtime_error("only twenty times");
                     return x.clone();
                   })
        .run(clock);
  });
  const auto& row = results.at(0)["other"];
  CHECK(row.outcome == Outcome::threw);
  CHECK_THAT(row.message, ContainsSubstring("only twenty times"));
  if (throws == 1) CHECK_THAT(row.message, ContainsSubstring("rank 1: "));
}

TEST_CASE("a rank that throws is named with its reason, and the others are ended") {
  const std::string message = message_of(3, [&](Rank& rank) {
    if (rank.number() == 1) throw std::runtime_error("no communicator");
    while (true) ::pause();
  });
  CHECK(message == "rank 1: no communicator");
}

TEST_CASE("of two ranks that throw, the reason of the one that was first is told") {
  struct Turns {
    std::atomic<pid_t> processes[2];
    std::atomic<int> turn{-1};
  };
  const int first = GENERATE(0, 1);
  Shared<Turns> turns;
  // Both throw between two looks.
  Patience patience;
  patience.pause = [&] {
    for (const int rank : {first, 1 - first}) {
      turns->turn = rank;
      while (turns->processes[rank] == 0) (void)::usleep(100);
      siginfo_t ended{};
      CHECK(::waitid(P_PID, static_cast<id_t>(turns->processes[rank]), &ended, WEXITED | WNOWAIT) == 0);
    }
  };
  const auto body = [&](Rank& rank) {
    turns->processes[rank.number()] = ::getpid();
    while (turns->turn != rank.number()) (void)::usleep(100);
    throw std::runtime_error("thrown");
  };
  CHECK(message_of(2, body, patience) == "rank " + std::to_string(first) + ": thrown");
}

TEST_CASE("exceptions keep their kind") {
  CHECK_THROWS_AS(pace::ranks::run(2, [](Rank&) { throw pace::DeviceMissing("no GPU"); }), pace::DeviceMissing);
  CHECK_THROWS_AS(pace::ranks::run(2, [](Rank&) { throw pace::InputError({}, "--size"); }), pace::InputError);
}

TEST_CASE("a rank that is killed is named, with what it did") {
  Shared<Sum> sum;
  const std::string message = message_of(3, [&](Rank& rank) {
    pace::test::FakeClock clock;
    pace::ranks::compare(rank, "all-reduce", operand_of(rank))
        .options(short_options())
        .baseline("one", all_reduce(rank, *sum, clock, 10 * us))
        .candidate("other",
                   [&](const at::Tensor& x) {
                     if (rank.number() == 2) (void)::raise(SIGKILL);
                     return x;
                   })
        .run(clock);
  });
  CHECK(message == "rank 2 was ended by signal 9 (Killed) in a call of 'other'");
}

TEST_CASE("a rank that ends its process early is named, whatever its exit code") {
  const std::string message = message_of(2, [&](Rank& rank) {
    if (rank.number() == 1) std::exit(0);
    rank.barrier();
  });
  CHECK(message == "rank 1 ended its process with exit code 0");
}

TEST_CASE("a rank that hangs is named once the others have waited for it long enough") {
  Impatient impatient(3);
  const std::string message = message_of(
      3,
      [&](Rank& rank) {
        impatient.arrive();
        if (rank.number() == 1)
          while (true) ::pause();
        rank.barrier();
      },
      impatient.patience());
  CHECK(message == "rank 1 did not return within 100 s");
  CHECK(impatient.looks() >= 500);
}

TEST_CASE("a rank that hangs in a call is named with the call") {
  Impatient impatient(2);
  Shared<Sum> sum;
  const std::string message = message_of(
      2,
      [&](Rank& rank) {
        pace::test::FakeClock clock;
        pace::ranks::compare(rank, "all-reduce", operand_of(rank))
            .baseline("one", all_reduce(rank, *sum, clock, 10 * us))
            .candidate("other",
                       [&](const at::Tensor& x) {
                         impatient.arrive();
                         if (rank.number() == 0)
                           while (true) ::pause();
                         return x;
                       })
            .run(clock);
      },
      impatient.patience());
  CHECK(message == "rank 0 did not return within 100 s in a call of 'other'");
}

TEST_CASE("if a rank throws where others wait for it, they are not waited for as long") {
  Impatient impatient(2);
  Shared<Sum> sum;
  const std::string message = message_of(
      2,
      [&](Rank& rank) {
        pace::test::FakeClock clock;
        pace::ranks::compare(rank, "all-reduce", operand_of(rank))
            .baseline("one", all_reduce(rank, *sum, clock, 10 * us))
            .candidate("other",
                       [&](const at::Tensor& x) {
                         impatient.arrive();
                         if (rank.number() == 1) throw std::runtime_error("no such kernel");
                         return at::full({1}, sum->all(rank, x.item<double>()), at::kDouble);
                       })
            .run(clock);
      },
      impatient.patience());
  CHECK_THAT(message, StartsWith("rank 1: no such kernel; then no rank went on within 40.0 s"));
  CHECK(impatient.looks() < 500);
}

TEST_CASE("a throw on rank 0 within the rounds is the reason, if others wait for it") {
  // The second call is one alone on all ranks; the 21st is within a sample.
  const int calls_before = GENERATE(1, 20);
  CAPTURE(calls_before);
  Impatient impatient(1);
  Shared<Sum> sum;
  const std::string message = message_of(
      2,
      [&](Rank& rank) {
        pace::test::FakeClock clock;
        int calls = 0;
        pace::ranks::compare(rank, "all-reduce", operand_of(rank))
            .options(short_options())
            .baseline("one", all_reduce(rank, *sum, clock, 10 * us))
            .candidate("other",
                       [&](const at::Tensor& x) {
                         if (rank.number() == 0 && ++calls > calls_before) {
                           impatient.arrive();
                           throw std::runtime_error("no such kernel");
                         }
                         clock.advance(10 * us);
                         return at::full({1}, sum->all(rank, x.item<double>()), at::kDouble);
                       })
            .run(clock);
      },
      impatient.patience());
  CHECK_THAT(message, StartsWith("rank 0: no such kernel; then no rank went on within 40.0 s"));
}

TEST_CASE("a candidate that threw before the rounds leaves the patience as it was") {
  const int throws = GENERATE(0, 1);
  CAPTURE(throws);
  Impatient impatient(1);
  const auto results = pace::ranks::run(
      2,
      [&](Rank& rank) {
        pace::test::FakeClock clock;
        int calls = 0;
        pace::ranks::compare(rank, "copy", operand_of(rank))
            .options(short_options())
            .baseline("one",
                      [&](const at::Tensor& x) {
                        clock.advance(10 * us);
                        // A long call, once all ranks have been checked: of 60 s.
                        if (++calls == 2) {
                          impatient.arrive();
                          while (impatient.looks() < 300) Patience().pause();
                        }
                        return x.clone();
                      })
            .candidate("other",
                       [&](const at::Tensor& x) {
                         clock.advance(10 * us);
                         return x.clone();
                       })
            .candidate("last",
                       [&](const at::Tensor& x) {
                         if (rank.number() == throws) throw std::runtime_error("no such kernel");
                         return x.clone();
                       })
            .run(clock);
      },
      impatient.patience());
  CHECK(results.at(0)["last"].outcome == Outcome::threw);
  CHECK(results.at(0)["one"].outcome == Outcome::measured);
}

TEST_CASE("ranks that make different comparisons are an error") {
  const std::string other = message_of(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    const auto copy = [](const at::Tensor& x) { return x.clone(); };
    pace::ranks::compare(rank, rank.number() == 0 ? "a" : "b", operand_of(rank)).baseline("one", copy).run(clock);
  });
  CHECK_THAT(other, StartsWith("rank 1: makes the comparison 'b' of 'one' where rank 0 makes the comparison 'a' of"));
  const std::string fewer = message_of(2, [&](Rank& rank) {
    if (rank.number() == 0) rank.barrier();
  });
  CHECK_THAT(fewer, StartsWith("rank 0 waits for rank 1, which has finished"));
}

TEST_CASE("what ranks start ends with them") {
  Shared<std::atomic<pid_t>> started;
  CHECK(message_of(1, [&](Rank&) {
          if (const pid_t child = ::fork(); child == 0)
            while (true) ::pause();
          else
            *started = child;
          throw std::runtime_error("left a process");
        }) == "rank 0: left a process");
  CHECK(::kill(*started, 0) == -1);
  CHECK(errno == ESRCH);
}

TEST_CASE("all ranks get rank 0's bytes") {
  Shared<std::atomic<int>> right;
  (void)pace::ranks::run(3, [&](Rank& rank) {
    const std::string given = rank.from_first(rank.number() == 0 ? std::string("key\0s", 5) : "of another rank");
    *right += given == std::string("key\0s", 5);
  });
  CHECK(*right == 3);
}

TEST_CASE("all ranks share files without a name, a new one for each store") {
  Shared<std::atomic<int>> right;
  (void)pace::ranks::run(3, [&](Rank& rank) {
    for (const int writer : {2, 0}) {
      const std::string path = rank.store_path();
      *right += std::filesystem::file_size(path) == 0;
      rank.barrier();
      if (rank.number() == writer) std::ofstream(path) << "by " << writer;
      rank.barrier();
      std::string text;
      std::getline(std::ifstream(path), text);
      *right += text == "by " + std::to_string(writer);
    }
  });
  CHECK(*right == 12);
}

TEST_CASE("options and expectations that ranks cannot follow are refused by name") {
  struct Refused {
    void (*set)(pace::Options&);
    std::string message;
  };
  const auto& [set, expected] = GENERATE(values<Refused>({
      {[](pace::Options& options) { options.audit = pace::Audit::strict; }, "does not go with --audit strict; why: "},
      {[](pace::Options& options) { options.isolate = pace::Isolate::sides; },
       "does not go with --isolate sides; why: "},
      {[](pace::Options& options) { options.asks_for_mode_share = true; }, "does not go with --mode-share; why: "},
      {[](pace::Options& options) { options.counters = {"cycles"}; }, "does not go with --counters; why: "},
      {[](pace::Options& options) { options.energy = true; }, "does not go with --energy; why: "},
      {[](pace::Options& options) { options.device_counts = true; }, "does not count kernels"},
  }));
  const auto copy = [](const at::Tensor& x) { return x.clone(); };
  const std::string message = message_of(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    pace::Options options = short_options();
    set(options);
    pace::ranks::compare(rank, "copy", operand_of(rank)).options(options).baseline("one", copy).run(clock);
  });
  CHECK_THAT(message, ContainsSubstring("comparison 'copy' of several ranks: " + expected));
  const std::string of_kernels = message_of(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    pace::ranks::compare(rank, "copy", operand_of(rank))
        .baseline("one", copy)
        .candidate("other", copy)
        .expect(pace::AtMost(pace::Count::kernels, 1))
        .run(clock);
  });
  CHECK_THAT(of_kernels, ContainsSubstring("cannot judge a ") && ContainsSubstring("nothing counts kernels on ranks"));
  const std::string of_counter = message_of(2, [&](Rank& rank) {
    pace::test::FakeClock clock;
    pace::ranks::compare(rank, "copy", operand_of(rank))
        .baseline("one", copy)
        .candidate("other", copy)
        .expect(pace::CounterAtMost("branches", 1))
        .run(clock);
  });
  CHECK_THAT(of_counter, ContainsSubstring("cannot judge a ratio of branches of at most 1.00000x; why: nothing adds up "
                                           "the events of several ranks"));
}

TEST_CASE("the runner's time for a call is the ranks', too") {
  Impatient impatient(2);
  pace::run_context().call_timeout = 20 * s;
  const std::string message = message_of(
      2,
      [&](Rank& rank) {
        impatient.arrive();
        if (rank.number() == 1)
          while (true) ::pause();
        rank.barrier();
      },
      impatient.patience());
  pace::run_context().call_timeout.reset();
  CHECK(message == "rank 1 did not return within 20.0 s");
}

TEST_CASE("a program that includes ranks asks for GPUs in another process alone") {
  CHECK(pace::run_context().forks_ranks);
  const int gpus = pace::ranks::number_of_gpus();
  CHECK(gpus >= 0);
  // This process can still fork ranks.
  CHECK(pace::ranks::run(1, [](Rank&) {}).empty());
}

TEST_CASE("what cannot be run is refused with the reason") {
  CHECK_THROWS_MATCHES(pace::ranks::run(0, [](Rank&) {}), pace::Error,
                       MessageMatches(ContainsSubstring("0 ranks were asked for; expected 1 or more")));
  const int gpus = pace::ranks::number_of_gpus();
  CHECK_THROWS_MATCHES(pace::ranks::run(gpus + 1, [](Rank& rank) { (void)rank.gpu(); }), pace::DeviceMissing,
                       MessageMatches(ContainsSubstring(gpus == 0 ? "no GPU; why: "
                                                                  : "ranks need as many GPUs, and this machine has ")));
}

TEST_CASE("ranks are refused beside other threads, which are named") {
  if (!pace::limit_on_data()) SKIP("a sanitizer has a thread of its own");
  {
    std::atomic<bool> ended{false};
    std::jthread other([&] { ended.wait(false); });
    CHECK_THROWS_MATCHES(pace::ranks::run(2, [](Rank&) {}), pace::Error,
                         MessageMatches(ContainsSubstring("this process has 2 threads (ranks_test, ranks_test)") &&
                                        ContainsSubstring("try: --threads 1")));
    ended = true;
    ended.notify_one();
  }
  // The kernel shows a thread that has been joined for a moment longer.
  while (pace::detail::threads_in("/proc/self/task").size() > 1) std::this_thread::yield();
}

}  // namespace
