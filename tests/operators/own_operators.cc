// A program that replays operators with implementations and cases of its own; run by operators_suite_test.sh.
#include <csignal>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

#include "benches/operators/backends/registered.hpp"
#include "benches/operators/cases.hpp"

PACE_OPERATOR("mine", "aten.relu.default", [](const at::Tensor& a) { return a.clamp_min(0); });
PACE_OPERATOR("mine", "aten.exp.default", [](const at::Tensor& a) { return a.exp().mul_(1.01); });
PACE_OPERATOR("mine", "aten.tanh.default", [](const at::Tensor& a) {
  ::raise(SIGSEGV);
  return a.tanh();
});

// Returns the same memory from all calls with a shape.
PACE_OPERATOR("one_buffer", "aten.relu.default", [buffer = at::Tensor()](const at::Tensor& a) mutable {
  if (!buffer.defined() || buffer.sizes() != a.sizes()) buffer = at::empty_like(a);
  return buffer.copy_(a).clamp_min_(0);
});

// As Ctrl-C or a system that shuts down ends a run.
PACE_OPERATOR("mine", "aten.cos.default", [](const at::Tensor& a) {
  ::raise(SIGTERM);
  return a.cos();
});

PACE_OPERATOR_CASES(pace::benches::operators::CaseList("aten.relu.default", "relu")
                        .list({"M", "N"}, {{8, 16}, {64, 64}})
                        .cross("dtype", {"f32", "f64"})
                        .cross("device", {"cpu", "cuda"})
                        .auto_set({0})
                        .call("((T([{M}, {N}], {dtype}),), {})"));
PACE_OPERATOR_CASES(
    pace::benches::operators::CaseList("aten.exp.default", "exp").cross("M", {8}).call("((T([{M}], f32),), {})"));
PACE_OPERATOR_CASES(
    pace::benches::operators::CaseList("aten.tanh.default", "tanh").cross("M", {8}).call("((T([{M}], f32),), {})"));
