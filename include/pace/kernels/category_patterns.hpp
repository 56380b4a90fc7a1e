// register_category_pattern: categories of kernels that Inductor's Triton heuristics do not name, by the user.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/kernels/category.hpp"

namespace pace::kernel {

namespace detail {

/// The patterns that were registered, in order.
class CategoryPatterns {
 public:
  /// The patterns of the process.
  static CategoryPatterns& all() {
    static CategoryPatterns patterns;
    return patterns;
  }

  void add(std::string pattern, Category category) {
    if (pattern.empty()) throw Error("a pattern of a category of kernels is empty; expected a part of their names");
    const std::lock_guard lock(mutex_);
    std::pair entry(std::move(pattern), category);
    if (std::ranges::find(entries_, entry) == entries_.end()) entries_.push_back(std::move(entry));
  }

  /// The categories of all patterns that are a part of `text`, each once.
  [[nodiscard]] std::vector<Category> categories_in(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    std::vector<Category> found;
    for (const auto& [pattern, category] : entries_)
      if (text.find(pattern) != std::string_view::npos && std::ranges::find(found, category) == found.end())
        found.push_back(category);
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, Category>> entries_;
};

}  // namespace detail

/// Registers a category for kernels with `pattern` in their name or source, for the rest of the process. A pattern that
/// is registered twice for one category counts once. Throws Error if it is empty.
inline void register_category_pattern(std::string pattern, Category category) {
  detail::CategoryPatterns::all().add(std::move(pattern), category);
}

/// As category_of_name() or, where that is unknown, the category of the registered patterns in the name; unknown if
/// they are of several categories.
[[nodiscard]] inline Category find_category_of_name(std::string_view name) {
  if (const Category own = category_of_name(name); own != Category::unknown) return own;
  const auto found = detail::CategoryPatterns::all().categories_in(name);
  return found.size() == 1 ? found.front() : Category::unknown;
}

/// As category_of_source(), where registered patterns count as the names of Triton heuristics do: unknown unless all
/// that occur are of one category.
[[nodiscard]] inline Category find_category_of_source(std::string_view source) {
  auto found = detail::CategoryPatterns::all().categories_in(source);
  for (const Category each : heuristics_in(source))
    if (std::ranges::find(found, each) == found.end()) found.push_back(each);
  return found.size() == 1 ? found.front() : Category::unknown;
}

}  // namespace pace::kernel
