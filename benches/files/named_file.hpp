// A file as a command line names it: a path, and the name of one program behind it where an archive holds several.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "pace/os/bazel.hpp"

namespace pace::benches::files {

struct NamedFile {
  std::string path;
  /// The program of an archive, as in `a.pt2:two`; empty: the only one, or the one that is called `model`.
  std::string model = {};
};

/// Reads `FILE` or `FILE:NAME`. A file that is there under the whole text is that file; the path of another one ends
/// before the last colon where a file is there under it. Paths are as the user has typed them (user_path()).
[[nodiscard]] inline NamedFile named_file(const std::string& text) {
  const auto is_there = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  std::string whole = user_path(text);
  if (is_there(whole)) return {.path = std::move(whole)};
  const auto colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0 && colon + 1 < text.size())
    if (std::string path = user_path(text.substr(0, colon)); is_there(path))
      return {.path = std::move(path), .model = text.substr(colon + 1)};
  return {.path = std::move(whole)};
}

}  // namespace pace::benches::files
