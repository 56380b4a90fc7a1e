// How far a back end's outputs may be from eager's: the policies of the three suites.
#pragma once

#include <string_view>

#include "benches/models/config.hpp"
#include "benches/models/settings.hpp"
#include "benches/models/suite.hpp"

namespace pace::benches::models {

/// The inputs of a policy beside the name.
struct ToleranceCase {
  Suite suite = Suite::torchbench;
  bool training = false;
  Precision precision = Precision::as_made;
  /// `cpu`, `cuda` or `xpu`.
  std::string_view device = "cpu";
  /// Asked for on the command line.
  bool cosine = false;
  /// Weights are constants of the code, and convolutions have batch norms folded into them.
  bool freezing = false;
};

struct Tolerance {
  /// Absolute and relative.
  double tolerance = 1e-4;
  bool cosine = false;

  [[nodiscard]] bool operator==(const Tolerance&) const = default;
};

namespace detail {

[[nodiscard]] inline Tolerance torchbench_tolerance(const ToleranceCase& the, std::string_view name,
                                                    const Config& config) {
  const auto& lists = config.tolerance;
  Tolerance result{.tolerance = 1e-4, .cosine = the.cosine};
  const auto with = [&](double tolerance) { return Tolerance{tolerance, the.cosine}; };
  if (the.precision == Precision::float16 || the.precision == Precision::amp) {
    if (the.freezing && lists.freezing_higher_fp16.contains(name)) return with(1e-2);
    if (the.freezing && lists.freezing_even_higher.contains(name)) return with(8e-2);
    if (lists.higher_fp16.contains(name)) return with(1e-2);
    if (lists.even_higher.contains(name)) return with(8e-2);
    return with(1e-3);
  }
  if (the.precision == Precision::bfloat16) {
    if (lists.higher_bf16.contains(name)) return with(1e-2);
    if (the.device == "xpu" && lists.higher_bf16_xpu.contains(name)) return with(8e-2);
  }
  if (the.training && (the.device == "cuda" || the.device == "xpu")) {
    result.tolerance = 1e-3;
    if (lists.cosine.contains(name))
      result.cosine = true;
    else if (lists.even_higher.contains(name) && !lists.higher.contains(name))
      result.tolerance = 8e-2;
  }
  return result;
}

[[nodiscard]] inline double huggingface_tolerance(const ToleranceCase& the, std::string_view name,
                                                  const Config& config) {
  const auto& lists = config.tolerance;
  if (the.training) return lists.higher.contains(name) ? 2e-2 : 1e-2;
  if (the.device == "cpu" && lists.even_higher.contains(name)) return 5e-3;
  return lists.higher.contains(name) ? 4e-3 : 1e-3;
}

[[nodiscard]] inline double timm_tolerance(const ToleranceCase& the, std::string_view name, const Config& config) {
  const auto& lists = config.tolerance;
  if (the.training) return lists.even_higher.contains(name) ? 8e-2 : lists.higher.contains(name) ? 4e-2 : 1e-2;
  return the.freezing && lists.freezing_even_higher.contains(name) ? 8e-2 : 1e-3;
}

}  // namespace detail

/// torchbench.py's, huggingface.py's and timm_models.py's get_tolerance_and_cosine_flag. The lists of the two latter
/// are `higher` (training 2e-2, inference 4e-3; training 4e-2) and `even_higher` (on a CPU 5e-3; training 8e-2). For
/// freezing, timm_models.py and torchbench.py have the list `freezing.even_higher` (inference 8e-2; torchbench.py: in
/// half types).
[[nodiscard]] inline Tolerance tolerance_of(const ToleranceCase& the, std::string_view name, const Config& config) {
  switch (the.suite) {
    case Suite::torchbench:
    case Suite::own:
      return detail::torchbench_tolerance(the, name, config);
    case Suite::huggingface:
      return {detail::huggingface_tolerance(the, name, config), the.cosine};
    case Suite::timm:
      return {detail::timm_tolerance(the, name, config), the.cosine};
  }
  return {};
}

}  // namespace pace::benches::models
