// Attributes of a kernel's launch: which there are, whether a launch alone needs them, and their values as text.
#pragma once

#include <cuda.h>

#include <array>
#include <string>
#include <string_view>

#include "pace/base/format.hpp"

namespace pace::cuda {

/// An attribute of a kernel's launch that a graph keeps.
struct KnownAttribute {
  CUlaunchAttributeID id = CU_LAUNCH_ATTRIBUTE_IGNORE;  ///< the driver's identifier
  std::string_view name;                                ///< in words
  bool replayed = true;                                 ///< a launch outside of a graph accepts it
};

/// The attributes of a kernel's launch that a graph keeps. What makes kernels overlap, such as a programmatic launch,
/// is a property of the graph's edges instead.
inline constexpr std::array<KnownAttribute, 11> known_attributes{{
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, "cluster"},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, "cooperative"},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, "cluster scheduling"},
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, "access policy window"},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, "priority"},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, "memory synchronization domain"},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, "memory synchronization domain map"},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, "preferred cluster"},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, "preferred shared memory carveout"},
    {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, "NVLink-centric scheduling"},
    {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, "updatable by the device", false},
}};

namespace detail {

[[nodiscard]] inline std::string blocks_text(unsigned x, unsigned y, unsigned z) {
  return std::to_string(x) + 'x' + std::to_string(y) + 'x' + std::to_string(z);
}

[[nodiscard]] inline std::string access_text(CUaccessProperty property) {
  switch (property) {
    case CU_ACCESS_PROPERTY_NORMAL:
      return "normal";
    case CU_ACCESS_PROPERTY_STREAMING:
      return "streaming";
    case CU_ACCESS_PROPERTY_PERSISTING:
      return "persisting";
  }
  return "property " + std::to_string(static_cast<int>(property));
}

}  // namespace detail

/// Returns the value of an attribute in words; empty if it is the default, as if the launch had no such attribute, or
/// if the attribute is not one of known_attributes.
[[nodiscard]] inline std::string text_of(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      const auto& blocks = value.clusterDim;
      return blocks.x > 0 ? detail::blocks_text(blocks.x, blocks.y, blocks.z) : "";
    }
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: {
      const auto& blocks = value.preferredClusterDim;
      return blocks.x > 0 ? detail::blocks_text(blocks.x, blocks.y, blocks.z) : "";
    }
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return value.cooperative != 0 ? "yes" : "";
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      switch (value.clusterSchedulingPolicyPreference) {
        case CU_CLUSTER_SCHEDULING_POLICY_SPREAD:
          return "spread";
        case CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING:
          return "load balancing";
        case CU_CLUSTER_SCHEDULING_POLICY_DEFAULT:
          return "";
      }
      return "policy " + std::to_string(static_cast<int>(value.clusterSchedulingPolicyPreference));
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: {
      const auto& window = value.accessPolicyWindow;
      if (window.num_bytes == 0) return "";
      return std::to_string(window.num_bytes) + " bytes, " + format_percent(static_cast<double>(window.hitRatio)) +
             ' ' + detail::access_text(window.hitProp) + ", the rest " + detail::access_text(window.missProp);
    }
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      return value.priority != 0 ? std::to_string(value.priority) : "";
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE ? "remote" : "";
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: {
      const int own = value.memSyncDomainMap.default_, remote = value.memSyncDomainMap.remote;
      // The driver's default is 0 and 1; a driver without domains leaves zeros.
      if (own == 0 && remote <= 1) return "";
      return std::to_string(own) + ", remote " + std::to_string(remote);
    }
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return value.sharedMemCarveout > 0 && value.sharedMemCarveout <= 100
                 ? std::to_string(value.sharedMemCarveout) + " %"
                 : "";
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return value.nvlinkUtilCentricScheduling != 0 ? "yes" : "";
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      return value.deviceUpdatableKernelNode.deviceUpdatable != 0 ? "yes" : "";
    default:
      return "";
  }
}

}  // namespace pace::cuda
