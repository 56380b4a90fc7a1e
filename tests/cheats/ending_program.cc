// A program whose candidates end it with exit code 0, in the middle of a comparison; run by ending_test.
#include <unistd.h>

#include <cstdlib>

#include <ATen/ops/ones.h>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"

namespace {

/// A comparison whose candidate calls `end` the third time, and could never meet its expectation.
template <class End>
void compare(End end) {
  int calls = 0;
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = pace::Nanoseconds(1e6);
  options.warm_up = pace::Nanoseconds(1e5);
  const auto result = pace::compare("ending", at::ones({8}))
                          .options(options)
                          .baseline("eager", [](const at::Tensor& x) { return x.sigmoid(); })
                          .candidate("cheat",
                                     [&](const at::Tensor& x) {
                                       if (++calls == 3) end();
                                       return x.sigmoid();
                                     })
                          .run();
  CHECK_THAT(result["cheat"], pace::SpeedupAtLeast(1000));
}

/// Ends the process when it is destroyed.
class EndsProcess {
 public:
  explicit EndsProcess(int code = 0) : code_(code) {}
  EndsProcess(const EndsProcess&) = delete;
  ~EndsProcess() { ::_exit(code_); }

 private:
  int code_;
};

}  // namespace

TEST_CASE("exit", "[.]") {
  compare([] { std::exit(0); });
}
TEST_CASE("quick_exit", "[.]") {
  compare([] { std::quick_exit(0); });
}
TEST_CASE("a handler of exit()", "[.]") {
  compare([] { (void)std::atexit([] { ::_exit(0); }); });
}
TEST_CASE("a static object", "[.]") {
  compare([] { static const EndsProcess object; });
}
TEST_CASE("a thread-local object", "[.]") {
  compare([] {
    static thread_local const EndsProcess object;
    (void)object;
  });
}
TEST_CASE("a static object and no failure", "[.]") {
  static const EndsProcess object(7);
  CHECK(true);
}
TEST_CASE("_exit", "[.]") {
  compare([] { ::_exit(0); });
}
TEST_CASE("a child of a candidate exits", "[.]") {
  compare([] {
    if (::fork() == 0) std::exit(0);
  });
}
TEST_CASE("exit after the comparison", "[.]") {
  (void)pace::compare("x").baseline("a", [] {}).budget(pace::Nanoseconds(1e5)).run();
  std::exit(0);
}
