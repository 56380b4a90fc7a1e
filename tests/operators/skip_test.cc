// The rules of PyTorch's operatorbench: order, messages, the predicate.
#include "benches/operators/backends/skip.hpp"

#include <string>

#include <catch2/catch_test_macros.hpp>

namespace {

using pace::benches::operators::has_kernel_on;
using pace::benches::operators::skip_operator;

const auto everything = [](std::string_view) { return true; };
const auto nothing = [](std::string_view) { return false; };

TEST_CASE("operators whose inputs cannot be made are skipped, with a message", "[aot]") {
  for (const std::string name :
       {"aten.gather.default", "aten.nll_loss_forward.default", "aten.index.Tensor", "aten.index_put.default",
        "aten.index_select.default", "aten.scatter_add.default", "aten.scatter_.src", "aten.masked_fill_.Scalar"}) {
    const auto decision = skip_operator(name, everything);
    CHECK(decision.skip);
    CHECK(decision.message == "Skipping " + name + ", input generator nyi");
  }
  // Near misses: no underscore after "scatter", an underscore before "index", out of place.
  for (const std::string name : {"aten.scatter.src", "aten._index_put_impl_.default", "aten.masked_fill.Scalar"}) {
    CHECK_FALSE(skip_operator(name, everything).skip);
  }
}

TEST_CASE("the rules apply in order", "[aot]") {
  CHECK(skip_operator("aten.index.Tensor", nothing).message == "Skipping aten.index.Tensor, input generator nyi");
  CHECK(skip_operator("aten._unsafe_view.default", nothing).message ==
        "Skipping aten._unsafe_view.default, non compute operator");
  CHECK(skip_operator("aten.relu.default", nothing).message == "Skipping aten.relu.default, no inductor impl");
  CHECK(skip_operator("aten.convolution.default", nothing).message ==
        "Skipping aten.convolution.default, no inductor impl");
}

TEST_CASE("convolutions are skipped silently", "[aot]") {
  for (const std::string name : {"aten.convolution.default", "aten.convolution_backward.default"}) {
    const auto decision = skip_operator(name, everything);
    CHECK(decision.skip);
    CHECK(decision.message == "");
  }
}

TEST_CASE("an operator needs a kernel in this LibTorch", "[aot]") {
  for (const std::string name : {"aten.add.Tensor", "aten._softmax.default", "aten.add_.Tensor", "aten.split.Tensor",
                                 "aten.upsample_nearest2d.vec", "aten.new_zeros.default", "aten.copy_.default",
                                 "aten._sparse_coo_tensor_with_dims_and_tensors.default"}) {
    CAPTURE(name);
    CHECK_FALSE(skip_operator(name, has_kernel_on(c10::kCPU)).skip);
  }
  for (const std::string name : {"aten._cudnn_rnn.default",       // CUDA only
                                 "aten.im2col_backward.default",  // no longer there
                                 "aten.made_up.default", "no name at all"}) {
    CAPTURE(name);
    CHECK(skip_operator(name, has_kernel_on(c10::kCPU)).message == "Skipping " + name + ", no inductor impl");
  }
}

}  // namespace
