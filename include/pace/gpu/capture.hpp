// capture: captures the work that a callable queues into a graph.
#pragma once

#include <utility>

#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::gpu {

/// Runs `body` while `stream`, which is the current stream meanwhile, is captured, and returns the graph. Nothing runs
/// on the device. Memory that `body` allocates comes from `pool`. Throws if `body` cannot be captured, because it
/// copies to the host, waits for the device, or leaves work on another stream; the capture is then undone.
template <Device D, class Body>
[[nodiscard]] Owned<D, typename D::Graph> capture(D& device, const typename D::Stream& stream,
                                                  const typename D::Pool& pool, Body&& body) {
  const OnStream<D> on(device, stream);
  struct Abandon {
    D& device;
    const typename D::Stream& stream;
    bool captures = true;
    ~Abandon() {
      if (captures) device.abandon_capture(stream);
    }
  };
  device.begin_capture(stream, pool);
  Abandon abandon{device, stream};
  std::forward<Body>(body)();
  Owned<D, typename D::Graph> graph(device, device.end_capture(stream));
  abandon.captures = false;
  return graph;
}

/// As above, with a pool of its own.
template <Device D, class Body>
[[nodiscard]] Owned<D, typename D::Graph> capture(D& device, const typename D::Stream& stream, Body&& body) {
  return capture(device, stream, device.make_pool(), std::forward<Body>(body));
}

}  // namespace pace::gpu
