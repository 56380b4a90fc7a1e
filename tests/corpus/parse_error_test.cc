#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>
#include <string>

#include "pace/base/error.hpp"
#include "pace/corpus/parse.hpp"

using namespace pace::corpus;
using Catch::Matchers::ContainsSubstring;

namespace {

const pace::Location start{"model.txt", 7, 9};  // as for `cnt: 12, (...)` on line 7

// Every form of the language in one sample.
const std::string everything =
    "((T([2, 3], f16, stride=(1, 2)), [T([], b8), None], (True,), -1.5e-05, (1+2j), -inf, 'a\\x41\\'', {'k': {}}, "
    "torch.strided, device(type='cuda', index=0), torch.Size([1])), {'dtype': i64, \"it's\": 'f16'})";

// The message of the InputError that `text` gives.
std::string message(const std::string& text) {
  try {
    static_cast<void>(parse_call(text, start, "aten.add.Tensor"));
  } catch (const pace::InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a malformed sample is reported with file, line, column and what was expected") {
  struct Row {
    std::string text, place, expected;
  };
  const Row rows[] = {
      {"", "model.txt:7:9", "expected '('"},
      {"T([2], f16)", "model.txt:7:9", "expected '('"},
      {"(5, {})", "model.txt:7:10", "expected '(' that opens the tuple of arguments, found '5, {})'"},
      {"((1, 2), {}", "model.txt:7:20", "expected ')' behind the keyword arguments, found the end of the sample"},
      {"((1), {})", "model.txt:7:12", "expected ','"},
      {"((1,), [])", "model.txt:7:16", "expected '{'"},
      {"((1,), {}) x", "model.txt:7:20", "expected the end of the sample"},
      {"((1 2,), {})", "model.txt:7:13", "expected ','"},
      {"((1, 2 3), {})", "model.txt:7:16", "expected ',' or ')'"},
      {"(([1, 2), {})", "model.txt:7:16", "expected ',' or ']'"},
      {"((foo,), {})", "model.txt:7:11", "found the unknown name 'foo'"},
      {"((T([2], f17),), {})", "model.txt:7:18", "expected a dtype"},
      {"((T([2], 3),), {})", "model.txt:7:18", "expected a dtype"},
      {"((T([2], torch.strided),), {})", "model.txt:7:18", "expected a dtype"},
      {"((T(2, f16),), {})", "model.txt:7:13", "expected the list of sizes"},
      {"((T([2.5], f16),), {})", "model.txt:7:14", "expected a size, which is a whole number, found '2.5'"},
      {"((T([99999999999999999999], f16),), {})", "model.txt:7:14", "expected a size that 64 bits can hold"},
      {"((T([-2], f16),), {})", "model.txt:7:14", "expected a size of at least 0, found -2"},
      {"((T([2], f16, strides=(1,)),), {})", "model.txt:7:23", "expected stride="},
      {"((T([2], f16, stride=(1, 1)),), {})", "model.txt:7:21", "expected as many strides as sizes (1), found 2"},
      {"((T([2], f16, stride=(-1,)),), {})", "model.txt:7:31", "expected a stride of at least 0"},
      {"((torch,), {})", "model.txt:7:16", "expected '.' and a name"},
      {"((torch.,), {})", "model.txt:7:17", "expected a name behind 'torch.'"},
      {"((1e,), {})", "model.txt:7:13", "expected the digits of an exponent"},
      {"((1.2.3,), {})", "model.txt:7:14", "expected at most one decimal point"},
      {"((1e999,), {})", "model.txt:7:11", "expected a number that a double can hold"},
      {"((-,), {})", "model.txt:7:12", "expected a number"},
      {"((-None,), {})", "model.txt:7:12", "expected a number, 'inf' or 'nan'"},
      {"(((1+2),), {})", "model.txt:7:14", "expected the imaginary part"},
      {"(('abc,), {})", "model.txt:7:11", "expected a closing '"},
      {"(('\\xg1',), {})", "model.txt:7:12", "expected an escape of 2 hexadecimal digits"},
      {"((1,), {k: 1})", "model.txt:7:17", "expected the name of a keyword argument in quotes"},
      {"((1,), {'k': 1, 'k': 2})", "model.txt:7:25", "expected each keyword argument once"},
      {"((), {'\\x1b[31m': 1, '\\x1b[31m': 2})", "model.txt:7:30", "found another '\\x1b[31m'"},
      {"((device(kind='cpu'),), {})", "model.txt:7:18", "expected type="},
      {"(('\u00e9\u00e9', ?), {})", "model.txt:7:17", "expected a value"},  // columns count characters, not bytes
      {"((1,),\n {?})", "model.txt:8:3", "expected the name of a keyword argument"},
      {std::string("((\0, 1), {})", 12), "model.txt:7:11", "found '\\x00, 1), {})'"},
      {"((\x80\xff,), {})", "model.txt:7:11", "found '\\x80\\xff,), {})'"},
  };
  for (const auto& [text, place, expected] : rows) {
    INFO(text);
    CHECK_THAT(message(text), ContainsSubstring(place + ": aten.add.Tensor: ") && ContainsSubstring(expected));
  }
}

TEST_CASE("sparse tensors and objects without a value are refused by operator, file and line") {
  const auto parse = [](const char* text) { return parse_call(text, start, "aten.mm.default"); };
  CHECK_THROWS_AS(parse("((ST([2], f16, torch.sparse_coo, True, 3),), {})"), pace::Unsupported);
  CHECK_THROWS_WITH(parse("((1, ST([2], f16, torch.sparse_coo, True)), {})"),
                    "model.txt:7:14: aten.mm.default: sparse tensors, ST(...), are not implemented");
  CHECK_THROWS_AS(parse("((1,), {'generator': <torch._C.Generator object at 0x7f>})"), pace::Unsupported);
}

TEST_CASE("a sample that is cut off anywhere is an error that points at its end or before") {
  REQUIRE_NOTHROW(parse_call(everything, start));
  for (std::size_t size = 0; size < everything.size(); ++size) {
    INFO(everything.substr(0, size));
    try {
      static_cast<void>(parse_call(everything.substr(0, size), start));
      FAIL_CHECK("accepted");
    } catch (const pace::InputError& error) {
      if (error.where().line != 7 || error.where().column < 9 || error.where().column > 9 + size) {
        FAIL_CHECK("wrong place: " << error.what());
      }
    }
  }
}

TEST_CASE("damaged samples are accepted or reported, never worse") {
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 100000; ++i) {
    std::string text = everything;
    for (auto damage = random() % 3 + 1; damage > 0; --damage) {
      const std::size_t place = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[place] = static_cast<char>(random());
          break;
        case 1:
          text.erase(place, random() % 8);
          break;
        default:
          text.insert(place, everything.substr(random() % everything.size(), random() % 8));
      }
    }
    try {
      static_cast<void>(parse_call(text, start));
      ++accepted;
    } catch (const pace::InputError& error) {
      if (error.where().line == 0 || error.where().column == 0) FAIL_CHECK("no place: " << error.what());
    } catch (const pace::Unsupported&) {
    }
  }
  CHECK(accepted < 100000);
}

