// Device: what the device clocks need of a device. CUDA has one (pace/gpu/cuda/device.hpp); tests have a fake one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "pace/core/error.hpp"
#include "pace/core/units.hpp"

namespace pace::gpu {

/// A call on the device did not end in time: it never will, or something holds it up. Nothing can stop a kernel.
class NeverEnded : public DeviceLost {
 public:
  using DeviceLost::DeviceLost;
};

/// Handles are small values that copy freely; the code that makes one destroys it (see Owned). Whatever can fail
/// throws; `destroy`, `raise`, `make_current` and `abandon_capture` cannot. `usable()` is whether the device still
/// answers.
///
/// Streams: queues of work, in order within each. `take_stream()` gives one apart from the default that is never given
/// back; `capture_stream()` gives always the same one, on which calls are captured: libraries keep workspaces for every
/// stream that they are called on. Events: moments in a queue; `record` puts one into a stream, `record_node` into the
/// graph that the stream is captured into, so that every launch of that graph records it anew. Flags: a stream that is
/// told to `block_until(stream, flag, value)` does nothing more until `raise(flag, at_least_value)`; any thread may
/// raise. Alarms: `make_alarm(ring)` gives one like timing::Alarm, which rings by the time that `now()` gives. Buffers:
/// device memory. `fill` overwrites one with zeros; `evict` uses one to drive everything else out of the L2 cache, and
/// leaves nothing there that must be written back first. Pools: memory of captured calls; what one capture leaves free
/// in a pool, the next one in it gets. `kernels(graph)` counts its kernels.
template <class D>
concept Device = requires(D& device, typename D::Stream stream, typename D::Event event, typename D::Graph graph,
                          typename D::Flag flag, typename D::Buffer buffer, std::size_t bytes, std::uint32_t value,
                          std::function<void()> ring, typename D::Alarm& alarm) {
  { device.now() } -> std::same_as<Nanoseconds>;
  { device.usable() } -> std::same_as<bool>;
  { device.name() } -> std::convertible_to<std::string>;

  { device.current_stream() } -> std::same_as<typename D::Stream>;
  { device.take_stream() } -> std::same_as<typename D::Stream>;
  { device.capture_stream() } -> std::same_as<typename D::Stream>;
  device.make_current(stream);
  device.synchronise();
  device.synchronise(stream);

  { device.make_event() } -> std::same_as<typename D::Event>;
  device.destroy(event);
  device.record(event, stream);
  device.record_node(event, stream);
  { device.finished(event) } -> std::same_as<bool>;
  { device.elapsed(event, event) } -> std::same_as<Nanoseconds>;

  { device.make_pool() } -> std::same_as<typename D::Pool>;
  device.begin_capture(stream, device.make_pool());
  { device.end_capture(stream) } -> std::same_as<typename D::Graph>;
  device.abandon_capture(stream);
  device.launch(graph, stream);
  device.destroy(graph);
  { device.kernels(graph) } -> std::same_as<std::size_t>;

  { device.make_flag() } -> std::same_as<typename D::Flag>;
  device.destroy(flag);
  device.block_until(stream, flag, value);
  device.raise(flag, value);

  { device.make_alarm(ring) } -> std::same_as<typename D::Alarm>;
  alarm.set(Nanoseconds());
  { alarm.cancel() } -> std::same_as<bool>;

  { device.l2_bytes() } -> std::same_as<std::size_t>;
  { device.make_buffer(bytes) } -> std::same_as<typename D::Buffer>;
  device.destroy(buffer);
  device.fill(buffer, stream);
  device.evict(buffer, stream);
  device.drop_persisting_lines();
  { device.persisting_bytes() } -> std::same_as<std::size_t>;
  device.set_persisting_bytes(bytes);
};

}  // namespace pace::gpu
