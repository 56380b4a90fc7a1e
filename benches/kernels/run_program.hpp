// The kernels' bench, but for the parts that need a package, a profiler or a GPU. Its dependencies supply those.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>
#include <nlohmann/json.hpp>

#include "benches/files/aot/package_facts.hpp"
#include "benches/kernels/bandwidth.hpp"
#include "benches/kernels/command_line.hpp"
#include "benches/kernels/compat/bandwidth_summary.hpp"
#include "benches/kernels/compat/profile_report.hpp"
#include "benches/kernels/compat_lines.hpp"
#include "benches/kernels/counted_bytes.hpp"
#include "benches/kernels/dependencies.hpp"
#include "benches/kernels/limits.hpp"
#include "benches/kernels/ncu.hpp"
#include "benches/kernels/profile.hpp"
#include "benches/kernels/result_files.hpp"
#include "benches/timers/timed.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/kernels/configurations.hpp"
#include "pace/kernels/report.hpp"
#include "pace/kernels/table.hpp"
#include "pace/kernels/write_report.hpp"
#include "pace/os/repeat_command.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/text.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/progress.hpp"

namespace pace::benches::kernels {

namespace detail {

struct FunctionClock {
  const std::function<Nanoseconds()>& read;
  [[nodiscard]] Nanoseconds now() const { return read(); }
};

class Bench {
 public:
  Bench(const CommandLine& line, const Dependencies& dependencies, std::ostream& out, std::ostream& log)
      : line_(line), dependencies_(dependencies), files_(line, dependencies.pages(line.html)), out_(out), log_(log) {}

  int run() {
    if ((line_.ncu || line_.count_bytes) && !is_in_path("ncu", std::getenv("PATH"))) return no_ncu();
    report_step({.what = "opening the package"});
    package_ = dependencies_.open(line_);
    if (line_.count_bytes && package_.device == "cpu")
      throw Unsupported("--count-bytes: " + line_.package + " runs on the CPU, whose counters are not read");
    if (line_.memory_snapshot && (!dependencies_.snapshot || package_.device == "cpu"))
      throw Unsupported("--cuda-memory-snapshot: " + line_.package +
                        " runs on the CPU; expected a package for a GPU, in a "
                        "program built with --config=cuda");
    if (line_.all_configs) require_configurations();
    if (line_.dry_run) return print_plan();
    const int code = line_.benchmark_kernels ? list_kernels() : run_whole();
    return files_.finish(log_) || code != 0 ? code : pace::exit_error;
  }

 private:
  /// The plan, without measuring; the opened files stay as they were.
  int print_plan() {
    out_ << report::printable(line_.package) << " on " << package_.device << ": would "
         << (line_.benchmark_kernels
                 ? std::string("list every kernel with its time")
                 : "time " + std::to_string(line_.repeat) + " readings of " + std::to_string(line_.times) + " calls")
         << '\n';
    for (const auto& [given, what] :
         {std::pair{line_.all_configs, "time every configuration of each kernel"},
          std::pair{line_.count_bytes, "run it once under Nsight Compute to count bytes"},
          std::pair{line_.profile, "run it once more under the profiler"},
          std::pair{line_.memory_snapshot, "run it once more to record its memory"},
          std::pair{line_.ncu, "run it once under Nsight Compute"}, std::pair{line_.gated(), "judge its limits"}})
      if (given) out_ << "would " << what << '\n';
    for (const auto* const path : {&line_.csv, &line_.json, &line_.html, &line_.bandwidth_output})
      if (!path->empty()) out_ << "would write " << report::printable(*path) << '\n';
    if (line_.profile || line_.memory_snapshot || line_.ncu || line_.count_bytes)
      out_ << "would write into the folder " << report::printable(dependencies_.temporary_folder) << '\n';
    out_ << "dry run: nothing was measured\n";
    return 0;
  }

  /// Prints the command that repeats a listing after a failed limit.
  void print_repeat_command() const {
    std::vector<std::string> words;
    for (const auto& name : line_.given.given) {
      if (name == "--csv" || name == "--json" || name == "--html" || name == "--profile-bandwidth-output") continue;
      const auto values = line_.given.values.find(name);
      const bool has_value = values != line_.given.values.end() && !values->second.empty();
      words.push_back(has_value ? name + '=' + values->second.back() : name);
    }
    log_ << "kernels: to repeat this:\n  " << report::printable(command_again(dependencies_.program, words)) << '\n';
  }

