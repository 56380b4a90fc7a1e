// A fault that a sanitizer has to find, by the name of its argument: run.sh looks for its report first.

#include <limits>
#include <string_view>
#include <thread>

namespace {

// A sanitizer sees what the compiler leaves, and it leaves what is volatile.
volatile int number = 1;
int* volatile kept = nullptr;

void memory() {
  kept = new int[4];
  number = kept[3 + number];
  delete[] kept;
}

void leak() {
  for (int i = 0; i < 100; ++i) kept = new int[4];
  kept = nullptr;
}

void undefined() {
  int most = std::numeric_limits<int>::max();
  most += number;
  number = most;
}

int shared = 0;

void race() {
  std::thread other([] { ++shared; });
  ++shared;
  other.join();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view fault = count > 1 ? arguments[1] : "";
  if (fault == "memory") memory();
  if (fault == "leak") leak();
  if (fault == "undefined") undefined();
  if (fault == "race") race();
  return 0;
}
