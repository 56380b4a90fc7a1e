// Comparisons by the thousand, without their tables.
#pragma once

#include <memory>

#include "pace/run/run_context.hpp"

namespace pace::benches::selftest {

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

}  // namespace pace::benches::selftest
