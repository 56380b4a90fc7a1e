#include "pace/corpus/dtype.hpp"
#include "pace/corpus/embedding.hpp"
#include "pace/corpus/parse.hpp"
#include "pace/corpus/text.hpp"
#include "pace/inputs/scalar_type.hpp"

// After LibTorch, whose logging header has a CHECK of its own.
#undef CHECK
#include <catch2/catch_test_macros.hpp>

using namespace pace::corpus;
using namespace pace::inputs;

namespace {

struct Row {
  std::string abbreviation, name;
  c10::ScalarType type;
  std::size_t bytes;
};

const Row rows[] = {
    {"bf16", "bfloat16", c10::kBFloat16, 2},
    {"f64", "float64", c10::kDouble, 8},
    {"f32", "float32", c10::kFloat, 4},
    {"f16", "float16", c10::kHalf, 2},
    {"c32", "complex32", c10::ScalarType::ComplexHalf, 4},
    {"c64", "complex64", c10::ScalarType::ComplexFloat, 8},
    {"c128", "complex128", c10::ScalarType::ComplexDouble, 16},
    {"i8", "int8", c10::kChar, 1},
    {"i16", "int16", c10::kShort, 2},
    {"i32", "int32", c10::kInt, 4},
    {"i64", "int64", c10::kLong, 8},
    {"b8", "bool", c10::kBool, 1},
    {"u8", "uint8", c10::kByte, 1},
    {"u16", "uint16", c10::kUInt16, 2},
    {"u32", "uint32", c10::kUInt32, 4},
    {"u64", "uint64", c10::kUInt64, 8},
    {"f8e4m3fn", "float8_e4m3fn", c10::kFloat8_e4m3fn, 1},
    {"f8e5m2", "float8_e5m2", c10::kFloat8_e5m2, 1},
    {"f8e4m3fnuz", "float8_e4m3fnuz", c10::kFloat8_e4m3fnuz, 1},
    {"f8e5m2fnuz", "float8_e5m2fnuz", c10::kFloat8_e5m2fnuz, 1},
    {"f8e8m0fnu", "float8_e8m0fnu", c10::kFloat8_e8m0fnu, 1},
    {"f4e2m1fnx2", "float4_e2m1fn_x2", c10::ScalarType::Float4_e2m1fn_x2, 1},
    {"b16", "bits16", c10::ScalarType::Bits16, 2},
    {"b1x8", "bits1x8", c10::ScalarType::Bits1x8, 1},
    {"bits8", "bits8", c10::ScalarType::Bits8, 1},
    {"bits2x4", "bits2x4", c10::ScalarType::Bits2x4, 1},
    {"bits4x2", "bits4x2", c10::ScalarType::Bits4x2, 1},
};

Value first_argument(const std::string& text) { return parse_call("((" + text + ",), {})", {}).args.at(0); }

}  // namespace

TEST_CASE("all dtypes go by abbreviation, torch name and LibTorch type, both ways") {
  CHECK(std::size(rows) == dtype_count);
  for (const auto& [word, name, type, bytes] : rows) {
    INFO(word);
    const auto dtype = dtype_from_abbreviation(word);
    REQUIRE(dtype);
    CHECK(abbreviation(*dtype) == word);
    CHECK(torch_name(*dtype) == name);
    CHECK(dtype_from_torch_name(name) == dtype);
    CHECK(scalar_type(*dtype) == type);
    CHECK(dtype_from_scalar_type(type) == dtype);
    CHECK(element_bytes(*dtype) == bytes);
    CHECK(element_bytes(*dtype) == c10::elementSize(type));
    // A run in another precision keeps types of eight bits and fewer.
    CHECK(is_floating(*dtype) == (c10::isFloatingType(type) && bytes > 1));
  }
  CHECK_FALSE(dtype_from_abbreviation("f8"));
  CHECK_FALSE(dtype_from_abbreviation(""));
  CHECK_FALSE(dtype_from_torch_name(""));
  CHECK_FALSE(dtype_from_scalar_type(c10::ScalarType::QInt8));
}

TEST_CASE("every dtype parses as a tensor's type and as a value in every spelling, and is written as it was") {
  for (const auto& [word, name, type, bytes] : rows) {
    const DType dtype = *dtype_from_abbreviation(word);
    CHECK(first_argument("T([2], " + word + ")").get_if<TensorSpec>()->dtype == dtype);
    CHECK(first_argument("T([2], torch." + name + ")").get_if<TensorSpec>()->dtype == dtype);
    for (const std::string& spelling : {word, "torch." + name, "th." + name, "'" + word + "'"}) {
      const Value value = first_argument(spelling);
      REQUIRE(value.is<DType>());
      CHECK(*value.get_if<DType>() == dtype);
      CHECK(to_text(value) == spelling);
    }
  }
  CHECK(first_argument("torch.half") == Value(DType::f16));
  CHECK(first_argument("torch.long") == Value(DType::i64));
  CHECK(first_argument("\"f16\"") == Value("f16"));  // only single quotes are taken off
}

TEST_CASE("embedding operators are recognised by name") {
  CHECK(yields_no_inputs("aten.embedding.default"));
  CHECK(yields_no_inputs("aten._embedding_bag.default"));
  CHECK(yields_no_inputs("aten.embedding_dense_backward.default"));
  CHECK_FALSE(yields_no_inputs("aten.add.Tensor"));
  CHECK(no_inputs_warning == "Embedding inputs NYI");
}
