#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "pace/corpus/parse.hpp"
#include "pace/corpus/text.hpp"

using namespace pace::corpus;

namespace {

Value argument(const std::string& text) { return parse_call("((" + text + ",), {})", {}).args.at(0); }

std::string again(const std::string& text) { return to_text(parse_call(text, {})); }

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a recorded call becomes arguments and keyword arguments") {
  const Call call = parse_call("((T([4, 64], f16), [T([], b8), None], -1, 0.1), {'dtype': i64, 'device': 'cuda'})", {});
  REQUIRE(call.args.size() == 4);
  CHECK(call.args[0] == Value(TensorSpec{{4, 64}, DType::f16, {}}));
  CHECK(call.args[1] == Value(List{{Value(TensorSpec{{}, DType::b8, {}}), Value()}}));
  CHECK(call.args[2] == Value(-1));
  CHECK(call.args[3] == Value(0.1));
  REQUIRE(call.kwargs.size() == 2);
  CHECK(call.kwargs[0] == std::pair<std::string, Value>("dtype", DType::i64));
  CHECK(call.kwargs[1] == std::pair<std::string, Value>("device", "cuda"));
}

TEST_CASE("each form of value means what Python means by it") {
  CHECK(argument("None") == Value(None{}));
  CHECK(argument("True") == Value(true));
  CHECK(argument("False") == Value(false));
  CHECK(argument("0") == Value(0));
  CHECK(argument("-9223372036854775808") == Value(std::numeric_limits<std::int64_t>::min()));
  CHECK(argument("9223372036854775807") == Value(std::numeric_limits<std::int64_t>::max()));
  CHECK(argument("9223372036854775808") == Value(BigInt{"9223372036854775808"}));
  CHECK(argument("0.0") == Value(0.0));
  CHECK(argument("1e-05") == Value(1e-5));
  CHECK(argument("4.135166556742356") == Value(4.135166556742356));
  CHECK(argument("-3.4028234663852886e+38") == Value(-3.4028234663852886e+38));
  CHECK(argument("5e-324") == Value(5e-324));
  CHECK(argument("inf") == Value(infinity));
  CHECK(argument("-inf") == Value(-infinity));
  CHECK(std::isnan(*argument("nan").get_if<double>()));
  CHECK(argument("(1+2j)") == Value(std::complex<double>(1, 2)));
  CHECK(argument("(-1.5-0.25j)") == Value(std::complex<double>(-1.5, -0.25)));
  CHECK(argument("-3j") == Value(std::complex<double>(0, -3)));
  CHECK(argument("(1-infj)") == Value(std::complex<double>(1, -infinity)));
  CHECK(std::signbit(argument("(-0+2j)").get_if<std::complex<double>>()->real()));
  CHECK(argument("torch.strided") == Value(TorchName{"strided"}));
  CHECK(argument("th.channels_last") == Value(TorchName{"channels_last"}));
  CHECK(argument("device(type='cuda', index=0)") == Value(Device{"cuda", 0}));
  CHECK(argument("torch.device('cpu')") == Value(Device{"cpu", {}}));
  CHECK(argument("torch.Size([2, 3])") == Value(List{{2, 3}}));
  CHECK(argument("[]") == Value(List{}));
  CHECK(argument("()") == Value(Tuple{}));
  CHECK(argument("(1,)") == Value(Tuple{{1}}));
  CHECK(argument("{}") == Value(Dict{}));
  CHECK(argument("{'a': 1, 2: [3]}") == Value(Dict{{{"a", 1}, {2, List{{3}}}}}));
  CHECK(argument("[True, (None, [1.5])]") == Value(List{{true, Tuple{{None{}, List{{1.5}}}}}}));
}

TEST_CASE("tensors keep sizes, dtype and strides") {
  CHECK(argument("T([2048, 768], f16, stride=(0, 0))") == Value(TensorSpec{{2048, 768}, DType::f16, {{0, 0}}}));
  CHECK(argument("T([3], f32, stride=(2,))") == Value(TensorSpec{{3}, DType::f32, {{2}}}));
  CHECK(argument("T([], f32, stride=())") == Value(TensorSpec{{}, DType::f32, std::vector<std::int64_t>{}}));
  CHECK(argument("T([0, 4], i64)") == Value(TensorSpec{{0, 4}, DType::i64, {}}));
  CHECK(argument("T((2, 3), 'f16', [3, 1])") == Value(TensorSpec{{2, 3}, DType::f16, {{3, 1}}}));
}

