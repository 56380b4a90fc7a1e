// A number that changes with a file's content.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include "pace/core/read_file.hpp"

namespace pace::families::models {

/// FNV-1a of 64 bits, as text. Throws InputError, which says what was `expected`, for a file that cannot be read.
[[nodiscard]] inline std::string digest_of_file(const std::string& path, const std::string& expected) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : read_file(path, expected)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace pace::families::models
