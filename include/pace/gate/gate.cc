// What the headers of this room declare, compiled once (see core/config.hpp).
#include "pace/gate/count_expectation-inl.hpp"
#include "pace/gate/expectation-inl.hpp"