TEST_CASE("strings keep quotes, brackets, commas and escapes") {
  CHECK(argument("'a, b](c)}'") == Value("a, b](c)}"));
  CHECK(argument(R"x("torch.device('cpu')")x") == Value("torch.device('cpu')"));
  CHECK(argument(R"('it\'s \\ \n\t\x41\u00e9\u20ac\U0001F600\101 \d')") ==
        Value("it's \\ \n\tA\u00e9\u20ac\U0001F600A \\d"));
  CHECK(argument("''") == Value(""));
  CHECK(parse_call("((), {'a b': 1})", {}).kwargs[0].first == "a b");
}

TEST_CASE("white space may stand anywhere, and stray quotes around a sample are taken off") {
  const Call expected = parse_call("((T([2, 3], f16, stride=(1, 2)), [1, -2.5]), {'k': (True,)})", {});
  CHECK(parse_call("(  (T( [2,3],f16 ,stride = (1,2)),[ 1,-2.5 ] ),\t{ 'k':(True,) } ) \r\n", {}) == expected);
  CHECK(parse_call("((T([2,\n3], f16, stride=(1, 2,)),[1, -2.5,],), {'k': (True,),},)", {}).args.size() == 2);
  CHECK(parse_call("\"((1,), {})\"", {}) == parse_call("((1,), {})", {}));
}

TEST_CASE("recorded samples are written again as they were") {
  for (const char* text : {
           "((), {})",
           "((T([2], f16),), {})",
           "((T([1, 64, 1, 1], f16), 0.0), {})",
           "((T([5, 5], f16, stride=(1, 5)), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), {})",
           "(([T([4], f32), T([4], f32)], -1), {})",
           "((T([2], i64), -inf), {'dtype': torch.bool, 'layout': torch.strided, 'device': 'cuda'})",
           "((T([2], i64),), {'dtype': i32, 'layout': torch.strided, 'device': \"torch.device('cpu')\"})",
           "((T([], c32), (1+2j), 2j, -0.0, 1e-05, 1e+16, 1e5, 100000.0, 1.50, -0, 007, .5), {'correction': 0})",
           "((th.float16, 'f16', torch.uint8, None), {})",
           "((device(type='cuda', index=0), torch.device('cpu'), torch.Size([2, 3])), {})",
           "(('it\\'s', \"it's\", 'a\\x41', 123456789012345678901234567890), {'d': {'a': ()}})",
       }) {
    CHECK(again(text) == text);
  }
}

TEST_CASE("floats are written as Python's repr writes them") {
  CHECK(to_text(Value(0.1)) == "0.1");
  CHECK(to_text(Value(1.0)) == "1.0");
  CHECK(to_text(Value(-0.0)) == "-0.0");
  CHECK(to_text(Value(1e-4)) == "0.0001");
  CHECK(to_text(Value(1e-5)) == "1e-05");
  CHECK(to_text(Value(1.25e-7)) == "1.25e-07");
  CHECK(to_text(Value(123456.789)) == "123456.789");
  CHECK(to_text(Value(9999999999999998.0)) == "9999999999999998.0");
  CHECK(to_text(Value(1e16)) == "1e+16");
  CHECK(to_text(Value(1.5e300)) == "1.5e+300");
  CHECK(to_text(Value(0.3333333333333333)) == "0.3333333333333333");
  CHECK(to_text(Value(infinity)) == "inf");
  CHECK(to_text(Value(-infinity)) == "-inf");
  CHECK(to_text(Value(std::nan(""))) == "nan");
  CHECK(to_text(Value(std::complex<double>(1, 2))) == "(1+2j)");
  CHECK(to_text(Value(std::complex<double>(0, -1.5))) == "-1.5j");
  CHECK(to_text(Value(std::complex<double>(-0.0, 1))) == "(-0+1j)");
  CHECK(to_text(Value(std::complex<double>(infinity, std::nan("")))) == "(inf+nanj)");
}

