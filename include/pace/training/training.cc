// What the headers of this room declare, compiled once (see base/config.hpp).
#include "pace/training/gradient-inl.hpp"
#include "pace/training/implementation-inl.hpp"
#include "pace/training/optimizer-inl.hpp"
