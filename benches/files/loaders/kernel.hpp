// Kernels: a YAML file that names an image (a cubin, PTX, a fatbin, a kernel of Triton's cache, CUDA source), and how
// one of its kernels is launched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "benches/files/kernels/find_image.hpp"
#include "benches/files/kernels/image.hpp"
#include "benches/files/kernels/kernel_device.hpp"
#include "benches/files/kernels/kernel_file.hpp"
#include "benches/files/kernels/nvrtc.hpp"
#include "benches/files/kernels/triton.hpp"
#include "benches/files/loaders/bind_kernel.hpp"
#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/loader.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::loaders {

namespace detail {

class LoadedKernelFile final : public Loaded {
 public:
  LoadedKernelFile(KernelFile file, const OpenKernelDevice& open, c10::Device device)
      : file_(std::move(file)), torch_device_(device) {
    auto images = find_images(file_);
    device_ = open(device);
    if (images.front().is_source) compile(images.front());
    const FoundImage& image = choose(images);
    require_launch_keys(file_, image);
    std::string wanted = file_.kernel;
    if (!compiled_kernel_.empty()) wanted = compiled_kernel_;
    if (wanted.empty() && image.triton) wanted = image.triton->kernel;
    triton_ = image.triton;
    if (code_->kernels) symbol_ = choose_kernel(file_, wanted, symbols_of(*code_->kernels), image.path);
    kernels_ = for_image(file_, [&] { return device_->load(image.bytes, image.path); });
    // Only the driver knows the ones of a compressed image.
    if (!code_->kernels) symbol_ = choose_kernel(file_, wanted, kernels_->names(), image.path);
    if (triton_ && triton_->programmatic)
      notes_.push_back(file_.path + ": Triton launches this kernel before the one before it has ended; here it waits");
  }

  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    const KernelBinder binder(file_, inputs, torch_device_);
    auto call = std::make_unique<BoundKernel>();
    call->device = torch_device_;
    binder.bind_arguments(*call);
    const auto known = code_->kernels ? std::ranges::find(*code_->kernels, symbol_, &KernelEntry::symbol)
                                      : std::vector<KernelEntry>::const_iterator{};
    const bool says_parameters = code_->kernels && known->parameters;
    const auto scratch = triton_ ? triton_->scratch : std::vector<TritonScratch>{};
    if (says_parameters) check_parameters(file_, source_name(symbol_), *known->parameters, scratch);
    call->launch = launch_of(binder);
    call->kernel = kernels_->get(symbol_);
    if (!says_parameters) check_parameters(file_, source_name(symbol_), call->kernel->parameters(), scratch);
    check_resources(*call->kernel, call->launch);
    call->kernel->allow_shared_bytes(call->launch.shared_bytes);
    // As many as Triton's grid has elements, for each block of a cluster.
    const auto& grid = call->launch.grid;
    for (auto each : scratch) {
      const std::int64_t bytes = each.bytes;
      for (const auto blocks : grid)
        if (__builtin_mul_overflow(each.bytes, std::int64_t{blocks}, &each.bytes))
          file_.grid.front().refuse("Triton's scratch memory, " + std::to_string(bytes) +
                                    " bytes for each block, is too large for a grid of " + std::to_string(grid[0]) +
                                    " x " + std::to_string(grid[1]) + " x " + std::to_string(grid[2]) + " blocks");
      call->scratch.push_back(each);
    }
    return call;
  }

 private:
  [[nodiscard]] static std::vector<std::string> symbols_of(const std::vector<KernelEntry>& kernels) {
    std::vector<std::string> all;
    for (const auto& kernel : kernels) all.push_back(kernel.symbol);
    return all;
  }

  void compile(FoundImage& image) {
    const auto nvrtc = for_image(file_, [] { return std::make_unique<const Nvrtc>(); });
    const SourceToCompile source{
        .text = image.bytes, .path = image.path, .kernel = file_.kernel, .options = file_.options};
    CompiledSource compiled;
    try {
      compiled = for_image(file_, [&] { return nvrtc->compile(source, device_->compute_capability()); });
    } catch (const InputError&) {
      if (source.kernel.empty()) throw;
      SourceToCompile all = source;
      all.kernel.clear();
      std::optional<CompiledSource> without_name;
      try {
        without_name = nvrtc->compile(all, device_->compute_capability());
      } catch (const Error&) {
      }
      if (!without_name) throw;
      // The source compiles: the name is wrong, or an instance of a template does not compile.
      const auto codes = read_image(without_name->image, image.path);
      if (codes.front().kernels && !file_.kernel.ends_with('>'))
        static_cast<void>(choose_kernel(file_, file_.kernel, symbols_of(*codes.front().kernels), image.path));
      throw;
    }
    image.bytes = std::move(compiled.image);
    image.codes = for_image(file_, [&] { return read_image(image.bytes, image.path); });
    compiled_kernel_ = std::move(compiled.kernel);
    if (!compiled.log.empty()) notes_.push_back(image.path + ": NVRTC: " + compiled.log);
  }

