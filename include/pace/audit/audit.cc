// What the headers of this room declare, compiled once (see base/config.hpp).
#include "pace/audit/audit-inl.hpp"
