// The default inputs: operators of each category from the corpora that pace ships. A first run has fewer, since its
// table waits for compiling.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "benches/operators/options.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/os/read_file.hpp"

namespace pace::benches::operators {

/// Where the corpora lie, for shipped_file().
inline constexpr const char* shipped_corpus = "benches/corpus/pace_train";
inline constexpr const char* shipped_set = "benches/operators/default_set.txt";

/// Samples of each operator: the first and second recorded shapes. More take longer to compile than to measure.
inline constexpr std::size_t shipped_samples = 2, first_run_samples = 1;

/// In the place of categories: all of them.
inline constexpr const char* all_categories = "all";

/// A section of the default set.
struct Category {
  std::string name;
  std::vector<std::string> operators;
  /// The operators of the first run.
  std::vector<std::string> first{};
  /// Operators with a reported speed that no guard judges.
  std::vector<std::string> reported{};
};

namespace detail {

/// The name in `[name]`. Throws InputError for anything else in brackets.
[[nodiscard]] inline std::string heading(std::string_view line, const Location& where) {
  const std::string_view name = line.size() < 2 ? "" : line.substr(1, line.size() - 2);
  const auto in_word = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (line.back() != ']' || name.empty() || !std::all_of(name.begin(), name.end(), in_word))
    throw InputError(where,
                     "expected the name of a category in brackets, of small letters, such as [pointwise]; found '" +
                         std::string(line) + "'");
  return std::string(name);
}

/// Throws InputError unless the word is `namespace.operator.overload` and nothing else.
inline void require_operator_name(std::string_view line, const Location& where) {
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  if (std::count(line.begin(), line.end(), '.') == 2 && std::all_of(line.begin(), line.end(), in_name) &&
      line.find("..") == std::string_view::npos && line.front() != '.' && line.back() != '.')
    return;
  throw InputError(where, "expected an operator such as aten.add.Tensor, one a line, or [category]; found '" +
                              std::string(line) + "'");
}

}  // namespace detail

/// The categories of a default set, in the file's order: below each `[category]` its operators, one a line. ` first` or
/// ` reported` follows those that Category lists so. Empty lines and lines that begin with # are skipped. Throws
/// InputError, with file and line, for anything else: an operator above the first category or named twice, a category
/// named twice or without an operator, a file without any.
[[nodiscard]] inline std::vector<Category> read_default_set(const std::string& file) {
  std::istringstream lines(read_file(file, "a file with a default set of operators"));
  std::vector<Category> categories;
  std::set<std::string> seen;
  Location where{file}, last_heading{file};
  const auto require_operators = [&] {
    if (!categories.empty() && categories.back().operators.empty())
      throw InputError(last_heading, "expected operators below [" + categories.back().name + "], found none");
  };
  for (std::string line; std::getline(lines, line);) {
    ++where.line;
    if (line.empty() || line.front() == '#') continue;
    std::string name = line;
    if (line.front() == '[') {
      require_operators();
      categories.push_back({detail::heading(line, where), {}});
      last_heading = where;
    } else {
      std::string mark;
      if (const std::size_t space = line.find(' '); space != std::string::npos) {
        name = line.substr(0, space);
        mark = line.substr(space + 1);
      }
      detail::require_operator_name(name, where);
      if (name != line && mark != "first" && mark != "reported")
        throw InputError(where,
                         "expected an operator such as aten.add.Tensor, or one with 'first' or 'reported' after it; "
                         "found '" +
                             line + "'");
      if (categories.empty())
        throw InputError(where, "expected a [category] above the first operator, found '" + line + "'");
      categories.back().operators.push_back(name);
      if (mark == "first") categories.back().first.push_back(name);
      if (mark == "reported") categories.back().reported.push_back(name);
    }
    if (!seen.insert(name).second) throw InputError(where, "'" + name + "' is named twice; expected it once");
  }
  require_operators();
  if (categories.empty()) throw InputError({file}, "expected [category] headings with operators below, found none");
  return categories;
}

/// Sets `options` to the first run of the default set in `file`, or to the categories that are named (`all`: every
/// one). Returns the categories that are chosen, in the file's order. Throws InputError for a name that the file has
/// not, for a file without a first run, and as read_default_set() does.
inline std::vector<Category> choose_default_set(benches::operators::ReplayOptions& options, const std::string& file,
                                                const std::vector<std::string>& categories = {}) {
  std::vector<Category> all = read_default_set(file);
  const bool first_run = categories.empty();
  const bool every = categories == std::vector<std::string>{all_categories};
  for (const auto& name : categories) {
    if (every) break;
    if (std::any_of(all.begin(), all.end(), [&](const Category& each) { return each.name == name; })) continue;
    std::string known;
    for (const auto& each : all) known += (known.empty() ? "" : ", ") + each.name;
    throw InputError(
        {}, "no category '" + name + "' in the default set; expected " + all_categories + ", or some of " + known);
  }
  if (first_run) {
    for (auto& each : all) {
      each.operators = each.first;
      each.reported.clear();
    }
    std::erase_if(all, [](const Category& each) { return each.operators.empty(); });
    if (all.empty()) throw InputError({file}, "expected operators with 'first' after them, found none");
  } else if (!every) {
    std::erase_if(all, [&](const Category& each) {
      return std::find(categories.begin(), categories.end(), each.name) == categories.end();
    });
  }
  std::string names;
  for (const auto& each : all)
    for (const auto& op : each.operators) names += (names.empty() ? "" : ",") + op;
  options.op = names;
  options.max_samples = first_run ? first_run_samples : shipped_samples;
  options.reported.clear();
  for (const auto& each : all) options.reported.insert(each.reported.begin(), each.reported.end());
  return all;
}

/// The inputs that the options name. A malformed line is left out and counted. `compat`: see corpus::LoadOptions.
[[nodiscard]] inline corpus::Corpus load(const benches::operators::ReplayOptions& options, bool compat = false) {
  if (!options.inp_file.empty() && !options.suite_dir.empty())
    throw InputError({}, "--inp-file and --suite-dir exclude each other; give one of them");
  corpus::LoadOptions how;
  how.compat = compat;
  how.on_error = corpus::OnError::collect;
  if (!options.inp_file.empty()) return corpus::Corpus::from_file(options.inp_file, how);
  return corpus::Corpus::from_directory(options.suite_dir, how);
}

}  // namespace pace::benches::operators
