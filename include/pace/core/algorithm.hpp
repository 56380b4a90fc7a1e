// Algorithms: std::max, std::sort and the like.
#pragma once

// Without those on ranges: all of <algorithm> would be a fifth of what a Torch-free header of pace costs to compile.
#if __has_include(<bits/stl_algo.h>)
#include <bits/stl_algobase.h>
#include <bits/stl_algo.h>
#else
#include <algorithm>
#endif
