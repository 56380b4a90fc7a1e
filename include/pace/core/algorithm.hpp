// Algorithms: std::max, std::sort and the like.
#pragma once

// Without those on ranges: all of <algorithm> costs four times as much to compile.
#if __has_include(<bits/stl_algo.h>)
#include <bits/stl_algobase.h>
#include <bits/stl_algo.h>
#else
#include <algorithm>
#endif
