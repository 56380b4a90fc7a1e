// Files that are there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

#include "pace/os/output_file.hpp"

namespace pace::benches::models {

/// An existing file of that name stays until all is written. Throws Error with the path and the reason, as OutputFile.
inline void write_whole(const std::filesystem::path& path, std::string_view bytes) {
  OutputFile file(path.string(), /*replaces=*/true);
  file.append(bytes);
  file.replace();
  file.close();
}

}  // namespace pace::benches::models
