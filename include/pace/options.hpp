// The door to options: how a comparison is measured (pace::Options) and its outputs are compared
// (pace::check::CheckOptions), as Comparison::options and Comparison::check take them.
#pragma once

#include "pace/check/check_options.hpp"
#include "pace/core/options.hpp"
