// Sink: where results go as they come.
#pragma once

#include "pace/core/result.hpp"

namespace pace::report {

/// One destination of results. What `write` returns from has left the process: a run that is killed later keeps it.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Throws Error, naming the destination and the reason, if the result could not be written.
  virtual void write(const Result& result) = 0;
  /// After the last result: totals, and whatever closing the destination still finds wrong (throws Error).
  virtual void finish() {}
};

}  // namespace pace::report
