// A number that changes with a file's content.
#pragma once

#include <string>

#include "pace/core/digest.hpp"
#include "pace/core/read_file.hpp"

namespace pace::families::models {

/// As text. Throws InputError, which says what was `expected`, for a file that cannot be read.
[[nodiscard]] inline std::string digest_of_file(const std::string& path, const std::string& expected) {
  Digest digest;
  digest.add(read_file(path, expected));
  return digest.text();
}

}  // namespace pace::families::models
