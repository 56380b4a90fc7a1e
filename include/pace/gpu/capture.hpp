// capture: turns what a callable queues into a graph.
#pragma once

#include <utility>

#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::gpu {

/// Runs `body` while `stream`, which becomes the current one meanwhile, is captured. Nothing runs on the device. What
/// cannot be captured throws: copies to the host, waiting for the device, work that leaves the stream and does not
/// come back. Whatever happens, nothing stays captured. Memory that `body` takes comes from `pool`.
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

/// The same with a pool of its own.
template <Device D, class Body>
[[nodiscard]] Owned<D, typename D::Graph> capture(D& device, const typename D::Stream& stream, Body&& body) {
  return capture(device, stream, device.make_pool(), std::forward<Body>(body));
}

}  // namespace pace::gpu
