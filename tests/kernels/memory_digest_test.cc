// Changes of memory, found and undone, on the CPU's memory.
#include "pace/kernels/memory_digest.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pace/kernels/kept_bytes.hpp"

using pace::kernel::HeldCopies;
using pace::kernel::KeptBytes;
using pace::kernel::MemoryDigest;
using pace::kernel::MemoryRegion;

namespace Catch {
template <>
struct StringMaker<std::vector<MemoryRegion>> {
  static std::string convert(const std::vector<MemoryRegion>& regions) {
    std::string text;
    for (const auto& each : regions) text += std::to_string(each.address) + "+" + std::to_string(each.bytes) + " ";
    return text;
  }
};
}  // namespace Catch

namespace {

constexpr std::size_t piece = MemoryDigest::piece_bytes;

/// Memory whose bytes tests change.
struct Memory {
  explicit Memory(std::size_t bytes) : bytes(bytes) {
    for (std::size_t i = 0; i < bytes; ++i) data()[i] = static_cast<unsigned char>(i % 251);
  }
  unsigned char* data() { return reinterpret_cast<unsigned char*>(words.data()); }
  [[nodiscard]] std::uintptr_t address() { return reinterpret_cast<std::uintptr_t>(words.data()); }
  [[nodiscard]] MemoryRegion region(std::size_t from, std::size_t size) { return {address() + from, size}; }
  [[nodiscard]] MemoryRegion all() { return region(0, bytes); }

  std::size_t bytes;
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>((bytes + 7) / 8);
};

}  // namespace

TEST_CASE("a change of any byte is found in its piece, a swap of two words, too") {
  Memory memory(3 * piece + 24);
  MemoryDigest digest(at::kCPU);
  digest.watch({memory.all()});
  const auto before = digest.take();
  CHECK(before.size() == 4);
  CHECK(digest.take() == before);
  for (const std::size_t at : {std::size_t{0}, piece - 1, piece, 2 * piece + 77, 3 * piece, 3 * piece + 23}) {
    memory.data()[at] ^= 1U;
    const std::size_t begin = at / piece * piece;
    CHECK(digest.changed(before, digest.take()) ==
          std::vector{memory.region(begin, begin == 3 * piece ? std::size_t{24} : piece)});
    memory.data()[at] ^= 1U;
  }
  CHECK(digest.changed(before, digest.take()).empty());
  std::swap(memory.words[5], memory.words[6]);
  CHECK(digest.changed(before, digest.take()).size() == 1);
}

TEST_CASE("memory that the digest itself writes to is left out") {
  Memory memory(2 * piece);
  MemoryDigest digest(at::kCPU);
  digest.watch({memory.all()});
  auto everything = digest.own_memory();
  REQUIRE(everything.size() == 3);
  everything.push_back(memory.all());
  digest.watch(pace::gpu::joined(everything));
  std::size_t watched = 0;
  for (const auto& region : digest.regions()) watched += region.bytes;
  CHECK(watched >= memory.bytes);
  // The products alone are 64 MiB.
  CHECK(watched < (1U << 20U));
  const auto before = digest.take();
  CHECK(digest.take() == before);
  memory.data()[piece + 5] ^= 1U;
  CHECK(digest.changed(before, digest.take()).size() == 1);
}

TEST_CASE("memory of many rows of pieces is read to its end") {
  Memory memory(5000 * piece);
  MemoryDigest digest(at::kCPU);
  digest.watch({memory.all()});
  const auto before = digest.take();
  memory.data()[4097 * piece] ^= 1U;
  memory.data()[4999 * piece + 5] ^= 1U;
  CHECK(digest.changed(before, digest.take()) ==
        std::vector{memory.region(4097 * piece, piece), memory.region(4999 * piece, piece)});
}

TEST_CASE("pieces side by side are one region, and regions that are watched stay apart") {
  Memory memory(8 * piece);
  MemoryDigest digest(at::kCPU);
  digest.watch({memory.region(0, 4 * piece), memory.region(4 * piece, 4 * piece)});
  const auto before = digest.take();
  for (const std::size_t at : {2U, 3U, 4U, 6U}) memory.data()[at * piece] ^= 1U;
  const auto after = digest.take();
  CHECK(digest.changed(before, after) == std::vector{memory.region(2 * piece, 2 * piece),
                                                     memory.region(4 * piece, piece), memory.region(6 * piece, piece)});
  digest.watch({memory.region(3, 10)});
  CHECK(digest.regions() == std::vector{memory.region(0, 16)});
}

