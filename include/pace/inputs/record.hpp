// Recorder: records the inputs of every operator that runs, and writes them as an operator-input file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include "pace/base/error.hpp"
#include "pace/corpus/text.hpp"
#include "pace/inputs/from_ivalue.hpp"
#include "pace/inputs/record_inputs.hpp"
#include "pace/inputs/schema.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/os/output_file.hpp"

namespace pace::inputs {

/// Returns the name of a file of recorded inputs: `<model>_training.txt` or `<model>_eval.txt`.
[[nodiscard]] inline std::string log_file_name(std::string_view model, bool training) {
  return std::string(model) + (training ? "_training.txt" : "_eval.txt");
}

/// File to which a recorder writes the calls of one step: `<directory>/<model>_training.txt` or `..._eval.txt`.
struct LogFile {
  std::filesystem::path directory;  ///< folder of the file
  std::string model;                ///< name of the model
  bool training = false;            ///< whether the step is a training step; false: an evaluation
};

namespace detail {

/// Recorded calls; shared with operators that are still running when the recorder stops.
class Recording {
 public:
  void add(const c10::FunctionSchema& schema, const std::string& text) {
    const std::lock_guard lock(mutex_);
    auto& op = operators_[recorded_name(schema)];
    op.non_compute = is_non_compute(schema);
    const auto [known, is_new] = op.index.try_emplace(text, op.samples.size());
    if (is_new) op.samples.emplace_back(text, 0);
    ++op.samples[known->second].second;
  }

  void skip(const c10::FunctionSchema& schema, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    skipped_.try_emplace(recorded_name(schema), reason);
  }

  [[nodiscard]] std::string text(bool skip_non_compute) const {
    const std::lock_guard lock(mutex_);
    std::string out;
    for (const auto& [name, op] : operators_) {
      if (op.non_compute && skip_non_compute) continue;
      out += "Operator: " + name + '\n';
      for (const auto& [text, count] : op.samples) out += "cnt: " + std::to_string(count) + ", " + text + '\n';
    }
    return out;
  }

  [[nodiscard]] std::map<std::string, std::string> skipped() const {
    const std::lock_guard lock(mutex_);
    return skipped_;
  }

 private:
  struct Operator {
    bool non_compute = false;
    std::vector<std::pair<std::string, std::int64_t>> samples;
    std::unordered_map<std::string, std::size_t> index;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Operator> operators_;  // written in the order of their names
  std::map<std::string, std::string> skipped_;
};

/// LibTorch's observers are plain functions, so the recording they write to has to be global.
struct ActiveRecording {
  std::mutex mutex;
  std::shared_ptr<Recording> recording;

  static ActiveRecording& instance() {
    static ActiveRecording active;
    return active;
  }
  std::shared_ptr<Recording> get() {
    const std::lock_guard lock(mutex);
    return recording;
  }
};

/// True while this thread is inside a recorded operator, whose own calls are not recorded.
inline bool& inside_recorded_operator() {
  thread_local bool inside = false;
  return inside;
}

/// Carries a recorded operator from its start to its end.
struct RecordedOperator : at::ObserverContext {
  RecordedOperator(std::shared_ptr<Recording> recording, c10::OperatorHandle handle)
      : recording(std::move(recording)), handle(std::move(handle)) {}
  std::shared_ptr<Recording> recording;
  c10::OperatorHandle handle;
  std::string text;  // empty where the inputs are not recorded
};

[[nodiscard]] inline bool holds_tensor(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().defined();
  if (value.isTensorList()) return !value.toTensorVector().empty();
  if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (holds_tensor(item)) return true;
    }
  }
  return false;
}

template <typename Values>
[[nodiscard]] bool any_holds_tensor(const Values& values) {
  for (const auto& value : values) {
    if (holds_tensor(value)) return true;
  }
  return false;
}

/// Whether a memory format or a storage is among the inputs: such calls cannot be replayed from their text.
[[nodiscard]] inline bool has_unrecordable_leaf(const c10::FunctionSchema& schema,
                                                c10::ArrayRef<const c10::IValue> values) {
  for (std::size_t i = 0; i < values.size() && i < schema.arguments().size(); ++i) {
    if (values[i].isStorage()) return true;
    const auto& argument = schema.arguments()[i];
    const bool format = without_optional(*argument.real_type()).kind() == c10::TypeKind::MemoryFormatType;
    if (format && !values[i].isNone() && !is_default(argument, values[i])) return true;
  }
  return false;
}

/// The first tensor among the values, also inside lists; an undefined one without any.
[[nodiscard]] inline at::Tensor first_tensor(c10::ArrayRef<const c10::IValue> values) {
  for (const c10::IValue& value : values) {
    if (value.isTensor() && value.toTensor().defined()) return value.toTensor();
    if (!value.isList()) continue;
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) return item.toTensor();
    }
  }
  return {};
}

/// Whether the operator runs as a composition of others, which are recorded in its place: it is defined by them, and
/// the device of its tensors has no kernel of its own for it (as the CPU has for silu_backward).
[[nodiscard]] inline bool consists_of_others(const c10::OperatorHandle& handle,
                                             c10::ArrayRef<const c10::IValue> inputs) {
  if (!handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) return false;
  const at::Tensor tensor = first_tensor(inputs);
  return !tensor.defined() ||
         !handle.hasKernelForDispatchKey(c10::computeDispatchKey(c10::nullopt, tensor.layout(), tensor.device()));
}

