#include "pace/check/ivalue.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "pace/check/structure.hpp"
#include "pace/check/text.hpp"
#include "values.hpp"

using pace::invoke_to_ivalue;
using pace::to_ivalue;
using pace::check::for_each_tensor;
using pace::check::tensors_of;
using pace::check::detail::kind_text;

namespace {

struct ModelOutput {
  at::Tensor logits;
  double loss;
};

struct Unknown {};

}  // namespace

template <>
struct pace::ToIValue<ModelOutput> {
  static c10::IValue convert(const ModelOutput& out) { return to_ivalue(std::tie(out.logits, out.loss)); }
};

TEST_CASE("single values keep their kind") {
  const auto x = floats({1});
  CHECK(to_ivalue(x).toTensor().is_same(x));  // not a copy
  CHECK(to_ivalue(at::Tensor(x)).isTensor());
  CHECK(to_ivalue(3).toInt() == 3);
  CHECK(to_ivalue(3u).toInt() == 3);
  CHECK(to_ivalue(std::int8_t{-3}).toInt() == -3);
  CHECK(to_ivalue(std::size_t{3}).toInt() == 3);
  CHECK(to_ivalue('a').toInt() == 97);
  CHECK(to_ivalue(0.5f).toDouble() == 0.5);
  CHECK(to_ivalue(0.5).toDouble() == 0.5);
  CHECK(to_ivalue(true).isBool());
  CHECK(to_ivalue(std::string("a")).toStringRef() == "a");
  CHECK(to_ivalue("a").toStringRef() == "a");
  CHECK(to_ivalue(std::string_view("a")).toStringRef() == "a");
  CHECK(to_ivalue(std::complex<float>(1, 2)).toComplexDouble() == c10::complex<double>(1, 2));
  CHECK(to_ivalue(at::Scalar(4)).toInt() == 4);
  CHECK(to_ivalue(c10::Device("cpu")).isDevice());
  CHECK(to_ivalue(c10::IValue(7)).toInt() == 7);
  CHECK(to_ivalue(std::nullopt).isNone());
}

TEST_CASE("optional: the value or None") {
  CHECK(to_ivalue(std::optional<at::Tensor>()).isNone());
  CHECK(to_ivalue(std::optional<at::Tensor>(floats({1}))).isTensor());
  CHECK(to_ivalue(std::optional<std::tuple<int, bool>>({1, true})).isTuple());
}

TEST_CASE("containers become tuples, lists and dicts") {
  const auto a = floats({1}), b = floats({2});
  CHECK(to_ivalue(std::tuple(a, 2, std::string("x"))).toTupleRef().elements().size() == 3);
  CHECK(to_ivalue(std::pair(a, b)).isTuple());
  CHECK(to_ivalue(std::tuple<>()).isTuple());
  CHECK(to_ivalue(std::vector<at::Tensor>{a, b}).isTensorList());
  CHECK(to_ivalue(at::TensorList({a, b})).toListRef()[1].toTensor().is_same(b));
  CHECK(to_ivalue(std::array<at::Tensor, 2>{a, b}).toListRef().size() == 2);
  CHECK(to_ivalue(std::vector<c10::IValue>{a, 3}).toListRef()[1].toInt() == 3);
  CHECK(to_ivalue(std::vector<bool>{true, false}).toListRef()[0].isBool());
  CHECK(to_ivalue(std::vector<std::pair<int, at::Tensor>>{{1, a}}).toListRef()[0].isTuple());
  CHECK(to_ivalue(c10::List<at::Tensor>({a})).isTensorList());
  const auto dict = to_ivalue(std::map<std::string, std::vector<at::Tensor>>{{"h", {a, b}}});
  CHECK(dict.toGenericDict().at("h").toListRef().size() == 2);
  CHECK(to_ivalue(c10::Dict<std::string, at::Tensor>()).isGenericDict());
}

TEST_CASE("a type of one's own is converted by specialising ToIValue, also inside a container") {
  const auto converted = to_ivalue(std::vector<ModelOutput>{{floats({1}), 0.25}});
  CHECK(converted.toListRef()[0].toTupleRef().elements()[1].toDouble() == 0.25);
  // A type that cannot be converted is known at compile time, and named there.
  STATIC_REQUIRE(pace::check::detail::HasConversion<ModelOutput>);
  STATIC_REQUIRE_FALSE(pace::check::detail::HasConversion<Unknown>);
  STATIC_REQUIRE_FALSE(pace::check::detail::HasConversion<std::unique_ptr<int>>);
}

TEST_CASE("calling a function that returns nothing gives None") {
  int calls = 0;
  CHECK(invoke_to_ivalue([&] { ++calls; }).isNone());
  CHECK(calls == 1);
  CHECK(invoke_to_ivalue([](int x, int y) { return x + y; }, 2, 3).toInt() == 5);
  const auto x = floats({1});
  CHECK(invoke_to_ivalue([&]() -> const at::Tensor& { return x; }).toTensor().is_same(x));
}

TEST_CASE("tensors are visited depth first, in order, undefined ones left out, repeated ones again") {
  const auto a = floats({1}), b = floats({2}), c = floats({3});
  c10::impl::GenericDict dict(c10::StringType::get(), c10::TensorType::get());
  dict.insert("z", c);
  const auto value = to_ivalue(std::tuple(a, std::vector<c10::IValue>{b, at::Tensor(), c10::IValue(), a},
                                          c10::IValue(dict), 3, std::string("x")));
  const auto tensors = tensors_of(value);
  REQUIRE(tensors.size() == 4);
  CHECK(tensors[0].is_same(a));
  CHECK(tensors[1].is_same(b));
  CHECK(tensors[2].is_same(a));
  CHECK(tensors[3].is_same(c));
  CHECK(tensors_of(to_ivalue(3)).empty());
}

TEST_CASE("numbers are visited as tensors are, a dict's in the order of its keys") {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("b", 2.0);
  dict.insert("a", to_ivalue(std::tuple(1, 0.5, floats({3}))));
  const auto numbers = pace::check::detail::numbers_in_order(dict);
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[0].toDouble() == 0.5);
  CHECK(numbers[1].toDouble() == 2);
}

TEST_CASE("kinds have readable names") {
  CHECK(kind_text(c10::IValue()) == "none");
  CHECK(kind_text(at::Tensor()) == "none");
  CHECK(kind_text(floats({1})) == "tensor");
  CHECK(kind_text(std::vector<std::int64_t>{1}) == "list");
  CHECK(kind_text(std::numeric_limits<std::uint64_t>::max()) == "int");
  CHECK(kind_text(c10::IValue(at::Generator(at::detail::getDefaultCPUGenerator()))) == "Generator");
}
