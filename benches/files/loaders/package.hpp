// Packages that AOTInductor compiled.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/rand_like.h>
#include <c10/core/ScalarType.h>

#include "benches/files/aot/libtorch_parts.hpp"
#include "benches/files/aot/package_key.hpp"
#include "benches/files/loaders/call_spec.hpp"
#include "benches/files/loaders/captured_errors.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/stand_ins.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/check/clone_input.hpp"

#if PACE_HAS_AOT_INDUCTOR
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#endif

namespace pace::benches::loaders {

inline constexpr std::string_view package_folder = "data/aotinductor/";

#if PACE_HAS_AOT_INDUCTOR

namespace detail {

using AotiLoader = torch::inductor::AOTIModelPackageLoader;

/// A constant of a package that was a buffer of its module.
struct PackageBuffer {
  std::string name, fqn;
  at::Tensor value;
};

/// Gives a package the memory of its buffers. All calls of the package share one object, since the package holds its
/// buffers once.
class PackageBuffers {
 public:
  /// Takes the package's buffers among `names`. Make it before any call writes to them.
  PackageBuffers(AotiLoader& loader, const std::set<std::string>& names)
      : loader_(loader), buffers_(read(loader, names)), stand_ins_(values()) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) constants_.emplace(buffers_[i].name, stand_ins_.tensors()[i]);
  }

  [[nodiscard]] const std::vector<PackageBuffer>& all() const { return buffers_; }
  [[nodiscard]] std::vector<at::Tensor> values() const {
    std::vector<at::Tensor> values;
    for (const auto& buffer : buffers_) values.push_back(buffer.value);
    return values;
  }

  /// Makes compiled code use the memory of `tensors`, one for each buffer. The code trusts their types and sizes. Does
  /// nothing if it uses that memory already: an update leaks a handle for each buffer, and folds constants again.
  void give(const std::vector<at::Tensor>& tensors) {
    bool is_given = true;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!stand_ins_.fits(i, tensors[i]))
        throw Error("the buffer '" + buffers_[i].fqn + "' was given another type, size, stride or device");
      is_given = is_given && stand_ins_.stands_for(i, tensors[i]);
    }
    if (is_given) return;
    for (std::size_t i = 0; i < buffers_.size(); ++i) stand_ins_.stand_for(i, tensors[i]);
    try {
      loader_.get_runner()->update_constant_buffer(constants_, /*use_inactive=*/false, /*validate_full_updates=*/false,
                                                   /*user_managed=*/true);
    } catch (...) {
      release();
      throw;
    }
  }
  /// Releases the given memory. Call give() again before the next run.
  void release() { stand_ins_.release(); }

  /// The median time of give() with other memory. The next call also folds constants, which is not included.
  [[nodiscard]] Nanoseconds time_of_update() {
    constexpr std::size_t updates = 21;
    const auto tensors = values();
    std::vector<Nanoseconds> times;
    while (times.size() < updates) {
      release();
      const auto begin = std::chrono::steady_clock::now();
      give(tensors);
      times.emplace_back(std::chrono::steady_clock::now() - begin);
    }
    release();
    std::ranges::sort(times);
    return times[updates / 2];
  }

 private:
  [[nodiscard]] static std::vector<PackageBuffer> read(AotiLoader& loader, const std::set<std::string>& names) {
    std::vector<PackageBuffer> buffers;
    const auto values = loader.get_runner()->extract_constants_map(/*use_inactive=*/false);
    for (const auto& [name, fqn] : loader.get_runner()->getConstantNamesToOriginalFQNs())
      if (const auto value = values.find(fqn); names.contains(fqn) && value != values.end())
        buffers.push_back({name, fqn, check::clone_input(value->second)});
    std::ranges::sort(buffers, {}, &PackageBuffer::fqn);
    return buffers;
  }

  AotiLoader& loader_;
  std::vector<PackageBuffer> buffers_;
  StandIns stand_ins_;
  std::unordered_map<std::string, at::Tensor> constants_;  ///< the stand-ins, by the names of the constants
};

class BoundPackage final : public BoundCall {
 public:
  /// `tensors` are the package's inputs.
  BoundPackage(AotiLoader& loader, PackageBuffers& buffers, std::vector<std::size_t> positions,
               const std::vector<at::Tensor>& tensors)
      : loader_(loader), buffers_(buffers), positions_(std::move(positions)), inputs_(tensors.size()) {
    for (const auto position : positions_) types_.push_back(tensors[position].scalar_type());
    for (const auto& buffer : buffers_.all()) given_.push_back(check::clone_input(buffer.value));
  }
  BoundPackage(const BoundPackage&) = delete;
  BoundPackage& operator=(const BoundPackage&) = delete;
  ~BoundPackage() override { buffers_.release(); }

