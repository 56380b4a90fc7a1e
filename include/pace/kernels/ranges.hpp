// Ranges that a call on the CPU reports to LibTorch's profiler, and the kernels of the call by these ranges.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace::kernel {

/// The begin of a range, or the end of the innermost range.
struct RangeEvent {
  bool begins = true;     ///< a range begins; otherwise, the range that began last ends
  Nanoseconds at{};       ///< time of the event
  std::string name = {};  ///< name of the range, at its begin
  bool frame = false;     ///< a function of TorchScript, a node of autograd or the like, which contains kernels
};

/// Time that the recording of one range takes.
struct RangeCost {
  Nanoseconds inside{};  ///< within the recorded time of a range
  Nanoseconds all{};     ///< in total, before, within and after the recorded time
};

/// One run of a kernel.
struct KernelRange {
  std::string symbol;  ///< name of its range
  Nanoseconds time{};  ///< without the time of recording
};

/// The kernels of one call.
struct RangesOfCall {
  std::vector<KernelRange> kernels;  ///< in the order of their beginnings
  std::size_t ranges = 0;            ///< number of all ranges of the call
};

/// Returns the name of one of Inductor's kernels without the number of its graph, `graph_0_` in
/// `graph_0_cpp_fused_add_1`; any other name unchanged.
[[nodiscard]] inline std::string_view without_graph(std::string_view name) {
  constexpr std::string_view prefix = "graph_";
  if (!name.starts_with(prefix)) return name;
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto* const end = std::find_if_not(name.begin() + prefix.size(), name.end(), is_digit);
  const auto digits = static_cast<std::size_t>(end - name.begin());
  return digits > prefix.size() && name.substr(digits).starts_with('_') ? name.substr(digits + 1) : name;
}

/// Whether the range is a kernel that Inductor compiled for the CPU, with its option cpp.enable_kernel_profile set.
[[nodiscard]] inline bool is_compiled(std::string_view name) { return without_graph(name).starts_with("cpp_"); }

/// Whether the range is a call of LibTorch by compiled code. It contains the operator's own calls, and not always a
/// range of the operator itself.
[[nodiscard]] inline bool is_call_of_libtorch(std::string_view name) { return name.starts_with("aoti_torch_"); }

namespace detail {

/// Whether the range is a kernel. All ranges inside it belong to it.
[[nodiscard]] inline bool is_kernel(std::string_view name) {
  return is_compiled(name) || is_call_of_libtorch(name) || name.find("::") != std::string_view::npos;
}

/// Whether the range encloses the run of a package.
[[nodiscard]] inline bool is_wrapper(std::string_view name) { return name == "inductor_wrapper_call"; }

}  // namespace detail

/// Returns the kernels of a call from its `events`, which must be in order of time.
///
/// Kernels are Inductor's kernels, its calls of LibTorch, and operators. Of nested ones, the outermost counts, with all
/// ranges inside it, so that no time counts twice. Any other range is a kernel if it contains no range, such as a
/// kernel of TorchScript's fuser or a range of the user. `cost` is subtracted. Throws Error unless every range ends
/// once.
[[nodiscard]] inline RangesOfCall kernels_of(std::span<const RangeEvent> events, RangeCost cost = {}) {
  struct Open {
    std::size_t event, first_kernel, inside = 0;
    bool absorbed;
  };
  std::vector<Open> open;
  RangesOfCall call;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const RangeEvent& event = events[i];
    if (event.begins) {
      ++call.ranges;
      for (Open& outer : open) ++outer.inside;
      const bool absorbed =
          !open.empty() && (open.back().absorbed ||
                            (!events[open.back().event].frame && detail::is_kernel(events[open.back().event].name)));
      open.push_back({.event = i, .first_kernel = call.kernels.size(), .absorbed = absorbed});
      continue;
    }
    if (open.empty()) throw Error("ranges of a call: one ended that had not begun; expected each to end once");
    const Open range = open.back();
    open.pop_back();
    const RangeEvent& begin = events[range.event];
    const bool holds_kernels = call.kernels.size() > range.first_kernel;
    if (range.absorbed || begin.frame || holds_kernels || detail::is_wrapper(begin.name)) continue;
    const Nanoseconds recording = cost.inside + cost.all * static_cast<double>(range.inside);
    call.kernels.push_back({begin.name, std::max(Nanoseconds{}, event.at - begin.at - recording)});
  }
  if (!open.empty())
    throw Error("ranges of a call: '" + events[open.back().event].name + "' has not ended; expected each to end once");
  return call;
}

}  // namespace pace::kernel
