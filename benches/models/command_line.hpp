// The command line of the models' bench: torchbench's options in both spellings, and pace's own.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "benches/models/asked.hpp"
#include "benches/models/effects.hpp"
#include "benches/models/model_options.hpp"
#include "benches/models/option.hpp"
#include "benches/models/refused.hpp"
#include "benches/models/settle.hpp"
#include "pace/core/error.hpp"

namespace pace::benches::models {

/// `words`: without the program's name. Throws InputError for what cannot be.
[[nodiscard]] inline CommandLine parse_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  Groups groups;
  const auto options = model_options(line, groups);
  std::vector<std::string> asked;
  for (const auto& word : in_one_spelling(words, options)) {
    const auto name = word.substr(0, word.find('='));
    if (const auto found = refused_options().find(name); found != refused_options().end())
      throw InputError({}, name + " is refused: " + found->second);
    if (const auto found = needless_options().find(name); found != needless_options().end())
      line.notes.push_back(name + " has no effect: " + found->second);
    else
      asked.push_back(word);
  }
  parse_options("models", asked, options);
  if (line.help) return line;
  std::set<std::string> given;
  for (const auto& word : in_one_spelling(asked, options)) given.insert(word.substr(0, word.find('=')));
  if (line.list) {
    static const std::set<std::string> heeded{"--list", "--filter", "--exclude", "--exclude-exact", "--suite"};
    for (const auto& name : given)
      if (!heeded.contains(name))
        throw InputError({}, name +
                                 ": expected no --list, which runs nothing and lists the models of --filter, "
                                 "--exclude, --exclude-exact and --suite");
    return line;
  }
  settle(line, groups);
  heed_effects(line, given);
  line.configuration = configuration_of(in_one_spelling(asked, options));
  return line;
}

[[nodiscard]] inline std::string help_of_models() {
  CommandLine line;
  Groups groups;
  std::string text =
      "bazel run //benches/models -- MODE DIRECTION OPTIONS: whole models, as PyTorch's torchbench.py runs them\n\n" +
      help_of(model_options(line, groups)) + "\nRefused:\n";
  for (const auto& [name, reason] : refused_options()) text += "  " + std::string(name) + ": " + reason + '\n';
  text += "\nWithout effect:\n";
  for (const auto& [name, reason] : needless_options()) text += "  " + std::string(name) + ": " + reason + '\n';
  return text;
}

}  // namespace pace::benches::models
