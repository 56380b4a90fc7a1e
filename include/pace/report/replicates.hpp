// Gates that several processes were asked about, as a table.
#pragma once

#include <ostream>

#include "pace/core/config.hpp"
#include "pace/gate/replicates.hpp"

namespace pace::report {

/// The gates as a table, and in words where they are not proven to hold.
void print(const gate::Replicates& replicates, std::ostream& out);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/replicates-inl.hpp"
#endif
