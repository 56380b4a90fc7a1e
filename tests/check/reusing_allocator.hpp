// A CPU allocator that always hands out the block of that size which was freed last: the worst case for stale results.
#pragma once

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

/// In force while it lives; tensors made meanwhile may outlive it. One at a time, one thread.
class ReusingAllocator {
 public:
  ReusingAllocator() : before_(c10::GetCPUAllocator()) {
    c10::SetCPUAllocator(&pool());
    pool().peak = pool().live;
    start_ = pool().live;
  }
  ~ReusingAllocator() { c10::SetCPUAllocator(before_); }
  ReusingAllocator(const ReusingAllocator&) = delete;
  ReusingAllocator& operator=(const ReusingAllocator&) = delete;

  /// Most bytes in use at a time since the beginning, beyond those in use then.
  [[nodiscard]] std::size_t peak_bytes() const { return pool().peak - start_; }

 private:
  struct Pool final : c10::Allocator {
    static constexpr std::size_t header = 64;  // holds the block's size, and keeps the rest aligned

    c10::DataPtr allocate(std::size_t bytes) override {
      auto& blocks = free_blocks[bytes];
      char* block = nullptr;
      if (blocks.empty()) {
        block = static_cast<char*>(std::aligned_alloc(64, (bytes + header + 63) / 64 * 64));
        std::memcpy(block, &bytes, sizeof bytes);
      } else {
        block = blocks.back();
        blocks.pop_back();
      }
      live += bytes;
      peak = std::max(peak, live);
      return {block + header, block + header, &give_back, c10::Device(c10::kCPU)};
    }
    static void give_back(void* data) {
      char* const block = static_cast<char*>(data) - header;
      std::size_t bytes = 0;
      std::memcpy(&bytes, block, sizeof bytes);
      pool().free_blocks[bytes].push_back(block);
      pool().live -= bytes;
    }
    c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

    std::map<std::size_t, std::vector<char*>> free_blocks;
    std::size_t live = 0, peak = 0;
  };

  static Pool& pool() {
    static auto* const only = new Pool;
    return *only;
  }

  c10::Allocator* before_;
  std::size_t start_ = 0;
};
