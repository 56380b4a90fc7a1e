// A file of batch sizes, `name,size` a line, as --find-batch-sizes writes it.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "pace/core/error.hpp"
#include "pace/core/read_file.hpp"

namespace pace::families::models {

/// Looked for in the folder `benchmarks` first, as torchbench does.
[[nodiscard]] inline std::string find_batch_size_file(const std::string& path) {
  const auto in_benchmarks =
      std::filesystem::path(path).parent_path() / "benchmarks" / std::filesystem::path(path).filename();
  std::error_code ignored;
  return std::filesystem::exists(in_benchmarks, ignored) ? in_benchmarks.string() : path;
}

/// The size of one model; none if the file has none. Throws InputError, with the line, for a size of -1, which says
/// that none was found, and for what is no size at all.
[[nodiscard]] inline std::optional<std::int64_t> batch_size_in(const std::string& path, const std::string& model) {
  std::istringstream file(read_file(path, "lines such as 'resnet18,64'"));
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
    const std::size_t comma = line.find(',');
    if (line.empty() || line.substr(0, comma) != model) continue;
    const std::string text = comma == std::string::npos ? "" : line.substr(comma + 1);
    std::int64_t size = 0;
    const char* begin = text.data();
    while (*begin == ' ') ++begin;
    const auto end = std::from_chars(begin, text.data() + text.size(), size);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || size == 0 || size < -1)
      throw InputError({path, number}, "expected 'name,size', a size above 0; found '" + line + '\'');
    if (size == -1)
      throw InputError({path, number}, "no batch size was found for '" + model + "' when the file was made");
    return size;
  }
  return std::nullopt;
}

}  // namespace pace::families::models
