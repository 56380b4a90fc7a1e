// The command line of the kernels' bench: the options of wrapper_benchmark in all its generations, and pace's own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benches/kernels/compat/timer.hpp"
#include "benches/kernels/name_filter.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/kernels/category.hpp"
#include "pace/os/most_threads.hpp"
#include "pace/os/same_file.hpp"

namespace pace::benches::kernels {

/// PyTorch's program in its first form, in PyTorch 2.6's form, and in today's.
enum class Generation { original, v2_6, newest };

/// The counts of Nsight Compute.
struct NcuOptions {
  /// Kernels of these names alone; empty: all.
  std::string kernel_regex;
  /// Names with commas between them; empty: the full set.
  std::string metrics;
};

/// Parts of names of kernels, and the categories of those kernels.
using Categories = std::vector<std::pair<std::string, kernel::Category>>;

struct CommandLine {
  std::string package, model, inputs, device, name, filter;
  bool benchmark_kernels = false, all_configs = false, count_bytes = false, profile = false, memory_snapshot = false;
  bool ncu = false, compat = false, help = false, dry_run = false, no_progress = false;
  NcuOptions ncu_options;
  int times = 10, repeat = 10;
  std::optional<Generation> generation;
  Categories categories;
  /// The folder of the sources of kernels; empty: there is none.
  std::string kernel_sources;
  /// 0: LibTorch's own number.
  int threads = 0;
  std::string csv, json, html;
  /// Which kernels the summary of bandwidths has, by an expression that matches at the start of their names; none:
  /// there is no summary.
  std::optional<std::string> profile_bandwidth;
  /// Whether PyTorch's profiler times each kernel, for the summary.
  bool bandwidth_by_profiler = false;
  /// The summary is appended to this file; empty: it is printed only.
  std::string bandwidth_output;
  /// Where traces, snapshots and reports of Nsight Compute go; empty: a new folder for temporary files.
  std::string output_directory;
  /// Gates.
  std::optional<std::int64_t> kernels_at_most, spills_at_most, registers_at_most;
  std::optional<double> bandwidth_at_least;
  args::Arguments given;

