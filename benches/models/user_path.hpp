// Where a path that a person typed leads: `bazel run` starts programs elsewhere than where the person stands.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pace::benches::models {

[[nodiscard]] inline std::string from_where_one_stands(const std::string& path) {
  const char* const stood_in = std::getenv("BUILD_WORKING_DIRECTORY");
  return stood_in == nullptr || path.empty() ? path : (std::filesystem::path(stood_in) / path).string();
}

}  // namespace pace::benches::models
