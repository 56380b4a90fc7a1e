// The times of one sample: repeats outside, models inside, the median of the repeats for each model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/compat/timer.hpp"
#include "benches/operators/profile.hpp"
#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/same.hpp"
#include "pace/os/activity.hpp"

namespace pace::benches::operators::compat {

using Executables = std::vector<std::unique_ptr<benches::operators::Executable>>;

namespace detail {

/// As Python prints the largest difference of the first outputs.
[[nodiscard]] inline std::string largest_difference(const c10::IValue& expected, const c10::IValue& actual) {
  const auto a = check::tensors_of(expected), b = check::tensors_of(actual);
  if (a.empty() || b.empty()) throw Error("no outputs to compare; expected a tensor on both sides");
  std::array<char, 64> text;
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), "tensor(%.4f)", a[0].sub(b[0]).abs().max().item<double>());
  return text.data();
}

/// Which models return something else than the first one. The originals call `same` and drop its result: only results
/// of another structure are printed, on `out`. A difference in value is logged, to `err`.
inline std::vector<bool> check_accuracy(const std::string& op, const Executables& models,
                                        const std::vector<at::Tensor>& tensors, const c10::IValue& expected,
                                        std::ostream& out, std::ostream& err) {
  check::SameOptions options;
  options.cos_similarity = true;
  options.equal_nan = true;
  options.log = [&](const std::string& message) { err << op << ": " << message << std::endl; };
  std::vector<bool> mismatches(models.size(), false);
  for (std::size_t model = 1; model < models.size(); ++model) {
    activity()->running(static_cast<std::int64_t>(model));
    const c10::IValue actual = models[model]->run(tensors);
    try {
      mismatches[model] = !check::same(actual, expected, std::nullopt, options);
    } catch (const Error& error) {
      mismatches[model] = true;
      out << error.what() << "\nAccuracy check failed: " << op << '\n' << largest_difference(expected, actual) << '\n';
    }
  }
  return mismatches;
}

[[nodiscard]] inline double time_once(benches::operators::Executable& model, const std::vector<at::Tensor>& tensors,
                                      bool gpu, Generation generation, Timer& timer) {
  if (!gpu) {
    c10::IValue kept;  // so that freeing it is not timed
    return timer.cpu([&] { kept = model.run(tensors); }).count();
  }
  static_cast<void>(model.run(tensors));
  return timer.gpu([&] { static_cast<void>(model.run(tensors)); }, generation).count();
}

}  // namespace detail

struct Measured {
  /// One for each model. A flaw, kept: seconds on the CPU, milliseconds on a GPU.
  std::vector<double> medians;
  /// The same of each repeat, by model.
  std::vector<std::vector<double>> times;
  /// Whether a model's result was another than the first one's; only looked for with accuracy checking.
  std::vector<bool> mismatches;
};

/// All models run on the very same tensors, also where they write to them. The first one runs once before everything
/// else, which is all the warm-up that it gets on the CPU, and more than the others get.
[[nodiscard]] inline Measured measure(const std::string& op, const Executables& models,
                                      const std::vector<at::Tensor>& tensors, const CompatOptions& options,
                                      Generation generation, Timer& timer, std::ostream& out, std::ostream& err) {
  Measured result;
  activity()->running(0);
  const c10::IValue expected = models.at(0)->run(tensors);
  result.mismatches.resize(models.size(), false);
  // Values that operators leave uninitialised are not compared, neither here nor by pace's own flow.
  if (options.accuracy_checking && !benches::operators::result_is_uninitialised(op))
    result.mismatches = detail::check_accuracy(op, models, tensors, expected, out, err);
  const std::size_t repeats = options.accuracy_checking ? 1 : options.repeats;
  result.times.resize(models.size());
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    const TraceRange rep("rep", repeat);
    for (std::size_t model = 0; model < models.size(); ++model) {
      const TraceRange range("model", model);
      activity()->running(static_cast<std::int64_t>(model));
      result.times[model].push_back(detail::time_once(*models[model], tensors, on_gpu(options), generation, timer));
    }
  }
  for (std::vector<double> own : result.times) {
    std::ranges::sort(own);
    result.medians.push_back((own[(own.size() - 1) / 2] + own[own.size() / 2]) / 2);
  }
  return result;
}

}  // namespace pace::benches::operators::compat
