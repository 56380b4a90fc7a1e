// A program that counts coverage and fails, for coverage_test.
#include <cstdlib>

#include "pace/os/exit_guard.hpp"

int main() {
  std::atexit([] { std::_Exit(EXIT_SUCCESS); });
  pace::detail::end_failed(42);
}
