// A file of batch sizes, `name,size` a line, as --find-batch-sizes writes it.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/os/read_file.hpp"

namespace pace::benches::models {

/// Looked for in the folder `benchmarks` first, as torchbench does.
[[nodiscard]] inline std::string find_batch_size_file(const std::string& path) {
  const auto in_benchmarks =
      std::filesystem::path(path).parent_path() / "benchmarks" / std::filesystem::path(path).filename();
  std::error_code ignored;
  return std::filesystem::exists(in_benchmarks, ignored) ? in_benchmarks.string() : path;
}

/// The contents of such a file, for all its models.
class BatchSizes {
 public:
  static constexpr const char* expected = "lines such as 'resnet18,64'";

  /// Throws InputError, with the line, for anything but a size.
  explicit BatchSizes(const std::string& path) : BatchSizes(path, read_file(path, expected)) {}
  /// The same from the file's `text`.
  BatchSizes(std::string path, const std::string& text) : path_(std::move(path)) {
    std::istringstream file(text);
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
      if (line.empty()) continue;
      const std::size_t comma = line.find(',');
      const std::string text = comma == std::string::npos ? "" : line.substr(comma + 1);
      std::int64_t size = 0;
      const char* begin = text.data();
      while (*begin == ' ') ++begin;
      const auto end = std::from_chars(begin, text.data() + text.size(), size);
      if (end.ec != std::errc() || end.ptr != text.data() + text.size() || size == 0 || size < none_found)
        throw InputError({path_, number}, "expected 'name,size', a size above 0; found '" + line + '\'');
      sizes_.try_emplace(line.substr(0, comma), Size{size, number});
    }
    if (sizes_.empty()) throw InputError({path_}, "holds no lines; expected some such as 'resnet18,64'");
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// None if the file has none. Throws InputError, with the line, for a size of -1, which says that none was found.
  [[nodiscard]] std::optional<std::int64_t> of(const std::string& model) const {
    const auto found = sizes_.find(model);
    if (found == sizes_.end()) return std::nullopt;
    if (found->second.size == none_found)
      throw InputError({path_, found->second.line},
                       "no batch size was found for '" + model + "' when the file was made");
    return found->second.size;
  }

 private:
  static constexpr std::int64_t none_found = -1;
  struct Size {
    std::int64_t size;
    std::size_t line;
  };

  std::string path_;
  std::map<std::string, Size> sizes_;
};

}  // namespace pace::benches::models
