// Must be reported: a relu that lets nothing below 0.5 through.
#include <ATen/ATen.h>

#include "benches/operators/backends/registered.hpp"

PACE_OPERATOR("wrong", "aten.relu.default", [](const at::Tensor& a) { return a.clamp_min(0.5); });
