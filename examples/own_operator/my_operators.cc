// Operators of one's own, and the shapes they are compared on.
#include <ATen/ATen.h>

#include "benches/operators/backends/registered.hpp"
#include "benches/operators/cases.hpp"

PACE_OPERATOR("mine", "aten.relu.default", [](const at::Tensor& a) { return a.clamp_min(0); });
PACE_OPERATOR("mine", "aten._softmax.default", [](const at::Tensor& a) {
  const at::Tensor exponentials = (a - a.amax(-1, /*keepdim=*/true)).exp();
  return exponentials / exponentials.sum(-1, /*keepdim=*/true);
});

PACE_OPERATOR_CASES(pace::benches::operators::CaseList("aten.relu.default", "relu")
                        .list({"M", "N"}, {{8, 16}, {64, 64}})
                        .call("((T([{M}, {N}], f32),), {})"));
PACE_OPERATOR_CASES(pace::benches::operators::CaseList("aten._softmax.default", "softmax")
                        .list({"M", "N"}, {{64, 64}})
                        .call("((T([{M}, {N}], f32), -1, False), {})"));
