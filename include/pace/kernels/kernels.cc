// What the headers of this room declare, compiled once (see core/config.hpp).
#include "pace/kernels/kernels-inl.hpp"
