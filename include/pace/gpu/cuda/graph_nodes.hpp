// The nodes of a graph in an order in which they can run, and launches of the first ones alone.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/cuda/driver.hpp"
#include "pace/gpu/cuda/error.hpp"

namespace pace::cuda {

/// A node of a CUDA graph.
struct GraphNode {
  cudaGraphNode_t node = nullptr;                   ///< CUDA's handle
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;  ///< kernel, copy, fill, ...
  bool nested = false;                              ///< belongs to a nested graph, so that it cannot be disabled alone
  bool programmatic = false;                        ///< may begin before a kernel before it has ended
};

namespace detail {

inline void append_nodes(cudaGraph_t graph, bool nested, std::vector<GraphNode>& found) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), "counting a graph's nodes");
  std::vector<cudaGraphNode_t> nodes(count);
  check(cudaGraphGetNodes(graph, nodes.data(), &count), "listing a graph's nodes");
  std::size_t edges = 0;
  check(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), "counting a graph's edges");
  std::vector<cudaGraphNode_t> from(edges), to(edges);
  std::vector<cudaGraphEdgeData> data(edges);
  check(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &edges), "listing a graph's edges");

  std::map<cudaGraphNode_t, std::size_t> place;
  for (std::size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = i;
  std::vector<std::vector<std::size_t>> followers(nodes.size());
  std::vector<std::size_t> awaited(nodes.size(), 0);
  std::vector<bool> programmatic(nodes.size(), false);
  for (std::size_t i = 0; i < edges; ++i) {
    followers[place.at(from[i])].push_back(place.at(to[i]));
    ++awaited[place.at(to[i])];
    if (data[i].type == cudaGraphDependencyTypeProgrammatic) programmatic[place.at(to[i])] = true;
  }
  // Among the nodes that are ready, the one that was captured first is next.
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (awaited[i] == 0) ready.insert(i);
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    for (const std::size_t follower : followers[next])
      if (--awaited[follower] == 0) ready.insert(follower);
    GraphNode each{.node = nodes[next], .nested = nested, .programmatic = programmatic[next]};
    check(cudaGraphNodeGetType(each.node, &each.type), "looking at a graph's node");
    if (each.type == cudaGraphNodeTypeGraph) {
      cudaGraph_t inner = nullptr;
      check(cudaGraphChildGraphNodeGetGraph(each.node, &inner), "looking into a graph's node");
      append_nodes(inner, true, found);
    } else {
      found.push_back(each);
    }
  }
}

}  // namespace detail

/// Whether a node of this type moves or computes data in the device's memory by itself.
[[nodiscard]] inline bool changes_memory(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy || type == cudaGraphNodeTypeMemset;
}

/// Returns what a node is that is none of kernel, copy, fill, conditional node, nested graph and empty node, for which
/// the text is empty.
[[nodiscard]] inline std::string name_of_other(cudaGraphNodeType type) {
  // Not a value of the runtime's enumeration in CUDA 13.
  if (static_cast<int>(type) == static_cast<int>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)) return "batched memory operation";
  switch (type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeConditional:
      return {};
    case cudaGraphNodeTypeHost:
      return "host function";
    case cudaGraphNodeTypeWaitEvent:
      return "event wait";
    case cudaGraphNodeTypeEventRecord:
      return "event record";
    case cudaGraphNodeTypeExtSemaphoreSignal:
      return "semaphore signal";
    case cudaGraphNodeTypeExtSemaphoreWait:
      return "semaphore wait";
    case cudaGraphNodeTypeMemAlloc:
      return "memory allocation";
    case cudaGraphNodeTypeMemFree:
      return "memory release";
    default:
      return "node of CUDA's type " + std::to_string(static_cast<int>(type));
  }
}

/// Returns the nodes of a graph in an order in which they can run, with the nodes of a nested graph in its place. Empty
/// nodes are included. Throws as check() does.
[[nodiscard]] inline std::vector<GraphNode> nodes_in_order(cudaGraph_t graph) {
  std::vector<GraphNode> found;
  detail::append_nodes(graph, false, found);
  return found;
}

/// Queues the copy or the fill of a node on `stream`, outside of the graph; does nothing for other nodes. Throws
/// Unsupported if the driver rejects a fill.
inline void queue_copy_or_fill(const GraphNode& node, cudaStream_t stream) {
  if (node.type == cudaGraphNodeTypeMemcpy) {
    cudaMemcpy3DParms copy{};
    check(cudaGraphMemcpyNodeGetParams(node.node, &copy), "asking for a copy's parameters");
    check(cudaMemcpy3DAsync(&copy, stream), "copying alone");
  } else if (node.type == cudaGraphNodeTypeMemset) {
    cudaMemsetParams fill{};
    check(cudaGraphMemsetNodeGetParams(node.node, &fill), "asking for a fill's parameters");
    const auto at = reinterpret_cast<CUdeviceptr>(fill.dst);
    using Fill8 = CUresult (*)(CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t, CUstream);
    using Fill16 = CUresult (*)(CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t, CUstream);
    using Fill32 = CUresult (*)(CUdeviceptr, std::size_t, unsigned int, std::size_t, std::size_t, CUstream);
    CUresult code = CUDA_ERROR_INVALID_VALUE;
    if (fill.elementSize == 1)
      code = driver_function<Fill8>("cuMemsetD2D8Async")(at, fill.pitch, static_cast<unsigned char>(fill.value),
                                                         fill.width, fill.height, stream);
    else if (fill.elementSize == 2)
      code = driver_function<Fill16>("cuMemsetD2D16Async")(at, fill.pitch, static_cast<unsigned short>(fill.value),
                                                           fill.width, fill.height, stream);
    else if (fill.elementSize == 4)
      code = driver_function<Fill32>("cuMemsetD2D32Async")(at, fill.pitch, fill.value, fill.width, fill.height, stream);
    if (code != CUDA_SUCCESS)
      throw Unsupported("filling memory alone failed; the graph fills " + std::to_string(fill.width) + " x " +
                        std::to_string(fill.height) + " elements of " + std::to_string(fill.elementSize) + " bytes");
  }
}

/// Launches a graph without its last nodes, which leaves memory as the next node finds it.
class PartialGraph {
 public:
  /// Instantiates `graph`, whose nodes_in_order() are `nodes`; both must outlive the object.
  PartialGraph(cudaGraph_t graph, const std::vector<GraphNode>& nodes) : nodes_(nodes) {
    check(cudaGraphInstantiate(&graph_, graph, 0), "instantiating a graph");
  }
  PartialGraph(const PartialGraph&) = delete;
  ~PartialGraph() { static_cast<void>(cudaGraphExecDestroy(graph_)); }

  /// Queues the first `count` nodes on `stream`. Nodes that cannot be disabled run in any case: those of nested graphs,
  /// and those for which changes_memory() is false.
  void launch(std::size_t count, cudaStream_t stream) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (changes_memory(nodes_[i].type) && !nodes_[i].nested)
        check(cudaGraphNodeSetEnabled(graph_, nodes_[i].node, i < count ? 1 : 0), "leaving out a graph's node");
    }
    check(cudaGraphLaunch(graph_, stream), "launching a part of a graph");
  }

 private:
  const std::vector<GraphNode>& nodes_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace pace::cuda
