// What the headers of this room declare, compiled once (see base/config.hpp).
#include "pace/subject/implementation-inl.hpp"
#include "pace/subject/operands-inl.hpp"
#include "pace/subject/plan-inl.hpp"
