// The summary of a recording of LibTorch's profiler: operators by name, and the device's or the CPU's kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "benches/kernels/compat/profile_report.hpp"
#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/kernels/ranges.hpp"
#include "pace/report/table.hpp"

namespace pace::benches::kernels {

/// One record. Times are since the recording began.
struct ProfiledEvent {
  std::string name = {};
  /// Shapes of the operands, such as `[4, 8], []`; empty: unknown.
  std::string shapes = {};
  std::uint64_t thread = 0;
  Nanoseconds start{}, duration{};
  /// A kernel, copy or fill of a GPU, rather than the host's.
  bool on_device = false;
  /// See kernel::RangeEvent.
  bool frame = false;

  [[nodiscard]] Nanoseconds end() const { return start + duration; }
};

struct Profile {
  std::vector<ProfiledEvent> events;
  /// The host's thread that ran the module.
  std::uint64_t thread = 0;
};

/// All records of one name with the same shapes.
struct KeyAverage {
  std::string name, shapes;
  std::size_t calls = 0;
  /// On the host without the operators inside it, and with them; on the device.
  Nanoseconds host_self{}, host_total{}, device{};
};

namespace detail {

/// The host's records, outer ones before those inside them.
[[nodiscard]] inline std::vector<ProfiledEvent> host_events(std::span<const ProfiledEvent> events) {
  std::vector<ProfiledEvent> host;
  std::ranges::copy_if(events, std::back_inserter(host), [](const auto& each) { return !each.on_device; });
  std::ranges::stable_sort(host, [](const auto& a, const auto& b) {
    return std::tuple(a.thread, a.start, -a.duration) < std::tuple(b.thread, b.start, -b.duration);
  });
  return host;
}

}  // namespace detail

/// The device's longest first, then the host's by their own time.
[[nodiscard]] inline std::vector<KeyAverage> key_averages(std::span<const ProfiledEvent> events) {
  std::map<std::tuple<std::string, std::string, bool>, KeyAverage> rows;
  const auto row = [&](const ProfiledEvent& event) -> KeyAverage& {
    KeyAverage& found = rows[{event.name, event.shapes, event.on_device}];
    found.name = event.name;
    found.shapes = event.shapes;
    return found;
  };
  for (const auto& event : events) {
    if (!event.on_device) continue;
    KeyAverage& found = row(event);
    ++found.calls;
    found.device += event.duration;
  }
  std::vector<const ProfiledEvent*> open;
  const auto host = detail::host_events(events);
  for (const auto& event : host) {
    while (!open.empty() && (open.back()->thread != event.thread || open.back()->end() <= event.start)) open.pop_back();
    if (!open.empty()) row(*open.back()).host_self -= event.duration;
    KeyAverage& found = row(event);
    ++found.calls;
    found.host_self += event.duration;
    // A function that calls itself counts once.
    if (std::ranges::none_of(
            open, [&](const auto* outer) { return outer->name == event.name && outer->shapes == event.shapes; }))
      found.host_total += event.duration;
    open.push_back(&event);
  }
  std::vector<KeyAverage> averages;
  for (auto& [key, average] : rows) averages.push_back(std::move(average));
  std::ranges::stable_sort(averages, [](const auto& a, const auto& b) {
    return std::tuple(a.device, a.host_self) > std::tuple(b.device, b.host_self);
  });
  return averages;
}

/// The first ten rows.
inline void print_key_averages(std::span<const KeyAverage> averages, std::ostream& out) {
  constexpr std::size_t most = 10;
  using report::Align;
  report::StreamingTable table({{"name", 0, Align::left},
                                {"input shapes", 0, Align::left},
                                {"calls"},
                                {"self CPU"},
                                {"CPU total"},
                                {"self device"}},
                               false);
  std::vector<std::vector<report::Cell>> rows;
  for (const auto& each : averages.subspan(0, std::min(most, averages.size()))) {
    const bool host = each.host_total.count() > 0;
    rows.push_back({{each.name.substr(0, 60)},
                    {each.shapes.substr(0, 60)},
                    {std::to_string(each.calls)},
                    {host ? format_time(each.host_self) : ""},
                    {host ? format_time(each.host_total) : ""},
                    {each.device.count() > 0 ? format_time(each.device) : ""}});
  }
  table.fit(rows);
  out << table.header_if_due(rows.size());
  for (const auto& cells : rows) out << table.line(cells);
}

/// By name: the kernels that ran on the device; with `on_host`, the kernels of the thread that ran the module instead.
[[nodiscard]] inline std::vector<benches::kernels::compat::ProfiledKernel> profiled_kernels(const Profile& profile,
                                                                                            bool on_host) {
  std::vector<benches::kernels::compat::ProfiledKernel> kernels;
  const auto add = [&](const std::string& name, Nanoseconds took) {
    auto found = std::ranges::find(kernels, name, &benches::kernels::compat::ProfiledKernel::name);
    if (found == kernels.end()) found = kernels.insert(found, {.name = name});
    found->device_microseconds += took.count() / 1e3;
    ++found->count;
  };
  if (!on_host) {
    for (const auto& event : profile.events)
      if (event.on_device) add(event.name, event.duration);
    return kernels;
  }
  std::vector<kernel::RangeEvent> ranges;
  std::vector<Nanoseconds> ends;
  const auto close = [&](Nanoseconds until) {
    for (; !ends.empty() && ends.back() <= until; ends.pop_back())
      ranges.push_back({.begins = false, .at = ends.back()});
  };
  for (const auto& event : detail::host_events(profile.events)) {
    if (event.thread != profile.thread) continue;
    close(event.start);
    ranges.push_back({.begins = true, .at = event.start, .name = event.name, .frame = event.frame});
    ends.push_back(event.end());
  }
  close(Nanoseconds::max());
  for (const auto& each : kernel::kernels_of(ranges).kernels)
    add(std::string(kernel::without_graph(each.symbol)), each.time);
  return kernels;
}

}  // namespace pace::benches::kernels
