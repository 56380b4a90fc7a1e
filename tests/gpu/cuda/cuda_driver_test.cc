// Whether CUDA's driver is initialised, by a fake one.
#include "pace/os/cuda_driver.hpp"

#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("CUDA is in use from its initialisation on, not from being loaded on") {
  CHECK_FALSE(pace::detail::has_initialised_cuda());
  void* const driver = ::dlopen("./tests/gpu/cuda/libfake_cuda.so", RTLD_NOW);
  INFO(::dlerror());
  REQUIRE(driver != nullptr);
  CHECK_FALSE(pace::detail::has_initialised_cuda());
  auto* const initialise = reinterpret_cast<int (*)(unsigned int)>(::dlsym(driver, "cuInit"));
  REQUIRE(initialise != nullptr);
  CHECK(initialise(0) == 0);
  CHECK(pace::detail::has_initialised_cuda());
  ::dlclose(driver);
}
