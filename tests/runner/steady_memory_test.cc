#include "pace/os/steady_memory.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace {

/// In bytes.
long resident_memory() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

/// How much of a block of that size stays after it was freed.
long kept_of(std::size_t bytes) {
  const long before = resident_memory();
  void* block = std::malloc(bytes);
  std::memset(block, 1, bytes);
  static_cast<void>(*static_cast<volatile char*>(block));
  std::free(block);
  return resident_memory() - before;
}

}  // namespace

TEST_CASE("freed memory stays, unless the environment asks for something else") {
  constexpr std::size_t bytes = 64 << 20;
  constexpr long most = 56L << 20, little = 8L << 20;
  REQUIRE(kept_of(bytes) < little);

  ::setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1", 1);
  pace::keep_freed_memory();
  CHECK(kept_of(bytes) < little);
  ::unsetenv("GLIBC_TUNABLES");

  pace::keep_freed_memory();
  CHECK(kept_of(bytes) > most);
}