inline std::unique_ptr<at::ObserverContext> on_operator_start(const at::RecordFunction& function) {
  // Threads that share out one operator's work belong to that operator.
  if (inside_recorded_operator() || at::in_parallel_region()) return nullptr;
  auto recording = ActiveRecording::instance().get();
  const auto name = function.operator_name();
  if (recording == nullptr || !name) return nullptr;
  const auto handle = c10::Dispatcher::singleton().findOp(*name);
  if (!handle || !handle->hasSchema()) return nullptr;
  const c10::ArrayRef<const c10::IValue> inputs = observed_inputs(function);
  if (consists_of_others(*handle, inputs)) return nullptr;

  auto out = std::make_unique<RecordedOperator>(std::move(recording), *handle);
  inside_recorded_operator() = true;  // before the inputs are read, which may run operators
  const auto& schema = handle->schema();
  try {
    if (any_holds_tensor(inputs) && !has_unrecordable_leaf(schema, inputs)) {
      out->text = corpus::to_text(recorded_call(schema, inputs));  // now: the operator may change its inputs
    }
  } catch (const c10::Error& error) {
    out->recording->skip(schema, error.what_without_backtrace());
  } catch (const std::exception& error) {
    out->recording->skip(schema, error.what());
  }
  return out;
}

inline void on_operator_end(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* op = dynamic_cast<RecordedOperator*>(context);
  if (op == nullptr) return;
  inside_recorded_operator() = false;
  if (!op->text.empty() && any_holds_tensor(function.outputs())) op->recording->add(op->handle.schema(), op->text);
}

}  // namespace detail

/// Records the inputs of operators from its construction to stop() or its destruction, on every thread (backward passes
/// run on threads of their own).
///
/// An operator is recorded if it takes a tensor, returns a tensor, and no input is a memory format or a storage. An
/// operator that is a composition of others is recorded as these; other calls inside an operator are left out. Shapes,
/// dtypes and strides are recorded, values are not. Two lines record a training step:
///
///     pace::inputs::Recorder recorder;
///     ... the step: forward, loss, backward, optimiser ...
///     // recorded/my_model_training.txt
///     recorder.write_as({.directory = "recorded", .model = "my_model", .training = model->is_training()});
///
/// Only one Recorder can record at a time. It must be started and stopped while no operator runs on another thread, as
/// LibTorch requires for observers.
class Recorder {
 public:
  /// Starts recording. Throws Error while another Recorder records.
  Recorder() {
    auto& active = detail::ActiveRecording::instance();
    const std::lock_guard lock(active.mutex);
    if (active.recording != nullptr) {
      throw Error("another Recorder is recording: expected it to be stopped or destroyed first");
    }
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(&detail::on_operator_start, &detail::on_operator_end)
                                        .needsInputs(true)
                                        .needsOutputs(true)
                                        .scopes({at::RecordScope::FUNCTION}));
    active.recording = recording_;
    running_ = true;
  }
  ~Recorder() { stop(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Stops recording; the recorded calls stay available.
  void stop() {
    if (!running_) return;
    running_ = false;
    at::removeCallback(handle_);
    auto& active = detail::ActiveRecording::instance();
    const std::lock_guard lock(active.mutex);
    active.recording = nullptr;
  }

  /// Returns the recorded calls in the file format, with operators in the order of their names. Views and constructors
  /// (see is_non_compute) are left out if `skip_non_compute`.
  [[nodiscard]] std::string text(bool skip_non_compute = true) const { return recording_->text(skip_non_compute); }

  /// Returns the operators with a call that could not be recorded, and the reason for their first such call.
  [[nodiscard]] std::map<std::string, std::string> skipped() const { return recording_->skipped(); }

  /// Stops recording and writes text() to `file`; makes the directory if it is missing. Returns and throws as write()
  /// does; also throws Error for a model that is empty or holds a `/`.
  bool write_as(const LogFile& file) {
    stop();
    if (file.model.empty() || file.model.find('/') != std::string::npos) {
      throw Error("expected the name of a model as a part of a file's name, found '" + file.model + "'");
    }
    const NewFolders folders(file.directory);
    return write(file.directory / log_file_name(file.model, file.training));
  }

  /// Writes text(skip_non_compute) to `path`, unless the file exists. The file appears complete or not at all. Returns
  /// whether it was written. Throws Error if it cannot be written, if another process is writing it, or if nothing was
  /// recorded.
  bool write(const std::filesystem::path& path, bool skip_non_compute = true) const {
    std::error_code unknown;  // then writing fails
    const auto is_there = [&] { return std::filesystem::exists(path, unknown); };
    if (is_there()) return false;
    const std::string recorded = text(skip_non_compute);
    if (recorded.empty()) throw Error(path.string() + ": expected operators to write down, but none was recorded");
    OutputFile file(path.string(), /*replaces=*/true);
    if (is_there()) return false;  // meanwhile
    file.append(recorded);
    file.replace();
    file.close();
    return true;
  }

 private:
  std::shared_ptr<detail::Recording> recording_ = std::make_shared<detail::Recording>();
  at::CallbackHandle handle_ = 0;
  bool running_ = false;
};

}  // namespace pace::inputs
