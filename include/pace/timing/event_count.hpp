// EventCount: events of one counter during some work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pace::timing {

/// Events of one counter during some work.
struct EventCount {
  std::optional<std::int64_t> events = {};  ///< absent: they could not be counted
  std::string missing = {};                 ///< why
};

}  // namespace pace::timing
