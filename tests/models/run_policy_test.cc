// Rules: tolerances of the three suites, batch sizes, train mode, the batch-size finder.
#include "benches/models/run/batch_size.hpp"
#include "benches/models/run/plan.hpp"
#include "benches/models/run/tolerance_policy.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/run_fakes.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pace::benches::models;

TEST_CASE("tolerances of the three suites", "[models]") {
  Config config;
  auto& lists = config.tolerance;
  lists.higher = {"higher", "both"};
  lists.even_higher = {"even_higher", "both"};
  lists.higher_fp16 = {"fp16"};
  lists.higher_bf16 = {"bf16"};
  lists.higher_bf16_xpu = {"bf16_xpu"};
  lists.cosine = {"cosine"};
  lists.freezing_higher_fp16 = {"frozen", "even_higher"};
  lists.freezing_even_higher = {"very_frozen"};
  using P = Precision;
  constexpr auto torchbench = Suite::torchbench, huggingface = Suite::huggingface, timm = Suite::timm;
  struct Expected {
    ToleranceCase the;
    const char* name;
    double tolerance;
    bool cosine = false;
  };
  const std::vector<Expected> table = {
      {{torchbench, false, P::float32, "cpu"}, "any", 1e-4},
      {{torchbench, false, P::as_made, "cuda"}, "even_higher", 1e-4},
      {{torchbench, true, P::float32, "cpu"}, "even_higher", 1e-4},
      {{torchbench, true, P::float32, "cuda"}, "any", 1e-3},
      {{torchbench, true, P::float32, "cuda"}, "higher", 1e-3},
      {{torchbench, true, P::float32, "cuda"}, "even_higher", 8e-2},
      {{torchbench, true, P::float32, "cuda"}, "both", 1e-3},
      {{torchbench, true, P::float32, "xpu"}, "cosine", 1e-3, true},
      {{torchbench, false, P::float32, "cuda"}, "cosine", 1e-4},
      {{torchbench, false, P::float16, "cuda"}, "any", 1e-3},
      {{torchbench, true, P::amp, "cuda"}, "fp16", 1e-2},
      {{torchbench, false, P::amp, "cpu"}, "even_higher", 8e-2},
      {{torchbench, true, P::amp, "cuda"}, "cosine", 1e-3},
      {{torchbench, false, P::bfloat16, "cpu"}, "any", 1e-4},
      {{torchbench, false, P::bfloat16, "cpu"}, "bf16", 1e-2},
      {{torchbench, true, P::bfloat16, "xpu"}, "bf16_xpu", 8e-2},
      {{torchbench, false, P::bfloat16, "cuda"}, "bf16_xpu", 1e-4},
      {{torchbench, true, P::bfloat16, "cuda"}, "even_higher", 8e-2},
      {{torchbench, false, P::float32, "cpu", true}, "any", 1e-4, true},
      {{Suite::own, true, P::float32, "cuda"}, "even_higher", 8e-2},
      {{Suite::own, false, P::float32, "cpu"}, "any", 1e-4},
      {{huggingface, true, P::float32, "cpu"}, "any", 1e-2},
      {{huggingface, true, P::amp, "cuda"}, "higher", 2e-2},
      {{huggingface, false, P::float32, "cuda"}, "any", 1e-3},
      {{huggingface, false, P::float32, "cuda"}, "higher", 4e-3},
      {{huggingface, false, P::float32, "cpu"}, "even_higher", 5e-3},
      {{huggingface, false, P::float32, "cuda", true}, "even_higher", 1e-3, true},
      {{timm, false, P::float32, "cpu"}, "any", 1e-3},
      {{timm, true, P::float32, "cuda"}, "any", 1e-2},
      {{timm, true, P::float32, "cuda"}, "higher", 4e-2},
      {{timm, true, P::bfloat16, "cuda"}, "even_higher", 8e-2},
      {{torchbench, false, P::float16, "cuda"}, "frozen", 1e-3},
      {{torchbench, false, P::float16, "cuda", false, true}, "frozen", 1e-2},
      {{torchbench, false, P::amp, "cpu", false, true}, "very_frozen", 8e-2},
      {{torchbench, false, P::amp, "cpu", false, true}, "even_higher", 1e-2},
      {{torchbench, false, P::amp, "cpu", false, true}, "any", 1e-3},
      {{torchbench, false, P::float32, "cpu", false, true}, "very_frozen", 1e-4},
      {{timm, false, P::float32, "cpu"}, "very_frozen", 1e-3},
      {{timm, false, P::float32, "cpu", false, true}, "very_frozen", 8e-2},
      {{timm, false, P::float32, "cpu", false, true}, "frozen", 1e-3},
      {{huggingface, false, P::float32, "cuda", false, true}, "very_frozen", 1e-3},
  };
  for (std::size_t i = 0; i < table.size(); ++i) {
    INFO(i << ' ' << to_string(table[i].the.suite) << ' ' << table[i].name);
    REQUIRE(tolerance_of(table[i].the, table[i].name, config) == Tolerance{table[i].tolerance, table[i].cosine});
  }
}

