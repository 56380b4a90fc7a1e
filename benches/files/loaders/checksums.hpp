// The checksums of the records of a zip archive, as its directory has them: LibTorch reads records without looking at
// these.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "pace/base/error.hpp"

namespace pace::benches::loaders {

namespace detail {

/// A number of so many bytes in a text, the least significant byte first. Throws std::out_of_range beyond its end.
[[nodiscard]] inline std::uint64_t little_endian(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i-- > 0;) number = number << 8U | static_cast<unsigned char>(text.at(at + i));
  return number;
}

}  // namespace detail

/// The CRC-32 of zip archives.
[[nodiscard]] inline std::uint32_t crc32_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// The checksums by the names of the records, with the archive's outermost folder. A record that was written without
/// one (torch.serialization.set_crc32_options(False)) has 0. Throws Error for a file that has no such directory.
[[nodiscard]] inline std::map<std::string, std::uint32_t> checksums_of(const std::string& path) {
  constexpr std::uint64_t entry_mark = 0x02014b50, far_locator_mark = 0x07064b50, far_end_mark = 0x06064b50;
  constexpr std::size_t entry_size = 46, end_size = 22, longest_comment = 65535, locator_size = 20, far_end_size = 56;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  const auto part = [&](std::uint64_t from, std::uint64_t bytes) {
    if (from > size || bytes > size - from) throw Error("its directory of records lies beyond the end of the file");
    std::string text(bytes, '\0');
    file.seekg(static_cast<std::streamoff>(from));
    if (!file.read(text.data(), static_cast<std::streamsize>(bytes))) throw Error("its directory cannot be read");
    return text;
  };
  const std::uint64_t tail_size = std::min<std::uint64_t>(size, locator_size + end_size + longest_comment);
  const std::string tail = part(size - tail_size, tail_size);
  const std::size_t end = tail.rfind("PK\5\6");
  if (end == std::string::npos || tail.size() - end < end_size) throw Error("it has no directory of records");
  const auto number = [](std::string_view text, std::size_t at, std::size_t bytes) {
    return detail::little_endian(text, at, bytes);
  };
  std::uint64_t count = number(tail, end + 10, 2), bytes = number(tail, end + 12, 4), from = number(tail, end + 16, 4);
  if (end >= locator_size && number(tail, end - locator_size, 4) == far_locator_mark) {
    const std::string far_end = part(number(tail, end - locator_size + 8, 8), far_end_size);
    if (number(far_end, 0, 4) != far_end_mark) throw Error("its directory of records is damaged");
    count = number(far_end, 32, 8);
    bytes = number(far_end, 40, 8);
    from = number(far_end, 48, 8);
  }
  const std::string directory = part(from, bytes);
  std::map<std::string, std::uint32_t> checksums;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (directory.size() - at < entry_size || number(directory, at, 4) != entry_mark)
      throw Error("its directory of records is damaged");
    const std::size_t name_size = number(directory, at + 28, 2);
    const std::size_t rest = number(directory, at + 30, 2) + number(directory, at + 32, 2);
    if (directory.size() - at - entry_size < name_size + rest) throw Error("its directory of records is damaged");
    checksums[directory.substr(at + entry_size, name_size)] = static_cast<std::uint32_t>(number(directory, at + 16, 4));
    at += entry_size + name_size + rest;
  }
  return checksums;
}

}  // namespace pace::benches::loaders
