// SharedMemoryCommunicator: collectives on the CPU by memory that all ranks share, as the simplest ones to check
// against.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include "benches/collectives/communicator.hpp"
#include "pace/base/error.hpp"
#include "pace/ranks/rank.hpp"

namespace pace::benches::collectives {

/// Memory for one tensor of each rank, made before the ranks are.
class SharedBuffers {
 public:
  /// `bytes` for each of `ranks`. Throws Error if there is no memory.
  SharedBuffers(int ranks, std::size_t bytes) : each_(bytes), all_(static_cast<std::size_t>(ranks) * bytes) {
    memory_ = ::mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw Error(std::string("no memory that ranks could share: ") + std::strerror(errno));
  }
  SharedBuffers(const SharedBuffers&) = delete;
  SharedBuffers& operator=(const SharedBuffers&) = delete;
  ~SharedBuffers() { ::munmap(memory_, all_); }

  /// The first elements of a rank's buffer. Throws Error if it is too small.
  [[nodiscard]] at::Tensor of(int rank, std::int64_t elements) const {
    if (static_cast<std::size_t>(elements) * sizeof(float) > each_)
      throw Error("a tensor of " + std::to_string(elements) + " floats; expected at most " + std::to_string(each_) +
                  " bytes");
    return at::from_blob(static_cast<char*>(memory_) + static_cast<std::size_t>(rank) * each_, {elements}, at::kFloat);
  }

 private:
  std::size_t each_, all_;
  void* memory_;
};

/// Each rank copies its data into its buffer, and reads the other buffers after a barrier.
class SharedMemoryCommunicator final : public Communicator {
 public:
  /// Both must outlive it.
  SharedMemoryCommunicator(ranks::Rank& rank, const SharedBuffers& buffers) : rank_(rank), buffers_(buffers) {}

  [[nodiscard]] int rank() const override { return rank_.number(); }
  [[nodiscard]] int ranks() const override { return rank_.count(); }

  void all_reduce(const at::Tensor& in, const at::Tensor& out) override {
    show(in);
    out.zero_();
    for (int from = 0; from < ranks(); ++from) out.add_(buffers_.of(from, in.numel()).view_as(out));
    rank_.barrier();
  }
  void all_gather(const at::Tensor& in, const at::Tensor& out) override {
    show(in);
    for (int from = 0; from < ranks(); ++from)
      out.view(-1).narrow(0, from * in.numel(), in.numel()).copy_(buffers_.of(from, in.numel()));
    rank_.barrier();
  }
  void reduce_scatter(const at::Tensor& in, const at::Tensor& out) override {
    show(in);
    out.zero_();
    for (int from = 0; from < ranks(); ++from)
      out.add_(buffers_.of(from, in.numel()).narrow(0, rank() * out.numel(), out.numel()).view_as(out));
    rank_.barrier();
  }
  void exchange(const std::vector<Exchange>& all) override {
    // Messages to rank k lie in part k of the buffer, so each rank gets one at most.
    std::int64_t largest = 0;
    for (const auto& each : all) largest = std::max(largest, each.sent.numel());
    for (const auto& each : all)
      buffers_.of(rank(), ranks() * largest).narrow(0, each.to * largest, each.sent.numel()).copy_(each.sent.view(-1));
    rank_.barrier();
    for (const auto& each : all)
      each.received.view(-1).copy_(
          buffers_.of(each.from, ranks() * largest).narrow(0, rank() * largest, each.received.numel()));
    rank_.barrier();
  }

 private:
  void show(const at::Tensor& in) {
    buffers_.of(rank(), in.numel()).copy_(in.view(-1));
    rank_.barrier();
  }

  ranks::Rank& rank_;
  const SharedBuffers& buffers_;
};

}  // namespace pace::benches::collectives