  int no_ncu() {
    const char* const why = "there is no `ncu` in PATH; expected NVIDIA's Nsight Compute to be installed";
    if (line_.compat) out_ << "NCU profiling failed with error: " << why << '\n';
    throw Unsupported(std::string(line_.ncu ? "--ncu: " : "--count-bytes: ") + why);
  }

  /// They are known only where they are kept beside a package.
  void require_configurations() const {
    if (package_.device == "cpu")
      throw Unsupported("--benchmark-all-configs: " + line_.package +
                        " runs on the CPU, where kernels have no configurations");
    const auto kept = [](const aot::PackageKernel& kernel) { return !kernel.configurations.empty(); };
    if (!package_.facts || std::ranges::none_of(package_.facts->kernels, kept))
      throw Unsupported("--benchmark-all-configs: no configurations are kept beside " + line_.package +
                        "; expected it to be compiled by record_configurations.aoti_compile_and_package");
  }

  int list_kernels() {
    if (line_.compat && package_.device == "cpu") {
      out_ << no_kernels << '\n';
      throw Unsupported("--compat --benchmark-kernels: " + line_.package +
                        " runs on the CPU, and the original lists Triton's "
                        "kernels alone; without --compat they are listed in their place");
    }
    report_step({.what = "every kernel"});
    auto report = dependencies_.kernels(line_);
    const bool counted = !line_.count_bytes || count_bytes(report);
    std::function<bool(const kernel::Kernel&)> shown;
    if (!line_.filter.empty())
      shown = [filter = *NameFilter::parse(line_.filter)](const auto& kernel) { return filter(kernel.name); };
    int code = 0;
    if (shown && std::ranges::none_of(report.kernels, shown)) {
      std::string names;
      for (const auto& kernel : report.kernels) names += (names.empty() ? "" : ", ") + kernel.name;
      log_ << "kernels: --kernel: no name matches '" << report::printable(line_.filter)
           << "'; expected a part of one of " << report::printable(names) << '\n';
      code = 1;
    }
    if (line_.compat) {
      const auto lines = print_kernel_lines(report, package_.facts.value_or(aot::PackageFacts{}), dependencies_.colour,
                                            line_.all_configs, out_, log_, shown);
      if (lines == 0) code = 1;
      for (const auto& note : kernel::notes_of(report)) log_ << "kernels: " << report::printable(note) << '\n';
    } else {
      note_silence(report);
      kernel::print_table(report, out_, dependencies_.colour, 60, shown);
      kernel::print_configurations(report, out_, dependencies_.colour);
    }
    if (auto* const csv = files_.csv()) {
      csv->append(kernel::csv_header());
      for (const auto& kernel : report.kernels)
        if (!shown || shown(kernel)) csv->append(kernel::csv_row(report, kernel));
      if (!shown) csv->append(kernel::csv_unlisted_row(report));
    }
    files_.write_json(kernel::to_json(report, shown));
    if (line_.profile_bandwidth && !summarise_bandwidths(report, shown)) code = 1;
    const bool limits_hold = judge(report);
    // Kernels that could not be listed or counted might have broken a limit, too; the limits that hold say less than
    // that.
    if (!counted) code = pace::exit_error;
    if (!limits_hold) print_repeat_command();
    return limits_hold || code != 0 ? code : pace::exit_failed;
  }

  /// Whether any kernel has a line. `shown`: as --kernel says; empty: all are.
  bool summarise_bandwidths(const kernel::KernelReport& report,
                            const std::function<bool(const kernel::Kernel&)>& shown) {
    const auto filter = *NameFilter::parse(*line_.profile_bandwidth, NameFilter::Where::at_start);
    auto found = bandwidths_of(report, package_.facts.value_or(aot::PackageFacts{}), line_.compat,
                               [&](const auto& kernel) { return filter(kernel.name) && (!shown || shown(kernel)); });
    for (const auto& message : found.missing)
      log_ << "kernels: --profile-bandwidth: " << report::printable(message) << '\n';
    if (found.kernels.empty()) {
      log_ << "kernels: --profile-bandwidth: "
           << (found.missing.empty() ? "no kernel has a name that begins with a match of '" +
                                           report::printable(*line_.profile_bandwidth) + "'"
                                     : "no kernel has a known bandwidth")
           << "; there is no summary\n";
      files_.leave_bandwidth();
      return false;
    }
    for (auto& kernel : found.kernels) {
      kernel.name = report::printable(kernel.name);
      out_ << compat::bandwidth_line(kernel, dependencies_.colour) << '\n';
    }
    const std::string package = report::printable(line_.package);
    out_ << compat::bandwidth_summary(package, found.kernels) << '\n';
    if (auto* const summary = files_.bandwidth()) {
      std::ostringstream text;
      text.imbue(std::locale::classic());
      compat::write_bandwidth_info(package, found.kernels, text);
      summary->append(text.str());
    }
    return true;
  }

