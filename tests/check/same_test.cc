// same() on values of every kind: structure, order, messages. Expected outcomes are from PyTorch's own program.
#include "pace/check/same.hpp"

#include <string>
#include <vector>

#include "pace/check/ivalue.hpp"
#include "values.hpp"

using pace::to_ivalue;
using pace::check::same;
using pace::check::SameOptions;
using Messages = std::vector<std::string>;
using Catch::Matchers::Message;

namespace {

struct Logged {
  bool same = false;
  Messages messages;
};

Logged run(const c10::IValue& ref, const c10::IValue& res, SameOptions options = {}) {
  Logged out;
  options.log = [&](const std::string& message) {
    out.messages.push_back(message);
    UNSCOPED_INFO(message);
  };
  out.same = pace::check::same(ref, res, std::nullopt, options);
  return out;
}

c10::IValue dict(const std::vector<std::pair<std::string, c10::IValue>>& entries) {
  c10::impl::GenericDict out(c10::StringType::get(), c10::AnyType::get());
  for (const auto& [key, value] : entries) out.insert(key, value);
  return out;
}

}  // namespace

TEST_CASE("plain values are the same if they are equal") {
  CHECK(run(3, 3).same);
  CHECK(run("a", "a").same);
  CHECK(run(true, true).same);
  CHECK(run(c10::IValue(), c10::IValue()).same);
  CHECK(run(c10::Device("cpu"), c10::Device("cpu")).same);
  CHECK(run(c10::IValue(), at::Tensor()).same);  // a tensor that is not there

  CHECK(run(3, 4).messages == Messages{"Accuracy failed (int): 3 != 4"});
  CHECK(run("a", "b").messages == Messages{"Accuracy failed (string): \"a\" != \"b\""});
  CHECK(run(true, false).messages == Messages{"Accuracy failed (bool): true != false"});
  CHECK(run(c10::IValue(), 1).messages == Messages{"Accuracy failed (none): None != 1"});
  CHECK(run(c10::Device("cpu"), c10::Device("meta")).messages == Messages{"Accuracy failed (device): cpu != meta"});
  CHECK(run("1", 1).messages == Messages{"Accuracy failed (string): \"1\" != 1"});
  CHECK(run(1, doubles({1})).messages == Messages{"Accuracy failed (int): 1 != a tensor"});
}

TEST_CASE("integers, bools and doubles are numbers, as in Python") {
  CHECK(run(1, true).same);
  CHECK(run(false, 0).same);
  CHECK(run(2, 2.0).same);
  CHECK_FALSE(run(2, 2.5).same);
  // A double is compared as a float32 tensor, so with the tolerance, and its type counts.
  CHECK(run(1.0, 1.0001).same);
  CHECK_FALSE(run(1.0, 1.001).same);
  CHECK(run(1.0, floats({1}).squeeze()).same);
  CHECK(run(1.0, 1).messages == Messages{"dtype mismatch torch.float32, torch.int64"});
  CHECK(run(1.0, true).messages == Messages{"dtype mismatch torch.float32, torch.bool"});
  CHECK(run(doubles({1}).squeeze(), 1.0).messages == Messages{"dtype mismatch torch.float64, torch.float32"});
}

TEST_CASE("ignore_non_fp accepts values that are not floating-point without a look") {
  SameOptions options;
  options.ignore_non_fp = true;
  CHECK(run(3, 4, options).same);
  CHECK(run("a", c10::IValue(), options).same);
  CHECK(run(bools({1}), bools({0}), options).same);
  CHECK_FALSE(run(1.0, true, options).same);  // a double is floating-point
}

