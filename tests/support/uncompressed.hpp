// The text of a compressed file.
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace pace::test {

/// Returns the text of a file that gzip has compressed. Throws std::runtime_error for any other.
[[nodiscard]] inline std::string uncompressed(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  // zlib reads other files as they are.
  if (file.get() != 0x1f || file.get() != 0x8b) throw std::runtime_error(path.string() + " is not compressed");
  gzFile read = ::gzopen(path.c_str(), "rb");
  std::string text;
  std::array<char, 4096> bytes{};
  for (int count = 0; (count = ::gzread(read, bytes.data(), bytes.size())) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(count));
  if (::gzclose(read) != Z_OK) throw std::runtime_error(path.string() + " ends too early");
  return text;
}

}  // namespace pace::test
