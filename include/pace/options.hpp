// Options of the measurement (pace::Options) and of the comparison of outputs (pace::check::CheckOptions).
#pragma once

#include "pace/check/check_options.hpp"
#include "pace/result/options.hpp"
