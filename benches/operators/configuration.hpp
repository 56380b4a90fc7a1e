// The facts that results of the operator bench depend on: its options, and the content of the files that they name.
#pragma once

#include <algorithm>
#include <filesystem>
#include <locale>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "benches/operators/command_line.hpp"
#include "benches/operators/options.hpp"
#include "pace/base/digest.hpp"
#include "pace/base/error.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/configuration.hpp"

namespace pace::benches::operators {

namespace detail {

/// The hash of the recorded inputs; empty of those that cannot be read, which Work finds.
[[nodiscard]] inline std::string digest_of_inputs(const ReplayOptions& options) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  if (!options.inp_file.empty()) files = {options.inp_file};
  if (!options.suite_dir.empty())
    for (std::filesystem::directory_iterator entry(options.suite_dir, problem);
         !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem))
      if (std::error_code of_file; entry->path().extension() == ".txt" && entry->is_regular_file(of_file))
        files.push_back(entry->path());
  std::ranges::sort(files);
  Digest digest;
  for (const auto& file : files) {
    try {
      digest.add(file.filename().string() + '\n' + read_file(file.string(), "recorded inputs"));
    } catch (const InputError&) {
      return "";
    }
  }
  return digest.text();
}

}  // namespace detail

/// What distinguishes a run from others beside the options as they were given: files' content, and options with a
/// default that depends on others.
[[nodiscard]] inline report::Configuration configuration_of(const CommandLine& line) {
  const auto& options = line.replay;
  report::Configuration all;
  all["inputs"] = options.inp_file.empty() ? options.suite_dir : options.inp_file;
  // A file may change under the same name.
  all["content of inputs"] = detail::digest_of_inputs(options);
  all["--compat"] = !line.compat                                  ? ""
                    : *line.compat == Original::operatorbench_old ? "old"
                    : *line.compat == Original::operatorbench_new ? "new"
                                                                  : "operator_benchmark";
  all["--op"] = line.generation() ? line.op.value_or("all") : options.op;
  all["--skip-rules"] = options.skip_rules == SkipRules::none ? "none" : "upstream";
  all["--dtype"] = options.dtype;
  all["--device"] = options.device;
  all["--max-samples"] = std::to_string(options.max_samples);
  all["--backends"] = options.backends;
  all["pass"] = to_string(options.pass);
  all["--accuracy-checking"] = options.accuracy_only ? "yes" : "no";
  std::ostringstream limit;
  limit.imbue(std::locale::classic());
  if (options.no_slower_than) limit << *options.no_slower_than;
  all["--no-slower-than"] = limit.str();
  return all;
}

}  // namespace pace::benches::operators
