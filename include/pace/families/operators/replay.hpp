// Replay: recorded operator calls, every back end side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/compare/comparison.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/families/operators/make_call.hpp"
#include "pace/families/operators/options.hpp"
#include "pace/families/operators/selection.hpp"
#include "pace/subject/backend.hpp"
#include "pace/subject/operator_call.hpp"

namespace pace::families::operators {

/// What a replay hands out for each sample: its result, which may be one of refusals only.
using OnResult = std::function<void(const Result&)>;

/// One row per back end that says why the sample was not run.
[[nodiscard]] inline Result refusal(std::string name, const std::vector<std::string>& backends, const std::string& why) {
  Result result;
  result.name = std::move(name);
  result.confidence = run_context().options.confidence;
  for (const auto& backend : backends) {
    auto& row = result.implementations.emplace_back();
    row.name = backend;
    row.is_baseline = result.implementations.size() == 1;
    row.message = why;
  }
  return result;
}

class Replay {
 public:
  Replay(ReplayOptions options, subject::BackendRegistry& registry)
      : options_(std::move(options)), names_(split_list(options_.backends, "--backends")) {
    for (const auto& name : names_) backends_.push_back(&registry.find(name));
  }

  /// Gives every back end a chance to compile what it will be asked for, many calls at once. Inputs are made for it
  /// and let go again, never more than `most_bytes` of them at a time.
  void prepare(const std::vector<Selected>& selection, std::int64_t most_bytes = std::int64_t{1} << 30) {
    std::vector<std::unique_ptr<subject::OperatorCall>> calls;
    std::int64_t bytes = 0;
    const auto flush = [&] {
      std::vector<const subject::OperatorCall*> pointers;
      for (const auto& call : calls) pointers.push_back(call.get());
      for (auto* backend : backends_) backend->prepare_all(pointers);
      calls.clear();
      bytes = 0;
    };
    for_each_sample(selection, [&](const Selected& selected, std::size_t offset) {
      try {
        calls.push_back(std::make_unique<subject::OperatorCall>(call_of(selected, offset, 1)));
      } catch (const Error&) {
        return;  // run() reports it
      }
      for (const auto& tensor : calls.back()->tensors()) bytes += static_cast<std::int64_t>(tensor.nbytes());
      if (bytes >= most_bytes) flush();
    });
    flush();
  }

  /// Compares the back ends on every selected sample, one after another, with the options of run_context(). A sample
  /// that cannot be run is a result too; nothing ends the replay.
  void run(const std::vector<Selected>& selection, const OnResult& on_result) {
    for_each_sample(selection, [&](const Selected& selected, std::size_t offset) {
      const std::string name = case_name(selected, offset);
      try {
        on_result(compare_backends(name, call_of(selected, offset, backends_.size() + 2)));
      } catch (const std::exception& error) {
        const Result result = refusal(name, names_, error.what());
        run_context().publish(result);
        on_result(result);
      }
    });
  }

 private:
  template <class F>
  static void for_each_sample(const std::vector<Selected>& selection, F function) {
    for (const auto& selected : selection)
      for (std::size_t offset = 0; offset < selected.samples.size(); ++offset) function(selected, offset);
  }

  [[nodiscard]] subject::OperatorCall call_of(const Selected& selected, std::size_t offset, std::size_t copies) const {
    return make_call(selected.op->name, selected.samples[offset], options_, run_context().options.seed, copies);
  }

  [[nodiscard]] Result compare_backends(const std::string& name, const subject::OperatorCall& call) const {
    auto comparison = pace::compare(name, call.tensors());
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      std::shared_ptr<subject::Executable> executable;
      try {
        executable = backends_[i]->prepare(call);
      } catch (const std::exception& error) {
        if (i == 0) return publish_refusal(name, names_[0] + ": " + error.what());
        comparison.refused(names_[i], error.what());
        continue;
      }
      const auto run = [executable](const std::vector<at::Tensor>& tensors) { return executable->run(tensors); };
      if (i == 0) comparison.baseline(names_[i], run);
      else comparison.candidate(names_[i], run);
    }
    if (options_.no_slower_than) comparison.expect(NoSlowerThan(*options_.no_slower_than));
    return comparison.note(call.signature()).run();
  }

  [[nodiscard]] Result publish_refusal(const std::string& name, const std::string& why) const {
    Result result = refusal(name, names_, why);
    run_context().publish(result);
    return result;
  }

  ReplayOptions options_;
  std::vector<std::string> names_;
  std::vector<subject::Backend*> backends_;
};

}  // namespace pace::families::operators
