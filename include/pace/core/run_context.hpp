// RunContext: the options a test binary was started with, and who wants to hear of results.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/judgement_hook.hpp"
#include "pace/core/options.hpp"
#include "pace/core/result.hpp"

namespace pace {

/// What the process-wide harness shares with fixtures inside it. The only global state of pace: test bodies have no
/// other way to reach the command line. Not thread-safe; fixtures run on the main thread.
class RunContext {
 public:
  using ResultListener = std::function<void(const Result&)>;
  using JudgementListener = std::function<void(const ImplementationResult&, const Judgement&)>;

  /// Defaults of every comparison that sets none of its own.
  Options options;

  /// When measuring must end, by the comparisons' clock (`now()`), and whose wish that is. None: whenever it is done.
  struct Deadline {
    Nanoseconds time{};
    std::string reason = {};
  };
  std::optional<Deadline> deadline;

  void on_result(ResultListener listener) { result_listeners_.push_back(std::move(listener)); }
  void publish(const Result& result) const {
    for (const auto& listener : result_listeners_) listener(result);
  }
  /// Judgements that are made after their comparison was published, as a matcher makes them.
  void on_judgement(JudgementListener listener) {
    judgement_listeners_.push_back(std::move(listener));
    judgement_hook() = {[](const void* self, const ImplementationResult& row, const Judgement& judgement) {
                          static_cast<const RunContext*>(self)->publish(row, judgement);
                        },
                        this};
  }
  void publish(const ImplementationResult& row, const Judgement& judgement) const {
    for (const auto& listener : judgement_listeners_) listener(row, judgement);
  }
  void clear_listeners() {
    result_listeners_.clear();
    judgement_listeners_.clear();
    judgement_hook() = {};
  }

 private:
  std::vector<ResultListener> result_listeners_;
  std::vector<JudgementListener> judgement_listeners_;
};

/// The context of this process.
inline RunContext& run_context() {
  static RunContext context;
  return context;
}

}  // namespace pace
