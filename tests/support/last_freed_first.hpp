// LastFreedFirst: an allocator that hands memory out in an order that tests can rely on.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

namespace pace::test {

/// For as long as this lives, LibTorch's allocator on the CPU works like the one on a GPU. The memory freed last goes
/// first to the next request of the same size. (The C library's own moves outputs about, depending on other
/// allocations.)
class LastFreedFirst {
 public:
  LastFreedFirst() : before_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(&blocks(), 1); }
  LastFreedFirst(const LastFreedFirst&) = delete;
  ~LastFreedFirst() { c10::SetCPUAllocator(before_, 1); }

 private:
  class Blocks final : public c10::Allocator {
   public:
    c10::DataPtr allocate(std::size_t bytes) override {
      auto& free = free_[bytes];
      void* block = nullptr;
      if (free.empty()) {
        block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      } else {
        block = free.back();
        free.pop_back();
      }
      sizes_[block] = bytes;
      return {block, block, &free_block, at::kCPU};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

   private:
    static void free_block(void* block) { blocks().free_[blocks().sizes_.at(block)].push_back(block); }

    std::map<std::size_t, std::vector<void*>> free_;
    std::map<void*, std::size_t> sizes_;
  };
  /// Never destroyed: tensors may outlive a test.
  static Blocks& blocks() {
    static auto* const only = new Blocks;
    return *only;
  }

  c10::Allocator* const before_;
};

}  // namespace pace::test
