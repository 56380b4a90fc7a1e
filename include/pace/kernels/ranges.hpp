// Ranges: what a call reports to LibTorch's profiler while it runs on the CPU, and the kernels that follow from it.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/units.hpp"

namespace pace::kernel {

/// A range begins, or the one that began last ends.
struct RangeEvent {
  bool begins = true;
  Nanoseconds at{};
  /// The name of a beginning.
  std::string name = {};
  /// Whether a beginning is that of a function of TorchScript, a node of autograd and the like, which hold kernels and
  /// are none.
  bool frame = false;
};

/// What recording itself costs.
struct RangeCost {
  /// In the time of a range without any inside it, and in the time around one.
  Nanoseconds inside{}, all{};
};

/// One run of a kernel.
struct KernelRange {
  std::string symbol;
  Nanoseconds time{};
};

struct RangesOfCall {
  /// In the order in which they began.
  std::vector<KernelRange> kernels;
  /// All ranges, kernels or not.
  std::size_t ranges = 0;
};

/// Inductor's kernels have the number of their graph before their name: `graph_0_cpp_fused_add_1`.
[[nodiscard]] inline std::string_view without_graph(std::string_view name) {
  constexpr std::string_view prefix = "graph_";
  if (!name.starts_with(prefix)) return name;
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto* const end = std::find_if_not(name.begin() + prefix.size(), name.end(), is_digit);
  const auto digits = static_cast<std::size_t>(end - name.begin());
  return digits > prefix.size() && name.substr(digits).starts_with('_') ? name.substr(digits + 1) : name;
}

/// A kernel that Inductor compiled for the CPU (where its option cpp.enable_kernel_profile was set).
[[nodiscard]] inline bool is_compiled(std::string_view name) { return without_graph(name).starts_with("cpp_"); }

/// Compiled code that calls LibTorch. The range holds what the operator calls, not always the operator.
[[nodiscard]] inline bool is_call_of_libtorch(std::string_view name) { return name.starts_with("aoti_torch_"); }

namespace detail {

/// Whether all that happens inside is this kernel's.
[[nodiscard]] inline bool is_kernel(std::string_view name) {
  return is_compiled(name) || is_call_of_libtorch(name) || name.find("::") != std::string_view::npos;
}

/// Around a package's run.
[[nodiscard]] inline bool is_wrapper(std::string_view name) { return name == "inductor_wrapper_call"; }

}  // namespace detail

/// Kernels are Inductor's, its calls of LibTorch, and operators; of those inside each other the outermost, with all that
/// lies inside it, so that no time counts twice. Any other range is one if there is none inside it, such as a kernel of
/// TorchScript's fuser or a range of one's own. What recording costs is taken away. Throws Error unless every range ends.
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
