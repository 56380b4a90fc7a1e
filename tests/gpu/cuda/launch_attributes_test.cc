// Attributes of launches as text. Needs the toolkit, and no GPU.
#include "pace/gpu/cuda/launch_attributes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

using pace::cuda::text_of;

TEST_CASE("defaults have no text") {
  CUlaunchAttributeValue value{};
  for (const auto& known : pace::cuda::known_attributes) {
    INFO(known.name);
    CHECK(text_of(known.id, value).empty());
  }
  value.memSyncDomainMap = {0, 1};
  CHECK(text_of(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, value).empty());
  value = {};
  value.sharedMemCarveout = static_cast<unsigned>(-1);
  CHECK(text_of(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value).empty());
  CHECK(text_of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, value).empty());
}

TEST_CASE("each attribute has its value as text") {
  const auto text = [](CUlaunchAttributeID id, const auto& set) {
    CUlaunchAttributeValue value{};
    set(value);
    return text_of(id, value);
  };
  CHECK(text(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, [](auto& value) { value.clusterDim = {2, 4, 1}; }) == "2x4x1");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
             [](auto& value) { value.preferredClusterDim = {4, 1, 1}; }) == "4x1x1");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [](auto& value) { value.cooperative = 1; }) == "yes");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, [](auto& value) {
          value.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
        }) == "spread");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, [](auto& value) {
          value.accessPolicyWindow.num_bytes = 1 << 20;
          value.accessPolicyWindow.hitRatio = 0.5F;
          value.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
          value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_STREAMING;
        }) == "1048576 bytes, 50 % persisting, the rest streaming");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_PRIORITY, [](auto& value) { value.priority = -3; }) == "-3");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
             [](auto& value) { value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE; }) == "remote");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, [](auto& value) { value.memSyncDomainMap = {2, 3}; }) ==
        "2, remote 3");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, [](auto& value) { value.sharedMemCarveout = 50; }) ==
        "50 %");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
             [](auto& value) { value.nvlinkUtilCentricScheduling = 1; }) == "yes");
  CHECK(text(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
             [](auto& value) { value.deviceUpdatableKernelNode.deviceUpdatable = 1; }) == "yes");
}
