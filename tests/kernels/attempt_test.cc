#include "pace/kernels/attempt.hpp"

#include <new>
#include <stdexcept>

#include <c10/util/Exception.h>

#include "pace/base/error.hpp"

#include <catch2/catch_test_macros.hpp>

using pace::kernel::failure_of;

TEST_CASE("whatever one kernel fails with is told, in one line; but a device that is lost ends everything") {
  CHECK(failure_of([] {}) == "");
  CHECK(failure_of([] { throw pace::Error("launching a kernel alone: invalid argument"); }) ==
        "launching a kernel alone: invalid argument");
  CHECK(failure_of([] { throw pace::Unsupported("it waits\nfor others"); }) == "it waits");
  CHECK(failure_of([] { throw std::runtime_error(""); }) == "it failed without a message");
  CHECK_FALSE(failure_of([] { throw std::bad_alloc(); }).empty());
  CHECK(failure_of([] { TORCH_CHECK(false, "out of memory"); }) == "out of memory");
  CHECK_THROWS_AS(failure_of([] { throw pace::DeviceLost("an illegal address"); }), pace::DeviceLost);
}
