// The command line of the kernels' bench: the options of wrapper_benchmark in all its generations, and pace's own.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
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
#include "benches/models/option.hpp"
#include "pace/core/error.hpp"
#include "pace/core/most_threads.hpp"

namespace pace::benches::kernels {

/// PyTorch's program in its first form, in that of PyTorch 2.6, and in today's.
enum class Generation { original, v2_6, newest };

/// What Nsight Compute is asked for.
struct NcuAsked {
  /// Kernels of these names alone; empty: all.
  std::string kernel_regex;
  /// Names with commas between them; empty: the full set.
  std::string metrics;
};

struct KernelsLine {
  std::string package, model, inputs, device, name, filter;
  bool benchmark_kernels = false, all_configs = false, count_bytes = false, profile = false, memory_snapshot = false;
  bool ncu = false, compat = false, help = false;
  NcuAsked ncu_asked;
  int times = 10, repeat = 10;
  std::optional<Generation> generation;
  /// 0: LibTorch's own number.
  int threads = 0;
  std::string csv, json;
  /// Where traces, snapshots and reports of Nsight Compute go; empty: a new folder for temporary files.
  std::string output_directory;
  /// Gates.
  std::optional<std::int64_t> kernels_at_most, spills_at_most, registers_at_most;
  std::optional<double> bandwidth_at_least;
  /// As given, by the names of options.
  std::vector<std::string> given;