  /// Throws Error for tensors of other types, as a float64 reference has. The package would refuse them as well, but
  /// print an error although nothing is wrong.
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& tensors) override {
    std::vector<at::Tensor> flat;
    flat.reserve(positions_.size());
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      const auto& tensor = flat.emplace_back(tensors[positions_[i]]);
      if (tensor.scalar_type() != types_[i])
        throw Error(std::string("the package was compiled for ") + c10::toString(types_[i]) + ", and called with " +
                    c10::toString(tensor.scalar_type()));
    }
    for (std::size_t i = 0; i < written_.size(); ++i) given_[written_[i]] = tensors.at(inputs_ + i);
    if (!given_.empty()) buffers_.give(given_);
    return flat_outputs(loader_.run(flat));
  }
  [[nodiscard]] const std::vector<Buffer>& state() const override { return state_; }

  /// Finds the buffers that a call writes to; the caller gives those. Their floating-point values are random for that
  /// call. Otherwise a cache might be overwritten with its own values, and nothing would show.
  void find_state(const CallInputs& inputs) {
    const auto& buffers = buffers_.all();
    std::vector<at::Tensor> tensors, before;
    for (const auto& tensor : inputs.tensors()) tensors.push_back(check::clone_input(tensor));
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      given_[i] = check::clone_input(buffers[i].value);
      if (given_[i].is_floating_point()) given_[i].copy_(at::rand_like(given_[i], at::kFloat));
      before.push_back(check::clone_input(given_[i]));
    }
    try {
      (void)run(tensors);
    } catch (const std::exception&) {
      before.clear();  // left to the calls that are compared
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (i < before.size() && !same_bytes(before[i], given_[i])) written_.push_back(i);
      given_[i] = buffers[i].value;  // of all others
    }
    refresh_state();
  }

  void also_take(const std::vector<Buffer>& state) override {
    const auto& buffers = buffers_.all();
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (std::ranges::find(state, buffers[i].fqn, &Buffer::name) != state.end() &&
          std::ranges::find(written_, i) == written_.end())
        written_.push_back(i);
    std::ranges::sort(written_);
    refresh_state();
  }

 private:
  /// Call this when `written_` has changed.
  void refresh_state() {
    state_.clear();
    for (const auto i : written_) state_.push_back({buffers_.all()[i].fqn, buffers_.all()[i].value});
  }

  AotiLoader& loader_;
  PackageBuffers& buffers_;
  std::vector<std::size_t> positions_;
  std::size_t inputs_;
  std::vector<at::ScalarType> types_ = {};
  std::vector<at::Tensor> given_ = {};     ///< the package's memory in a call, one for each buffer
  std::vector<std::size_t> written_ = {};  ///< the buffers that the caller gives
  std::vector<Buffer> state_ = {};
};

class LoadedPackage final : public Loaded {
 public:
  /// `buffers`: names of constants that may be written to.
  LoadedPackage(std::string path, const std::string& model, const LoadOptions& options,
                const std::set<std::string>& buffers)
      : path_(std::move(path)),
        argument_names_(options.argument_names),
        // Single-threaded: no lock is taken for a second caller, and a run can be captured into a CUDA graph.
        loader_(path_, model, /*run_single_threaded=*/true, /*num_runners=*/1,
                options.device.is_cuda() ? options.device.index() : c10::DeviceIndex(-1)),
        buffers_(loader_, buffers) {}

  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    auto bound = std::make_unique<BoundPackage>(loader_, buffers_, positions_of(inputs), inputs.tensors());
    require_fit(*bound, inputs);
    if (buffers_.all().empty()) return bound;
    bound->find_state(inputs);
    if (!update_ && !bound->state().empty()) update_ = buffers_.time_of_update();
    return bound;
  }
  /// After bind().
  [[nodiscard]] std::vector<std::string> notes() const override {
    if (!update_) return {};
    return {"Each call of " + path_ +
            " that gets other buffers includes an update of its pointers to them, which takes " +
            format_time(*update_) + " (and what folds constants again, if it has any)"};
  }

 private:
  [[nodiscard]] std::vector<std::size_t> positions_of(const CallInputs& inputs) {
    const auto spec = loader_.get_call_spec();
    try {
      const CallSpec call(spec.empty() ? std::string() : spec.front(), argument_names_);
      return tensor_positions(call.flatten(inputs.inputs()), inputs);
    } catch (const Error& error) {
      throw InputError({path_}, error.what());
    }
  }

  /// Calls the package once on copies of the inputs. Compiled code names an input that does not fit on standard error.
  void require_fit(BoundPackage& bound, const CallInputs& inputs) const {
    std::vector<at::Tensor> copies;
    for (const auto& tensor : inputs.tensors()) copies.push_back(check::clone_input(tensor));
    std::string said;
    try {
      const CapturedErrors errors;
      try {
        (void)bound.run(copies);
      } catch (const std::exception&) {
        said = errors.text();
        throw;
      }
    } catch (const std::exception& error) {
      constexpr std::string_view mark = "Error: ";
      const auto begin = said.find(mark);
      if (begin == std::string::npos) throw InputError({path_}, "its first call failed: " + first_line(error));
      said.erase(0, begin + mark.size());
      throw InputError({path_}, "the package refuses the inputs (input_handles[0] is the first tensor): " +
                                    said.substr(0, said.find('\n')));
    }
  }

  std::string path_;
  std::vector<std::string> argument_names_;
  AotiLoader loader_;
  PackageBuffers buffers_;
  std::optional<Nanoseconds> update_ = {};  ///< time of one update; nothing: calls write to no buffers
};

}  // namespace detail

