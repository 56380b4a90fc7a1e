// What a command line of the models' bench comes to, and what its options have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benches/models/driver/driver.hpp"
#include "benches/models/driver/json_record.hpp"
#include "benches/models/driver/names.hpp"
#include "benches/models/driver/result_files.hpp"
#include "benches/models/driver/selection.hpp"
#include "benches/models/option.hpp"
#include "benches/models/settings.hpp"
#include "pace/core/error.hpp"
#include "pace/core/options.hpp"

namespace pace::benches::models {

struct CommandLine {
  benches::models::Settings settings;
  benches::models::Selection selection;
  benches::models::OutputOptions output;
  benches::models::Packages packages = benches::models::Packages::kept;
  /// None: a GPU if there is one, else the CPU.
  std::vector<std::string> devices;
  /// The model to run in this process; empty: all that are selected, each in one of its own.
  std::string only;
  /// In the process of one model: the file for its rows.
  std::string rows_to;
  /// How comparisons measure, in performance runs.
  Options measuring;
  /// The YAML file; empty: the program's own.
  std::string config_file;
  std::string batch_size_file, device_index, fuser = "default";
  /// Seconds; GB, 0 for no limit, none for what is free.
  double timeout = 2000;
  std::optional<double> memory_limit;
  bool help = false, list = false, progress = false, resume = false, retain = false, gate = false, ci = false,
       dashboard = false, quiet = false, verbose = false, print_memory = false, print_compilation_time = false,
       print_rows = false, compile_only = false, allow_undecided = false, allow_unmeasured = false;
  /// Where packages go if they are all that is asked for; empty: to where they are kept.
  std::string compile_to;
  /// Notes on options that ask for what is always so.
  std::vector<std::string> notes;
  /// Everything that was asked for but where results go and how they are told: what two runs must have in common for
  /// one to go on from the other.
  benches::models::Configuration configuration;
};

/// What words ask for before it is put together: groups of which exactly one, or at most one, may be given.
struct Groups {
  std::vector<std::string> mode, direction, precision, latency, fusers, experiments, loudness;
  bool batch_invariant = false, find_batch_sizes = false, operator_inputs = false, trace = false, snapshots = false;
  std::string trace_name;
  std::vector<std::string> backends;
};

namespace detail {

inline void once(std::vector<std::string>& group, const char* name) {
  if (std::ranges::find(group, name) == group.end()) group.emplace_back(name);
}

[[nodiscard]] inline auto member_of(std::vector<std::string>& group, const char* name) {
  return [&group, name](const std::string&) { return once(group, name), true; };
}

[[nodiscard]] inline auto list_into(std::vector<std::string>& to) {
  return [&to](const std::string& text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      if (end == begin) return false;
      to.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return true;
  };
}

[[nodiscard]] inline bool is_mode_of_inductor(const std::string& mode, std::vector<std::string>& config) {
  if (mode == "max-autotune-no-cudagraphs")
    config.insert(config.end(), {"max_autotune=true", "coordinate_descent_tuning=true"});
  return mode == "default" || mode == "max-autotune-no-cudagraphs";
}

/// `key=value` with Python's words as JSON has them.
[[nodiscard]] inline bool is_inductor_option(const std::string& text, std::vector<std::string>& config) {
  const std::size_t sign = text.find('=');
  if (sign == 0 || sign == std::string::npos || sign + 1 == text.size()) return false;
  std::string value = text.substr(sign + 1);
  if (value == "True" || value == "False") value = value == "True" ? "true" : "false";
  if (value == "None") value = "null";
  config.push_back(text.substr(0, sign + 1) + value);
  return true;
}

[[nodiscard]] inline std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

inline void at_most_one(const std::vector<std::string>& group) {
  if (group.size() > 1) throw InputError({}, "expected at most one of " + joined(group, ", "));
}

inline void exactly_one(const std::vector<std::string>& group, const char* which) {
  if (group.empty()) throw InputError({}, std::string("expected one of ") + which);
  at_most_one(group);
}

}  // namespace detail

}  // namespace pace::benches::models
