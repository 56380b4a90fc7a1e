// Communicator: the calls that one rank makes its collectives of.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace pace::benches::collectives {

/// One message from this rank and one to it.
struct Exchange {
  int to = 0, from = 0;
  at::Tensor sent, received;  ///< contiguous, of equal sizes on both sides
};

/// Sends and adds up tensors of 32-bit floats, which are contiguous and of any shape. They stay as they are unless they
/// are outputs. Collectives are in the current stream, if the device has streams; all ranks call the same ones in one
/// order. Unless stated otherwise `out` and `in` must not overlap. Collectives throw Error if the library fails. NCCL
/// checks no sizes; the communicator in shared memory throws Error for tensors above its buffers.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  /// The sum of all ranks' `in`. `out` has the size of `in`, and may be `in`.
  virtual void all_reduce(const at::Tensor& in, const at::Tensor& out) = 0;
  /// All ranks' `in`, one after the other. `out` has ranks() times the size of `in`, and `in` may be this rank's part.
  virtual void all_gather(const at::Tensor& in, const at::Tensor& out) = 0;
  /// This rank's part of the sum of all ranks' `in`. `in` has ranks() times the size of `out`, which may be this rank's
  /// part of `in`.
  virtual void reduce_scatter(const at::Tensor& in, const at::Tensor& out) = 0;
  /// All messages at once. What one rank sends has the size that the other receives. At most one message goes to each
  /// rank.
  virtual void exchange(const std::vector<Exchange>& all) = 0;
};

}  // namespace pace::benches::collectives
