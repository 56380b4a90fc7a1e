// NumPy's file format, for one matrix of float64.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "pace/base/error.hpp"

namespace pace::benches::models {

/// Version 1.0 of the format (numpy.lib.format): magic, length of the header, a Python dictionary that is padded to a
/// multiple of 64 bytes, and the values row by row. Throws Error if the rows are not of one length.
[[nodiscard]] inline std::string to_npy(const std::vector<std::vector<double>>& rows) {
  static_assert(std::endian::native == std::endian::little);
  const std::size_t columns = rows.empty() ? 0 : rows.front().size();
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows.size()) + ", " +
                       std::to_string(columns) + "), }";
  constexpr std::size_t alignment = 64, before_header = 10;
  header.append(alignment - 1 - (before_header + header.size()) % alignment, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  for (const auto& row : rows) {
    if (row.size() != columns) throw Error("raw timings: expected rows of one length");
    const std::size_t at = bytes.size();
    bytes.resize(at + columns * sizeof(double));
    if (columns > 0) std::memcpy(bytes.data() + at, row.data(), columns * sizeof(double));
  }
  return bytes;
}

}  // namespace pace::benches::models
