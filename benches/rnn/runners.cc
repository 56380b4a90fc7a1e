#include "benches/rnn/runners.hpp"

#include <algorithm>
#include <utility>

#include "benches/rnn/draw.hpp"
#include "pace/base/error.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::rnn {

namespace {

/// Filled before main() begins.
std::vector<Runner>& registered() {
  static std::vector<Runner> all;
  return all;
}

}  // namespace

Registered::Registered(Runner runner) { registered().push_back(std::move(runner)); }

void check(const Runner& runner, const Sizes& sizes) {
  validate(sizes);
  if (sizes.original) {
    if (runner.needs_cuda_in_original && !sizes.device.is_cuda())
      throw Unsupported("--device: fastrnns makes " + runner.name +
                        " on a GPU, whatever the device is; expected cuda, found " + sizes.device.str());
    return;
  }
  if (sizes.layers > runner.max_layers)
    throw InputError({}, "--numLayers: " + runner.name + " has " + std::to_string(runner.max_layers) +
                             " layer and no more; expected 1, found " + std::to_string(sizes.layers));
  if (runner.needs_cuda && !sizes.device.is_cuda())
    throw Unsupported("--device: " + runner.name + " runs on a GPU only; " +
                      (runner.without_cuda.empty()
                           ? ""
                           : runner.without_cuda + " is the same module without cuDNN, and runs on the CPU, too; ") +
                      "expected cuda, found " + sizes.device.str());
}

const std::vector<Runner>& runners() {
  static const std::vector<Runner> all = [] {
    std::vector<Runner> list = registered();
    // The linker chooses the order of registration.
    std::ranges::stable_sort(list, {}, &Runner::name);
    for (const Runner& runner : list)
      if (runner.name.empty() || !runner.make)
        throw Error("the runner '" + report::printable(runner.name) +
                    "' is registered without a name or a function that makes its model; expected both");
    const auto twice = std::ranges::adjacent_find(list, {}, &Runner::name);
    if (twice != list.end())
      throw Error("two runners are registered as '" + report::printable(twice->name) +
                  "'; expected names of their own");
    for (Runner& runner : list) {
      // The fields that `check` reads; the model's maker is not among them.
      Runner described = runner;
      described.make = {};
      runner.make = [described = std::move(described), make = std::move(runner.make)](const Sizes& sizes) {
        check(described, sizes);
        return make(sizes);
      };
    }
    return list;
  }();
  return all;
}

std::string names_of_runners() {
  std::string names;
  for (const Runner& runner : runners()) names += (names.empty() ? "" : ", ") + runner.name;
  return names;
}

const Runner& find_runner(const std::string& name) {
  const auto found = std::ranges::find(runners(), name, &Runner::name);
  if (found != runners().end()) return *found;
  throw InputError({}, "no runner is called '" + report::printable(name) + "'; expected one of " + names_of_runners());
}

}  // namespace pace::benches::rnn
