// The models' bench with models that hang, crash and eat memory.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "benches/models/run_program.hpp"
#include "pace/base/error.hpp"
#include "pace/os/pages.hpp"
#include "pace/os/report_program.hpp"
#include "pace/report/program_output.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"

namespace {

using namespace pace::benches::models;

[[noreturn]] void sleep_forever() {
  for (;;) ::pause();
}

/// The file with a byte for each model that has hung, which all processes of a run know.
std::string hung_models() {
  const char* const path = std::getenv("FAKE_MODELS_HUNG");
  return path == nullptr ? "" : path;
}

[[noreturn]] void hang() {
  std::ofstream(hung_models(), std::ios::app) << '.' << std::flush;
  sleep_forever();
}

/// In seconds: time passes only when a model hangs, and then a year.
double now() {
  std::error_code none;
  const auto hung = std::filesystem::file_size(hung_models(), none);
  return none ? 0 : 365 * 86400.0 * static_cast<double>(hung);
}

/// Memory that is really used, until there is no more, and at most 8 GB.
void eat() {
  constexpr std::size_t piece = 16 << 20;
  std::list<std::unique_ptr<char[]>> eaten;
  for (std::size_t all = 0; all < std::size_t{8} << 30; all += piece) {
    eaten.emplace_back(new char[piece]);
    std::memset(eaten.back().get(), 1, piece);
  }
}

Row good(const Settings& settings, const std::string& model, const std::string& backend) {
  Row row{.device = settings.device, .name = model, .batch_size = settings.batch_size.value_or(4), .backend = backend};
  if (has_statuses(settings.mode)) {
    row.values = {{"accuracy", "pass"}};
  } else if (settings.mode == Mode::performance) {
    row.values = {{"speedup", backend == "torchscript" ? 1.0 : 2.0},
                  {"abs_latency", 10.0},
                  {"compilation_latency", 3.0},
                  {"compression_ratio", 0.5},
                  {"eager_peak_mem", 1.0},
                  {"dynamo_peak_mem", 2.0},
                  {"status", "pass"}};
    row.message = backend == "torchscript" ? "1.000x" : "2.000x";
    row.raw_timings = {{2.0, 1.0}};
    if (model == "better") row.compilation = {{"export_seconds", 0.5}, {"compile_seconds", 2.5}};
  } else if (settings.mode == Mode::tolerance) {
    row.values = {{"max", 0.5}, {"mean", 0.25}, {"std", 0.125}};
  }
  return row;
}

/// Where models leave a line each time they run, if a test asks for it.
void tell(const std::string& text) {
  if (const char* path = std::getenv("FAKE_MODELS_LOG")) std::ofstream(path, std::ios::app) << text << '\n';
}

std::vector<Row> run(const std::string& model, const Settings& settings, const Config& config, std::ostream& log) {
  const char* cache = std::getenv("PACE_PACKAGE_CACHE");
  tell(model + ' ' + settings.device + " repeat=" + std::to_string(settings.repeat) + " cache=" + (cache ? cache : ""));
  if (model == "hangs" && settings.device == "cpu") hang();
  if (model == "forks" && ::fork() == 0) {
    // Something that the model has started, and that outlives it unless it is ended.
    if (const char* path = std::getenv("FAKE_MODELS_PID")) std::ofstream(path) << ::getpid() << std::flush;
    hang();
  }
  if (model == "forks") sleep_forever();
  if (model == "crashes") ::raise(SIGSEGV);
  if (model == "exits") ::_exit(7);
  if (model == "vanishes") ::_exit(0);
  if (model == "is_killed") ::raise(SIGKILL);
  if (model == "eats") eat();
  if (model == "throws") throw std::runtime_error("it throws");
  if (model == "runs_out") throw std::runtime_error("CUDA out of memory. Tried to allocate 2 GB");
  if (model == "no_device") {
    Row row = status_row(settings, settings.device, model, candidates(settings).front(), "fail_to_run",
                         "there is no such device");
    row.result = RowResult::unmeasured;
    return {row};
  }
  if (model == "compares") {
    pace::Result result;
    result.name = model;
    for (const auto& name : {std::string("eager"), candidates(settings).front()}) {
      auto& each = result.implementations.emplace_back();
      each.name = name;
      each.is_baseline = name == "eager";
      each.outcome = pace::Outcome::measured;
      each.samples.assign(3, pace::Nanoseconds(2));
    }
    pace::run_context().publish(result);
  }
  if (model == "removes" && std::remove(std::getenv("FAKE_MODELS_REMOVED")) != 0) throw std::runtime_error("not there");
  if (model == "makes_no_sense") throw pace::InputError({}, "nothing can be run like that");
  if (model == "interrupts") {
    ::kill(::getppid(), SIGINT);
    sleep_forever();
  }
  if (model == "runs_another") {
    const std::string command =
        "/proc/" + std::to_string(::getpid()) + "/exe --performance --inference -k good --output=";
    if (std::system((command + std::getenv("FAKE_MODELS_AGAIN")).c_str()) == 0) throw std::runtime_error("both write");
  }
  log << "log of " << model << '\n';
  std::vector<Row> rows;
  for (const auto& backend : candidates(settings)) rows.push_back(good(settings, model, backend));
  if (model == "differs") {
    for (auto& row : rows) {
      row.values = {{"accuracy", "fail_accuracy"}};
      if (!config.expected.contains(model)) row.result = RowResult::failed;
    }
  }
  if (model == "undecided")
    for (auto& row : rows) row.result = RowResult::undecided;
  if (model == "half") {
    rows.pop_back();
    rows.push_back(good(settings, model, candidates(settings).back()));
    rows.back().result = RowResult::failed;
  }
  return rows;
}

/// Compiles but one of the models.
std::size_t compile(const std::vector<ChosenModel>& chosen, const Settings& settings, const Config&, const std::string&,
                    const std::function<void(const Row&)>& take, std::ostream& log) {
  std::size_t failed = 0;
  for (const auto& model : chosen) {
    tell(model.name + " is compiled");
    if (model.name == "throws") {
      ++failed;
      log << "it is not compiled\n";
      continue;
    }
    Row row{.device = model.devices.front(), .name = model.name, .batch_size = 4, .backend = settings.backends.front()};
    row.compilation = {{"export_seconds", 1.5}, {"compile_seconds", 3.5}};
    take(row);
  }
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  const pace::report::ProgramOutput output;
  pace::benches::models::Dependencies dependencies{.models = {}, .run = run};
  for (const char* name : {"good",      "better",  "hangs",  "forks",        "crashes",        "exits",      "vanishes",
                           "is_killed", "eats",    "throws", "runs_out",     "makes_no_sense", "interrupts", "compares",
                           "removes",   "differs", "half",   "runs_another", "undecided",      "no_device"})
    dependencies.models.push_back(
        {.name = name, .suite = Suite::timm, .family = name == std::string("good") ? "cnn" : "other"});
  dependencies.identity = [] {
    const char* const machine = std::getenv("FAKE_MACHINE");
    return Configuration{{"machine", machine == nullptr ? "mine" : machine}};
  };
  dependencies.limits.now = now;
  dependencies.compile = compile;
  dependencies.pages = [](const std::string& html) { return pace::Pages(html, "", pace::report_program()); };
  dependencies.is_test = std::getenv("FAKE_TEST") != nullptr;
  if (const char* const folder = std::getenv("FAKE_MODELS_OUTPUTS")) {
    const std::string outputs = folder;
    dependencies.json_of_test = outputs + "/results.json";
    dependencies.pages = [outputs](const std::string& html) {
      return pace::Pages(html, outputs + "/report.html", pace::report_program());
    };
  }
  char path[4096] = {};
  if (::readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return 1;
  return pace::benches::models::run_program(path, {argv + 1, argv + argc}, dependencies, std::cout, std::cerr);
}
