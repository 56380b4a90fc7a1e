// Count expectations: gates on what one call does, counted exactly. They have no noise, so they are never undecided.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "pace/core/config.hpp"
#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/expectation.hpp"

namespace pace {

/// A gate on a count of one call. Made by the classes below; a plain value like Expectation, to state before a
/// run or to judge any row (the baseline's too). `passed` or `failed`; `invalid` where nothing was counted.
class CountExpectation : public gate::Matchable<CountExpectation> {
 public:
  [[nodiscard]] std::string describe() const { return "count of " + limit_text(); }
  /// Whether it needs DeviceCounts.
  [[nodiscard]] bool on_device() const { return on_device_; }

  [[nodiscard]] Judgement judge(const ImplementationResult& row) const;

 protected:
  /// Throws Error if the limit is negative.
  using Count = std::optional<std::int64_t> (*)(const ImplementationResult&);
  CountExpectation(Count count, const char* verb, const char* one, const char* many, std::int64_t limit, bool exactly,
                   bool on_device = false)
      : count_(count), on_device_(on_device), verb_(verb), one_(one), many_(many), limit_(limit), exactly_(exactly) {
    if (limit < 0) throw Error(std::string("a count of ") + many + " must be at least 0");
  }

 private:
  [[nodiscard]] std::string noun(std::int64_t count) const { return count == 1 ? one_ : many_; }
  [[nodiscard]] std::string limit_text() const {
    return (exactly_ ? "exactly " : "at most ") + std::to_string(limit_) + ' ' + noun(limit_);
  }

  [[nodiscard]] static const std::string& not_on_a_gpu() {
    static const std::string text = "its calls do not run on a GPU, differ from each other, or cannot be captured";
    return text;
  }

  Count count_;
  bool on_device_;
  const char *verb_, *one_, *many_;
  std::int64_t limit_;
  bool exactly_;
};

namespace gate {

/// A count of CallCounts, and one of DeviceCounts.
template <std::int64_t CallCounts::*which>
[[nodiscard]] std::optional<std::int64_t> count_of_call(const ImplementationResult& row) {
  if (!row.counts) return std::nullopt;
  return *row.counts.*which;
}
template <std::int64_t DeviceCounts::*which>
[[nodiscard]] std::optional<std::int64_t> count_on_device(const ImplementationResult& row) {
  if (!row.device_counts) return std::nullopt;
  return *row.device_counts.*which;
}
[[nodiscard]] inline std::optional<std::int64_t> count_of_nodes(const ImplementationResult& row) {
  return row.device_counts ? row.device_counts->graph_nodes : std::nullopt;
}

struct CountOperators : CountExpectation {
  CountOperators(std::int64_t limit, bool exactly)
      : CountExpectation(&count_of_call<&CallCounts::operator_calls>, "makes", "operator call", "operator calls", limit,
                         exactly) {}
};
struct CountAllocations : CountExpectation {
  CountAllocations(std::int64_t limit, bool exactly)
      : CountExpectation(&count_of_call<&CallCounts::allocations>, "makes", "allocation", "allocations", limit,
                         exactly) {}
};
struct CountBytes : CountExpectation {
  CountBytes(std::int64_t limit, bool exactly)
      : CountExpectation(&count_of_call<&CallCounts::bytes_allocated>, "allocates", "byte", "bytes", limit, exactly) {}
};
struct CountKernels : CountExpectation {
  CountKernels(std::int64_t limit, bool exactly)
      : CountExpectation(&count_on_device<&DeviceCounts::kernels>, "runs", "kernel", "kernels", limit, exactly, true) {}
};
struct CountLaunches : CountExpectation {
  CountLaunches(std::int64_t limit, bool exactly)
      : CountExpectation(&count_on_device<&DeviceCounts::launches>, "makes", "launch", "launches", limit, exactly,
                         true) {}
};
struct CountSynchronisations : CountExpectation {
  CountSynchronisations(std::int64_t limit, bool exactly)
      : CountExpectation(&count_on_device<&DeviceCounts::synchronisations>, "makes", "synchronisation",
                         "synchronisations", limit, exactly, true) {}
};
struct CountNodes : CountExpectation {
  CountNodes(std::int64_t limit, bool exactly)
      : CountExpectation(&count_of_nodes, "has", "graph node", "graph nodes", limit, exactly, true) {}
};

}  // namespace gate

/// LibTorch's operators that one call calls, without what these call in turn.
struct OperatorCallsAtMost : gate::CountOperators {
  explicit OperatorCallsAtMost(std::int64_t limit) : CountOperators(limit, false) {}
};
struct OperatorCallsExactly : gate::CountOperators {
  explicit OperatorCallsExactly(std::int64_t count) : CountOperators(count, true) {}
};
/// Blocks that one call takes from LibTorch's allocators, outputs included.
struct AllocationsAtMost : gate::CountAllocations {
  explicit AllocationsAtMost(std::int64_t limit) : CountAllocations(limit, false) {}
};
struct AllocationsExactly : gate::CountAllocations {
  explicit AllocationsExactly(std::int64_t count) : CountAllocations(count, true) {}
};
/// Bytes of these blocks, all together, whether or not they are freed within the call.
struct BytesAllocatedAtMost : gate::CountBytes {
  explicit BytesAllocatedAtMost(std::int64_t limit) : CountBytes(limit, false) {}
};
struct BytesAllocatedExactly : gate::CountBytes {
  explicit BytesAllocatedExactly(std::int64_t count) : CountBytes(count, true) {}
};

/// Kernels that one call runs on a GPU, by whatever they are launched.
struct KernelsAtMost : gate::CountKernels {
  explicit KernelsAtMost(std::int64_t limit) : CountKernels(limit, false) {}
};
struct KernelsExactly : gate::CountKernels {
  explicit KernelsExactly(std::int64_t count) : CountKernels(count, true) {}
};
/// Kernels and graphs that the host launches in one call.
struct LaunchesAtMost : gate::CountLaunches {
  explicit LaunchesAtMost(std::int64_t limit) : CountLaunches(limit, false) {}
};
struct LaunchesExactly : gate::CountLaunches {
  explicit LaunchesExactly(std::int64_t count) : CountLaunches(count, true) {}
};
/// Times that the host waits for the device, a stream or an event in one call.
struct SynchronisationsAtMost : gate::CountSynchronisations {
  explicit SynchronisationsAtMost(std::int64_t limit) : CountSynchronisations(limit, false) {}
};
struct SynchronisationsExactly : gate::CountSynchronisations {
  explicit SynchronisationsExactly(std::int64_t count) : CountSynchronisations(count, true) {}
};
/// Nodes of the CUDA graph that one call is captured into: kernels, copies, fills.
struct GraphNodesAtMost : gate::CountNodes {
  explicit GraphNodesAtMost(std::int64_t limit) : CountNodes(limit, false) {}
};
struct GraphNodesExactly : gate::CountNodes {
  explicit GraphNodesExactly(std::int64_t count) : CountNodes(count, true) {}
};

/// A count expectation, and the candidate that it was stated for; empty: every candidate.
struct StatedCount {
  std::string candidate;
  CountExpectation expectation;
};

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/count_expectation-inl.hpp"
#endif
