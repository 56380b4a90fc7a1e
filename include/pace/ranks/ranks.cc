// What the headers of this room declare, compiled once (see base/config.hpp).
#include "pace/ranks/measure-inl.hpp"
#include "pace/ranks/rank-inl.hpp"
