// Which models a run is about: suite, partition, filters, and the YAML file's list of models to skip.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/backend_names.hpp"
#include "benches/models/config.hpp"
#include "benches/models/driver/known_model.hpp"
#include "benches/models/settings.hpp"
#include "benches/models/suite.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

struct Selection {
  /// Regular expressions, searched for without regard to case. No filter: every model; no exclusion: none.
  std::vector<std::string> filters = {}, excluded = {};
  std::set<std::string, std::less<>> excluded_exactly = {};
  /// Empty: those that filters leave.
  std::set<std::string, std::less<>> exactly = {};
  std::int64_t partitions = 1, partition = 0;
  /// None: all.
  std::optional<Suite> suite = {};
  bool fast = false, no_skip = false;
};

/// The models that would run but for the YAML file, with the sections that say so.
struct Skipped {
  std::string model;
  std::string device;  ///< the one that it is not run on; empty: any
  std::string reason;
  bool operator==(const Skipped&) const = default;
};

/// Models that are run, by name, and those that are not, or not on all devices.
struct Chosen {
  std::vector<ChosenModel> models;
  std::vector<Skipped> skipped;
};

namespace detail {

/// Whether a name has any of several expressions in it.
class AnyOf {
 public:
  AnyOf(const std::vector<std::string>& expressions, const char* option) {
    for (const auto& each : expressions) {
      if (each.size() > longest)
        throw InputError({}, std::string(option) + ": expected a regular expression of at most " +
                                 std::to_string(longest) + " characters, found " + std::to_string(each.size()));
      try {
        expressions_.emplace_back(each, std::regex::ECMAScript | std::regex::icase);
      } catch (const std::regex_error& error) {
        throw InputError({}, std::string(option) + ": '" + each + "' is no regular expression: " + error.what());
      }
    }
  }
  [[nodiscard]] bool matches(const std::string& name) const {
    return std::ranges::any_of(expressions_, [&](const std::regex& each) { return std::regex_search(name, each); });
  }
  [[nodiscard]] bool empty() const { return expressions_.empty(); }
  /// The first expression that none of the models has in its name; none if there is no such.
  [[nodiscard]] std::optional<std::size_t> useless(const std::vector<KnownModel>& models) const {
    for (std::size_t i = 0; i < expressions_.size(); ++i)
      if (std::ranges::none_of(models,
                               [&](const auto& model) { return std::regex_search(model.name, expressions_[i]); }))
        return i;
    return std::nullopt;
  }

 private:
  /// std::regex calls itself for each character and each level of parentheses: without a limit the stack ends first.
  static constexpr std::size_t longest = 1000;

  std::vector<std::regex> expressions_;
};

/// The section of the YAML file that skips a model on a device, or nothing.
[[nodiscard]] inline std::string reason_to_skip_on(const std::string& device, const std::string& model,
                                                   const Config& config, bool freezing) {
  const auto& skip = config.skip;
  if (freezing && device.starts_with("cpu") && skip.freezing_cpu.contains(model)) return "skip.freezing.cpu";
  if (freezing && device.starts_with("cuda") && skip.freezing_cuda.contains(model)) return "skip.freezing.cuda";
  if (device.starts_with("cpu") && skip.cpu.contains(model)) return "skip.device.cpu";
  if (device.starts_with("cuda") && skip.cuda.contains(model)) return "skip.device.cuda";
  return {};
}

/// The sections of the YAML file that skip a model on every device, or nothing.
[[nodiscard]] inline std::string reason_to_skip(const std::string& model, const Config& config,
                                                const Selection& selection, const Settings& settings) {
  std::string reasons;
  const auto look = [&](const Names& names, const char* section) {
    if (names.contains(model)) reasons += (reasons.empty() ? "" : ", ") + std::string(section);
  };
  const auto& skip = config.skip;
  look(skip.all, "skip.all");
  if (settings.training) look(skip.training, "skip.test.training");
  if (selection.fast) look(config.slow, "slow");
  // Each model has one process, so that several are never wanted.
  look(skip.multiprocess, "skip.multiprocess");
  if (any_has(settings.backends, &BackendTraits::has_package) ||
      any_has(settings.backends, &BackendTraits::has_program))
    look(skip.control_flow, "skip.control_flow");
  return reasons;
}

/// [first, last) of `count` models sorted by name. The last partition has the rest, too.
[[nodiscard]] inline std::pair<std::size_t, std::size_t> slice_of(std::size_t count, const Selection& selection,
                                                                  bool compat) {
  const auto total = selection.partitions, id = selection.partition;
  // Upstream lets one partition too many pass; it holds the remainder.
  if (total < 1 || id < 0 || id > total || (id == total && !compat))
    throw InputError({}, "--partition-id: invalid value '" + std::to_string(id) + "'; expected 0 to " +
                             std::to_string(total - 1) + ", since there are " + std::to_string(total) +
                             " partitions (--total-partitions)");
  const std::size_t each = count / static_cast<std::size_t>(total);
  const std::size_t first = std::min(count, static_cast<std::size_t>(id) * each);
  const std::size_t last = id == total - 1 ? count : std::min(count, first + each);
  return {first, last};
}

/// Whether names pass filters and exclusions. Throws InputError for a word of theirs that is about none of the models.
class SelectedNames {
 public:
  /// `of_suite`: the part of `all` that filters choose from; exclusions may name others, too.
  SelectedNames(const Selection& selection, const std::vector<KnownModel>& all, const std::vector<KnownModel>& of_suite)
      : wanted_(selection.filters, "--filter"),
        unwanted_(selection.excluded, "--exclude"),
        unwanted_exactly_(selection.excluded_exactly) {
    if (const auto none = wanted_.useless(of_suite)) complain("--filter", selection.filters[*none], of_suite);
    if (const auto none = unwanted_.useless(all)) complain("--exclude", selection.excluded[*none], all);
    const auto known = names_of(all);
    for (const auto& name : unwanted_exactly_)
      if (!known.contains(name)) complain("--exclude-exact", name, all);
  }

