#include "benches/selftest/operators.hpp"

#include <cstdint>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace {

TEST_CASE("every operator of the self-test returns a new tensor of the size that was asked for") {
  std::set<std::string> names;
  for (const auto& each : pace::benches::selftest::twin_operators()) {
    INFO(each.name);
    CHECK(names.insert(each.name).second);
    for (const std::int64_t bytes : {4 << 10, 64 << 10, 1 << 20}) {
      const at::Tensor operand = each.operand(bytes);
      const at::Tensor output = each.call(operand);
      CHECK(static_cast<std::int64_t>(output.nbytes()) == bytes);
      CHECK(output.scalar_type() == at::kFloat);
      CHECK(output.is_contiguous());
      CHECK_FALSE(output.is_alias_of(operand));
    }
  }
}

}  // namespace
