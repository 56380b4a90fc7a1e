// Notices when a program reads the values of tensors: a trace cannot record them.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <ATen/record_function.h>

namespace pace::benches::aot::detail {

/// While it lives, notes this thread's first operator that reads values (`item`). Those that other operators call
/// inside do not count: the outer ones are recorded. One at a time.
class ValueReads {
 public:
  ValueReads()
      : callback_(
            at::addThreadLocalCallback(at::RecordFunctionCallback(&begin, &end).scopes({at::RecordScope::FUNCTION}))) {
    state() = {};
  }
  ValueReads(const ValueReads&) = delete;
  ValueReads& operator=(const ValueReads&) = delete;
  ~ValueReads() { at::removeCallback(callback_); }

  /// Empty if there was none.
  [[nodiscard]] const std::string& first() const { return state().first; }

 private:
  struct State {
    int depth = 0;
    std::string first;
  };
  // Observers are plain functions.
  [[nodiscard]] static State& state() {
    thread_local State state;
    return state;
  }

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    // Not `equal`: with that, LibTorch's own modules ask whether two operands are one.
    constexpr std::array<std::string_view, 3> readers = {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"};
    State& now = state();
    if (now.depth++ == 0 && now.first.empty() &&
        std::find(readers.begin(), readers.end(), function.name()) != readers.end()) {
      now.first = function.name();
    }
    return nullptr;
  }
  static void end(const at::RecordFunction&, at::ObserverContext*) { --state().depth; }

  at::CallbackHandle callback_;
};

}  // namespace pace::benches::aot::detail