  /// Returns the error; empty if there is none.
  std::string run_once_under_ncu(const NcuOptions& options, const std::string& report) {
    return dependencies_.spawn(ncu_command(options, report, once_command(dependencies_.program, line_)), nullptr);
  }

  /// Whether it went well. The measured figures are printed in any case.
  bool count_bytes(kernel::KernelReport& report) {
    const std::string path = file("counted_bytes_" + dependencies_.date() + ".ncu-rep");
    std::string printed, problem = run_once_under_ncu(ncu_options_of_counters(), path);
    if (problem.empty()) problem = dependencies_.spawn(read_counts_command(path), &printed);
    try {
      if (problem.empty()) problem = give_counts(report, read_counts(printed));
    } catch (const InputError& error) {
      problem = error.what();
    }
    // With a folder of the user's own, the counters' report is worth keeping.
    if (line_.output_directory.empty()) std::remove(path.c_str());
    if (!problem.empty()) log_ << "kernels: --count-bytes: " << problem << '\n';
    return problem.empty();
  }

  /// Compiled code calls LibTorch past its dispatcher. Without the option only inner calls of operators show, such as
  /// the copy_ of an addmm.
  void note_silence(kernel::KernelReport& report) const {
    if (!report.by_ranges) return;
    for (const auto& kernel : report.kernels)
      if (kernel::is_compiled(kernel.symbol) || kernel::is_call_of_libtorch(kernel.symbol)) return;
    report.notes.push_back(
        line_.package + " announces none of its kernels, and " + format_percent(report.unlisted_share()) +
        " of a call is in no listed one; why: without Inductor's option cpp.enable_kernel_profile its loops, products "
        "and attention are not seen; try: compile it with that option");
  }

  /// Whether every limit holds.
  bool judge(const kernel::KernelReport& report) const {
    bool fine = true;
    for (const auto& each : judge_limits(line_, report)) {
      (each.acceptable ? out_ : log_) << to_string(each.verdict) << ": " << each.expectation << "; " << each.message
                                      << '\n';
      fine = fine && each.acceptable;
    }
    return fine;
  }

  /// As Inductor's generated benchmarks do it; seconds of one call.
  double time(int times, int repeat, std::ostream& out) {
    FunctionClock clock{dependencies_.now};
    return timers::print_performance(
        clock, package_.call,
        {.times = times, .repeat = repeat, .set_seed = package_.set_seed, .synchronise = package_.synchronise}, out);
  }
  /// Printed only where the original does.
  double timed(int times, int repeat) {
    std::ostringstream nowhere;
    return time(times, repeat, line_.compat ? out_ : nowhere);
  }

  int run_whole() {
    report_step({.what = "readings"});
    // The time leaves out one-time work of the first call. The original has no such call.
    if (!line_.compat) package_.call();
    const bool on_gpu = package_.device != "cpu" && dependencies_.peak_bytes;
    if (on_gpu) dependencies_.reset_peak();
    const double seconds = timed(line_.times, line_.repeat);
    if (!line_.compat)
      out_ << line_.name << " on " << package_.device << ": " << format_time(Nanoseconds(seconds * 1e9))
           << " a call, the lower median of " << line_.repeat << " readings of " << line_.times << " calls\n";
    std::optional<double> peak;
    if (on_gpu) {
      peak = dependencies_.peak_bytes();
      out_ << "Peak GPU memory usage " << format_fixed(*peak / 1e6, 3) << " MB\n";
    }
    write_whole(seconds, peak);
    if (line_.memory_snapshot) take_snapshot();
    if (line_.profile) profile(seconds);
    return line_.ncu ? run_ncu() : 0;
  }

