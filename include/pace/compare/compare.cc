// What the headers of this room declare, compiled once (see core/config.hpp).
#include "pace/compare/implementation-inl.hpp"
#include "pace/compare/operands-inl.hpp"
#include "pace/compare/plan-inl.hpp"
#include "pace/compare/run-inl.hpp"
