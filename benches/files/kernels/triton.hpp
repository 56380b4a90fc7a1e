// The facts of a kernel in Triton's cache: the JSON beside its cubin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::loaders {

/// Memory that a kernel of Triton's takes behind its own parameters, as a pointer; null where it needs none.
struct TritonScratch {
  std::int64_t bytes = 0;  ///< for each block
  std::int64_t align = 1;
};

/// Blocks of a cluster that every GPU with clusters can have; CUDA calls these sizes portable.
inline constexpr std::int64_t most_blocks_of_cluster = 8;

struct TritonFacts {
  std::string kernel;
  std::uint32_t threads = 0;  ///< of a block
  std::uint32_t shared = 0;   ///< bytes of dynamic shared memory
  std::uint32_t blocks = 1;   ///< of a cluster, which is one element of Triton's grid
  bool cooperative = false;   ///< all blocks run at a time
  bool programmatic = false;  ///< Triton starts it before the kernel before it has ended
  std::vector<TritonScratch> scratch;
};

namespace detail {

/// The JSON in a folder of Triton's cache. Throws InputError unless there is one.
[[nodiscard]] inline std::string triton_json_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    // A group's has the paths alone.
    if (entry.path().extension() == ".json" && !name.starts_with("__grp__")) found.push_back(entry.path().string());
  }
  std::ranges::sort(found);
  if (found.size() == 1) return found.front();
  std::string all;
  for (const auto& each : found) all += (all.empty() ? ": " : ", ") + each;
  throw InputError({folder}, "expected a folder of Triton's cache, with the JSON of one kernel and its cubin; found " +
                                 std::to_string(found.size()) + " files *.json" + all +
                                 (problem ? " (" + problem.message() + ')' : ""));
}

}  // namespace detail

/// Reads the JSON of a kernel. Throws InputError, which names the file and the key, and Unsupported for kernels that
/// take tensor descriptors, or that are for another kind of GPU.
[[nodiscard]] inline TritonFacts read_triton_facts(const std::string& path) {
  const auto json = read_json_file<nlohmann::json>(path, "the JSON of a kernel in Triton's cache");
  const auto number = [&](const nlohmann::json& in, const char* key, std::int64_t otherwise,
                          std::int64_t most = 1 << 30, std::int64_t least = 0) -> std::int64_t {
    const auto found = in.is_object() ? in.find(key) : in.end();
    if (!in.is_object() || found == in.end() || found->is_null()) {
      if (otherwise < 0)
        throw InputError({path}, std::string("the key '") + key +
                                     "' is missing; expected the JSON of a kernel in "
                                     "Triton's cache");
      return otherwise;
    }
    if (!found->is_number_integer() || found->get<std::int64_t>() < least || found->get<std::int64_t>() > most)
      throw InputError({path}, std::string("key '") + key + "': expected a whole number from " + std::to_string(least) +
                                   " to " + std::to_string(most) + ", found " + found->dump());
    return found->get<std::int64_t>();
  };
  const auto flag = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_boolean() && found->get<bool>();
  };
  TritonFacts facts;
  const auto warps = number(json, "num_warps", -1, 64, 1);
  const auto target = json.value("target", nlohmann::json::object());
  if (const auto backend = target.is_object() ? target.find("backend") : target.end();
      target.is_object() && backend != target.end() && *backend != "cuda")
    throw Unsupported(path + ": the kernel is for " + backend->dump() + "; expected \"cuda\"");
  facts.threads = static_cast<std::uint32_t>(warps * number(target, "warp_size", 32, 64, 1));
  facts.shared = static_cast<std::uint32_t>(number(json, "shared", -1));
  facts.blocks = static_cast<std::uint32_t>(number(json, "num_ctas", 1, most_blocks_of_cluster, 1));
  if (const auto name = json.find("name"); name == json.end() || !name->is_string())
    throw InputError({path}, "the key 'name' is missing; expected the JSON of a kernel in Triton's cache");
  else
    facts.kernel = name->get<std::string>();
  facts.cooperative = flag("launch_cooperative_grid");
  facts.programmatic = flag("launch_pdl");
  if (const auto descriptors = json.find("tensordesc_meta");
      descriptors != json.end() && descriptors->is_array() && !descriptors->empty())
    throw Unsupported(path +
                      ": the kernel takes tensor descriptors (key 'tensordesc_meta'); expected one that takes "
                      "pointers and numbers");
  // Triton passes these pointers since the versions that write these keys: 3.2 and 3.4.
  for (const char* const which : {"global_scratch", "profile_scratch"}) {
    const std::string size = std::string(which) + "_size", align = std::string(which) + "_align";
    if (json.contains(size))
      facts.scratch.push_back({.bytes = number(json, size.c_str(), 0), .align = number(json, align.c_str(), 1)});
  }
  return facts;
}

}  // namespace pace::benches::loaders
