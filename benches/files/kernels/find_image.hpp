// The images that a kernel file names, and which of their kernels it means.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "benches/files/kernels/image.hpp"
#include "benches/files/kernels/kernel_file.hpp"
#include "benches/files/kernels/triton.hpp"
#include "pace/base/demangle.hpp"
#include "pace/base/error.hpp"
#include "pace/os/read_file.hpp"

namespace pace::benches::loaders::detail {

/// An image of a kernel file, before it is loaded.
struct FoundImage {
  std::string path, bytes;
  bool is_source = false;              ///< CUDA source: NVRTC makes bytes and codes of it
  std::vector<KernelCode> codes = {};  ///< none of source that was not compiled yet
  std::optional<TritonFacts> triton = {};
};

/// The paths of an entry of `image`: Triton's cubin and PTX beside its JSON, or the entry itself. `json` gets the path
/// of the JSON.
[[nodiscard]] inline std::vector<std::string> image_paths(const std::string& entry, std::string& json) {
  namespace fs = std::filesystem;
  std::error_code problem;
  if (fs::is_directory(entry, problem))
    json = triton_json_in(entry);
  else if (fs::path(entry).extension() == ".json")
    json = entry;
  else
    return {entry};
  std::vector<std::string> found;
  for (const char* const extension : {".cubin", ".ptx"})
    if (const auto path = fs::path(json).replace_extension(extension); fs::exists(path, problem))
      found.push_back(path.string());
  if (found.empty())
    throw InputError({json}, "expected " + fs::path(json).stem().string() +
                                 ".cubin or .ptx beside it, as in Triton's "
                                 "cache; found neither");
  return found;
}

/// The files of an entry of `image`; the entry itself where they are not there.
[[nodiscard]] inline std::vector<std::string> files_of_image(const std::string& entry) {
  try {
    std::string json;
    auto files = image_paths(entry, json);
    if (!json.empty()) files.insert(files.begin(), json);
    return files;
  } catch (const InputError&) {
    return {entry};
  }
}

/// Calls `work` on an image of the file. Its exceptions get the place of the key before them.
template <class Work>
auto for_image(const KernelFile& file, const Work& work) {
  const std::string key = "key 'image': ";
  try {
    return work();
  } catch (const Unsupported& error) {
    throw Unsupported(file.where_images.to_string() + ": " + key + error.what());
  } catch (const Error& error) {
    throw InputError(file.where_images, key + error.what());
  }
}

/// The images of an entry of `image`.
[[nodiscard]] inline std::vector<FoundImage> images_of(const std::string& entry) {
  std::string json;
  std::optional<TritonFacts> facts;
  const auto paths = image_paths(entry, json);
  if (!json.empty()) facts = read_triton_facts(json);
  std::vector<FoundImage> images;
  for (const auto& path : paths) {
    FoundImage image{.path = path,
                     .bytes = read_file(path, "the image of a kernel"),
                     .is_source = std::filesystem::path(path).extension() == ".cu",
                     .triton = facts};
    if (!image.is_source) image.codes = read_image(image.bytes, path);
    images.push_back(std::move(image));
  }
  return images;
}

[[nodiscard]] inline std::vector<FoundImage> find_images(const KernelFile& file) {
  std::vector<FoundImage> images;
  for (const auto& entry : file.images)
    for (auto& image : for_image(file, [&] { return images_of(entry); })) images.push_back(std::move(image));
  const auto sources = std::ranges::count_if(images, &FoundImage::is_source);
  if (sources > 0 && images.size() > 1)
    throw InputError(file.where_images, "key 'image': CUDA source is compiled for each GPU; expected it alone, found " +
                                            std::to_string(images.size()) + " files");
  if (sources == 0 && !file.options.empty())
    throw InputError(file.where, "key 'options': these are for CUDA source (a file *.cu), and there is none");
  return images;
}

/// The name of a kernel as it stands in C++, without parameters and anonymous namespaces: `scale` of `_Z5scalePfi`; the
/// symbol itself where it is not mangled.
[[nodiscard]] inline std::string source_name(const std::string& symbol) {
  std::string name = demangled(symbol);
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (auto at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous, at))
    name.erase(at, anonymous.size());
  // An instance of a template has its result type before the name.
  if (name.starts_with("void ")) name.erase(0, 5);
  // The arguments of a template may have brackets, too: `k<(Mode)1>(float*)`. In brackets `>` may be an operator.
  std::size_t parameters = name.size();
  std::string open;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '(' && open.empty()) parameters = i;
    if (name[i] == '(' || name[i] == '<') open += name[i];
    if (name[i] == '>' && open.ends_with('<')) open.pop_back();
    if (name[i] == ')') open.resize(std::min(open.rfind('('), open.size()));
  }
  return name.substr(0, parameters);
}

/// The image's symbol of the kernel that the file names. Throws InputError, which lists them.
[[nodiscard]] inline std::string choose_kernel(const KernelFile& file, const std::string& wanted,
                                               const std::vector<std::string>& symbols, const std::string& image) {
  std::vector<std::string> found;
  std::string all;
  for (const auto& symbol : symbols) {
    if (symbol == wanted) return symbol;
    const std::string name = source_name(symbol);
    if (wanted.empty() || name == wanted) found.push_back(symbol);
    all += (all.empty() ? "" : ", ") + symbol + (name == symbol ? "" : " (" + name + ')');
  }
  if (found.size() == 1) return found.front();
  const std::string problem = wanted.empty() ? "the key 'kernel' is missing"
                              : found.empty()
                                  ? "key 'kernel': there is no kernel '" + wanted + "' in " + image
                                  : "key 'kernel': '" + wanted + "' is the name of several kernels in " + image;
  throw InputError(file.where_kernel, problem + "; expected one of: " + (all.empty() ? "none" : all));
}

/// Throws InputError for keys that Triton's JSON has, and for those that are missing without it.
inline void require_launch_keys(const KernelFile& file, const FoundImage& image) {
  const auto refuse = [&](const std::string& key, const std::string& what) {
    throw InputError(file.where, "key '" + key + "': " + what);
  };
  if (!image.triton) {
    if (file.block.empty())
      throw InputError(file.where, "the key 'block' is missing; expected one to three numbers of threads");
    return;
  }
  const auto& triton = *image.triton;
  if (!file.block.empty())
    throw InputError(file.block.front().where, "key 'block': Triton's JSON says " + std::to_string(triton.threads) +
                                                   " threads; expected no such key");
  if (file.shared)
    throw InputError(file.shared->where, "key 'shared': Triton's JSON says " + std::to_string(triton.shared) +
                                             " bytes; expected no such key");
  if (!file.cluster.empty())
    throw InputError(file.cluster.front().where, "key 'cluster': Triton's JSON says " + std::to_string(triton.blocks) +
                                                     " blocks; expected no such key");
  if (file.cooperative) refuse("cooperative", "Triton's JSON says it; expected no such key");
}

}  // namespace pace::benches::loaders::detail
