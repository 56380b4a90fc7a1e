// Selects the operators and samples of a corpus to replay, and reports the rest.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/DeviceType.h>

#include "benches/operators/backends/skip.hpp"
#include "benches/operators/calls/operator_name.hpp"
#include "benches/operators/options.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/corpus/embedding.hpp"

namespace pace::benches::operators {

/// The samples of one operator that are replayed, with their numbers in the recorded list.
struct Selected {
  const corpus::OperatorSamples* op = nullptr;
  std::size_t first = 0;
  std::span<const corpus::Sample> samples;
};

/// `aten.add.Tensor[3]`: the operator and the number of the sample in its recorded list, from 0, or its own name, with
/// `suffix` behind it.
[[nodiscard]] inline std::string case_name(const Selected& selected, std::size_t offset,
                                           const std::string& suffix = "") {
  const std::string& label = selected.samples[offset].label;
  return selected.op->name + '[' + (label.empty() ? std::to_string(selected.first + offset) : label) + suffix + ']';
}

/// Whether the rules leave the operator out of a run on that kind of device; `say` gets a line for it unless that is
/// silent.
[[nodiscard]] inline bool leave_out(const std::string& op, SkipRules rules, c10::DeviceType device,
                                    const std::function<void(const std::string&)>& say) {
  if (rules == SkipRules::none) return false;
  if (corpus::yields_no_inputs(op)) {
    say("Skipping " + op + ": " + std::string(corpus::no_inputs_warning));
    return true;
  }
  const auto decision = benches::operators::skip_operator(op, benches::operators::has_kernel_on(device));
  if (decision.skip && !decision.message.empty()) say(decision.message);
  return decision.skip;
}

/// The first letter, in lower case, of a declared module (`add`), or else of the operator (`aten.add.Tensor`). Skips
/// the operator's namespace and leading underscores.
[[nodiscard]] inline char operator_letter(const corpus::OperatorSamples& op) {
  std::string_view name = op.name;
  name.remove_prefix(std::min(name.find('.') + 1, name.size()));
  if (!op.samples.empty() && !op.samples.front().declared.module.empty()) name = op.samples.front().declared.module;
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  return name.empty() ? '\0' : static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
}

namespace detail {

/// `; did you mean aten.relu.default?`: the recorded operator with the most similar name; empty if none is similar.
[[nodiscard]] inline std::string similar_recorded(const std::string& name,
                                                  const std::vector<corpus::OperatorSamples>& recorded) {
  // As similar_operators() does: with more of the letters wrong it is another word.
  std::size_t least = std::max<std::size_t>(2, name.size() / 4) + 1;
  std::string nearest;
  for (const auto& op : recorded) {
    const std::size_t distance = edit_distance(op.name, name);
    if (distance >= least) continue;
    least = distance;
    nearest = op.name;
  }
  return nearest.empty() ? "" : "; did you mean " + nearest + '?';
}

}  // namespace detail

/// Throws InputError that says why no recorded call can be replayed.
[[noreturn]] inline void refuse_corpus_without_samples(const corpus::Corpus& corpus, const ReplayOptions& options) {
  const auto& rejects = corpus.rejects();
  std::string why = "operators are named, but no call 'cnt: N, ((arguments), {keyword arguments})' follows";
  if (!rejects.empty())
    why = "the recorded calls are malformed" +
          (rejects.size() == 1 ? ": " : " in " + std::to_string(rejects.size()) + " places, first ") +
          rejects.front().message;
  throw InputError({options.inp_file.empty() ? options.suite_dir : options.inp_file}, "nothing to replay: " + why);
}

/// Operators in the corpus' order: those that `options.op` and `options.letters` name, less those that the skip rules
/// leave out, each with the samples from `start_idx` on, at most `max_samples`. `say` gets a line for everything that
/// is left out and not silently so. Throws InputError when a named operator is not in the corpus, or when nothing is
/// left.
[[nodiscard]] inline std::vector<Selected> select(const corpus::Corpus& corpus, const ReplayOptions& options,
                                                  const std::function<void(const std::string&)>& say) {
  std::vector<std::string> wanted;
  if (options.op != "all") wanted = split_list(options.op, "--op");
  for (const auto& name : wanted) {
    if (corpus.find(name) != nullptr) continue;
    // A mistyped name usually meant one with the same operator and another overload.
    const std::string stem = name.substr(0, name.rfind('.'));
    std::string alike;
    for (const auto& op : corpus.operators())
      if (op.name.starts_with(stem)) alike += (alike.empty() ? "; it has " : ", ") + op.name;
    if (alike.empty()) alike = detail::similar_recorded(name, corpus.operators());
    throw InputError({}, "--op: the recorded inputs have no operator '" + name + "'" + alike);
  }

  // No more than its kind: whether the device is there does not matter here.
  const c10::DeviceType device = options.device.starts_with("cuda") ? c10::kCUDA : c10::kCPU;
  std::vector<Selected> selection;
  for (const auto& op : corpus.operators()) {
    if (!wanted.empty() && std::ranges::find(wanted, op.name) == wanted.end()) continue;
    if (!options.letters.empty() && options.letters.find(operator_letter(op)) == std::string::npos) continue;
    if (leave_out(op.name, options.skip_rules, device, say)) continue;
    const std::size_t first = std::min(options.start_idx, op.samples.size());
    const std::size_t count = std::min(options.max_samples, op.samples.size() - first);
    if (count > 0) selection.push_back({&op, first, std::span(op.samples).subspan(first, count)});
  }
  if (corpus.distinct_samples() == 0 && !(corpus.operators().empty() && corpus.rejects().empty()))
    refuse_corpus_without_samples(corpus, options);
  if (selection.empty())
    throw InputError({options.inp_file.empty() ? options.suite_dir : options.inp_file},
                     "nothing to replay: --op " + options.op +
                         (options.letters.empty() ? "" : ", --operator-range " + options.letters) + ", --start-idx " +
                         std::to_string(options.start_idx) + ", --max-samples " + std::to_string(options.max_samples) +
                         " and the skip rules leave no sample of " + std::to_string(corpus.operators().size()) +
                         " recorded operators");
  return selection;
}

}  // namespace pace::benches::operators
