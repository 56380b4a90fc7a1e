#include "benches/operators/make_call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/InferenceMode.h>

#include "benches/operators/backends/package_store.hpp"
#include "pace/corpus/corpus.hpp"

// After LibTorch, whose logging header has a CHECK of its own.
#undef CHECK
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
namespace corpus = pace::corpus;
namespace operators = pace::benches::operators;

// By hand, from the root of the repository.
constexpr const char* shipped = "benches/corpus/pace_train";

pace::inputs::GenerateOptions in(std::optional<at::ScalarType> dtype, bool compat) {
  pace::inputs::GenerateOptions options;
  options.dtype = dtype;
  options.compat = compat;
  return options;
}

corpus::Sample sample(const std::string& text) { return {text, 1, {"inputs.txt"}, ""}; }

pace::benches::operators::OperatorCall announced(const std::string& op, const std::string& text,
                                                 const pace::inputs::GenerateOptions& options = {}) {
  return operators::make_announced_call(op, sample(text), options, 1, /*in_channels_last=*/false);
}

std::string signature(const std::string& op, const std::string& text,
                      const pace::inputs::GenerateOptions& options = {}) {
  return operators::make_call(op, sample(text), options, 1).signature();
}

/// Peak of this process' resident memory in bytes.
std::int64_t peak_memory() { return pace::detail::number_in("/proc/self/status", "VmHWM: %lld kB").value_or(0) * 1024; }

TEST_CASE("a shipped call that is announced finds the package of the call that is measured") {
  const c10::InferenceMode inference;
  const auto calls = corpus::Corpus::from_directory(shipped);
  const pace::benches::operators::PackageStore store;
  std::size_t same = 0;
  for (const auto& op : calls.operators())
    for (const auto& each : op.samples)
      for (const bool last : {false, true}) {
        INFO(op.name << ' ' << each.text << (last ? " in channels-last" : ""));
        const auto options = in(at::kFloat, /*compat=*/false);
        std::optional<pace::benches::operators::OperatorCall> measured;
        try {
          measured.emplace(operators::make_call(op.name, each, options, 1));
        } catch (const pace::Unsupported&) {
          continue;
        }
        if (last) *measured = operators::channels_last(*measured);
        const auto call = operators::make_announced_call(op.name, each, options, 1, last);
        REQUIRE(call.signature() == measured->signature());
        REQUIRE(store.key(call) == store.key(*measured));
        for (const auto& tensor : call.tensors()) REQUIRE(tensor.storage().data() == nullptr);
        ++same;
      }
  CHECK(same >= 400);
}

TEST_CASE("an announced call is converted, bound and laid out as the measured one, whatever the tensors share") {
  const std::string texts[] = {
      "((T([2, 3], f16), T([2, 3], f64)), {})",
      "((T([2, 3], f16, stride=(1, 2)), T([2, 3], f32, stride=(100, 7))), {})",
      "((T([4, 768], f16, stride=(0, 0)), T([4, 768], f32, stride=(0, 1))), {})",
      "((T([0, 3], f16, stride=(7, 2)), T([], f32)), {})",
      "((T([3], i64), 2.5), {'alpha': 3})",
      "((T([3], c64), T([3], b8)), {})",
  };
  for (const auto& text : texts)
    for (const bool compat : {false, true})
      for (const auto dtype : {at::kFloat, at::kHalf, at::kDouble}) {
        INFO(text << (compat ? " in Compat" : "") << " in " << c10::toString(dtype));
        CHECK(announced("aten.add.Tensor", text, in(dtype, compat)).signature() ==
              signature("aten.add.Tensor", text, in(dtype, compat)));
      }
  const std::string device = "(([2, 3],), {'dtype': f16, 'device': 'cuda'})";
  CHECK(announced("aten.zeros.default", device).signature() == signature("aten.zeros.default", device));
  CHECK_THAT(announced("aten.zeros.default", device).signature(), ContainsSubstring("device=cpu"));
}

TEST_CASE("announcing makes no values: a large call takes no memory") {
  const std::string text = "((T([16384, 16384], f32),), {})";  // 1 GiB
  const std::int64_t before = peak_memory();
  REQUIRE(before > 0);
  const auto call = announced("aten.relu.default", text);
  CHECK(call.tensors().at(0).nbytes() == std::size_t{1} << 30);
  CHECK(peak_memory() - before < std::int64_t{64} << 20);
}

TEST_CASE("what cannot be measured, as its types tell, is not announced") {
  const auto refusal = [](const std::string& op, const std::string& text) {
    try {
      (void)announced(op, text);
    } catch (const pace::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal("aten.relu.default", "((T([4000000000, 4000000], f32),), {})"), ContainsSubstring("memory"));
  CHECK_THAT(refusal("aten.relu.default", "((T([2], f32), 1, 2), {})"), ContainsSubstring("inputs.txt"));
  CHECK_THAT(refusal("aten.resize_.default", "((T([2], f32), [3]), {})"), ContainsSubstring("own argument"));
  CHECK_THAT(refusal("aten._pack_padded_sequence.default", "((T([5, 2, 3], f32), T([2], i64), False), {})"),
             ContainsSubstring("'lengths' holds integers"));
}

}  // namespace
