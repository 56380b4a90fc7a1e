// The plan: which runners are measured side by side, and the reference of each.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benches/rnn/command_line.hpp"
#include "benches/rnn/model_def.hpp"
#include "benches/rnn/runners.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::rnn {

/// A runner as it was asked for: by its name, or by that and `_aot_inductor`, its step compiled, or `_graph`, as two
/// CUDA graphs, or both.
struct Planned {
  std::string name;
  const Runner* runner = nullptr;
  bool compiled = false, graphed = false;
};

/// Throws InputError with all names if there is no such runner. `aot_inductor` alone is the plain loop, compiled.
[[nodiscard]] inline Planned find_planned(const std::string& name) {
  Planned planned{name};
  // A runner may be registered with such an ending in its own name.
  const auto registered = std::ranges::find(runners(), name, &Runner::name);
  if (registered != runners().end()) {
    planned.runner = &*registered;
    return planned;
  }
  std::string rest = name;
  const auto take = [&rest](std::string_view suffix) {
    if (!rest.ends_with(suffix)) return false;
    rest.resize(rest.size() - suffix.size());
    return true;
  };
  planned.graphed = take("_graph");
  planned.compiled = rest == "aot_inductor" || take("_aot_inductor");
  planned.runner = &find_runner(rest == "aot_inductor" ? "py" : rest);
  return planned;
}

/// Runners of one kind: they give equal answers.
struct Family {
  std::string kind;
  Planned baseline;
  std::vector<Planned> candidates = {};
};

/// Runners of one kind give equal answers with these sizes. With several layers a runner that drops out between them is
/// compared only with others that do; where its kind has other runners, it is a kind of its own.
[[nodiscard]] inline std::string kind_of(const Runner& runner, const Sizes& sizes) {
  const auto draws_nothing = [&](const Runner& other) {
    return other.compared_with == runner.compared_with && !other.draws;
  };
  const bool alone = runner.compared_with.empty() ||
                     (runner.draws && sizes.layers > 1 && std::ranges::any_of(runners(), draws_nothing));
  return alone ? runner.name : runner.compared_with;
}

/// The runner that others of a kind are compared with by default: cuDNN's on a GPU, the same module without it on the
/// CPU. For kinds without such a module it is the first plain one.
[[nodiscard]] inline const Runner& reference_of(const std::string& kind, const Sizes& sizes) {
  const c10::Device& device = sizes.device;
  const Runner* found = nullptr;
  const auto rank = [&](const Runner& runner) {
    return kind_of(runner, sizes) == kind ? reference_rank(runner, device) : 0;
  };
  for (const Runner& runner : runners())
    if (rank(runner) > (found == nullptr ? 0 : rank(*found))) found = &runner;
  if (found == nullptr) throw Error("no runner of kind '" + kind + "' runs on " + device.str());
  return *found;
}

/// The runners by kind, in the order of each kind's first. `baseline`, a runner's name or none, leads its kind if
/// `names` has others of it.
[[nodiscard]] inline std::vector<Family> plan_families(const std::vector<std::string>& names,
                                                       const std::optional<std::string>& baseline, const Sizes& sizes) {
  std::vector<Family> families;
  const auto family_of = [&](const std::string& kind) -> Family& {
    const auto found = std::ranges::find(families, kind, &Family::kind);
    if (found != families.end()) return *found;
    const Runner& reference = reference_of(kind, sizes);
    Family family{kind, {reference.name, &reference}};
    if (const auto chosen = baseline ? std::optional(find_planned(*baseline)) : std::nullopt;
        chosen && kind_of(*chosen->runner, sizes) == kind)
      family.baseline = *chosen;
    return families.emplace_back(std::move(family));
  };
  for (const auto& name : names) {
    Planned planned = find_planned(name);
    Family& family = family_of(kind_of(*planned.runner, sizes));
    if (planned.name != family.baseline.name) family.candidates.push_back(std::move(planned));
  }
  return families;
}

/// Throws InputError for a baseline that none of `names` is compared with.
inline void check_baseline(const std::string& baseline, const std::vector<std::string>& names, const Sizes& sizes) {
  const std::string kind = kind_of(*find_planned(baseline).runner, sizes);
  for (const auto& name : names)
    if (kind_of(*find_planned(name).runner, sizes) == kind) return;
  std::string others;
  for (const Runner& runner : runners())
    if (kind_of(runner, sizes) == kind) others += (others.empty() ? "" : ", ") + runner.name;
  throw InputError({}, "--baseline-runner: none of the runners that were asked for is compared with '" + baseline +
                           "'; expected one of " + others + " among them");
}

/// The facts of the requested runners that options need. Throws as find_planned does.
[[nodiscard]] inline Effects effects_of(const std::vector<Group>& groups, const std::optional<std::string>& baseline,
                                        const c10::Device& device) {
  Effects effects{.on_gpu = device.is_cuda()};
  const auto add = [&effects](const std::string& name) {
    const Planned planned = find_planned(name);
    effects.scripted |= planned.runner->form == Form::scripted;
    effects.compiled |= planned.compiled;
    effects.graphed |= planned.graphed;
  };
  for (const Group& group : groups)
    for (const auto& name : group.runners) add(name);
  if (baseline) add(*baseline);
  return effects;
}

/// Throws InputError where every runner of `groups` is the baseline of its kind, so that `limit` judges none.
inline void require_candidates(const std::vector<Group>& groups, const std::optional<std::string>& baseline,
                               const Sizes& sizes, const std::string& limit) {
  std::string alone;
  for (const Group& group : groups)
    for (const Family& family : plan_families(group.runners, baseline, sizes)) {
      if (!family.candidates.empty()) return;
      alone += (alone.empty() ? "" : ", ") + family.baseline.name;
    }
  throw InputError({}, limit + " has nothing to judge: there are baselines alone (" + alone +
                           "); expected a runner that is compared with one of them");
}

/// Throws an error that says why a runner cannot run with these sizes, before anything does.
inline void check(const Planned& planned, const Sizes& sizes) {
  check(*planned.runner, sizes);
  if (planned.graphed && !sizes.device.is_cuda())
    throw Unsupported("--device: " + planned.name +
                      " is captured in CUDA graphs, which hold what a GPU does; expected "
                      "cuda, found " +
                      sizes.device.str());
  if (planned.compiled && planned.runner->form == Form::scripted)
    throw InputError({}, "no runner is called '" + planned.name +
                             "': TorchScript is not compiled a second time; expected "
                             "a plain runner before _aot_inductor, such as py_aot_inductor");
}

}  // namespace pace::benches::rnn
