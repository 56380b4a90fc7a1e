// MemoryRegion: stretches of a device's memory, as an allocator lists them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pace::gpu {

/// A stretch of memory.
struct MemoryRegion {
  std::uintptr_t address = 0;  ///< of its first byte
  std::size_t bytes = 0;       ///< its size
  /// Compares both members.
  bool operator==(const MemoryRegion&) const = default;
};

/// Returns the memory that tensors hold on the device of this number, one region for each allocation, in the order of
/// addresses. `segments` are those of a snapshot of LibTorch's allocator, whose blocks lie one behind another.
template <class Segments>
[[nodiscard]] std::vector<MemoryRegion> held_regions(const Segments& segments, int device) {
  std::vector<MemoryRegion> held;
  for (const auto& segment : segments) {
    if (segment.device != device) continue;
    std::uintptr_t address = segment.address;
    for (const auto& block : segment.blocks) {
      if (block.allocated) held.push_back({address, block.size});
      address += block.size;
    }
  }
  std::ranges::sort(held, {}, &MemoryRegion::address);
  return held;
}

/// Returns the memory of `regions` outside of `hole`.
[[nodiscard]] inline std::vector<MemoryRegion> without(const std::vector<MemoryRegion>& regions,
                                                       const MemoryRegion& hole) {
  const std::uintptr_t hole_end = hole.address + hole.bytes;
  std::vector<MemoryRegion> left;
  for (const auto& each : regions) {
    const std::uintptr_t end = each.address + each.bytes;
    if (end <= hole.address || each.address >= hole_end) {
      left.push_back(each);
      continue;
    }
    if (each.address < hole.address) left.push_back({each.address, hole.address - each.address});
    if (end > hole_end) left.push_back({hole_end, end - hole_end});
  }
  return left;
}

/// Returns the same memory with as few regions as possible, in the order of addresses. Regions may overlap.
[[nodiscard]] inline std::vector<MemoryRegion> joined(std::vector<MemoryRegion> regions) {
  std::ranges::sort(regions, {}, &MemoryRegion::address);
  std::vector<MemoryRegion> made;
  for (const auto& each : regions) {
    if (each.bytes == 0) continue;
    if (made.empty() || each.address > made.back().address + made.back().bytes) {
      made.push_back(each);
      continue;
    }
    auto& last = made.back();
    last.bytes = std::max(last.bytes, static_cast<std::size_t>(each.address + each.bytes - last.address));
  }
  return made;
}

}  // namespace pace::gpu
