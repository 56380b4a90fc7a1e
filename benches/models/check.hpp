// The checkers as one program: `check accuracy --actual A --expected E`, and so on.
#pragma once

#include <cmath>
#include <cstddef>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "benches/models/driver/check_expected.hpp"
#include "benches/models/driver/check_limits.hpp"
#include "benches/models/driver/text_files.hpp"
#include "benches/models/tool.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

namespace detail {

inline constexpr const char* check_usage =
    "check accuracy --actual FILE --expected FILE [--flaky MODEL]...\n"
    "check graph_breaks --actual FILE --expected FILE [--flaky MODEL]...\n"
    "check csv -f FILE\n"
    "check memory_compression_ratio --actual FILE --expected FILE\n"
    "check perf_csv -f FILE -t THRESHOLD [-s SCALE] [--metric speedup|abs_latency] [--fail-on-improvement]\n"
    "    [--generation 2.6|latest]\n"
    "check noise --actual FILE --expected FILE [--new-expected FILE]\n"
    "Each holds a file of results against another one or a limit, and ends with exit code 1 if something is not as it "
    "should be.\n";

struct CheckOptions {
  std::string actual, expected, file, new_expected;
  std::vector<std::string> flaky;
  benches::models::PerformanceLimit limit;
  bool has_threshold = false;
};

[[nodiscard]] inline args::Groups check_options(CheckOptions& to) {
  using Text = const std::string&;
  const auto above_zero = [](Text text, double& number) {
    return args::read_number(text, number) && number > 0 && std::isfinite(number);
  };
  auto& limit = to.limit;
  return {{"Files",
           {{"-a,--actual", "results", args::file(to.actual)},
            {"-e,--expected", "what they should be", args::file(to.expected)},
            {"-f,--file", "results", args::file(to.file)},
            {"--new-expected", "where what should be expected is written", args::file(to.new_expected)}}},
          {"Limits",
           {{"--flaky", "may be better or worse; again for another", args::each(to.flaky, "model", "a model")},
            {"-t,--threshold",
             "least speed-up, or most milliseconds",
             {"number", "a number above 0",
              [&, above_zero](Text text) { return to.has_threshold = above_zero(text, limit.threshold); }, ""}},
            {"-s,--threshold-scale",
             "how much of the threshold will do",
             {"share", "a number above 0 and at most 1",
              [&, above_zero](Text text) { return above_zero(text, limit.scale) && limit.scale <= 1; }, "1"}},
            {"--metric", "what the threshold is of",
             args::choice(limit.latency, {{"speedup", false}, {"abs_latency", true}})},
            {"--fail-on-improvement", "a result that is too good fails, too", args::flag(limit.fail_on_improvement)},
            {"--generation", "which one's lines are printed",
             args::choice(limit.generation, {{"2.6", Generation::v2_6}, {"latest", Generation::latest}})}}}};
}

/// Throws InputError for a model that the results do not have.
inline void require_models(const std::vector<std::string>& models, const report::CsvTable& results) {
  for (const auto& model : models) {
    bool there = false;
    for (std::size_t i = 0; i < results.rows.size(); ++i) there = there || results.text(i, "name") == model;
    if (!there) throw InputError({results.file}, "--flaky: expected a row of '" + model + "', found none");
  }
}

[[nodiscard]] inline int run_check(const std::vector<std::string>& arguments, std::ostream& out, const UserPath& path) {
  CheckOptions to;
  const auto options = check_options(to);
  const auto help = [&](int code) { return out << check_usage << args::help(options), code; };
  if (arguments.empty()) return help(1);
  if (arguments[0] == "--help" || arguments[0] == "-h") return help(0);
  const std::string checker = arguments[0];
  const auto given = args::parse(options, {arguments.begin() + 1, arguments.end()});
  if (given.help) return help(0);
  const auto file = [&](const std::string& name, const char* option) {
    if (name.empty()) throw InputError({}, "check " + checker + ": expected " + option + " FILE\n" + check_usage);
    return report::read_csv(path(name));
  };
  const auto actual = [&] { return file(to.actual, "--actual"); };
  const auto expected = [&] { return file(to.expected, "--expected"); };
  const auto only = [&](const std::vector<std::string>& allowed) { args::allow_only(given, allowed, checker); };
  const std::set<std::string> flaky(to.flaky.begin(), to.flaky.end());
  if (checker == "accuracy" || checker == "graph_breaks") {
    only({"--actual", "--expected", "--flaky"});
    const auto results = actual(), wanted = expected();
    require_models(to.flaky, results);
    return checker == "accuracy" ? check_accuracy(results, wanted, flaky, out)
                                 : check_graph_breaks(results, wanted, flaky, out);
  }
  if (checker == "csv") return only({"--file"}), check_csv(file(to.file, "-f"), out);
  if (checker == "memory_compression_ratio") {
    only({"--actual", "--expected"});
    return check_memory_compression_ratio(actual(), expected(), out);
  }
  if (checker == "perf_csv") {
    only({"--file", "--threshold", "--threshold-scale", "--metric", "--fail-on-improvement", "--generation"});
    if (!to.has_threshold) throw InputError({}, std::string("check perf_csv: expected -t THRESHOLD\n") + check_usage);
    return check_performance(file(to.file, "-f"), to.limit, out);
  }
  if (checker == "noise") {
    only({"--actual", "--expected", "--new-expected"});
    std::string updated;
    const int code = check_noise(actual(), expected(), out, updated);
    if (to.new_expected.empty()) return code;
    write_text(path(to.new_expected), updated);
    return code;
  }
  throw InputError({}, "there is no checker '" + checker + "'\n" + check_usage);
}

}  // namespace detail

/// Returns the exit code: 1 for results that are not as they should be, and for results that cannot be checked, which
/// `errors` names.
[[nodiscard]] inline int check(int argc, char** argv, std::ostream& out, std::ostream& errors, const UserPath& path) {
  return detail::run_tool("check", detail::run_check, argc, argv, out, errors, path);
}

}  // namespace pace::benches::models
