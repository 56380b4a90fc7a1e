// Results: pace::Result and its members as plain values, without LibTorch.
#pragma once

#include "pace/core/format.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/core/verdict.hpp"
