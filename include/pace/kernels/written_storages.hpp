// WrittenStorages: copies of the memory that operators of a call on the CPU write to, made before they do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include "pace/check/ivalue.hpp"
#include "pace/inputs/record_inputs.hpp"

namespace pace::kernel {

/// Whether an operator writes to this argument. Some of LibTorch's operators that normalise update their running means
/// and variances without saying so in their schema.
[[nodiscard]] inline bool is_written(const c10::Argument& argument) {
  const auto* const alias = argument.alias_info();
  return (alias != nullptr && alias->isWrite()) || std::string_view(argument.name()).starts_with("running_");
}

/// Copies of memory that operators of a call write to and that outlives the call, such as a buffer or a counter of a
/// callable. Memory that is written otherwise than by an operator is not noticed.
class WrittenStorages {
 public:
  /// Runs `call()`, and copies each storage on the CPU before an operator of this thread first writes to it. Keeps the
  /// copies of those storages that exist afterwards in the same size and have other values.
  template <class Call>
  void observe(Call&& call) {
    {
      const Observing observing(*this);
      std::forward<Call>(call)();
    }
    std::erase_if(kept_, [](const Kept& each) {
      return is_released(each) || each.storage.nbytes() != each.size ||
             std::memcmp(each.storage.data(), each.bytes.get(), each.size) == 0;
    });
  }

  /// Writes the kept values back. Leaves out a storage that has another size by now.
  void restore() const {
    for (const Kept& each : kept_)
      if (each.storage.nbytes() == each.size)
        std::memcpy(const_cast<c10::Storage&>(each.storage).mutable_data(), each.bytes.get(), each.size);
  }
  /// Number of storages that restore() writes to.
  [[nodiscard]] std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    c10::Storage storage;
    std::size_t size = 0;
    std::unique_ptr<char[]> bytes;
  };

  /// The observer of this thread's calls; null: none. LibTorch's callbacks are plain functions.
  static WrittenStorages*& current() {
    static thread_local WrittenStorages* observer = nullptr;
    return observer;
  }

  class Observing {
   public:
    explicit Observing(WrittenStorages& observer) : before_(std::exchange(current(), &observer)) {
      handle_ = at::addThreadLocalCallback(
          at::RecordFunctionCallback([](const at::RecordFunction& range) -> std::unique_ptr<at::ObserverContext> {
            if (auto* const observer = current()) observer->look_at(range);
            return nullptr;
          })
              .needsInputs(true)
              .scopes({at::RecordScope::FUNCTION}));
    }
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;
    ~Observing() {
      at::removeCallback(handle_);
      current() = before_;
    }

   private:
    WrittenStorages* before_;
    at::CallbackHandle handle_{};
  };

  /// Whether nothing but this object holds the storage.
  static bool is_released(const Kept& each) { return each.storage.use_count() == 1; }

  void look_at(const at::RecordFunction& range) {
    const auto schema = range.operator_schema();
    if (!schema) return;
    const auto given = inputs::observed_inputs(range);
    const auto& arguments = schema->arguments();
    for (std::size_t i = 0; i < std::min(given.size(), arguments.size()); ++i) {
      if (!is_written(arguments[i])) continue;
      for (const auto& tensor : check::tensors_of(given[i])) keep(tensor);
    }
  }

  void keep(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage() || !tensor.storage().data()) return;
    const c10::Storage& storage = tensor.storage();
    if (!storage.device().is_cpu()) return;
    const auto is_same = [&](const Kept& each) {
      return each.storage.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl();
    };
    if (std::ranges::any_of(kept_, is_same)) return;
    // Intermediate results that have gone by now need no copy.
    std::erase_if(kept_, is_released);
    Kept& each = kept_.emplace_back(Kept{storage, storage.nbytes(), std::make_unique<char[]>(storage.nbytes())});
    std::memcpy(each.bytes.get(), storage.data(), each.size);
  }

  std::vector<Kept> kept_;
};

}  // namespace pace::kernel