  /// The image for the device. Throws InputError, which names the architectures that were found.
  [[nodiscard]] const FoundImage& choose(std::vector<FoundImage>& images) {
    std::vector<KernelCode> all;
    for (const auto& image : images) all.insert(all.end(), image.codes.begin(), image.codes.end());
    const KernelCode* const best = code_for(all, device_->compute_capability());
    if (best == nullptr)
      throw InputError(file_.where_images, "key 'image': the kernel is for another GPU: found " + texts_of(all) +
                                               ", and the device (" + device_->name() + ") is sm_" +
                                               std::to_string(device_->compute_capability()) +
                                               "; expected machine code for it, or PTX of it or an older one");
    code_ = *best;
    auto at = static_cast<std::size_t>(best - all.data());
    for (auto& image : images) {
      if (at < image.codes.size()) {
        if (best->is_ptx && !image.is_source)
          notes_.push_back(image.path + ": the driver compiles its " + best->text() + " for sm_" +
                           std::to_string(device_->compute_capability()));
        return image;
      }
      at -= image.codes.size();
    }
    throw Error(file_.path + ": no image was chosen");
  }

  [[nodiscard]] KernelLaunch launch_of(const KernelBinder& binder) const {
    constexpr std::int64_t most_grid = std::numeric_limits<std::int32_t>::max();
    KernelLaunch launch;
    launch.grid = binder.sizes(file_.grid, {most_grid, 65535, 65535});
    launch.cooperative = file_.cooperative;
    if (triton_) {
      launch.block = {triton_->threads, 1, 1};
      launch.shared_bytes = triton_->shared;
      launch.cluster = {triton_->blocks, 1, 1};
      launch.cooperative = triton_->cooperative;
      if (launch.grid[0] > most_grid / triton_->blocks)
        file_.grid.front().refuse("the grid and Triton's clusters have more than 2147483647 blocks");
      launch.grid[0] *= triton_->blocks;
      return launch;
    }
    launch.block = binder.sizes(file_.block, {1024, 1024, 64});
    if (!file_.cluster.empty())
      launch.cluster =
          binder.sizes(file_.cluster, {most_blocks_of_cluster, most_blocks_of_cluster, most_blocks_of_cluster});
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > most_blocks_of_cluster)
      file_.cluster.front().refuse("expected at most 8 blocks of a cluster");
    for (std::size_t i = 0; i < 3; ++i)
      if (launch.grid[i] % launch.cluster[i] != 0)
        file_.cluster.front().refuse("expected a grid that is a multiple of it, found " +
                                     std::to_string(launch.grid[i]) + " blocks and clusters of " +
                                     std::to_string(launch.cluster[i]));
    if (file_.shared) launch.shared_bytes = static_cast<std::uint32_t>(file_.shared->whole(binder.scope(), 0, 1 << 30));
    return launch;
  }

  void check_resources(const LaunchableKernel& kernel, const KernelLaunch& launch) const {
    const std::int64_t fixed = kernel.static_shared_bytes(), most = device_->most_shared_bytes();
    if (fixed + launch.shared_bytes > most) {
      const std::string what = "expected at most " + std::to_string(most) + " bytes of shared memory on " +
                               device_->name() + ", found " + std::to_string(launch.shared_bytes) + " and " +
                               std::to_string(fixed) + " of the kernel's own";
      if (file_.shared) file_.shared->refuse(what);
      throw InputError(file_.where, what);
    }
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > kernel.most_threads()) {
      const std::string what = "expected at most " + std::to_string(kernel.most_threads()) +
                               " threads of a block for this kernel, found " + std::to_string(threads);
      if (!file_.block.empty()) file_.block.front().refuse(what);
      throw InputError(file_.where, what);
    }
  }

  KernelFile file_;
  c10::Device torch_device_;
  std::unique_ptr<KernelDevice> device_;
  std::optional<TritonFacts> triton_;
  std::optional<KernelCode> code_;
  std::string compiled_kernel_, symbol_;
  std::unique_ptr<LoadedKernels> kernels_;
  std::vector<std::string> notes_;
};

}  // namespace detail

class KernelLoader final : public Loader {
 public:
  /// `open`: makes the device that kernels run on.
  explicit KernelLoader(OpenKernelDevice open = open_kernel_device) : open_(std::move(open)) {}

  [[nodiscard]] std::string name() const override { return "kernel (a file *.yaml)"; }
  [[nodiscard]] bool recognises(const Content& content) const override {
    const auto extension = std::filesystem::path(content.path()).extension();
    return (extension == ".yaml" || extension == ".yml") && !content.is_archive() && !content.is_elf() &&
           !content.is_pickle();
  }
  [[nodiscard]] std::string code_in(const Content& content) const override {
    std::string images;
    for (const auto& image : read_kernel_file(content.path()).images) images += (images.empty() ? "" : ", ") + image;
    return "a kernel, which may read and write all memory of this program on the GPU (" + images + ')';
  }
  [[nodiscard]] std::vector<std::string> also_reads(const Content& content) const override {
    std::vector<std::string> all;
    for (const auto& image : read_kernel_file(content.path()).images)
      for (auto& each : detail::files_of_image(image)) all.push_back(std::move(each));
    return all;
  }
  void require_loadable(const Content& content, const LoadOptions& options) const override {
    const KernelFile file = read_kernel_file(content.path());
    const auto images = detail::find_images(file);
    const auto is_like_first = [&](const auto& image) {
      return image.triton.has_value() == images.front().triton.has_value();
    };
    // The device chooses among images of both kinds.
    if (std::ranges::all_of(images, is_like_first)) detail::require_launch_keys(file, images.front());
    (void)open_(options.device);
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const Content& content, const LoadOptions& options) const override {
    return std::make_unique<detail::LoadedKernelFile>(read_kernel_file(content.path()), open_, options.device);
  }

 private:
  OpenKernelDevice open_;
};

}  // namespace pace::benches::loaders
