// The version of pace, for the preprocessor and as text.
#pragma once

/// Versions follow https://semver.org: before 1.0.0, a minor version may change the API and the file formats.
#define PACE_VERSION_MAJOR 0
#define PACE_VERSION_MINOR 2
#define PACE_VERSION_PATCH 0

/// One number that grows with the version: 10000 * major + 100 * minor + patch, such as 200 for 0.2.0.
#define PACE_VERSION (PACE_VERSION_MAJOR * 10000 + PACE_VERSION_MINOR * 100 + PACE_VERSION_PATCH)

#define PACE_DETAIL_VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch
#define PACE_DETAIL_VERSION_EXPAND(major, minor, patch) PACE_DETAIL_VERSION_TEXT(major, minor, patch)

namespace pace {

/// The version as text: `0.2.0`.
inline constexpr const char version[] =
    PACE_DETAIL_VERSION_EXPAND(PACE_VERSION_MAJOR, PACE_VERSION_MINOR, PACE_VERSION_PATCH);

}  // namespace pace

#undef PACE_DETAIL_VERSION_EXPAND
#undef PACE_DETAIL_VERSION_TEXT
