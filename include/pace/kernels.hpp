// pace::kernels: times every kernel of a call, with expectations of its report, and the report as a table.
//
//   const auto report = pace::kernels("block", block, x);
//   CHECK_THAT(report, pace::AtMost(pace::kernel::Count::spills, 0));
#pragma once

#include "pace/kernels/expectations.hpp"
#include "pace/kernels/kernels.hpp"
#include "pace/kernels/table.hpp"
