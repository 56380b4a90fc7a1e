// A file's content as one number. A later run finds by it whether the file was changed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <system_error>

#include "pace/base/digest.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::files {

/// The hash of a file's bytes, which are read piece by piece. Throws InputError for a folder, and for a file that
/// cannot be read.
[[nodiscard]] inline std::string digest_of_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError({path}, "expected a file, found a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError({path}, "the file cannot be read");
  Digest digest;
  std::string piece(std::size_t{1} << 20, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0)
    digest.add(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  if (file.bad()) throw InputError({path}, "the file cannot be read to its end");
  return digest.text();
}

}  // namespace pace::benches::files
