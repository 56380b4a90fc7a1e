// What the headers of this room declare, compiled once (see core/config.hpp).
#include "pace/args/command_line-inl.hpp"
