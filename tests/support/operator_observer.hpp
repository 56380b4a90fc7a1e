// OperatorObserver: hears of the operators that code under test calls, which fakes of models and clocks do not see.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <ATen/record_function.h>

namespace pace::test {

/// While it lives, `begins` is called with the name of each operator that this thread begins, such as `aten::zero_`.
/// One at a time.
class OperatorObserver {
 public:
  explicit OperatorObserver(std::function<void(std::string_view)> begins) {
    current() = std::move(begins);
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& range) -> std::unique_ptr<at::ObserverContext> {
          if (current()) current()(range.name());
          return nullptr;
        }));
  }
  OperatorObserver(const OperatorObserver&) = delete;
  OperatorObserver& operator=(const OperatorObserver&) = delete;
  ~OperatorObserver() {
    at::removeCallback(handle_);
    current() = nullptr;
  }

 private:
  /// LibTorch's callbacks are plain functions.
  static std::function<void(std::string_view)>& current() {
    thread_local std::function<void(std::string_view)> function;
    return function;
  }

  at::CallbackHandle handle_{};
};

}  // namespace pace::test
