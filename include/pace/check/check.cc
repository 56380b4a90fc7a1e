// What the headers of this room declare, compiled once (see core/config.hpp).
#include "pace/check/ivalue-inl.hpp"
