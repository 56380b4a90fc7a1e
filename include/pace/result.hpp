// The door to results: pace::Result and what it is made of, as plain values. Without LibTorch.
#pragma once

#include "pace/core/format.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/core/verdict.hpp"
