// Back ends that fail in ways of their own, for tests.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/Exception.h>

#include "benches/models/run/backend.hpp"

namespace pace::test {

namespace models = pace::benches::models;

/// A back end that is there while the test runs.
class AddedBackend {
 public:
  AddedBackend(std::string name, std::function<models::Runnable(models::Instance, const models::MakeOptions&)> make) {
    models::model_backends().push_back({std::move(name), std::move(make)});
  }
  AddedBackend(const AddedBackend&) = delete;
  AddedBackend& operator=(const AddedBackend&) = delete;
  ~AddedBackend() { models::model_backends().pop_back(); }
};

/// Eager, whose forward does something else first; `change` gets its output.
inline auto eager_but(
    std::function<void(int call)> before,
    std::function<c10::IValue(c10::IValue)> change = [](c10::IValue value) { return value; }) {
  return [before, change](models::Instance instance, const models::MakeOptions& options) {
    auto made = models::detail::make_eager(std::move(instance), options);
    made.model.step.forward = [before, change, forward = made.model.step.forward, call = 0](auto& inputs) mutable {
      before(++call);
      return change(forward(inputs));
    };
    return made;
  };
}

[[noreturn]] inline void run_out_of_memory() {
  throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "no memory is left");
}

}  // namespace pace::test
