// Collectives of several GPUs: each way to compute them checked against the closed form, timed by the slowest rank, and
// judged.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_translate_exception.hpp>

#include "benches/collectives/bandwidth.hpp"
#include "benches/collectives/command_line.hpp"
#include "benches/collectives/communicator.hpp"
#include "benches/collectives/operators.hpp"
#include "benches/collectives/shared_memory.hpp"
#include "benches/collectives/table.hpp"
#include "pace/catch2.hpp"
#include "pace/check/outputs.hpp"
#include "pace/ranks.hpp"
#include "pace/report/text.hpp"
#include "pace/runner/session.hpp"
#ifdef PACE_CUDA
#include "benches/collectives/nccl.hpp"
#endif

namespace {

namespace collectives = pace::benches::collectives;
using collectives::Kind;
using collectives::Place;

collectives::CommandLine line;
std::vector<std::int64_t> sizes;

struct Case {
  Kind kind;
  std::int64_t bytes;

  [[nodiscard]] std::string name() const {
    return std::string(collectives::name_of(kind)) + '/' + collectives::text_of_bytes(bytes);
  }
};
std::vector<Case> cases;

bool has_table = true;

/// Throws InputError for options that ranks cannot follow.
void refuse_options_for_one_process(const pace::runner::SessionOptions& session) {
  const auto refuse = [](const std::string& what) { throw pace::InputError({}, "this program: " + what); };
  if (const auto reason = pace::ranks::unsuitable_option(session.measuring); !reason.empty()) refuse(reason);
  if (session.threads != 1) refuse("does not go with --threads; why: its pool is lost in a fork; try: --threads 1");
  if (session.suite_alpha)
    refuse("does not go with --suite-alpha; why: a rank cannot count the gates of the run; try: --alpha");
}

void resolve(pace::runner::SessionOptions& session) {
  has_table = !session.no_table;
#ifndef PACE_CUDA
  if (line.place == Place::gpu)
    throw pace::InputError({},
                           "--device cuda: this program was built without CUDA; expected --device cpu, or a build "
                           "with --config=cuda");
#endif
  if (line.place == Place::cpu) {
    pace::runner::refuse_options_for_gpu(session, "--device cpu");
    if (line.ranks == 0) line.ranks = 2;
  } else if (session.measures) {
    const int gpus = pace::ranks::number_of_gpus();
    if (gpus > 0 && line.ranks > gpus)
      throw pace::InputError({}, "--ranks " + std::to_string(line.ranks) + ": this machine has " +
                                     std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") + "; expected at most " +
                                     std::to_string(gpus));
    if (line.ranks == 0) line.ranks = gpus;
  }
  refuse_options_for_one_process(session);
  collectives::refuse_gate_without_candidates(line);
  sizes = collectives::sizes_of(line);
  for (int i = 0; i < line.repeat; ++i)
    for (const Kind kind : line.kinds)
      for (const auto bytes : sizes) cases.push_back({kind, bytes});
}

/// Throws Error if the output of `way` differs from the closed form.
void require_closed_form(const collectives::Operator& one, const collectives::Way& way, const at::Tensor& input) {
  const auto match = pace::check::outputs_match(c10::IValue(one.expected()), c10::IValue(way.function(input)));
  if (!match.correct) throw pace::Error("'" + way.name + "' does not compute the closed form: " + match.message);
}

/// The same for a call that finds no answer of an earlier one in its output.
void require_written(const collectives::Operator& one, const collectives::Way& way, const at::Tensor& input) {
  way.function(input).fill_(std::numeric_limits<float>::quiet_NaN());
  require_closed_form(one, way, input);
}

void compare(pace::ranks::Rank& rank, collectives::Communicator& with, const std::string& library, const Case& each,
             at::Device device) {
  const collectives::Operator one(each.kind, with, collectives::elements_of(each.bytes, rank.count()), device);
  const at::Tensor input = one.input();
  const collectives::Way baseline = one.baseline(library);
  require_closed_form(one, baseline, input);
  auto comparison = pace::ranks::compare(rank, each.name(), input);
  comparison.baseline(baseline.name, baseline.function).bytes(one.bytes()).reuses_outputs();
  const auto candidates = line.twins ? std::vector{one.baseline(library + " again")} : one.candidates();
  for (const auto& way : candidates) {
    comparison.candidate(way.name, way.function);
    if (line.no_slower_than) comparison.expect(way.name, pace::NoSlowerThan(*line.no_slower_than));
  }
  comparison.run();
  require_written(one, baseline, input);
  for (const auto& way : candidates) require_written(one, way, input);
}

/// What each rank does.
void run_cases(pace::ranks::Rank& rank, const collectives::SharedBuffers* buffers) {
  if (buffers != nullptr) {
    collectives::SharedMemoryCommunicator with(rank, *buffers);
    for (const auto& each : cases) compare(rank, with, "shared memory", each, at::kCPU);
    return;
  }
#ifdef PACE_CUDA
  const at::Device device = rank.gpu();
  collectives::NcclCommunicator with(rank);
  for (const auto& each : cases) compare(rank, with, "NCCL " + with.version(), each, device);
#endif
}

TEST_CASE("collectives compute the closed form, and fast enough", "[ranks]") {
  std::unique_ptr<collectives::SharedBuffers> buffers;
  if (line.place == Place::cpu) {
    const auto bytes = static_cast<std::size_t>(collectives::bytes_of(sizes.back(), line.ranks));
    buffers = std::make_unique<collectives::SharedBuffers>(line.ranks, bytes * static_cast<std::size_t>(line.ranks));
  } else {
    if (pace::ranks::number_of_gpus() == 0) SKIP("no GPU that this program can use");
  }
  std::vector<pace::Result> results;
  try {
    results = pace::ranks::run(line.ranks, [&](pace::ranks::Rank& rank) { run_cases(rank, buffers.get()); });
  } catch (const pace::DeviceMissing& missing) {
    SKIP(missing.what());
  }
  std::vector<collectives::Measured> measured;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& result = results[i];
    if (!result.passed_over.empty()) continue;
    CHECK_THAT(result, pace::AsExpected());
    measured.push_back({cases.at(i).kind, collectives::bytes_of(cases.at(i).bytes, line.ranks), result});
  }
  if (has_table && !measured.empty()) collectives::print_table(measured, line.ranks, std::cout);
}

CATCH_TRANSLATE_EXCEPTION(const pace::Error& error) { return pace::report::printable_lines(error.what()); }

}  // namespace

int main(int argc, char** argv) {
  pace::runner::SessionConfig config;
  config.own_options = collectives::collectives_options(line);
  config.after_parse = resolve;
  config.list = [](std::ostream& out) {
    for (const auto& each : cases) out << each.name() << '\n';
  };
  return pace::runner::main(argc, argv, config);
}
