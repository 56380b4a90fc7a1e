// EventCount: the figure of one counter over some work.
#pragma once

#include <optional>
#include <string>

namespace pace::timing {

/// The figure of one counter over some work.
struct EventCount {
  std::optional<double> events = {};  ///< events or bytes of all work, or a percentage; absent: it could not be counted
  std::string missing = {};           ///< why
};

}  // namespace pace::timing
