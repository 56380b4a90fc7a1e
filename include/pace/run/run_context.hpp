// RunContext: the options of a test binary and the listeners to its results.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/base/utf8.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/result/suite_budget.hpp"
#include "pace/run/planned_case.hpp"

namespace pace {

/// State shared by the fixtures of a process. Global, because bodies of tests have no other access to the command line.
/// Not thread-safe; fixtures run on the main thread.
class RunContext {
 public:
  RunContext() = default;
  ~RunContext() { clear_listeners(); }
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  /// Options of every comparison that sets none.
  Options options;

  /// Whether pace has the main function, which prepares the process, shows the results and returns the exit code.
  /// Otherwise the first comparison prepares the process, and pace/catch2.hpp does the rest.
  bool has_runner = false;

  /// Whether the program may fork ranks (pace/ranks.hpp). Until then nothing in this process may use CUDA.
  bool forks_ranks = false;

  /// Time after which a call has hung (`--call-timeout`); absent: the default of each part.
  std::optional<Nanoseconds> call_timeout;

  /// Time at which measuring must end.
  struct Deadline {
    Nanoseconds time{};       ///< time by the clock of the comparisons (timing::Clock::now)
    std::string reason = {};  ///< source of the deadline, for messages, with what moves it behind before_remedy
  };
  /// Deadline of the run; absent: there is none.
  std::optional<Deadline> deadline;

  /// Error budget of all gates of the run (`--suite-alpha`); null: each comparison has Options::alpha.
  std::shared_ptr<SuiteBudget> suite_budget;

  /// Whether several processes decide the gates together: comparisons then defer judgements (Judgement::deferred).
  bool defers_judgements = false;

  /// Decides which comparisons are measured; null: all. Not owned.
  CaseSelection* cases = nullptr;

  /// Failure of an implementation that ended an earlier process of this run.
  struct PriorFailure {
    /// Index of the implementation in the comparison; below 0: the process ended while making the comparison.
    std::int64_t implementation = -1;
    Outcome outcome = Outcome::crashed;  ///< outcome to report for the implementation
    std::string message = {};            ///< message to report for the implementation
  };
  /// Access to the results and failures of earlier processes of this run.
  struct Checkpoint {
    virtual ~Checkpoint() = default;
    /// Called in a test before anything of a comparison is made.
    virtual void comparison_begins() {}
    /// Returns whether recall() or next_fate() would return true for `name`.
    [[nodiscard]] virtual bool knows(const std::string& name) const = 0;
    /// Moves the next result of the comparison `name` into `result`; returns false if there is none.
    virtual bool recall(const std::string& name, Result& result) = 0;
    /// Moves the next failure in the next comparison `name` into `fate`; returns false if there is none.
    virtual bool next_fate(const std::string& name, PriorFailure& fate) = 0;
  };
  /// Source of earlier results, used before anything is measured; null: everything is measured. Not owned.
  Checkpoint* recollection = nullptr;
  /// Begins a comparison: calls Checkpoint::comparison_begins(), then Checkpoint::recall(). Throws InputError if the
  /// earlier result has other inputs; empty `inputs`: unknown.
  [[nodiscard]] bool recall(const std::string& name, const std::string& inputs, Result& result) const {
    if (recollection == nullptr) return false;
    recollection->comparison_begins();
    if (!recollection->recall(name, result)) return false;
    if (!result.inputs.empty() && !inputs.empty() && result.inputs != valid_utf8(inputs))
      throw InputError({}, "--resume: the earlier run measured '" + name + "' with other inputs (" + result.inputs +
                               " there, " + inputs + " here); give the inputs of that run, or write to another file");
    return true;
  }

  /// Identifies a listener for remove_listener().
  using ListenerId = const void*;

  /// Adds a listener: every comparison that ends calls `listener(const Result&)`. Returns its id.
  template <class F>
  ListenerId on_result(F listener) {
    struct OfResult : Listener {
      explicit OfResult(F function) : function_(std::move(function)) {}
      void hear_result(const Result& result) override { function_(result); }
      F function_;
    };
    return add(new OfResult(std::move(listener)));
  }
  /// Removes the listener with this id, if it is still there.
  void remove_listener(ListenerId id) {
    for (Listener** each = &first_; *each != nullptr; each = &(*each)->next)
      if (*each == id) {
        delete std::exchange(*each, (*each)->next);
        return;
      }
  }
  /// Adds figures to results that only the program has.
  struct Completion {
    virtual ~Completion() = default;
    /// Adds figures to `result`. Must leave names, outcomes and judgements unchanged.
    virtual void complete(Result& result) = 0;
  };
  /// Completes each result before listeners get it; null: nothing to add. Not owned.
  Completion* completion = nullptr;
  /// Calls all listeners with `result`, completed, in the order of their addition. Names become those that files have
  /// (Result::make_names_valid()).
  void publish(Result& result) const {
    result.make_names_valid();
    if (completion == nullptr) return hear(result);
    Result completed = result;
    completion->complete(completed);
    hear(completed);
  }
  /// Does the same with a copy of `result`.
  void publish(const Result& result) const {
    Result named = result;
    publish(named);
  }
  /// Removes all listeners.
  void clear_listeners() {
    while (first_ != nullptr) delete std::exchange(first_, first_->next);
  }
  /// Swaps the listeners of both contexts.
  void swap_listeners(RunContext& other) { std::swap(first_, other.first_); }

 private:
  // A hand-written list: a vector of std::function would take a quarter of the time to compile this header.
  struct Listener {
    virtual ~Listener() = default;
    virtual void hear_result(const Result&) = 0;
    Listener* next = nullptr;
  };
  void hear(const Result& result) const {
    for (auto* each = first_; each != nullptr; each = each->next) each->hear_result(result);
  }
  /// Appends `listener`, so that listeners run in the order of their addition.
  ListenerId add(Listener* listener) {
    Listener** end = &first_;
    while (*end != nullptr) end = &(*end)->next;
    *end = listener;
    return listener;
  }

  Listener* first_ = nullptr;
};

/// Returns the context of this process.
inline RunContext& run_context() {
  static RunContext context;
  return context;
}

}  // namespace pace
