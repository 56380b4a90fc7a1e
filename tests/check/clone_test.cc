#include "pace/check/clone.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/sparse_coo_tensor.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "values.hpp"

using pace::to_ivalue;
using pace::check::clone_input;
using pace::check::clone_ivalue;
using pace::check::tensors_of;

namespace {

std::uintptr_t phase(const at::Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % 64;
}

/// Same values, sizes, strides and type; memory of its own.
void check_is_copy(const at::Tensor& original, const at::Tensor& copy) {
  CHECK(copy.sizes() == original.sizes());
  CHECK(copy.strides() == original.strides());
  CHECK(copy.scalar_type() == original.scalar_type());
  CHECK(copy.equal(original));
  CHECK_FALSE(copy.storage().is_alias_of(original.storage()));
}

}  // namespace

TEST_CASE("every phase of the address within 64 bytes is kept") {
  const auto base = at::arange(64, at::kFloat);
  for (std::int64_t offset = 0; offset < 32; ++offset) {
    const auto original = base.narrow(0, offset, 7);
    REQUIRE(phase(original) == static_cast<std::uintptr_t>(offset * 4 % 64));
    const auto copy = clone_input(original);
    CHECK(phase(copy) == phase(original));
    check_is_copy(original, copy);
  }
  for (const auto dtype : {at::kByte, at::kHalf, at::kDouble, at::kComplexDouble}) {
    const auto original = at::arange(64, at::kFloat).to(dtype).narrow(0, 3, 5);
    CHECK(phase(clone_input(original)) == phase(original));
    check_is_copy(original, clone_input(original));
  }
}

TEST_CASE("strides are kept: transposed, gapped, channels last, broadcast, overlapping") {
  const auto base = at::arange(2 * 3 * 4 * 5, at::kFloat).view({2, 3, 4, 5});
  check_is_copy(base.transpose(1, 3), clone_input(base.transpose(1, 3)));
  const auto gapped = base.slice(3, 1, 5, 2).slice(2, 0, 4, 3);
  check_is_copy(gapped, clone_input(gapped));
  const auto channels_last = base.contiguous(at::MemoryFormat::ChannelsLast);
  check_is_copy(channels_last, clone_input(channels_last));
  const auto broadcast = base.select(0, 1).expand({6, 3, 4, 5});
  check_is_copy(broadcast, clone_input(broadcast));
  CHECK(clone_input(broadcast).storage().nbytes() < 2 * 60 * 4 + 64);    // not six copies
  const auto windows = base.view({120}).as_strided({10, 4}, {2, 1}, 5);  // each element in two windows
  check_is_copy(windows, clone_input(windows));
  // They overlap in the copy, too: writing one writes the other.
  auto copy = clone_input(windows);
  copy[0][2] = -1;
  CHECK(copy[1][0].item<float>() == -1);
}

TEST_CASE("scalars, empty tensors and single elements with odd strides") {
  check_is_copy(at::full({}, 3.0f), clone_input(at::full({}, 3.0f)));
  const auto empty = clone_input(at::zeros({3, 0, 2}));
  CHECK(empty.sizes() == at::IntArrayRef({3, 0, 2}));
  const auto single = at::arange(9, at::kFloat).as_strided({1, 1}, {700, 30}, 4);
  check_is_copy(single, clone_input(single));
  CHECK_FALSE(clone_input(at::Tensor()).defined());
}

TEST_CASE("leaves keep requires_grad and a copy of the gradient, results come back detached") {
  auto leaf = doubles({1, 2, 3}).requires_grad_();
  CHECK(clone_input(leaf).requires_grad());
  CHECK(clone_input(leaf).is_leaf());
  CHECK_FALSE(clone_input(leaf).grad().defined());
  leaf.mutable_grad() = at::arange(12, at::kDouble).slice(0, 1, 12, 4);
  const auto copy = clone_input(leaf);
  REQUIRE(copy.grad().defined());
  check_is_copy(leaf.grad(), copy.grad());
  CHECK(phase(copy.grad()) == phase(leaf.grad()));

  const auto result = leaf * 2;
  CHECK_FALSE(clone_input(result).requires_grad());
  CHECK(clone_input(result).equal(result));
  CHECK_FALSE(clone_input(doubles({1})).requires_grad());
}

TEST_CASE("views that are conjugated or negated lazily stay so") {
  const auto x = at::full({3}, at::Scalar(c10::complex<double>(1, 2)), at::kComplexDouble);
  const auto conjugate = clone_input(x.conj());
  CHECK(conjugate.is_conj());
  CHECK(conjugate.equal(x.conj()));
  const auto negative = clone_input(x._neg_view());
  CHECK(negative.is_neg());
  CHECK(negative.equal(x._neg_view()));
}

