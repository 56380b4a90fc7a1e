// RunContext: the options a test binary was started with, and who wants to hear of results.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "pace/core/options.hpp"
#include "pace/core/result.hpp"

namespace pace {

/// What the process-wide harness shares with fixtures inside it. The only global state of pace: test bodies have no
/// other way to reach the command line. Not thread-safe; fixtures run on the main thread.
class RunContext {
 public:
  using ResultListener = std::function<void(const Result&)>;

  /// Defaults of every comparison that sets none of its own.
  Options options;

  void on_result(ResultListener listener) { result_listeners_.push_back(std::move(listener)); }
  void publish(const Result& result) const {
    for (const auto& listener : result_listeners_) listener(result);
  }
  void clear_listeners() { result_listeners_.clear(); }

 private:
  std::vector<ResultListener> result_listeners_;
};

/// The context of this process.
inline RunContext& run_context() {
  static RunContext context;
  return context;
}

}  // namespace pace
