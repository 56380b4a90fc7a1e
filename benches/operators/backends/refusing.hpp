// A back end that is known by name, and not there.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "benches/operators/backends/backend.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

/// Refuses every call with the reason, so that it has its rows and columns.
class RefusingBackend final : public Backend {
 public:
  RefusingBackend(std::string name, std::string reason) : name_(std::move(name)), reason_(std::move(reason)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<Executable> prepare(const OperatorCall& /*call*/) override {
    throw Unsupported(reason_);
  }

 private:
  std::string name_, reason_;
};

}  // namespace pace::benches::operators