TEST_CASE("sparse tensors are cloned") {
  const auto sparse =
      at::sparse_coo_tensor(longs({0, 2}).view({1, 2}), floats({1, 5}), {3}).coalesce().requires_grad_();
  const auto copy = clone_input(sparse);
  CHECK(copy.is_sparse());
  CHECK(copy.is_coalesced());
  CHECK(copy.requires_grad());
  CHECK(copy.to_dense().equal(floats({1, 0, 5})));
  CHECK_FALSE(copy._values().is_alias_of(sparse._values()));
}

TEST_CASE("memory that is not aligned to its elements is copied at the nearest address") {
  alignas(64) std::array<char, 64> memory{};
  const double value = 2.5;
  std::memcpy(memory.data() + 9, &value, sizeof value);  // phase 9, no multiple of 8
  const auto original = at::from_blob(memory.data() + 9, {1}, at::kDouble);
  const auto copy = clone_input(original);
  CHECK(phase(copy) == 8);
  CHECK(copy.item<double>() == 2.5);
}

TEST_CASE("inputs of inference mode can be cloned, inside and outside of it") {
  at::Tensor x;
  {
    const c10::InferenceMode inference;
    x = doubles({1, 2});
    CHECK(clone_input(x).equal(x));
  }
  CHECK(clone_input(x).equal(x));
  CHECK_FALSE(clone_input(x).is_inference());
}

TEST_CASE("a structure keeps its shape, its types and its values that are no tensors") {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("h", floats({3}));
  dict.insert("n", 4);
  const auto original = to_ivalue(std::tuple(floats({1}), std::vector<at::Tensor>{floats({2})}, c10::IValue(dict), 5,
                                             std::string("x"), at::Tensor()));
  const auto copy = clone_ivalue(original);
  const auto& elements = copy.toTupleRef().elements();
  REQUIRE(elements.size() == 6);
  check_is_copy(original.toTupleRef().elements()[0].toTensor(), elements[0].toTensor());
  CHECK(elements[1].isTensorList());
  check_is_copy(original.toTupleRef().elements()[1].toTensorVector()[0], elements[1].toTensorVector()[0]);
  CHECK(elements[2].toGenericDict().at("h").toTensor().item<float>() == 3);
  CHECK_FALSE(elements[2].toGenericDict().at("h").toTensor().is_alias_of(dict.at("h").toTensor()));
  CHECK(elements[2].toGenericDict().at("n").toInt() == 4);
  CHECK(elements[3].toInt() == 5);
  CHECK(elements[4].toStringRef() == "x");
  CHECK_FALSE(elements[5].toTensor().defined());
  // The containers themselves are new.
  elements[2].toGenericDict().insert_or_assign("n", 9);
  CHECK(dict.at("n").toInt() == 4);
}

TEST_CASE("tensors that are one, or share memory, do so in the copy") {
  const auto base = at::arange(100, at::kFloat);
  const auto whole = base.narrow(0, 0, 50), part = base.narrow(0, 40, 20), apart = base.narrow(0, 70, 10);
  const auto bits = base.narrow(0, 0, 8).view(at::kInt);  // another dtype over the same memory
  const auto copies = tensors_of(clone_ivalue(to_ivalue(std::vector<at::Tensor>{part, whole, part, apart, bits})));
  REQUIRE(copies.size() == 5);
  check_is_copy(part, copies[0]);
  check_is_copy(whole, copies[1]);
  check_is_copy(apart, copies[3]);
  check_is_copy(bits, copies[4]);
  CHECK(copies[2].is_same(copies[0]));
  // Element 45 of the base is element 5 of part and 45 of whole.
  copies[0][5] = -1;
  CHECK(copies[1][45].item<float>() == -1);
  copies[1][0] = 1.0f;
  CHECK(copies[4][0].item<int>() == 0x3f800000);
  CHECK(copies[3].storage().is_alias_of(copies[0].storage()));
  CHECK(copies[3].storage_offset() - copies[1].storage_offset() == 70);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::vector<at::Tensor> originals{part, whole, part, apart, bits};
    CHECK(phase(copies[i]) == phase(originals[i]));
  }
}

TEST_CASE("chunks of one buffer are chunks of one buffer in the copy, along any dimension") {
  const auto base = at::arange(6 * 8, at::kFloat).view({6, 8});
  for (const std::int64_t dim : {0, 1}) {
    const auto chunks = base.chunk(2, dim);
    const auto copies = tensors_of(clone_ivalue(to_ivalue(chunks)));
    CHECK(copies[0].is_alias_of(copies[1]));
    CHECK(copies[1].storage_offset() - copies[0].storage_offset() == chunks[1].storage_offset());
    for (std::size_t i = 0; i < 2; ++i) check_is_copy(chunks[i], copies[i]);
  }
}

TEST_CASE("two small views at the ends of a large storage do not copy the memory between them") {
  const auto base = at::zeros({1'000'000}, at::kFloat);
  const auto copies =
      tensors_of(clone_ivalue(to_ivalue(std::pair(base.narrow(0, 0, 10), base.narrow(0, 999'990, 10)))));
  CHECK(copies[0].storage().nbytes() < 1000);
  CHECK(copies[1].storage().nbytes() < 1000);
}