TEST_CASE("batch sizes", "[models]") {
  auto entry = pace::test::small_net();
  Settings settings;
  Config config;
  const auto chosen = [&](bool training, Mode mode = Mode::performance) {
    settings.training = training;
    settings.mode = mode;
    return choose_batch_size(entry, settings, config);
  };
  REQUIRE(chosen(true) == 4);
  REQUIRE(chosen(false) == 2);
  config.batch_size.training["small_net"] = 32;
  REQUIRE(chosen(true) == 32);
  REQUIRE(chosen(false) == 2);
  REQUIRE(chosen(true, Mode::accuracy) == 4);
  REQUIRE(chosen(false, Mode::batch_invariance) == 8);
  entry.suite = Suite::own;
  REQUIRE(chosen(true, Mode::accuracy) == 4);
  entry.suite = Suite::huggingface;
  REQUIRE(chosen(true, Mode::accuracy) == 1);
  entry.suite = Suite::timm;
  REQUIRE(chosen(true, Mode::accuracy) == 8);
  REQUIRE(chosen(false, Mode::batch_invariance) == 16);
  config.accuracy.max_batch_size["small_net"] = 3;
  REQUIRE(chosen(true, Mode::accuracy) == 3);
  REQUIRE(chosen(true) == 32);
  settings.batch_size = 5;
  REQUIRE(chosen(true) == 5);
  REQUIRE(chosen(true, Mode::accuracy) == 3);
  config.dont_change_batch_size = {"small_net"};
  REQUIRE(chosen(true) == 4);
  config.dont_change_batch_size = {};
  settings.batch_size = -1;
  REQUIRE_THROWS_AS(chosen(true), pace::InputError);
}

TEST_CASE("the telling line of an exception names the error", "[models]") {
  using pace::benches::models::detail::telling_line;
  REQUIRE(telling_line("out of paper\nstack: ...\n") == "out of paper");
  REQUIRE(
      telling_line("The following operation failed in the TorchScript interpreter.\nTraceback\nRuntimeError: odd\n") ==
      "RuntimeError: odd");
  REQUIRE(telling_line("") == "");
}

TEST_CASE("the mode, the settings and the config decide which models are told that they train", "[models]") {
  auto entry = pace::test::small_net();
  Settings settings;
  Config config;
  const auto trains = [&](bool training, Mode mode) {
    settings.training = training;
    settings.mode = mode;
    return choose_train_mode(entry, settings, config);
  };
  REQUIRE(trains(true, Mode::performance));
  REQUIRE_FALSE(trains(false, Mode::performance));
  REQUIRE_FALSE(trains(true, Mode::accuracy));  // torchbench's own models
  config.only_training = {"small_net"};
  REQUIRE(trains(true, Mode::accuracy));
  config.only_training = {};
  entry.suite = Suite::timm;
  REQUIRE(trains(true, Mode::accuracy));
  settings.use_eval_mode = true;
  REQUIRE_FALSE(trains(true, Mode::performance));
}

TEST_CASE("batch sizes that decay until one runs", "[models]") {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1024; size > 0; size = decayed_batch_size(size)) sizes.push_back(size);
  REQUIRE(sizes == std::vector<std::int64_t>{1024, 512, 256, 128, 64, 32, 16, 8, 4, 3, 2, 1});
  REQUIRE(decayed_batch_size(5) == 2);
  REQUIRE(decayed_batch_size(7) == 4);
  REQUIRE(decayed_batch_size(100) == 50);
  REQUIRE(decayed_batch_size(102) == 52);

  std::vector<std::int64_t> tried, told;
  BatchRange taken;
  const auto up_to = [&](std::int64_t most, const char* words = "too large") {
    tried.clear();
    told.clear();
    return find_batch_size(
        100,
        [&, most](std::int64_t size) {
          tried.push_back(size);
          if (size > most) throw std::runtime_error(words);
        },
        [&](std::int64_t size, const std::string& why) {
          told.push_back(size);
          REQUIRE(why == words);
        },
        taken);
  };
  REQUIRE(up_to(20) == 14);
  REQUIRE(tried == std::vector<std::int64_t>{100, 50, 26, 14});
  REQUIRE(told == std::vector<std::int64_t>{100, 50, 26});
  REQUIRE(up_to(100) == 100);
  REQUIRE(told == std::vector<std::int64_t>{});
  REQUIRE(up_to(0) == 1);
  REQUIRE(up_to(20, "channels_last is not for this") == 1);
  REQUIRE(tried.size() == 1);
  // Sizes that the model does not take are not tried.
  taken = {.low = 4, .high = 90, .step = 3, .remainder = 1};
  REQUIRE(up_to(20) == 10);
  REQUIRE(tried == std::vector<std::int64_t>{88, 43, 22, 10});
  REQUIRE(up_to(0) == 1);
  REQUIRE(tried.back() == 4);
}

}  // namespace