  [[nodiscard]] Generation as_of() const { return generation.value_or(Generation::newest); }
  [[nodiscard]] bool gated() const {
    return kernels_at_most || spills_at_most || registers_at_most || bandwidth_at_least;
  }
};

/// Outlives the options, which refer to it.
[[nodiscard]] inline const std::string& threads_expected() {
  static const std::string text = expected_threads(1);
  return text;
}

/// What the options are given goes into `line`, which must outlive what it returns.
[[nodiscard]] inline std::vector<OptionSpec> kernels_options(KernelsLine& line) {
  using Text = const std::string&;
  const char* const a_file = "a file name";
  const char* const a_name = "a name";
  const auto number = [](std::optional<std::int64_t>& to) {
    return [&to](Text text) { return read_number(text, to.emplace()) && *to >= 0; };
  };
  const auto up_to_a_million = [](int& to) {
    return [&to](Text text) { return read_number(text, to) && to >= 1 && to <= 1'000'000; };
  };
  std::vector<OptionSpec> options{
      {{"--package"}, "FILE.pt2", "the compiled module: a package of AOTInductor", a_file, into(line.package)},
      {{"--model"}, "NAME", "which model of the package (default: the only one, or `model`)", a_name, into(line.model)},
      {{"--inputs"},
       "TUPLE",
       "its operands, such as \"(T([4, 8], f32),)\", where none are kept beside the package",
       "a tuple of tensors",
       into(line.inputs)},
      {{"--device"},
       "cpu|cuda[:N]",
       "where it must run (default: where it was compiled for)",
       "cpu, cuda or cuda:NUMBER",
       [&to = line.device](Text text) { return std::regex_match(to = text, std::regex("cpu|cuda(:[0-9]{1,3})?")); }},
      {{"--threads"},
       "N",
       "of LibTorch on the CPU (default: LibTorch's own number)",
       threads_expected().c_str(),
       [&to = line.threads](Text text) { return read_number(text, to) && to >= 1 && to <= most_threads(); }},
      {{"-k", "--benchmark-kernels"},
       nullptr,
       "list every kernel with its time, and do nothing else",
       "",
       into(line.benchmark_kernels)},
      {{"-c", "--benchmark-all-configs"},
       nullptr,
       "with -k: time every configuration of each kernel",
       "",
       into(line.all_configs)},
      {{"--count-bytes"},
       nullptr,
       "with -k: what memory moves for each kernel, by the GPU's counters (Nsight Compute)",
       "",
       into(line.count_bytes)},
      {{"-p", "--profile"},
       nullptr,
       "profile the module: a trace, a table of operators, the time by kinds of kernels",
       "",
       into(line.profile)},
      {{"--cuda-memory-snapshot"},
       nullptr,
       "record what memory the module takes on a GPU",
       "",
       into(line.memory_snapshot)},
      {{"--ncu"}, nullptr, "run the module once under Nsight Compute", "", into(line.ncu)},
      {{"--ncu-kernel-regex"},
       "REGEX",
       "with --ncu: kernels of these names alone",
       "a regular expression",
       into(line.ncu_asked.kernel_regex)},
      {{"--ncu-metrics"},
       "A,B",
       "with --ncu: these metrics instead of the full set",
       "names with commas between them",
       into(line.ncu_asked.metrics)},
      {{"--times"},
       "N",
       "calls of one reading of the clock (default 10)",
       "a whole number from 1 to 1000000",
       up_to_a_million(line.times)},
      {{"--repeat"}, "N", "readings (default 10)", "a whole number from 1 to 1000000", up_to_a_million(line.repeat)},
      {{"--benchmark-name"}, "NAME", "in what is printed (default: the package's name)", a_name, into(line.name)},
      {{"--kernel"},
       "REGEX",
       "with -k: show kernels whose names match",
       "a regular expression of at most 256 characters that repeats nothing more than 50 times, without "
       "back-references",
       [&to = line.filter](Text text) { return NameFilter::parse(to = text).has_value(); }},
      {{"--kernels-at-most"},
       "N",
       "with -k: fail if there are more",
       "a whole number from 0 on",
       number(line.kernels_at_most)},
      {{"--spills-at-most"},
       "N",
       "with -k: fail if a thread of a GPU's kernel spills more words",
       "a whole number from 0 on",
       number(line.spills_at_most)},
      {{"--registers-at-most"},
       "N",
       "with -k: fail if a thread of a GPU's kernel has more",
       "a whole number from 0 on",
       number(line.registers_at_most)},
      {{"--bandwidth-at-least"},
       "SHARE",
       "with -k: fail if a kernel whose bytes are known moves them slower than this "
       "share of the memory's measured peak",
       "a number from 0.001 to 1",
       [&to = line.bandwidth_at_least](Text text) {
         return read_number(text, to.emplace()) && *to >= 1e-3 && *to <= 1;
       }},
      {{"--csv"}, "FILE", "results for machines", a_file, into(line.csv)},
      {{"--json"}, "FILE", "results for machines", a_file, into(line.json)},
      {{"--output-directory"},
       "DIR",
       "for traces, snapshots and Nsight Compute's reports (default: a new folder beside other temporary files)",
       "a folder's name",
       into(line.output_directory)},
      {{"--compat"}, nullptr, "print what PyTorch's wrapper_benchmark prints", "", into(line.compat)},
      {{"--generation"},
       "original|2.6|new",
       "with --compat: as that of its forms (default new)",
       "original, 2.6 or new",
       [&to = line.generation](Text text) {
         constexpr std::array<std::string_view, 3> names{"original", "2.6", "new"};
         const auto* const found = std::ranges::find(names, text);
         if (found == names.end()) return false;
         to = static_cast<Generation>(found - names.begin());
         return true;
       }},
      {{"-h", "--help"}, nullptr, "this text", "", into(line.help)},
  };
  for (auto& option : options)
    option.read = [&line, name = std::string(option.names.back()), read = std::move(option.read)](Text text) {
      if (std::ranges::find(line.given, name) == line.given.end()) line.given.push_back(name);
      return read(text);
    };
  return options;
}

namespace detail {

/// In which of its forms PyTorch's program has an option; none: it is pace's own.
[[nodiscard]] inline std::optional<Generation> since(std::string_view option) {
  if (option == "--cuda-memory-snapshot" || option == "--ncu") return Generation::v2_6;
  if (option == "--ncu-kernel-regex" || option == "--ncu-metrics" || option == "--times" || option == "--repeat")
    return Generation::newest;
  return std::nullopt;
}

}  // namespace detail

/// With which of PyTorch's timers each kernel is timed; none: with pace's clocks alone.
[[nodiscard]] inline std::optional<compat::CompatibleTimer> timer_of(const KernelsLine& line) {
  if (!line.compat) return std::nullopt;
  return line.as_of() == Generation::newest ? compat::CompatibleTimer::inductor : compat::CompatibleTimer::do_bench;
}

/// Throws InputError for what does not go together, Unsupported for what cannot be.
inline void check(const KernelsLine& line) {
  const auto fail = [](const std::string& text) { throw InputError({}, text); };
  const auto needs = [&](bool given, const char* option, bool other, const char* needed) {
    if (given && !other) fail(std::string(option) + " goes together with " + needed + ", which was not given");
  };
  if (line.package.empty()) fail("expected --package FILE.pt2; --help lists all options");
  needs(line.all_configs, "--benchmark-all-configs (-c)", line.benchmark_kernels, "--benchmark-kernels (-k)");
  needs(line.count_bytes, "--count-bytes", line.benchmark_kernels, "--benchmark-kernels (-k)");
  needs(!line.ncu_asked.kernel_regex.empty(), "--ncu-kernel-regex", line.ncu, "--ncu");
  needs(!line.ncu_asked.metrics.empty(), "--ncu-metrics", line.ncu, "--ncu");
  needs(!line.output_directory.empty(), "--output-directory",
        line.profile || line.memory_snapshot || line.ncu || line.count_bytes,
        "--profile, --cuda-memory-snapshot, --ncu or --count-bytes");
  needs(!line.filter.empty(), "--kernel", line.benchmark_kernels, "--benchmark-kernels (-k)");
  needs(line.gated(), "a limit of kernels", line.benchmark_kernels, "--benchmark-kernels (-k)");
  needs(line.generation.has_value(), "--generation", line.compat, "--compat");
  if (line.benchmark_kernels)
    for (const char* const other : {"--profile", "--cuda-memory-snapshot", "--ncu", "--times", "--repeat"})
      if (std::ranges::find(line.given, other) != line.given.end())
        fail(std::string(other) +
             " does not go together with --benchmark-kernels (-k), which lists kernels and does nothing else");
  const auto place = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  };
  if (!line.csv.empty() && !line.json.empty() && place(line.csv) == place(line.json))
    fail("--csv and --json name the same file, '" + line.csv + "'");
  constexpr std::array<const char*, 3> names{"the original form", "PyTorch 2.6", "today's form"};
  for (const auto& option : line.given)
    if (const auto since = detail::since(option); since && line.as_of() < *since)
      fail(option + " is not an option of " + names[static_cast<std::size_t>(line.as_of())] +
           "; expected --generation " + (*since == Generation::v2_6 ? "2.6 or new" : "new"));
}

}  // namespace pace::benches::kernels