  [[nodiscard]] Generation as_of() const { return generation.value_or(Generation::newest); }
  [[nodiscard]] bool gated() const {
    return kernels_at_most || spills_at_most || registers_at_most || bandwidth_at_least;
  }
};

namespace detail {

/// `TEXT=foreach, ...`
[[nodiscard]] inline std::string expected_categories() {
  std::string text = "TEXT=CATEGORY, with commas between several; categories are ";
  for (std::size_t i = 0; i + 1 < kernel::category_names.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::string(kernel::category_names[i]);
  return text;
}

/// Whether `text` names a category for each part of a name.
[[nodiscard]] inline bool read_categories(const std::string& text, Categories& categories) {
  categories.clear();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string each = text.substr(at, end - at);
    const std::size_t sign = each.rfind('=');
    if (sign == std::string::npos || sign == 0) return false;
    const auto* const names_end = kernel::category_names.end() - 1;
    const auto* const name = std::find(kernel::category_names.begin(), names_end, each.substr(sign + 1));
    if (name == names_end) return false;
    categories.emplace_back(each.substr(0, sign), static_cast<kernel::Category>(name - kernel::category_names.begin()));
    at = end + 1;
  }
  return true;
}

inline const std::vector<std::string> listing = {"--benchmark-kernels"};
inline constexpr const char* lists_alone = "that lists kernels and does nothing else";
inline constexpr const char* expected_filter =
    "a regular expression of at most 256 characters that repeats nothing more than 50 times, without back-references";

[[nodiscard]] inline args::Group package_options(CommandLine& line) {
  using args::Option;
  using Text = const std::string&;
  return {
      "Measurement",
      {{"--package", "the compiled module, whose code runs with your rights: a package of AOTInductor",
        args::text(line.package, "FILE.pt2", "a file name")},
       Option("--model", "which model of the package", args::text(line.model, "name", "a name"))
           .by_default("the only one, or `model`"),
       {"--inputs", "its operands, such as \"(T([4, 8], f32),)\", where none are kept beside the package",
        args::text(line.inputs, "tuple", "a tuple of tensors")},
       {"--device",
        "where it must run",
        {"cpu|cuda[:N]", "cpu, cuda or cuda:NUMBER",
         [&to = line.device](Text text) { return std::regex_match(to = text, std::regex("cpu|cuda(:[0-9]{1,3})?")); },
         "where it was compiled for"}},
       Option("--threads", "of LibTorch on the CPU", args::whole(line.threads, 1, most_threads(), expected_threads(1)))
           .by_default("LibTorch's own number"),
       Option("--times", "calls of one reading of the clock", args::whole(line.times, 1, 1'000'000))
           .excludes(listing, lists_alone),
       Option("--repeat", "readings", args::whole(line.repeat, 1, 1'000'000)).excludes(listing, lists_alone),
       {"--dry-run", "open the package, and print what would be measured and which files written",
        args::flag(line.dry_run)},
       Option::refused("--list",
                       "which kernels a package has is known only once it has run; --benchmark-kernels lists them with "
                       "their times"),
       Option::refused("--audit",
                       "one package is timed, and no outputs are compared; //benches/files audits --candidate "
                       "FILE.pt2 against a baseline")}};
}

[[nodiscard]] inline args::Group kernel_options(CommandLine& line) {
  using args::Option;
  using Text = const std::string&;
  return {
      "Every kernel",
      {{"-k,--benchmark-kernels", "list every kernel with its time, and do nothing else",
        args::flag(line.benchmark_kernels)},
       Option("-c,--benchmark-all-configs", "time every configuration of each kernel", args::flag(line.all_configs))
           .needs(listing),
       Option("--count-bytes", "what memory moves for each kernel, by the GPU's counters (Nsight Compute)",
              args::flag(line.count_bytes))
           .needs(listing),
       Option("--kernel", "show kernels whose names match",
              {"regex", expected_filter,
               [&to = line.filter](Text text) { return NameFilter::parse(to = text).has_value(); }, ""})
           .needs(listing),
       Option("--category", "kernels whose names contain TEXT are of this category, where Inductor names none",
              {"TEXT=category,...", expected_categories(),
               [&to = line.categories](Text text) { return read_categories(text, to); }, ""})
           .needs(listing),
       Option(
           "--kernel-sources",
           "sources of Triton kernels (*.py), as Inductor's code cache keeps them: they name the category of a kernel "
           "that has none otherwise",
           args::folder(line.kernel_sources))
           .needs(listing),
       Option("--profile-bandwidth",
              "print the bandwidth of each kernel and of all as Inductor's mode of that name does; of kernels whose "
              "names begin with a match",
              {"regex", expected_filter,
               [&to = line.profile_bandwidth](Text text) { return NameFilter::parse(to.emplace(text)).has_value(); },
               "all"})
           .value_optional("")
           .needs(listing),
       Option("--profile-bandwidth-output", "append the summary to it, the slowest kernel first",
              args::file(line.bandwidth_output))
           .needs({"--profile-bandwidth"}),
       Option("--profile-bandwidth-with-profiler",
              "time each kernel by PyTorch's profiler, as Inductor does with "
              "profile_bandwidth_with_do_bench_using_profiling",
              args::flag(line.bandwidth_by_profiler))
           .needs({"--profile-bandwidth"})}};
}

[[nodiscard]] inline args::Group kernel_limits(CommandLine& line) {
  using args::Option;
  return {
      "Limits of every kernel",
      {Option("--kernels-at-most", "fail if there are more", args::whole_from(line.kernels_at_most, 0)).needs(listing),
       Option("--spills-at-most", "fail if a thread of a GPU's kernel spills more words",
              args::whole_from(line.spills_at_most, 0))
           .needs(listing),
       Option("--registers-at-most", "fail if a thread of a GPU's kernel has more",
              args::whole_from(line.registers_at_most, 0))
           .needs(listing),
       Option("--bandwidth-at-least",
              "fail if a kernel whose bytes are known moves them slower than this share of the memory's measured peak",
              args::number(line.bandwidth_at_least, 1e-3, 1, "", "share"))
           .needs(listing)}};
}

[[nodiscard]] inline args::Group module_options(CommandLine& line) {
  using args::Option;
  const std::vector<std::string> ncu{"--ncu"};
  return {
      "The whole module",
      {Option("-p,--profile", "a trace, a table of operators, the time by kinds of kernels", args::flag(line.profile))
           .excludes(listing, lists_alone),
       Option("--cuda-memory-snapshot", "what memory the module takes on a GPU", args::flag(line.memory_snapshot))
           .excludes(listing, lists_alone),
       Option("--ncu", "run the module once under Nsight Compute", args::flag(line.ncu)).excludes(listing, lists_alone),
       Option("--ncu-kernel-regex", "kernels of these names alone",
              args::text(line.ncu_options.kernel_regex, "regex", "a regular expression"))
           .needs(ncu),
       Option("--ncu-metrics", "these metrics",
              args::text(line.ncu_options.metrics, "a,b", "names with commas between them"))
           .needs(ncu)
           .by_default("the full set")}};
}

[[nodiscard]] inline args::Group result_options(CommandLine& line) {
  using args::Option;
  return {"Results",
          {Option("--benchmark-name", "the name that is printed", args::text(line.name, "name", "a name"))
               .by_default("the package's name"),
           {"--csv", "results for machines", args::file(line.csv)},
           {"--json", "results for machines", args::file(line.json)},
           {"--html", "a page of the results, for a browser", args::file(line.html)},
           Option("--output-directory", "for traces, snapshots and Nsight Compute's reports",
                  args::folder(line.output_directory))
               .needs({"--profile", "--cuda-memory-snapshot", "--ncu", "--count-bytes"})
               .by_default("a new folder beside other temporary files"),
           {"--no-progress", "do not show what runs now", args::flag(line.no_progress)},
           {"--compat", "print what PyTorch's wrapper_benchmark prints", args::flag(line.compat)},
           Option("--generation", "which form of its output",
                  args::choice(
                      line.generation,
                      {{"original", Generation::original}, {"2.6", Generation::v2_6}, {"new", Generation::newest}}))
               .needs({"--compat"})
               .by_default("new")}};
}

}  // namespace detail

/// The options write their values into `line`, which must outlive the result.
[[nodiscard]] inline args::Groups kernels_options(CommandLine& line) {
  return {detail::package_options(line), detail::kernel_options(line), detail::kernel_limits(line),
          detail::module_options(line), detail::result_options(line)};
}

namespace detail {

/// The first form of PyTorch's program that has the option; none: it is pace's own.
[[nodiscard]] inline std::optional<Generation> since(std::string_view option) {
  if (option == "--cuda-memory-snapshot" || option == "--ncu") return Generation::v2_6;
  if (option == "--ncu-kernel-regex" || option == "--ncu-metrics" || option == "--times" || option == "--repeat")
    return Generation::newest;
  return std::nullopt;
}

}  // namespace detail

/// PyTorch's timer for the kernels; none: only pace's clocks time them.
[[nodiscard]] inline std::optional<compat::CompatibleTimer> timer_of(const CommandLine& line) {
  if (!line.compat) return std::nullopt;
  if (line.bandwidth_by_profiler) return compat::CompatibleTimer::profiler;
  return line.as_of() == Generation::newest ? compat::CompatibleTimer::inductor : compat::CompatibleTimer::do_bench;
}

/// Throws InputError for combinations that the options do not refuse themselves.
inline void check(const CommandLine& line) {
  const auto fail = [](const std::string& text) { throw InputError({}, text); };
  if (line.package.empty()) fail("expected --package FILE.pt2; --help lists all options");
  if (line.bandwidth_by_profiler && !line.compat)
    fail("--profile-bandwidth-with-profiler goes together with --compat: it is one of PyTorch's timers");
  const std::array<std::pair<const char*, const std::string*>, 4> files{
      {{"--csv", &line.csv},
       {"--json", &line.json},
       {"--html", &line.html},
       {"--profile-bandwidth-output", &line.bandwidth_output}}};
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = i + 1; j < files.size(); ++j)
      if (const auto& [first, second] = std::pair(files[i], files[j]);
          !first.second->empty() && !second.second->empty() && same_path(*first.second, *second.second))
        fail(std::string(first.first) + " and " + second.first + " name the same file, '" + *first.second + "'");
  // The record of a package's kernels stands beside it.
  const auto record = std::filesystem::path(line.package).replace_extension(".json").string();
  for (const auto& [option, file] : files)
    for (const auto& read : {line.package, record})
      if (!file->empty() && same_path(*file, read))
        fail(std::string(option) + ": '" + *file + "' is read, as the package or its record; expected another name");
  constexpr std::array<const char*, 3> names{"the original form", "PyTorch 2.6", "today's form"};
  for (const auto& option : line.given.given)
    if (const auto since = detail::since(option); since && line.as_of() < *since)
      fail(option + " is not an option of " + names[static_cast<std::size_t>(line.as_of())] +
           "; expected --generation " + (*since == Generation::v2_6 ? "2.6 or new" : "new"));
}

/// `words`: without the program's name. Throws InputError for words that make no sense.
[[nodiscard]] inline CommandLine parse_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  line.given = args::parse(kernels_options(line), words);
  line.help = line.given.help;
  if (!line.help) check(line);
  return line;
}

[[nodiscard]] inline std::string help_of_kernels() {
  CommandLine line;
  return "bazel run //benches/kernels -- --package FILE.pt2 OPTIONS: how long a compiled module takes, and each of its "
         "kernels\n" +
         args::help(kernels_options(line));
}

}  // namespace pace::benches::kernels
