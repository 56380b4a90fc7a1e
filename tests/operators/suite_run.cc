// Runs recorded calls once on the CPU in float32, through the eager back end, and lists the refused ones. By hand:
//   suite_run DIRECTORY [--max-samples N] [--op NAME] [--threads N] [--largest BYTES]
// It must come to its end whatever the files hold. Exit code 1: a call wrote to an input that it is not known to write
// to.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "benches/operators/backends/eager.hpp"
#include "benches/operators/backends/skip.hpp"
#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/calls/memory.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/corpus/embedding.hpp"
#include "pace/inputs/generate.hpp"

namespace {

using namespace pace;

struct Arguments {
  std::string directory, op;
  std::size_t max_samples = SIZE_MAX;
  std::int64_t largest = INT64_MAX;
  /// Those that upstream's rules skip, too.
  bool all = false;
};

struct Tally {
  std::size_t ran = 0, refused = 0, threw = 0, wrote = 0, skipped_operators = 0, too_large = 0;
  std::map<std::string, std::size_t> reasons;
};

/// FNV-1a over a tensor's storage, eight bytes at a time.
std::uint64_t fingerprint(const at::Tensor& tensor) {
  if (!tensor.has_storage()) return 0;
  const auto* bytes = static_cast<const char*>(tensor.storage().data());
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i + 8 <= tensor.storage().nbytes(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return hash;
}

std::string first_line(const char* text) {
  const std::string_view all = text;
  return std::string(all.substr(0, all.find('\n')));
}

/// Positions of tensors that the run changed although the call says it does not.
std::string undeclared_writes(const pace::benches::operators::OperatorCall& call,
                              const std::vector<std::uint64_t>& before) {
  std::string found;
  const auto& declared = call.mutated_tensors();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (std::find(declared.begin(), declared.end(), i) == declared.end() &&
        fingerprint(call.tensors()[i]) != before[i]) {
      found += ' ' + std::to_string(i);
    }
  }
  return found;
}

void run_sample(const std::string& op, const corpus::Sample& sample, const Arguments& arguments, Tally& tally) {
  bool started = false;
  try {
    pace::inputs::GenerateOptions options;
    options.dtype = at::kFloat;
    const corpus::Call parsed = corpus::parse_call(sample, op);
    const std::int64_t bytes = pace::inputs::input_bytes(parsed, options.dtype);
    if (bytes > arguments.largest) {
      ++tally.too_large;
      return;
    }
    pace::benches::operators::require_memory(bytes, "the inputs", pace::available_memory());
    const auto call =
        pace::benches::operators::OperatorCall::bind(op, pace::inputs::generate(parsed, options), sample.where);
    pace::benches::operators::make_inputs_valid(call);
    pace::benches::operators::EagerBackend eager;
    const auto executable = eager.prepare(call);
    constexpr std::int64_t quick_to_read = 16 << 20;
    std::vector<std::uint64_t> before;
    if (bytes <= quick_to_read) {
      for (const auto& tensor : call.tensors()) before.push_back(fingerprint(tensor));
    }
    started = true;
    (void)executable->run(call.tensors());
    ++tally.ran;
    if (const std::string writes = undeclared_writes(call, before); !writes.empty()) {
      ++tally.wrote;
      std::printf("WROTE to inputs%s: %s: %s\n", writes.c_str(), sample.where.to_string().c_str(), op.c_str());
    }
  } catch (const std::exception& error) {
    const std::string reason = first_line(error.what());
    ++(started ? tally.threw : tally.refused);
    ++tally.reasons[op + (started ? ": threw: " : ": ") + reason];
  }
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int run(const Arguments& arguments) {
  const auto corpus = corpus::Corpus::from_directory(arguments.directory);
  Tally tally;
  const auto begin = std::chrono::steady_clock::now();
  std::size_t number = 0;
  for (const auto& op : corpus.operators()) {
    ++number;
    if (!arguments.op.empty() && op.name != arguments.op) continue;
    if (!arguments.all &&
        (corpus::yields_no_inputs(op.name) ||
         pace::benches::operators::skip_operator(op.name, pace::benches::operators::has_kernel_on(c10::kCPU)).skip)) {
      ++tally.skipped_operators;
      continue;
    }
    for (std::size_t i = 0; i < op.samples.size() && i < arguments.max_samples; ++i) {
      run_sample(op.name, op.samples[i], arguments, tally);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%6.0f s  %zu of %zu operators, %zu ran, %zu refused, %zu threw, peak %.0f MiB: %s\n", seconds.count(),
                number, corpus.operators().size(), tally.ran, tally.refused, tally.threw, peak_mib(), op.name.c_str());
    std::fflush(stdout);
  }
  std::printf("\nrefused:\n");
  for (const auto& [reason, count] : tally.reasons) std::printf("%6zu  %s\n", count, reason.c_str());
  std::printf(
      "%zu ran, %zu refused, %zu threw, %zu wrote unannounced, %zu larger than asked for, %zu operators skipped\n",
      tally.ran, tally.refused, tally.threw, tally.wrote, tally.too_large, tally.skipped_operators);
  return tally.wrote == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--max-samples")
      arguments.max_samples = std::stoul(value), ++i;
    else if (option == "--all")
      arguments.all = true;
    else if (option == "--op")
      arguments.op = value, ++i;
    else if (option == "--threads")
      at::set_num_threads(std::stoi(value)), ++i;
    else if (option == "--largest")
      arguments.largest = std::stoll(value), ++i;
    else
      arguments.directory = option;
  }
  if (arguments.directory.empty()) {
    std::fprintf(stderr, "usage: suite_run DIRECTORY [--max-samples N] [--op NAME] [--threads N] [--largest BYTES]\n");
    return 2;
  }
  const c10::InferenceMode inference;
  try {
    return run(arguments);
  } catch (const pace::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