TEST_CASE("strings are written in the quotes that Python picks") {
  CHECK(to_text(Value("cuda")) == "'cuda'");
  CHECK(to_text(Value("it's")) == "\"it's\"");
  CHECK(to_text(Value("'\"")) == R"('\'"')");
  CHECK(to_text(Value("a\\\n\t\r\x01")) == R"('a\\\n\t\r\x01')");
}

TEST_CASE("a string that spells a dtype is written in double quotes, since it is a dtype in single ones") {
  CHECK(argument("'f16'") == Value(DType::f16));
  CHECK(argument("\"f16\"") == Value("f16"));
  CHECK(to_text(Value("f16")) == "\"f16\"");
  CHECK(to_text(Value("f161")) == "'f161'");
}

namespace {

// Values of every form; no NaN, which is unequal to itself.
class RandomValues {
 public:
  explicit RandomValues(std::uint32_t seed) : random_(seed) {}

  Call call() {
    Call out;
    for (std::uint32_t i = below(5); i > 0; --i) out.args.push_back(value(4));
    for (std::uint32_t i = below(3); i > 0; --i) out.kwargs.emplace_back(text() + std::to_string(i), value(3));
    return out;
  }

 private:
  Value value(int depth) {
    switch (below(depth > 0 ? 14 : 10)) {
      case 0:
        return None{};
      case 1:
        return below(2) == 1;
      case 2:
        return integer();
      case 3:
        return number();
      case 4:
        return std::complex<double>(number(), number());
      case 5:
        return text();
      case 6:
        return tensor();
      case 7:
        return static_cast<DType>(below(dtype_count));
      case 8:
        return TorchName{below(2) == 0 ? "strided" : "per_channel.affine"};
      case 9:
        return Device{"cuda", below(2) == 0 ? std::nullopt : std::optional<std::int64_t>(below(8))};
      case 10:
        return BigInt{"1" + std::string(18 + below(20), '7') + "0"};
      case 11:
        return List{items(depth)};
      case 12:
        return Tuple{items(depth)};
      default: {
        Dict dict;
        for (std::uint32_t i = below(3); i > 0; --i) dict.items.emplace_back(value(0), value(depth - 1));
        return dict;
      }
    }
  }
  std::vector<Value> items(int depth) {
    std::vector<Value> out;
    for (std::uint32_t i = below(4); i > 0; --i) out.push_back(value(depth - 1));
    return out;
  }
  TensorSpec tensor() {
    TensorSpec out;
    out.dtype = static_cast<DType>(below(dtype_count));
    for (std::uint32_t i = below(5); i > 0; --i) out.sizes.push_back(below(5000));
    if (below(2) == 0) {
      out.strides.emplace();
      for (std::size_t i = 0; i < out.sizes.size(); ++i) out.strides->push_back(below(100));
    }
    return out;
  }
  std::int64_t integer() {
    const auto bits = static_cast<std::int64_t>(std::uint64_t{random_()} << 32 | random_());
    return bits >> below(64);
  }
  double number() {
    if (below(8) == 0) return below(2) == 0 ? infinity : -infinity;
    const double fraction = static_cast<double>(integer()) / 4611686018427387904.0;
    return std::ldexp(fraction, static_cast<int>(below(2000)) - 1000);
  }
  std::string text() {
    std::string out;
    for (std::uint32_t i = below(10); i > 0; --i) out += static_cast<char>(below(2) == 0 ? 32 + below(96) : below(128));
    return below(16) == 0 ? std::string(abbreviation(static_cast<DType>(below(dtype_count)))) : out;
  }
  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("whatever is written parses to the same value and is written the same again") {
  RandomValues random(20240607);
  for (int i = 0; i < 20000; ++i) {
    const Call call = random.call();
    const std::string text = to_text(call);
    INFO(text);
    const Call parsed = parse_call(text, {});
    if (parsed != call || to_text(parsed) != text) {  // an assertion for each would be slow
      CHECK(to_text(parsed) == text);
      REQUIRE(parsed == call);
    }
  }
}
