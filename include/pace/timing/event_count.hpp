// EventCount: events of one counter during some work.
#pragma once

#include <optional>
#include <string>

namespace pace::timing {

/// Events of one counter during some work.
struct EventCount {
  std::optional<double> events = {};  ///< of all work; absent: they could not be counted
  std::string missing = {};           ///< why
};

}  // namespace pace::timing
