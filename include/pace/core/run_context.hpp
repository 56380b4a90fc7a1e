// RunContext: the options a test binary was started with, and the listeners to its results.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "pace/core/error.hpp"
#include "pace/core/options.hpp"
#include "pace/core/result.hpp"

namespace pace {

/// What the process-wide harness shares with fixtures inside it. The only global state of pace: test bodies have no
/// other way to reach the command line. Not thread-safe; fixtures run on the main thread.
class RunContext {
 public:
  RunContext() = default;
  ~RunContext() { clear_listeners(); }
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  /// Defaults of every comparison that sets none of its own.
  Options options;

  /// When measuring must end, by the comparisons' clock (`now()`), and whose wish that is. None: whenever it is done.
  struct Deadline {
    Nanoseconds time{};
    std::string reason = {};
  };
  std::optional<Deadline> deadline;

  /// Whether this process is one of several that decide their gates together, so that comparisons defer their judgements
  /// (Judgement::deferred).
  bool defers_judgements = false;

  /// How an implementation ended an earlier process of this run.
  struct PriorFailure {
    /// Its index among those of the comparison; below 0: of none, while the comparison was being made.
    std::int64_t implementation = -1;
    Outcome outcome = Outcome::crashed;
    std::string message = {};
  };
  /// Knows what an earlier process of this run found out.
  struct Checkpoint {
    virtual ~Checkpoint() = default;
    /// Whether recall() or next_fate() would find something.
    [[nodiscard]] virtual bool knows(const std::string& name) const = 0;
    /// Hands out the next result of that name that was not asked for yet; false if there is none.
    virtual bool recall(const std::string& name, Result& result) = 0;
    /// Hands out the next fate in the next comparison of that name; false if there is none.
    virtual bool next_fate(const std::string& name, PriorFailure& fate) = 0;
  };
  /// Is asked before anything is measured; null: everything is measured.
  Checkpoint* recollection = nullptr;
  /// As Checkpoint::recall. Throws InputError if what is recalled was measured with other `inputs`.
  [[nodiscard]] bool recall(const std::string& name, const std::string& inputs, Result& result) const {
    if (recollection == nullptr || !recollection->recall(name, result)) return false;
    if (!result.inputs.empty() && !inputs.empty() && result.inputs != inputs)
      throw InputError({}, "--resume: the earlier run measured '" + name + "' with other inputs (" + result.inputs +
                               " there, " + inputs + " here); give the inputs of that run, or write to another file");
    return true;
  }

  /// `listener(const Result&)` is called for every comparison that has ended.
  template <class F>
  void on_result(F listener) {
    struct OfResult : Listener {
      explicit OfResult(F function) : function_(std::move(function)) {}
      void hear_result(const Result& result) override { function_(result); }
      F function_;
    };
    add(new OfResult(std::move(listener)));
  }
  void publish(const Result& result) const {
    for (auto* each = first_; each != nullptr; each = each->next) each->hear_result(result);
  }
  void clear_listeners() {
    while (first_ != nullptr) delete std::exchange(first_, first_->next);
  }
  /// Puts the listeners aside into `other`, or back from there.
  void swap_listeners(RunContext& other) { std::swap(first_, other.first_); }

 private:
  // A list by hand: std::function and vectors of it would be a quarter of what this header costs to compile.
  struct Listener {
    virtual ~Listener() = default;
    virtual void hear_result(const Result&) = 0;
    Listener* next = nullptr;
  };
  /// They are told in the order in which they came.
  void add(Listener* listener) {
    Listener** end = &first_;
    while (*end != nullptr) end = &(*end)->next;
    *end = listener;
  }

  Listener* first_ = nullptr;
};

/// The context of this process.
inline RunContext& run_context() {
  static RunContext context;
  return context;
}

}  // namespace pace
