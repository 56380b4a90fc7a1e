// Owned: a device handle with one owner. OnStream: another current stream for a scope.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "pace/gpu/device.hpp"

namespace pace::gpu {

/// A handle of a device, which is destroyed with the object.
template <class D, class Handle>
class Owned {
 public:
  /// Owns `handle`. `device` must outlive the object.
  Owned(D& device, Handle handle) : device_(&device), handle_(std::move(handle)) {}
  /// Takes the handle of `other`, which may then only be destroyed or assigned to.
  Owned(Owned&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, std::nullopt)) {}
  /// Exchanges the handles, so that `other` destroys the present one.
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_) device_->destroy(*handle_);
  }

  /// The handle.
  [[nodiscard]] const Handle& get() const { return *handle_; }

 private:
  D* device_;
  std::optional<Handle> handle_;
};

/// Makes an event.
template <Device D>
[[nodiscard]] Owned<D, typename D::Event> own_event(D& device) {
  return {device, device.make_event()};
}
/// Makes a flag.
template <Device D>
[[nodiscard]] Owned<D, typename D::Flag> own_flag(D& device) {
  return {device, device.make_flag()};
}
/// Allocates `bytes` bytes of device memory.
template <Device D>
[[nodiscard]] Owned<D, typename D::Buffer> own_buffer(D& device, std::size_t bytes) {
  return {device, device.make_buffer(bytes)};
}

/// Two events, around timed work.
template <Device D>
struct EventPair {
  /// Makes both events.
  explicit EventPair(D& device) : start(own_event(device)), stop(own_event(device)) {}
  Owned<D, typename D::Event> start;  ///< recorded before the work
  Owned<D, typename D::Event> stop;   ///< recorded after the work
};

/// Makes a stream the current one for the lifetime of the object.
template <Device D>
class OnStream {
 public:
  /// Makes `stream` current; the destructor restores the earlier one. `device` must outlive the object.
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
