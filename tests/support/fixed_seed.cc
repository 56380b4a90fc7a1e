// LibTorch's generator begins each test case with the same seed. By itself it takes another one in each process, so
// that a test of random operands fails by chance. Only the CPU's generator is seeded: at::manual_seed counts the GPUs,
// which starts a thread of CUDA.
#include <cstdint>
#include <mutex>

#include <ATen/CPUGeneratorImpl.h>
#include <catch2/interfaces/catch_interfaces_reporter.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

namespace {

struct FixedSeed : Catch::EventListenerBase {
  using EventListenerBase::EventListenerBase;
  void testCasePartialStarting(const Catch::TestCaseInfo&, std::uint64_t) override {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const std::scoped_lock lock(generator.mutex());
    generator.set_current_seed(1);
  }
};
CATCH_REGISTER_LISTENER(FixedSeed)

}  // namespace