TEST_CASE("many changed places become few regions, which hold all of them") {
  Memory memory(512 * piece);
  MemoryDigest digest(at::kCPU);
  digest.watch({memory.all()});
  const auto before = digest.take();
  for (std::size_t i = 0; i < 512; i += 3) memory.data()[i * piece] ^= 1U;
  const auto ranges = digest.changed(before, digest.take());
  CHECK(ranges.size() <= MemoryDigest::most_ranges);
  for (std::size_t i = 0; i < 512; i += 3) {
    bool held = false;
    for (const auto& range : ranges)
      held = held || (range.address <= memory.address() + i * piece &&
                      memory.address() + (i + 1) * piece <= range.address + range.bytes);
    CHECK(held);
  }
}

TEST_CASE("kept bytes are restored, and nothing beside them") {
  Memory memory(64);
  const auto original = memory.words;
  const KeptBytes kept({memory.region(8, 3), memory.region(32, 8)}, at::kCPU, at::kCPU);
  CHECK(kept.bytes() == 11);
  for (std::size_t i = 0; i < 64; ++i) memory.data()[i] = 255;
  kept.restore();
  for (std::size_t i = 0; i < 64; ++i) {
    const bool inside = (i >= 8 && i < 11) || (i >= 32 && i < 40);
    CHECK(memory.data()[i] == (inside ? reinterpret_cast<const unsigned char*>(original.data())[i] : 255));
  }
}

TEST_CASE("of all allocations those are restored that were changed and are still there") {
  Memory memory(4 * piece);
  std::vector<MemoryRegion> held;
  for (std::size_t i = 0; i < 4; ++i) held.push_back(memory.region(i * piece, piece));
  HeldCopies copies(held, at::kCPU, at::kCPU);
  CHECK(copies.bytes() == 4 * piece);
  for (const std::size_t i : {0U, 2U, 3U}) memory.data()[i * piece + 9] = 255;
  // The first one was released by the calls.
  copies.keep_changed({held[1], held[2], held[3]});
  CHECK(copies.bytes() == 2 * piece);
  CHECK(copies.keep_held({held[1], held[2], memory.region(3 * piece, piece / 2)}) == piece);
  memory.data()[piece] = 254;
  copies.restore();
  CHECK(memory.data()[9] == 255);
  CHECK(memory.data()[piece] == 254);
  CHECK(memory.data()[2 * piece + 9] == (2 * piece + 9) % 251);
  CHECK(memory.data()[3 * piece + 9] == 255);
}

TEST_CASE("an unchanged call needs no copies") {
  Memory memory(piece);
  HeldCopies copies({memory.all()}, at::kCPU, at::kCPU);
  copies.keep_changed({memory.all()});
  CHECK(copies.bytes() == 0);
}

TEST_CASE("copies lie on the device where they are small there, else on the host, else nowhere") {
  const at::Device device(at::kCUDA, 0), host(at::kCPU);
  CHECK(pace::kernel::place_for_copies(25, device, 100, 0) == device);
  CHECK(pace::kernel::place_for_copies(26, device, 100, 52) == host);
  CHECK_FALSE(pace::kernel::place_for_copies(26, device, 100, 51));
}

TEST_CASE("a snapshot of an allocator says how much tensors hold") {
  struct Block {
    std::size_t size;
    bool allocated;
  };
  struct Segment {
    int device;
    std::size_t address;
    std::vector<Block> blocks;
  };
  const std::vector<Segment> segments{{0, 4096, {{512, true}, {1024, true}, {512, false}, {512, true}}},
                                      {1, 1024, {{512, true}}},
                                      {0, 1024, {{512, false}, {512, true}}}};
  const auto held = pace::gpu::held_regions(segments, 0);
  CHECK(held == std::vector<MemoryRegion>{{1536, 512}, {4096, 512}, {4608, 1024}, {6144, 512}});
  CHECK(pace::gpu::joined(held) == std::vector<MemoryRegion>{{1536, 512}, {4096, 1536}, {6144, 512}});
  using pace::gpu::without;
  const std::vector<MemoryRegion> two{{100, 50}, {200, 50}};
  CHECK(without(two, {150, 50}) == two);
  CHECK(without(two, {120, 10}) == std::vector<MemoryRegion>{{100, 20}, {130, 20}, {200, 50}});
  CHECK(without(two, {140, 70}) == std::vector<MemoryRegion>{{100, 40}, {210, 40}});
  CHECK(without(two, {100, 50}) == std::vector<MemoryRegion>{{200, 50}});
  CHECK(without(two, {90, 300}).empty());
  CHECK(pace::gpu::joined({{100, 50}, {0, 10}, {120, 10}, {60, 0}, {150, 5}}) ==
        std::vector<MemoryRegion>{{0, 10}, {100, 55}});
}
