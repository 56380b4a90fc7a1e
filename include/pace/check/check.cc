// What the headers of this room declare, compiled once (see base/config.hpp).
#include "pace/check/ivalue-inl.hpp"
