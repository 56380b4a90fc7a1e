// Feeds each seed of a target to it, without libFuzzer. PACE_SEEDS names the folder of the seeds.
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "tests/fuzz/target.hpp"

// As -malloc_limit_mb of run.sh: no seed has more than a few kilobytes, so that more is out of proportion.
void* operator new(std::size_t size) {
  constexpr std::size_t most = std::size_t{64} << 20;
  if (size > most) {
    std::fprintf(stderr, "%zu bytes were asked for; expected at most %zu\n", size, most);
    std::abort();
  }
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("the property of the target holds for each seed") {
  const char* const folder = std::getenv("PACE_SEEDS");
  REQUIRE(folder != nullptr);
  std::size_t seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    INFO(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    CHECK_NOTHROW(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    ++seeds;
  }
  CHECK(seeds > 0);
}
