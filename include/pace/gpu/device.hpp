// Device: the concept of a device for the device clocks. pace/gpu/cuda/device.hpp models it; tests have a fake one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace::gpu {

/// Thrown when a call on the device has not ended in time. The device is lost to this process, since nothing can stop a
/// kernel.
class NeverEnded : public DeviceLost {
 public:
  using DeviceLost::DeviceLost;
};

/// A device with streams, events, graphs and flags, as the device clocks use it.
///
/// Handles are small values that may be copied; the code that makes a handle destroys it (see Owned). Functions throw
/// where they fail; `destroy`, `raise`, `make_current` and `abandon_capture` must not throw. `usable()` is whether the
/// device still works.
///
///  - Streams are queues of work, each in order. `take_stream()` returns one apart from the default stream.
///    `capture_stream()` always returns the same one, on which calls are captured, since libraries keep workspaces for
///    every stream on which they are called.
///  - Events are moments in a queue. `record` puts one into a stream; `record_node` puts one into the graph that is
///    captured on the stream, so that every launch of that graph records it anew. `elapsed(start, stop)` is the time
///    between two events.
///  - Graphs are captured between `begin_capture` and `end_capture`. `kernels(graph)` is the number of their kernels.
///  - Pools hold the memory of captured calls. Memory that one capture leaves free in a pool is used by the next one.
///  - Flags block a stream: after `block_until(stream, flag, value)`, later work in the stream waits until
///    `raise(flag, at_least_value)`, which any thread may call.
///  - `make_alarm(ring)` returns an alarm like timing::Alarm, which rings by the time of `now()`.
///  - Buffers are device memory. `fill` overwrites one with zeros. `evict` uses one to flush the L2 cache, and leaves
///    nothing in the cache that must be written back.
///  - Persisting lines of the L2 cache survive a flush. `persisting_bytes` is their limit, and `drop_persisting_lines`
///    makes them ordinary ones.
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