  void write_whole(double seconds, std::optional<double> peak) {
    const std::vector<std::pair<const char*, nlohmann::ordered_json>> fields{
        {"benchmark", line_.name},
        {"device", package_.device},
        {"seconds_per_call", seconds},
        {"times", line_.times},
        {"repeat", line_.repeat},
        {"peak_gpu_bytes", peak ? nlohmann::ordered_json(*peak) : nlohmann::ordered_json(nullptr)}};
    nlohmann::ordered_json json;
    std::string header, row;
    for (const auto& [name, value] : fields) {
      json[name] = value;
      header += (header.empty() ? "" : ",") + std::string(name);
      row +=
          (&name == &fields.front().first ? "" : ",") + (value.is_string() ? report::csv_field(value.get<std::string>())
                                                         : value.is_null() ? ""
                                                                           : value.dump());
    }
    if (auto* const csv = files_.csv()) csv->append(header + '\n' + row + '\n');
    files_.write_json(json);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return dependencies_.temporary_folder + '/' + name; }

  void take_snapshot() {
    const std::string path = file("memory_snapshot.pickle");
    dependencies_.snapshot([&] { static_cast<void>(timed(10, 1)); }, path);
    out_ << "The collect memory snapshot has been written to " << path << '\n';
  }

  void profile(double seconds) {
    const std::string path = file("compiled_module_profile.json");
    report_step({.what = "profile"});
    const auto recorded = dependencies_.profile([&] { static_cast<void>(timed(line_.times, line_.repeat)); }, path);
    out_ << "Profiling result for a compiled module of benchmark " << line_.name << ":\n"
         << "Chrome trace for the profile is written to " << path << '\n';
    print_key_averages(key_averages(recorded.events), out_);
    const bool on_cpu = package_.device == "cpu";
    compat::ProfileReport report{.benchmark = line_.name,
                                 .wall_milliseconds = seconds * 1e3,
                                 .runs = static_cast<std::size_t>(line_.times) * static_cast<std::size_t>(line_.repeat),
                                 .device = package_.device,
                                 .original = line_.as_of() == Generation::original};
    // The original drops operators that run on the CPU.
    if (on_cpu && line_.compat) report.device.clear();
    compat::print_profile_report(report, profiled_kernels(recorded, on_cpu && !line_.compat), out_);
  }

  int run_ncu() {
    const std::string path = file("ncu_output_" + dependencies_.date() + ".ncu-rep");
    const auto problem = run_once_under_ncu(line_.ncu_options, path);
    if (!problem.empty()) {
      out_ << "NCU profiling failed with error: " << problem << '\n';
      return 1;
    }
    out_ << "\nNCU profiling results for benchmark " << line_.name << ":\nNCU report has been written to " << path
         << '\n';
    return 0;
  }

  const CommandLine& line_;
  const Dependencies& dependencies_;
  ResultFiles files_;
  std::ostream &out_, &log_;
  OpenPackage package_;
};

}  // namespace detail

/// `resolve` turns typed text into paths, once all is read. Returns the exit code. It is 0 if all went well and every
/// limit holds, and 42 if only a limit failed. Otherwise it is 1, with the error on `log`.
[[nodiscard]] inline int run_program(const std::vector<std::string>& words, Dependencies& dependencies,
                                     std::ostream& out, std::ostream& log,
                                     const std::function<void(CommandLine&)>& resolve = {}) {
  try {
    CommandLine line = parse_command_line(words);
    if (line.help) {
      out << help_of_kernels();
      return 0;
    }
    if (resolve) resolve(line);
    line.name = report::printable(line.name);
    std::optional<report::ShownProgress> shown;
    if (!line.no_progress && !line.dry_run) {
      shown.emplace("packages");
      progress()->subject(line.name);
    }
    return detail::Bench(line, dependencies, out, log).run();
  } catch (const c10::Error& error) {
    log << "kernels: " << report::printable_lines(error.what_without_backtrace()) << '\n';
  } catch (const std::exception& error) {
    log << "kernels: " << report::printable_lines(error.what()) << '\n';
  }
  return 1;
}

}  // namespace pace::benches::kernels
