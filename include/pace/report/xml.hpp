// XML text that any parser accepts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pace/base/config.hpp"

namespace pace::report {

namespace detail {

/// Length of the UTF-8 character at the start of `text` if XML 1.0 allows it; 0 if it is malformed or not allowed.
[[nodiscard]] std::size_t xml_character(std::string_view text);

}  // namespace detail

/// Returns `text` as the content of an element or of an attribute in double quotes. Characters that XML does not allow,
/// and bytes that are not UTF-8, become U+FFFD; line ends stay line ends in an attribute, too.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/xml-inl.hpp"
#endif
