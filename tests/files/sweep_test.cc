// Sweeps give values to the names of sizes.
#include "benches/files/loaders/sweep.hpp"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::InputError;
using pace::benches::loaders::combinations;
using pace::benches::loaders::parse_sweep;
using pace::benches::loaders::sizes_text;
using Values = std::vector<std::int64_t>;

TEST_CASE("a sweep multiplies, adds or lists") {
  CHECK(parse_sweep("batch=1:64:x4").values == Values{1, 4, 16, 64});
  CHECK(parse_sweep("batch=1:65:x4").values == Values{1, 4, 16, 64});
  CHECK(parse_sweep("batch=8:32:+8").values == Values{8, 16, 24, 32});
  CHECK(parse_sweep("batch=0:2:+1").values == Values{0, 1, 2});
  CHECK(parse_sweep("n=7,1,64").values == Values{7, 1, 64});
  CHECK(parse_sweep("n=7").values == Values{7});
  CHECK(parse_sweep("batch_1=7").name == "batch_1");
}

TEST_CASE("a sweep that is none is refused with the reason") {
  for (const std::string text :
       {"batch", "=1:2:x2", "1b=1:2:x2", "b-c=1", "b=", "b=1:2", "b=1:2:x1", "b=1:2:x", "b=1:2:2", "b=2:1:x2",
        "b=0:4:x2", "b=1:4:+0", "b=1,1", "b=1.5", "b=-1", "b=nan", "b=1:4:x99999999999999999999", "b=1:2:x2:x2"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_sweep(text), InputError);
  }
  CHECK_THROWS_WITH(parse_sweep("f32=1"), ContainsSubstring("means something else"));
  CHECK_THROWS_WITH(parse_sweep("high=1"), ContainsSubstring("means something else"));
  CHECK_THROWS_WITH(parse_sweep("b=0:100000:+1"), ContainsSubstring("more than 1000 values"));
}

TEST_CASE("sweeps combine, the last one changing fastest") {
  const std::vector sweeps = {parse_sweep("a=1,2"), parse_sweep("b=3,4")};
  std::vector<std::string> texts;
  for (const auto& sizes : combinations(sweeps)) texts.push_back(sizes_text(sweeps, sizes));
  CHECK(texts == std::vector<std::string>{"a=1,b=3", "a=1,b=4", "a=2,b=3", "a=2,b=4"});
  CHECK(combinations({}).size() == 1);
  CHECK_THROWS_AS(combinations({parse_sweep("a=1"), parse_sweep("a=2")}), InputError);
  CHECK_THROWS_AS(combinations({parse_sweep("a=1:100:+1"), parse_sweep("b=1:100:+1")}), InputError);
}

}  // namespace
