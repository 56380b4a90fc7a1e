// Gates that several processes judge together, as a table.
#pragma once

#include <ostream>

#include "pace/base/config.hpp"
#include "pace/gate/replicates.hpp"

namespace pace::report {

/// Prints the gates as a table to `out`, and a message for each that is not proven to hold.
void print(const gate::Replicates& replicates, std::ostream& out);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/replicates-inl.hpp"
#endif
