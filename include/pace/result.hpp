// Results: pace::Result and its members as plain values, without LibTorch.
#pragma once

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"