TEST_CASE("deep nesting is an error, not a stack overflow") {
  const auto nested = [](const std::string& open, int depth, const std::string& close) {
    std::string text = "((";
    for (int i = 0; i < depth; ++i) text += open;
    text += "1";
    for (int i = 0; i < depth; ++i) text += close;
    return text + ",), {})";
  };
  CHECK_NOTHROW(parse_call(nested("[", 60, "]"), start));
  for (const char* open : {"[", "(", "{'a': ", "[(", "torch.Size("}) {
    CHECK_THAT(message(nested(open, 1000000, "")), ContainsSubstring("expected at most 64 values nested"));
  }
  std::string beside_each_other;
  for (int i = 0; i < 100; ++i) beside_each_other += "[1], ";
  CHECK_NOTHROW(parse_call("((" + beside_each_other + "), {})", start));
}

TEST_CASE("a tensor has 64 dimensions at most") {
  const auto tensor = [](int dimensions) {
    std::string sizes;
    for (int i = 0; i < dimensions; ++i) sizes += "1, ";
    return "((T([" + sizes + "], f32),), {})";
  };
  CHECK_NOTHROW(parse_call(tensor(64), start));
  CHECK_THAT(message(tensor(65)),
             ContainsSubstring("model.txt:7:14: aten.add.Tensor: expected at most 64 dimensions of a tensor"));
  CHECK_THAT(message("((T([1], f32, stride=(" + std::string(3000000, '1') + ")),), {})"),
             ContainsSubstring("a stride"));
}

TEST_CASE("very long numbers and strings are handled") {
  const std::string digits(1000000, '9');
  CHECK(parse_call("((" + digits + ",), {})", start).args[0] == Value(BigInt{digits}));
  CHECK_THAT(message("((" + digits + ".5,), {})"), ContainsSubstring("expected a number that a double can hold"));
  CHECK(parse_call("(('" + digits + "',), {})", start).args[0] == Value(digits));
}
