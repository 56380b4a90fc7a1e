// The back ends of a replay, the baseline first, and one case that they all run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/registered.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/slow_compile.hpp"
#include "pace/base/error.hpp"
#include "pace/os/activity.hpp"
#include "pace/timing/wall.hpp"

namespace pace::benches::operators {

/// The name of a case's results.
struct ReplayedCase {
  std::string name;
  std::string inputs;  ///< the recorded line, and the options' changes to it
  std::string place;   ///< an addition to messages of failures: where the call was recorded
};

class ReplayBackends {
 public:
  /// Throws InputError for a back end that is not known, named twice, or without the passes that are asked for.
  ReplayBackends(const ReplayOptions& options, BackendRegistry& registry)
      : names_(split_list(options.backends, "--backends")) {
    for (const auto& name : names_) {
      if (std::ranges::count(names_, name) > 1)
        throw InputError({}, "--backends: '" + name + "' is named twice; expected each once");
      all_.push_back(&registry.find(name));
      if (options.pass != Pass::forward && !all_.back()->is_differentiable())
        throw InputError({}, "--backends: '" + name +
                                 "' has no backward pass, since autograd does not follow what it "
                                 "runs; expected others, such as eager,torchscript");
    }
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<Backend*>& all() const { return all_; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

  /// Prepares one of them for a call. Says on the standard error where that compiled for long.
  [[nodiscard]] std::unique_ptr<Executable> make_ready(std::size_t backend, const OperatorCall& call) const {
    activity()->running(static_cast<std::int64_t>(backend));
    timing::WallClock clock;
    auto ready =
        prepare_timed(*all_[backend], call, [&] { return std::chrono::duration<double>(clock.now()).count(); });
    if (const auto line = slow_compile_line(ready.compile_seconds, names_[backend])) std::cerr << *line << std::endl;
    return std::move(ready.executable);
  }

 private:
  std::vector<std::string> names_;
  std::vector<Backend*> all_;
};

/// Lets a call that does not end be noticed, for the lifetime of the object.
struct Watched {
  Watched() { activity()->watch(true); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { activity()->watch(false); }
};

}  // namespace pace::benches::operators
