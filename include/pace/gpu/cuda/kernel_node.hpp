// KernelNode: a kernel of a captured graph, with its attributes, which can be launched alone.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/cuda/driver.hpp"
#include "pace/gpu/cuda/error.hpp"
#include "pace/gpu/cuda/launch_attributes.hpp"
#include "pace/gpu/cuda/launch_kernel.hpp"

namespace pace::cuda {

/// A launch of a kernel and the resources that it needs.
struct KernelFacts {
  std::string symbol;                             ///< the driver's name, mangled for C++
  std::array<std::uint32_t, 3> grid{};            ///< blocks in x, y and z
  std::array<std::uint32_t, 3> block{};           ///< threads of a block in x, y and z
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< blocks of a cluster in x, y and z; all 1 without clusters
  int registers = 0;                              ///< of a thread
  std::int64_t local_bytes = 0;                   ///< local memory of a thread
  std::int64_t static_shared_bytes = 0;           ///< static shared memory of a block
  std::int64_t dynamic_shared_bytes = 0;          ///< dynamic shared memory of a block
  int blocks_per_multiprocessor = 0;              ///< blocks that a multiprocessor holds at a time
  bool cooperative = false;                       ///< all blocks run at a time and may wait for each other
  /// Other attributes of the launch that are not the defaults, by name, as text.
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// A kernel of a captured graph. The graph, which holds the arguments, must outlive it.
class KernelNode {
 public:
  /// Reads the kernel from `node`. Throws Unsupported if the driver does not say which kernel it is.
  explicit KernelNode(cudaGraphNode_t node) : node_(node) {
    static const auto get = driver_function<GetParams>("cuGraphKernelNodeGetParams");
    static const auto function_of = driver_function<GetFunction>("cuKernelGetFunction");
    require(get(node_, &params_), "asking for a kernel's arguments");
    if (params_.func == nullptr && params_.kern != nullptr)
      require(function_of(&params_.func, params_.kern), "asking for a kernel's function");
    if (params_.func == nullptr) throw Unsupported("the driver does not say which kernel this is");
    read_attributes();
  }

  /// Returns the facts of the kernel as it was captured.
  [[nodiscard]] KernelFacts facts() const { return facts(params_.func, shape()); }

  /// Returns the facts of another build of this kernel, launched in its place with `shape`. Throws Unsupported with the
  /// driver's message if they cannot be read.
  [[nodiscard]] KernelFacts facts(CUfunction function, const LaunchShape& shape) const {
    static const auto name_of = driver_function<GetName>("cuFuncGetName", 12030);
    static const auto occupancy_of = driver_function<GetOccupancy>("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    KernelFacts facts;
    const char* name = nullptr;
    require(name_of(&name, function), "asking for a kernel's name");
    facts.symbol = name;
    facts.grid = shape.grid;
    facts.block = shape.block;
    // A size that the kernel was compiled for need not be an attribute of its launch.
    facts.cluster = clustered_ ? cluster_ : compiled_cluster_of(function);
    facts.cooperative = cooperative_;
    facts.attributes = others_;
    facts.registers = function_attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    facts.local_bytes = function_attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    facts.static_shared_bytes = function_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    facts.dynamic_shared_bytes = shape.dynamic_shared_bytes;
    const auto threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
    require(occupancy_of(&facts.blocks_per_multiprocessor, function, threads, shape.dynamic_shared_bytes),
            "asking how many blocks fit");
    return facts;
  }

  /// Queues the kernel on `stream` with its captured arguments, shape and attributes.
  void launch(cudaStream_t stream) const { launch(params_.func, shape(), stream); }

  /// Queues another build of this kernel on `stream` with this one's arguments; check_same_parameters() must have
  /// succeeded.
  void launch(CUfunction function, const LaunchShape& shape, cudaStream_t stream) const {
    launch_kernel(function, shape, stream, params_.kernelParams, params_.extra, attributes_,
                  "launching a kernel alone");
  }

  /// Throws Unsupported unless the parameters of another build, which is called `name`, have the sizes of this one's.
  void check_same_parameters(CUfunction function, const std::string& name) const {
    const auto own = parameter_bytes(params_.func), other = parameter_bytes(function);
    if (own == other) return;
    throw Unsupported(name + " takes " + std::to_string(other.size()) + " parameters, the kernel that ran " +
                      std::to_string(own.size()) + ", or they have other sizes");
  }

  /// The captured size of the launch.
  [[nodiscard]] LaunchShape shape() const {
    return {{params_.gridDimX, params_.gridDimY, params_.gridDimZ},
            {params_.blockDimX, params_.blockDimY, params_.blockDimZ},
            params_.sharedMemBytes};
  }

 private:
  using GetParams = CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
  using GetFunction = CUresult (*)(CUfunction*, CUkernel);
  using GetName = CUresult (*)(const char**, CUfunction);
  using GetOccupancy = CUresult (*)(int*, CUfunction, int, std::size_t);
  using GetNodeAttribute = CUresult (*)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue*);

  /// The cluster that a kernel was compiled for (`__cluster_dims__`), in blocks; all 1 where it has none, or where the
  /// driver does not know the attributes.
  [[nodiscard]] static std::array<std::uint32_t, 3> compiled_cluster_of(CUfunction function) {
    std::array<std::uint32_t, 3> cluster{1, 1, 1};
    const CUfunction_attribute which[] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                          CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                          CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
    for (std::size_t i = 0; i < cluster.size(); ++i)
      if (const int blocks = function_attribute_if_known(function, which[i]).value_or(0); blocks > 0)
        cluster[i] = static_cast<std::uint32_t>(blocks);
    return cluster;
  }

  /// Reads the attributes that the launch has. Those that order the kernel among others belong to the graph's edges.
  void read_attributes() {
    static const auto get = driver_function<GetNodeAttribute>("cuGraphKernelNodeGetAttribute");
    for (const auto& known : known_attributes) {
      CUlaunchAttribute attribute{};
      attribute.id = known.id;
      // A driver may not know an attribute.
      if (get(node_, known.id, &attribute.value) != CUDA_SUCCESS) continue;
      std::string text = text_of(known.id, attribute.value);
      if (text.empty()) continue;
      if (known.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        const auto& blocks = attribute.value.clusterDim;
        cluster_ = {blocks.x, blocks.y, blocks.z};
        clustered_ = true;
      } else if (known.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
        cooperative_ = true;
      } else if (known.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE || clustered_) {
        // Without clusters, a driver may report a policy that has no effect.
        others_.emplace_back(known.name, std::move(text));
      }
      if (known.replayed) attributes_.push_back(attribute);
    }
  }

  cudaGraphNode_t node_;
  CUDA_KERNEL_NODE_PARAMS params_{};
  std::array<std::uint32_t, 3> cluster_{1, 1, 1};
  bool cooperative_ = false, clustered_ = false;
  std::vector<CUlaunchAttribute> attributes_;
  std::vector<std::pair<std::string, std::string>> others_;
};

}  // namespace pace::cuda
