// Owned: a device handle with one owner. OnStream: the current stream, for a while.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "pace/gpu/device.hpp"

namespace pace::gpu {

template <class D, class Handle>
class Owned {
 public:
  Owned(D& device, Handle handle) : device_(&device), handle_(std::move(handle)) {}
  Owned(Owned&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, std::nullopt)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_) device_->destroy(*handle_);
  }

  [[nodiscard]] const Handle& get() const { return *handle_; }

 private:
  D* device_;
  std::optional<Handle> handle_;
};

template <Device D>
[[nodiscard]] Owned<D, typename D::Event> own_event(D& device) {
  return {device, device.make_event()};
}
template <Device D>
[[nodiscard]] Owned<D, typename D::Flag> own_flag(D& device) {
  return {device, device.make_flag()};
}
template <Device D>
[[nodiscard]] Owned<D, typename D::Buffer> own_buffer(D& device, std::size_t bytes) {
  return {device, device.make_buffer(bytes)};
}

/// A start and an end.
template <Device D>
struct EventPair {
  explicit EventPair(D& device) : start(own_event(device)), stop(own_event(device)) {}
  Owned<D, typename D::Event> start, stop;
};

/// `stream` is the current one until the end of the scope.
template <Device D>
class OnStream {
 public:
  OnStream(D& device, const typename D::Stream& stream) : device_(device), before_(device.current_stream()) {
    device_.make_current(stream);
  }
  OnStream(const OnStream&) = delete;
  ~OnStream() { device_.make_current(before_); }

 private:
  D& device_;
  typename D::Stream before_;
};

}  // namespace pace::gpu
