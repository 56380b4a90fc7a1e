// Compression of a file, as gzip does it.
#pragma once

#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "pace/base/error.hpp"

namespace pace::benches::aot {

/// Writes the bytes of the file `from`, compressed as gzip does by its best level, to the file `to`, which is replaced.
/// Throws Error naming the file that cannot be read or written.
inline void compress_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  constexpr std::streamsize at_once = 1 << 16;
  std::ifstream read(from, std::ios::binary);
  if (!read) throw Error("'" + from.string() + "' cannot be read");
  gzFile write = ::gzopen(to.c_str(), "wb9");
  bool good = write != nullptr;
  std::array<char, at_once> bytes{};
  while (good && (read.read(bytes.data(), at_once), read.gcount() > 0))
    good = ::gzwrite(write, bytes.data(), static_cast<unsigned>(read.gcount())) == read.gcount();
  // Closing writes the rest.
  if (write != nullptr) good = ::gzclose(write) == Z_OK && good;
  if (!good) throw Error("'" + to.string() + "' cannot be written; expected a folder with room for it");
  if (read.bad()) throw Error("'" + from.string() + "' cannot be read to its end");
}

}  // namespace pace::benches::aot
