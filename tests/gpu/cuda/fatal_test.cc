// The error that ends a process's use of the GPU is named. One fatal case a process: the first argument names it.
#include <cstdio>
#include <cstring>
#include <string>

#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/event.hpp"
#include "tests/gpu/cuda/scale.hpp"

using namespace pace;
using namespace std::chrono_literals;

namespace {

int expect(const std::string& what, const char* expected) {
  const bool good = what.find(expected) != std::string::npos;
  std::printf("%s: %s\n", good ? "named" : "NOT NAMED", what.c_str());
  return good ? 0 : 1;
}

int illegal_address(cuda::CudaDevice& device) {
  pace::gpu::EventClock clock(device);
  try {
    static_cast<void>(clock.time([&] { testing::write_nowhere(device.current_stream()); }));
  } catch (const pace::DeviceLost& error) {
    return expect(error.what(), "cudaErrorIllegalAddress");
  }
  return expect("nothing was thrown", "DeviceLost");
}

int never_ends(cuda::CudaDevice& device) {
  int* flag = nullptr;
  cuda::check(cudaHostAlloc(reinterpret_cast<void**>(&flag), sizeof *flag, cudaHostAllocMapped), "allocating");
  *flag = 0;
  pace::gpu::EventClock clock(device, {.longest = 300ms});
  int result = 1;
  try {
    static_cast<void>(clock.time([&] { testing::wait_for_flag(flag, device.current_stream()); }));
  } catch (const pace::gpu::NeverEnded& error) {
    result = expect(error.what(), "did not end");
  }
  // So that this test ends.
  *static_cast<volatile int*>(flag) = 1;
  device.synchronise();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    cuda::CudaDevice device;
    if (argc == 2 && std::strcmp(argv[1], "illegal_address") == 0) return illegal_address(device);
    if (argc == 2 && std::strcmp(argv[1], "never_ends") == 0) return never_ends(device);
    std::fprintf(stderr, "expected illegal_address or never_ends\n");
    return 2;
  } catch (const DeviceMissing& error) {
    std::printf("skipped: %s\n", error.what());
    return 4;  // as Catch2 has it where every test was skipped
  }
}
