// A provider that gives kernels the category of their sources.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/kernels/category_patterns.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/kernels/knowledge.hpp"
#include "pace/kernels/ranges.hpp"
#include "pace/os/read_file.hpp"

namespace pace::benches::kernels {

/// Sources of Triton kernels, as Inductor's code cache keeps them: a file of Python for each kernel.
class KernelSources {
 public:
  /// Reads all `*.py` of `folder` and of the folders in it. Throws InputError if it is no folder or has none, and for a
  /// file that cannot be read.
  explicit KernelSources(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::error_code problem;
    for (fs::recursive_directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
      if (at->path().extension() == ".py" && at->is_regular_file())
        texts_.push_back(read_file(at->path().string(), "the source of a Triton kernel", {.text_only = true}));
    if (problem)
      throw InputError({folder.string()}, "--kernel-sources: expected a folder of sources, " + problem.message());
    if (texts_.empty())
      throw InputError({folder.string()}, "--kernel-sources: expected sources of Triton kernels, found no file *.py");
  }

  /// The category (find_category_of_source) of the sources that define a function of that name; none if there is no
  /// such source, or if two of them have different categories.
  [[nodiscard]] std::optional<kernel::Category> category_of(std::string_view name) const {
    std::optional<kernel::Category> found;
    for (const auto& text : texts_) {
      if (text.find("def " + std::string(name) + '(') == std::string::npos) continue;
      const auto category = kernel::find_category_of_source(text);
      if (found && *found != category) return std::nullopt;
      found = category;
    }
    return found;
  }

 private:
  std::vector<std::string> texts_;
};

/// Returns `provider` with the categories of `sources` for kernels that have none otherwise, neither by their names nor
/// by `provider`.
[[nodiscard]] inline kernel::Provider with_sources(KernelSources sources, kernel::Provider provider = {}) {
  return [sources = std::move(sources),
          provider = std::move(provider)](const kernel::Kernel& kernel) -> std::optional<kernel::Knowledge> {
    auto known = provider ? provider(kernel) : std::nullopt;
    using kernel::Category;
    const bool named = kernel::find_category_of_name(kernel.symbol) != Category::unknown;
    if (named || (known && known->category && *known->category != Category::unknown)) return known;
    const auto category = sources.category_of(kernel::without_graph(kernel.symbol));
    if (!category || *category == Category::unknown) return known;
    if (!known) known.emplace();
    known->category = category;
    return known;
  };
}

}  // namespace pace::benches::kernels
