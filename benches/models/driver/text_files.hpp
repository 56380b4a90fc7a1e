// Files that are written as a whole, or line by line. All throw Error with the path and the reason.
#pragma once

#include <string>
#include <string_view>

#include "pace/os/output_file.hpp"

namespace pace::benches::models {

/// An existing file of that name stays until all is written.
inline void write_text(const std::string& path, std::string_view text) {
  OutputFile file(path, /*replaces=*/true);
  file.append(text);
  file.replace();
  file.close();
}

inline void append_text(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.keep();
  file.append(text);
  file.close();
}

}  // namespace pace::benches::models
