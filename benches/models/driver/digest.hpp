// A number that changes with what a file held when it was read.
#pragma once

#include <string>
#include <string_view>

#include "pace/core/digest.hpp"

namespace pace::benches::models {

/// As text. Of what has been read already: a file that is read once more may hold something else by then.
[[nodiscard]] inline std::string digest_of_text(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.text();
}

}  // namespace pace::benches::models