#endif  // PACE_HAS_AOT_INDUCTOR

/// Returns the number of threads that is compiled into a package's code for CPUs. Nothing if no loop is long enough for
/// threads, or the package has no sources.
[[nodiscard]] inline std::optional<int> threads_of_package(const Content& content, const std::string& model) {
  constexpr std::string_view mark = "#pragma omp parallel num_threads(";
  for (const auto& record : content.records()) {
    if (!record.starts_with(std::string(package_folder) + model + '/') || !record.ends_with(".cpp")) continue;
    const std::string source = content.read(record);
    if (const auto at = source.find(mark); at != std::string::npos) return std::atoi(source.c_str() + at + mark.size());
  }
  return std::nullopt;
}

/// The names of the buffers of the module that a package was compiled from, by its sources.
[[nodiscard]] inline std::set<std::string> buffers_of_package(const Content& content, const std::string& model) {
  constexpr std::string_view mark = "ConstantType::Buffer)", name = "original_fqn = \"";
  std::set<std::string> buffers;
  for (const auto& record : content.records()) {
    if (!record.starts_with(std::string(package_folder) + model + '/') || !record.ends_with(".wrapper.cpp")) continue;
    const std::string source = content.read(record);
    for (auto at = source.find(mark); at != std::string::npos; at = source.find(mark, at + 1)) {
      const auto begin = source.find(name, at);
      if (begin == std::string::npos) break;
      const auto end = source.find('"', begin + name.size());
      buffers.insert(source.substr(begin + name.size(), end - begin - name.size()));
    }
  }
  return buffers;
}

class PackageLoader final : public Loader {
 public:
  [[nodiscard]] std::string name() const override { return "AOTInductor"; }
  [[nodiscard]] bool recognises(const Content& content) const override {
    return !content.has_below("models/") && content.has_below(package_folder);
  }
  [[nodiscard]] std::string code_in(const Content& /*content*/) const override {
    return "compiled code (a shared library)";
  }
  void require_loadable([[maybe_unused]] const Content& content,
                        [[maybe_unused]] const LoadOptions& options) const override {
#if PACE_HAS_AOT_INDUCTOR
    const std::string model = model_of(content, options);
    std::optional<std::string> device;
    try {
      const auto metadata = detail::AotiLoader::load_metadata_from_package(content.path(), model);
      if (const auto found = metadata.find("AOTI_DEVICE_KEY"); found != metadata.end()) device = found->second;
    } catch (const std::exception& error) {
      throw InputError({content.path()}, "the package says nothing of what it was compiled for: " + first_line(error));
    }
    if (device && *device != c10::DeviceTypeName(options.device.type(), /*lower_case=*/true))
      throw InputError({content.path()},
                       "the package was compiled for " + *device + ", and the inputs are on " + options.device.str());
    if (!options.device.is_cpu()) return;
    if (const auto threads = threads_of_package(content, model); threads && *threads != at::get_num_threads())
      throw InputError({content.path()},
                       "the package was compiled for " + std::to_string(*threads) + " threads, and this program uses " +
                           std::to_string(at::get_num_threads()) +
                           ": the others would be compared with less. Give --threads " + std::to_string(*threads) +
                           ", or compile it for one (export.export(..., " + "threads=1) does)");
#else
    throw Unsupported(content.path() + ": this LibTorch does not load packages of AOTInductor");
#endif
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const Content& content, const LoadOptions& options) const override {
    require_loadable(content, options);
#if PACE_HAS_AOT_INDUCTOR
    const std::string model = model_of(content, options);
    // Compiled code trusts its operands unless this is set before its first run.
    ::setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1);
    try {
      return std::make_unique<detail::LoadedPackage>(content.path(), model, options,
                                                     buffers_of_package(content, model));
    } catch (const std::exception& error) {
      throw InputError({content.path()},
                       "the package does not load; it may have been compiled with another LibTorch "
                       "than this one (" +
                           aot::torch_version() + "): " + first_line(error));
    }
#else
    return nullptr;
#endif
  }

 private:
  [[nodiscard]] static std::string model_of(const Content& content, const LoadOptions& options) {
    return choose_model(content, content.names_between(package_folder, "/"), options.model);
  }
};

}  // namespace pace::benches::loaders