TEST_CASE("lists and tuples are one kind, and stop at the first difference") {
  const auto tuple = to_ivalue(std::tuple(floats({1}), 2));
  CHECK(run(tuple, to_ivalue(std::vector<c10::IValue>{floats({1}), 2})).same);
  CHECK(run(to_ivalue(std::vector<c10::IValue>{}), to_ivalue(std::tuple<>())).same);
  CHECK(run(c10::IValue(std::vector<std::int64_t>{1, 2}), to_ivalue(std::tuple(1, 2))).same);

  const Logged shorter = run(tuple, to_ivalue(std::tuple(floats({1}))));
  CHECK_FALSE(shorter.same);
  CHECK(shorter.messages == Messages{"Length mismatch"});

  const Logged first = run(to_ivalue(std::tuple(1, 2, 3)), to_ivalue(std::tuple(1, 9, 9)));
  CHECK_FALSE(first.same);
  CHECK(first.messages == Messages{"Accuracy failed (int): 2 != 9"});

  const auto nested = [](double x) {
    return to_ivalue(std::tuple(1, std::tuple(std::vector<at::Tensor>{floats({x})})));
  };
  CHECK(run(nested(1), nested(1)).same);
  CHECK_FALSE(run(nested(1), nested(2)).same);
}

TEST_CASE("dicts are compared in the order of their keys, whatever the order of insertion") {
  const auto ref = dict({{"b", 1}, {"a", 2}, {"c", 3}});
  CHECK(run(ref, dict({{"c", 3}, {"a", 2}, {"b", 1}})).same);
  // b and c differ; b comes first in sorted order.
  const Logged found = run(ref, dict({{"c", 0}, {"a", 2}, {"b", 0}}));
  CHECK_FALSE(found.same);
  CHECK(found.messages == Messages{"Accuracy failed (int): 1 != 0", "Accuracy failed for key name b"});
}

TEST_CASE("what PyTorch asserts throws") {
  const auto a_list = to_ivalue(std::tuple(1));
  CHECK_THROWS_MATCHES(run(a_list, 1), pace::Error, Message("same: the reference is a tuple, the result a int"));
  CHECK_THROWS_MATCHES(run(dict({}), a_list), pace::Error,
                       Message("same: the reference is a dict, the result a tuple"));
  CHECK_THROWS_MATCHES(run(dict({{"a", 1}}), dict({})), pace::Error,
                       Message("same: key \"a\" is missing in the result"));
  CHECK_THROWS_MATCHES(run(dict({}), dict({{"a", 1}})), pace::Error,
                       Message("same: key \"a\" is missing in the reference"));
  CHECK_THROWS_MATCHES(run(floats({1}), "a"), pace::Error,
                       Message("same: expected a tensor or a number, got a string"));
  CHECK_THROWS_AS(run(floats({1}), c10::IValue()), pace::Error);
  CHECK_THROWS_MATCHES(run(c10::complex<double>(1, 2), 1), pace::Error, Message("same: unsupported type: complex"));
  CHECK_THROWS_AS(same(a_list, a_list, to_ivalue(std::tuple(1, 2))), pace::Error);
}

TEST_CASE("the float64 reference is taken apart along with the values") {
  // Too far for allclose at 1e-4; against the float64 result the error 0.003 is at most 3 * 0.002.
  const auto ref = floats({1.002}), res = floats({0.997}), exact = doubles({1});
  CHECK_FALSE(same(to_ivalue(std::tuple(1, ref)), to_ivalue(std::tuple(1, res))));
  CHECK(same(to_ivalue(std::tuple(1, ref)), to_ivalue(std::tuple(1, res)), to_ivalue(std::tuple(1, exact))));
  CHECK(same(dict({{"x", ref}}), dict({{"x", res}}), dict({{"x", exact}})));
  CHECK_THROWS_AS(same(dict({{"x", ref}}), dict({{"x", res}}), dict({{"y", exact}})), pace::Error);
  CHECK_THROWS_MATCHES(same(dict({{"x", ref}}), dict({{"x", res}}), exact), pace::Error,
                       Message("same: the reference is a dict, the float64 reference a tensor"));
}

TEST_CASE("bitwise_same allows nothing but the other zero, and NaN if asked") {
  using pace::check::bitwise_same;
  CHECK(bitwise_same(floats({1, 0.0}), floats({1, -0.0})));
  CHECK_FALSE(bitwise_same(floats({1}), floats({1.0000001})));
  CHECK_FALSE(bitwise_same(floats({not_a_number}), floats({not_a_number})));
  CHECK(bitwise_same(floats({not_a_number}), floats({not_a_number}), true));
}