  [[nodiscard]] bool has(const std::string& name) const {
    return (wanted_.empty() || wanted_.matches(name)) && !unwanted_.matches(name) && !unwanted_exactly_.contains(name);
  }

 private:
  [[noreturn]] static void complain(const char* option, const std::string& word,
                                    const std::vector<KnownModel>& models) {
    throw InputError({},
                     std::string(option) + ": no model matches '" + word + "'; there are " + listed(names_of(models)));
  }

  AnyOf wanted_, unwanted_;
  const std::set<std::string, std::less<>>& unwanted_exactly_;
};

/// The models of the suite, and the given names.
[[nodiscard]] inline std::vector<KnownModel> models_of(std::vector<KnownModel> models, const Selection& selection) {
  std::erase_if(models, [&](const KnownModel& model) {
    return (selection.suite && model.suite != *selection.suite) ||
           (!selection.exactly.empty() && !selection.exactly.contains(model.name));
  });
  return models;
}

}  // namespace detail

/// All models that filters, exclusions and suite leave. Throws InputError as select_models().
[[nodiscard]] inline std::vector<KnownModel> matching_models(const std::vector<KnownModel>& all,
                                                             const Selection& selection) {
  auto models = detail::models_of(all, selection);
  const detail::SelectedNames selected(selection, all, models);
  std::erase_if(models, [&](const KnownModel& model) { return !selected.has(model.name); });
  return models;
}

/// Models are sorted by name and sliced into partitions before filters are applied, so that every partition is the same
/// for any filter. Throws InputError for a missing partition, and for a filter or exclusion that matches no model.
/// Throws it if no model is left, or if all that are left are skipped on every device. A partition may be empty.
[[nodiscard]] inline Chosen select_models(const std::vector<KnownModel>& all, const Selection& selection,
                                          const Config& config, const Settings& settings,
                                          const std::vector<std::string>& devices) {
  auto models = detail::models_of(all, selection);
  std::ranges::sort(models, {}, &KnownModel::name);
  const auto [first, last] = detail::slice_of(models.size(), selection, settings.compat);
  const detail::SelectedNames selected(selection, all, models);
  Chosen chosen;
  std::size_t matches = 0, runs = 0;
  std::string why;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string& name = models[i].name;
    if (!selected.has(name)) continue;
    ++matches;
    const auto skip = [&](const std::string& device, const std::string& reason) {
      why += (why.empty() ? "" : "; ") + name + " by " + reason;
      if (i >= first && i < last) chosen.skipped.push_back({name, device, reason});
    };
    const std::string everywhere = selection.no_skip ? "" : detail::reason_to_skip(name, config, selection, settings);
    if (!everywhere.empty()) {
      skip("", everywhere);
      continue;
    }
    ChosenModel model{models[i], {}};
    for (const auto& device : devices) {
      const std::string reason =
          selection.no_skip ? "" : detail::reason_to_skip_on(device, name, config, settings.freezing);
      if (reason.empty())
        model.devices.push_back(device);
      else
        skip(device, reason);
    }
    if (model.devices.empty()) continue;
    ++runs;
    if (i >= first && i < last) chosen.models.push_back(std::move(model));
  }
  if (matches == 0) throw InputError({}, "no model matches the filters; there are " + listed(names_of(models)));
  if (runs == 0)
    throw InputError({}, "every model that matches is skipped by the YAML file (" + why + "); --no-skip runs them");
  return chosen;
}

}  // namespace pace::benches::models
