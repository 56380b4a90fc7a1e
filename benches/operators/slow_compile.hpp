// Says when compiling a call took long.
#pragma once

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/calls/operator_call.hpp"

#include "pace/base/c_numbers.hpp"

namespace pace::benches::operators {

/// More than this is worth a line.
inline constexpr double slow_compile_seconds = 10;

/// `slow compile inductor 12.3s WHAT`, where `what` names one of several; nothing if it was quick.
[[nodiscard]] inline std::optional<std::string> slow_compile_line(double seconds, const std::string& what) {
  if (!(seconds > slow_compile_seconds)) return std::nullopt;
  std::array<char, 32> text;
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), "%.1f", seconds);
  return "slow compile inductor " + std::string(text.data()) + "s " + what;
}

/// A call made ready, and how long its compilation took.
struct TimedExecutable {
  std::unique_ptr<benches::operators::Executable> executable;
  /// The time that the back end tells, or else the time of prepare().
  double compile_seconds = 0;
};

/// `now()` gives seconds. Throws as prepare() does.
template <class Now>
[[nodiscard]] TimedExecutable prepare_timed(benches::operators::Backend& backend,
                                            const benches::operators::OperatorCall& call, Now&& now) {
  const double start = now();
  auto executable = backend.prepare(call);
  const double took = now() - start;
  return {std::move(executable), backend.compile_seconds(call).value_or(took)};
}

}  // namespace pace::benches::operators
