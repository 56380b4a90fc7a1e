// Kernels of captured calls on a GPU: the driver's report of them, replays, and the parts left alone.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "benches/kernels/compat/timer.hpp"
#include "pace/catch2.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/error.hpp"
#include "pace/kernels.hpp"
#include "pace/kernels/table.hpp"
#include "tests/gpu/cuda/gpu.hpp"
#include "tests/gpu/cuda/scale.hpp"

#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

at::TensorOptions on_cuda() { return at::TensorOptions().device(at::kCUDA); }

pace::KernelsOptions quickly() {
  pace::KernelsOptions options;
  options.peak_bandwidth = false;
  return options;
}

cudaStream_t current() { return c10::cuda::getCurrentCUDAStream().stream(); }

/// In a capture, the graph so far has the node that `make(graph, after, count)` returns behind its last nodes `after`,
/// and the capture goes on behind it. False, and nothing is done, elsewhere.
bool add_to_capture(const std::function<cudaGraphNode_t(cudaGraph_t, const cudaGraphNode_t*, std::size_t)>& make) {
  using pace::cuda::check;
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  check(cudaStreamGetCaptureInfo(current(), &status, nullptr, &graph, &after, nullptr, &count),
        "looking at the stream");
  if (status != cudaStreamCaptureStatusActive) return false;
  cudaGraphNode_t node = make(graph, after, count);
  check(cudaStreamUpdateCaptureDependencies(current(), &node, nullptr, 1, cudaStreamSetCaptureDependencies),
        "going on behind a node");
  return true;
}

/// Captures the work that `call` queues on its stream into `graph`.
void capture_into(cudaGraph_t graph, const std::function<void(cudaStream_t)>& call) {
  using pace::cuda::check;
  cudaStream_t side = nullptr;
  check(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking), "making a stream");
  check(cudaStreamBeginCaptureToGraph(side, graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
        "capturing a body");
  call(side);
  check(cudaStreamEndCapture(side, nullptr), "capturing a body");
  check(cudaStreamDestroy(side), "destroying a stream");
}

/// `x` times `factor`, in place.
void scale(at::Tensor& x, float factor, cudaStream_t on) {
  pace::testing::scale(x.const_data_ptr<float>(), x.mutable_data_ptr<float>(), factor, x.numel(), on);
}

/// In a capture, a node whose body scales `x` once; elsewhere, the same without a node.
void scale_in_a_body(at::Tensor& x) {
  using pace::cuda::check;
  const auto make = [&](cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count) {
    cudaGraphConditionalHandle handle{};
    check(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault), "making a condition");
    cudaGraphNodeParams conditional{};
    conditional.type = cudaGraphNodeTypeConditional;
    conditional.conditional.handle = handle;
    conditional.conditional.type = cudaGraphCondTypeIf;
    conditional.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddNode(&node, graph, after, nullptr, count, &conditional), "adding a conditional node");
    capture_into(conditional.conditional.phGraph_out[0], [&](cudaStream_t side) { scale(x, 2, side); });
    return node;
  };
  if (!add_to_capture(make)) scale(x, 2, current());
}

/// In a capture, a nested graph that scales `x` twice; elsewhere, the same without a graph.
void scale_twice_in_a_nested_graph(at::Tensor& x) {
  using pace::cuda::check;
  const auto twice = [&](cudaStream_t on) {
    scale(x, 2, on);
    scale(x, 3, on);
  };
  const auto make = [&](cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count) {
    cudaGraph_t inner = nullptr;
    check(cudaGraphCreate(&inner, 0), "making a graph");
    capture_into(inner, twice);
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddChildGraphNode(&node, graph, after, count, inner), "adding a nested graph");
    check(cudaGraphDestroy(inner), "destroying a graph");
    return node;
  };
  if (!add_to_capture(make)) twice(current());
}

}  // namespace

TEST_CASE("a user's kernel: name, shape, registers, memory, times and bytes", "[gpu]") {
  (void)pace::testing::on_gpu();
  const std::int64_t n = 1'000'000;
  at::Tensor x = at::ones({n}, on_cuda()), y = at::empty({n}, on_cuda());
  auto options = quickly();
  options.peak_bandwidth = true;
  options.providers = {[](const pace::kernel::Kernel& kernel) -> std::optional<pace::kernel::Knowledge> {
    if (kernel.name.find("scale_kernel") == std::string::npos) return std::nullopt;
    return pace::kernel::Knowledge{pace::kernel::Category::pointwise, 8e6};
  }};
  const auto report = pace::kernels(
      options, "scale",
      [&](at::Tensor& from, at::Tensor& to) {
        pace::testing::scale(from.const_data_ptr<float>(), to.mutable_data_ptr<float>(), 3, n,
                             c10::cuda::getCurrentCUDAStream().stream());
      },
      x, y);
  REQUIRE(report.kernels.size() == 1);
  const auto& kernel = report.kernels[0];
  CHECK_THAT(kernel.name, ContainsSubstring("scale_kernel(float const*, float*, float, long)"));
  CHECK_THAT(kernel.symbol, ContainsSubstring("scale_kernel"));
  CHECK(kernel.launch->grid == std::array<std::uint32_t, 3>{3907, 1, 1});
  CHECK(kernel.launch->block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(kernel.launch->registers > 0);
  CHECK(kernel.launch->local_bytes == 0);
  CHECK(kernel.launch->shared_bytes() == 0);
  CHECK(kernel.launch->occupancy == 1);
  CHECK(to_string(kernel.category) == "pointwise");
  CHECK(kernel.why_not_alone == "");
  REQUIRE(kernel.hot);
  REQUIRE(kernel.cold);
  CHECK(kernel.hot->least <= kernel.hot->median);
  CHECK(kernel.hot->median <= kernel.hot->most);
  CHECK(kernel.profiled);
  CHECK(kernel.under_profiler);
  CHECK(kernel.bandwidth());
  CHECK(report.peak_bandwidth > 0);
  CHECK_THAT(report, pace::AtMost(pace::kernel::Count::spills, 0));
  CHECK_THAT(report, pace::AtMost(pace::kernel::Count::kernels, 1));
  CHECK_FALSE(pace::AtMost(pace::kernel::Count::registers, 1).match(report));
}

TEST_CASE("operands have their values again, whatever the replays wrote", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "in place",
      [](at::Tensor& x) {
        x.add_(1);
        x.mul_(2);
      },
      x);
  CHECK(report.kernels.size() == 2);
  CHECK(x.equal(at::ones({1000}, on_cuda())));
}

TEST_CASE("a kernel that needs a counter to be zero gets it before each replay", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::randn({1024, 1024}, on_cuda());
  const auto report = pace::kernels(quickly(), "sum", [](at::Tensor& x) { return at::sum(x); }, x);
  CHECK(report.fills == 1);
  REQUIRE(report.kernels.size() == 1);
  CHECK_THAT(report.kernels[0].name, ContainsSubstring("reduce_kernel"));
  CHECK(report.kernels[0].why_not_alone == "");
  CHECK(report.copying.count() > 0);
}

TEST_CASE("a kernel that uses up a semaphore finds it set before each launch", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor semaphore = at::ones({1}, on_cuda().dtype(at::kInt));
  const auto report = pace::kernels(
      quickly(), "semaphore",
      [](at::Tensor& semaphore) { pace::testing::spin_if_set(semaphore.mutable_data_ptr<int>(), 50, current()); },
      semaphore);
  REQUIRE(report.kernels.size() == 1);
  const auto& kernel = report.kernels[0];
  CHECK(kernel.why_not_alone == "");
  CHECK(kernel.restored_bytes > 0);
  REQUIRE(kernel.hot);
  CHECK(kernel.hot->least > std::chrono::microseconds(40));
  REQUIRE(kernel.cold);
  CHECK(kernel.cold->least > std::chrono::microseconds(40));
  REQUIRE(kernel.profiled);
  CHECK(kernel.profiled->least > std::chrono::microseconds(40));
  CHECK(report.whole > std::chrono::microseconds(40));
  CHECK(semaphore.item<int>() == 1);
}

TEST_CASE("a kernel in place finds the same values in every launch but one, which shows that it works in place",
          "[gpu]") {
  (void)pace::testing::on_gpu();
  int* counts = nullptr;
  pace::cuda::check(cudaHostAlloc(reinterpret_cast<void**>(&counts), 2 * sizeof(int), cudaHostAllocMapped),
                    "allocating on the host");
  at::Tensor x = at::ones({1}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "doubles",
      [&](at::Tensor& x) {
        cudaStreamCaptureStatus status{};
        pace::cuda::check(cudaStreamIsCapturing(current(), &status), "looking at the stream");
        // The calls before the capture follow each other.
        if (status == cudaStreamCaptureStatusActive) counts[0] = counts[1] = 0;
        pace::testing::double_and_count(x.mutable_data_ptr<float>(), 1, counts, current());
      },
      x);
  const int launches = counts[0], others = counts[1];
  pace::cuda::check(cudaFreeHost(counts), "releasing memory of the host");
  CHECK(launches > 256);
  CHECK(others == 1);
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].why_not_alone == "");
  CHECK(report.kernels[0].restored_bytes > 0);
  CHECK(x.item<float>() == 1);
}

TEST_CASE("kernels that write an output, in new memory or in used memory, have nothing restored", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::randn({1 << 20}, on_cuda()), out = at::ones({1 << 20}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "outputs",
      [&](at::Tensor& x) {
        at::add_out(out, x, x);
        return at::relu(at::relu(at::add(out, x)));
      },
      x);
  REQUIRE(report.kernels.size() == 4);
  for (const auto& kernel : report.kernels) {
    CHECK(kernel.why_not_alone == "");
    CHECK(kernel.restored_bytes == 0);
    CHECK(kernel.restoring.count() == 0);
  }
  CHECK(report.notes.empty());
}

TEST_CASE("a sum in any order is not said to work in place, and each launch finds its memory restored", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::randn({1 << 20}, on_cuda()), sums = at::zeros({64}, on_cuda());
  const at::Tensor places = at::arange(1 << 20, on_cuda().dtype(at::kLong)).remainder(64);
  const auto report = pace::kernels(quickly(), "sums", [&](at::Tensor& x) { sums.index_add_(0, places, x); }, x);
  REQUIRE_FALSE(report.notes.empty());
  CHECK_THAT(report.notes.front(), ContainsSubstring("it is not known whether it works in place"));
  CHECK(report.kernels.back().restored_bytes > 0);
  CHECK(sums.equal(at::zeros({64}, on_cuda())));
}

TEST_CASE("tensors that a call holds have their values again, also if it cannot be captured", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda()), count = at::ones({3}, on_cuda());
  at::Tensor large = at::ones({8 << 20}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "holds",
      [&](at::Tensor& x) {
        count.add_(1);
        large.narrow(0, 5 << 20, 100).mul_(2);
        return at::add(x, 1);
      },
      x);
  CHECK(report.notes.empty());
  CHECK(report.kernels.size() == 3);
  CHECK(count.equal(at::ones({3}, on_cuda())));
  CHECK(large.equal(at::ones({8 << 20}, on_cuda())));
  CHECK_THROWS_AS(pace::kernels(
                      "waits",
                      [&](at::Tensor& x) {
                        count.add_(1);
                        return x.sum().item<float>();
                      },
                      x),
                  pace::Unsupported);
  CHECK(count.equal(at::ones({3}, on_cuda())));
}

TEST_CASE("a tensor that each call replaces spoils nothing", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda()), state = at::ones({1000}, on_cuda()), other = at::ones({1000}, on_cuda());
  const auto report = pace::kernels(quickly(), "replaces", [&](at::Tensor& x) { state = at::add(state, x); }, x);
  CHECK(report.kernels.size() == 1);
  // Its values are the same as after any launch, and its memory is still its own.
  CHECK_NOTHROW(state.cpu());
  CHECK(x.equal(at::ones({1000}, on_cuda())));
  CHECK(other.equal(at::ones({1000}, on_cuda())));
}

TEST_CASE("attributes of launches are kept and named", "[gpu]") {
  const auto& device = pace::testing::on_gpu();
  at::Tensor x = at::ones({1024}, on_cuda()), y = at::ones({1024}, on_cuda());
  const auto scaled_with = [&](const cudaLaunchAttribute& attribute, const at::Tensor& to) {
    pace::testing::scale_with(x.const_data_ptr<float>(), to.mutable_data_ptr<float>(), 2, to.numel(), attribute,
                              current());
  };
  const bool has_window = device.properties().accessPolicyMaxWindowSize > 0;
  const bool is_hopper = device.properties().major >= 9;
  const auto report = pace::kernels(
      quickly(), "attributes",
      [&](at::Tensor& y) {
        cudaLaunchAttribute priority{};
        priority.id = cudaLaunchAttributePriority;
        priority.val.priority = -1;
        scaled_with(priority, y);
        if (has_window) {
          cudaLaunchAttribute window{};
          window.id = cudaLaunchAttributeAccessPolicyWindow;
          window.val.accessPolicyWindow.base_ptr = x.mutable_data_ptr();
          window.val.accessPolicyWindow.num_bytes = 4096;
          window.val.accessPolicyWindow.hitRatio = 1;
          window.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
          window.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
          scaled_with(window, y);
        }
        if (is_hopper) {
          cudaLaunchAttribute programmatic{};
          programmatic.id = cudaLaunchAttributeProgrammaticStreamSerialization;
          programmatic.val.programmaticStreamSerializationAllowed = 1;
          scaled_with(programmatic, y);
        }
      },
      y);
  REQUIRE(report.kernels.size() == 1U + has_window + is_hopper);
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  CHECK(report.kernels[0].launch->attributes == Attributes{{"priority", "-1"}});
  if (has_window)
    CHECK(report.kernels[1].launch->attributes ==
          Attributes{{"access policy window", "4096 bytes, 100 % persisting, the rest streaming"}});
  for (std::size_t i = 0; i < report.kernels.size(); ++i) {
    CHECK(report.kernels[i].launch->overlaps == (is_hopper && i + 1 == report.kernels.size()));
    CHECK(report.kernels[i].why_not_alone == "");
  }
  CHECK(y.equal(at::ones({1024}, on_cuda())));
}

TEST_CASE("kernels come in the order of the calls, cuBLAS's among them", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::randn({256, 256}, on_cuda());
  const auto report =
      pace::kernels(quickly(), "three", [](at::Tensor& x) { return at::add(at::relu(at::mm(x, x)), x); }, x);
  REQUIRE(report.kernels.size() >= 3);
  CHECK_THAT(report.kernels.front().name, ContainsSubstring("gemm"));
  CHECK_THAT(report.kernels.back().name, ContainsSubstring("CUDAFunctor_add"));
  double shares = 0;
  for (const auto& kernel : report.kernels) shares += report.share_of(kernel);
  CHECK(shares > 0.999);
  CHECK(shares < 1.001);
}

TEST_CASE("what has no kernel, or cannot be captured, is refused in words", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor on_cpu = at::ones({8}), x = at::ones({8}, on_cuda());
  auto options = quickly();
  options.on = c10::DeviceType::CUDA;
  CHECK_THROWS_MATCHES(pace::kernels(
                           options, "host", [](at::Tensor& x) { return at::add(x, x); }, on_cpu),
                       pace::Unsupported, MessageMatches(ContainsSubstring("host: no kernel ran in this call on")));
  CHECK_THROWS_MATCHES(pace::kernels(
                           "waits", [](at::Tensor& x) { return x.sum().item<float>(); }, x),
                       pace::Unsupported, MessageMatches(ContainsSubstring("cannot be captured")));
  // And the device is as usable as before.
  CHECK(pace::kernels(quickly(), "after", [](at::Tensor& x) { return at::add(x, x); }, x).kernels.size() == 1);
}

TEST_CASE("kernels in the body of a conditional node are listed as they ran, behind all others", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "conditional",
      [](at::Tensor& x) {
        x.add_(1);
        scale_in_a_body(x);
        x.mul_(2);
      },
      x);
  CHECK(report.conditionals == 1);
  CHECK(report.bodies_profiled);
  REQUIRE(report.kernels.size() == 3);
  for (const std::size_t i : {0U, 1U}) {
    CHECK_THAT(report.kernels[i].why_not_alone, ContainsSubstring("in its place only"));
    CHECK(report.kernels[i].launch);
  }
  CHECK_THAT(report.kernels[2].name, ContainsSubstring("scale_kernel"));
  CHECK(report.kernels[2].why_not_alone == "it is in the body of a conditional node, where it ran once in a launch");
  CHECK(report.kernels[2].runs == 1);
  for (const auto& kernel : report.kernels) CHECK(kernel.profiled);
  CHECK(report.whole > report.sum());
  CHECK(pace::AtMost(pace::kernel::Count::kernels, 3).judge(report).verdict == pace::Verdict::passed);
  CHECK(pace::AtMost(pace::kernel::Count::kernels, 2).judge(report).verdict == pace::Verdict::failed);
  CHECK(pace::AtMost(pace::kernel::Count::spills, 0).judge(report).verdict == pace::Verdict::invalid);
  CHECK(x.equal(at::ones({1000}, on_cuda())));
}

TEST_CASE("kernels of a nested graph, and those before it, are not replayed alone", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "nested",
      [](at::Tensor& x) {
        x.add_(1);
        scale_twice_in_a_nested_graph(x);
        x.mul_(2);
      },
      x);
  REQUIRE(report.kernels.size() == 4);
  CHECK_THAT(report.kernels[0].why_not_alone, ContainsSubstring("a nested graph that runs after it"));
  for (const std::size_t i : {1U, 2U}) {
    CHECK_THAT(report.kernels[i].name, ContainsSubstring("scale_kernel"));
    CHECK_THAT(report.kernels[i].why_not_alone, ContainsSubstring("it is in a nested graph"));
  }
  CHECK(report.kernels[3].why_not_alone == "");
  CHECK(report.kernels[3].hot);
  for (const auto& kernel : report.kernels) CHECK(kernel.profiled);
  CHECK(x.equal(at::ones({1000}, on_cuda())));
}

TEST_CASE("host functions and events are counted, and how often the functions ran", "[gpu]") {
  (void)pace::testing::on_gpu();
  using pace::cuda::check;
  at::Tensor x = at::ones({1000}, on_cuda());
  std::atomic<std::size_t> runs = 0;
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  const auto report = pace::kernels(
      quickly(), "host functions",
      [&](at::Tensor& x) {
        x.add_(1);
        for (int i = 0; i < 2; ++i)
          check(cudaLaunchHostFunc(
                    current(), [](void* at) { ++*static_cast<std::atomic<std::size_t>*>(at); }, &runs),
                "queueing a host function");
        cudaStreamCaptureStatus status{};
        check(cudaStreamIsCapturing(current(), &status), "looking at the stream");
        // An event can be external in a capture alone.
        if (status == cudaStreamCaptureStatusActive)
          check(cudaEventRecordWithFlags(event, current(), cudaEventRecordExternal), "recording an event");
        x.mul_(2);
      },
      x);
  check(cudaDeviceSynchronize(), "waiting");
  check(cudaEventDestroy(event), "destroying an event");
  CHECK(report.other_nodes == std::map<std::string, std::size_t>{{"event record", 1}, {"host function", 2}});
  // Clocks make further calls.
  CHECK(report.host_function_runs > 0);
  CHECK(report.host_function_runs <= runs.load());
  REQUIRE(report.kernels.size() == 2);
  for (const auto& kernel : report.kernels) CHECK(kernel.why_not_alone == "");
  const auto notes = pace::kernel::notes_of(report);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("ran at least " + std::to_string(report.host_function_runs) + " times"));
}

TEST_CASE("a graph that allocates memory is listed as a whole, with the allocations counted", "[gpu]") {
  (void)pace::testing::on_gpu();
  using pace::cuda::check;
  at::Tensor x = at::ones({1000}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "allocates",
      [](at::Tensor& x) {
        void* memory = nullptr;
        check(cudaMallocAsync(&memory, 4 * static_cast<std::size_t>(x.numel()), current()), "allocating");
        auto* const between = static_cast<float*>(memory);
        pace::testing::scale(x.const_data_ptr<float>(), between, 2, x.numel(), current());
        pace::testing::scale(between, x.mutable_data_ptr<float>(), 3, x.numel(), current());
        check(cudaFreeAsync(memory, current()), "releasing");
      },
      x);
  CHECK(report.other_nodes == std::map<std::string, std::size_t>{{"memory allocation", 1}, {"memory release", 1}});
  REQUIRE(report.kernels.size() == 2);
  for (const auto& kernel : report.kernels) {
    CHECK_THAT(kernel.why_not_alone, ContainsSubstring("a graph with allocations of memory is launched as a whole"));
    CHECK(kernel.profiled);
  }
  CHECK(x.equal(at::ones({1000}, on_cuda())));
}

TEST_CASE("clusters and cooperative launches are reported", "[gpu]") {
  const auto& device = pace::testing::on_gpu();
  at::Tensor x = at::ones({1024}, on_cuda());
  const bool has_clusters = device.properties().major >= 9;
  const auto report = pace::kernels(
      quickly(), "attributes",
      [&](at::Tensor& x) {
        pace::testing::scale_cooperatively(x.const_data_ptr<float>(), x.mutable_data_ptr<float>(), 2, x.numel(),
                                           current());
        if (!has_clusters) return;
        pace::testing::scale_in_clusters(x.const_data_ptr<float>(), x.mutable_data_ptr<float>(), 2, x.numel(), 4,
                                         current());
        pace::testing::scale_in_compiled_clusters(x.const_data_ptr<float>(), x.mutable_data_ptr<float>(), 2, x.numel(),
                                                  current());
      },
      x);
  REQUIRE(report.kernels.size() == (has_clusters ? 3 : 1));
  for (const auto& kernel : report.kernels) {
    if (has_clusters)
      CHECK_THAT(kernel.why_not_alone, ContainsSubstring("a graph with clusters is launched as a whole"));
    else
      CHECK(kernel.why_not_alone == "");
    REQUIRE(kernel.launch);
  }
  CHECK(report.kernels[0].launch->cooperative);
  CHECK(report.kernels[0].launch->cluster == std::array<std::uint32_t, 3>{1, 1, 1});
  if (!has_clusters) SKIP("clusters need a GPU of compute capability 9.0");
  CHECK_FALSE(report.kernels[1].launch->cooperative);
  CHECK(report.kernels[1].launch->cluster == std::array<std::uint32_t, 3>{4, 1, 1});
  CHECK(report.kernels[2].launch->cluster == std::array<std::uint32_t, 3>{2, 1, 1});
}

TEST_CASE("a provider that fails on one kernel costs neither it nor the others their times", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda());
  auto options = quickly();
  options.providers = {[asked = 0](const pace::kernel::Kernel&) mutable -> std::optional<pace::kernel::Knowledge> {
    if (asked++ == 0) throw pace::Error("its record cannot be read");
    return std::nullopt;
  }};
  const auto report = pace::kernels(
      options, "two",
      [](at::Tensor& x) {
        x.add_(1);
        x.mul_(2);
      },
      x);
  REQUIRE(report.kernels.size() == 2);
  CHECK(report.notes.size() == 1);
  for (const auto& kernel : report.kernels) CHECK(kernel.hot);
}

TEST_CASE("PyTorch's timers time each kernel, too, where they are asked for", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1 << 20}, on_cuda());
  using pace::benches::kernels::compat::CompatibleTimer;
  pace::cuda::CudaDevice device(0);
  const auto time_by = [&](std::optional<CompatibleTimer> timer) {
    auto options = quickly();
    if (timer)
      options.compatible = [&device, timer](const std::function<void()>& launch) {
        return pace::benches::kernels::compat::time_launch(device, *timer, launch);
      };
    return pace::kernels(options, "relu", [](at::Tensor& x) { return at::relu(x); }, x).kernels.at(0).compatible;
  };
  CHECK_FALSE(time_by(std::nullopt));
  for (const auto timer : {CompatibleTimer::do_bench, CompatibleTimer::inductor, CompatibleTimer::profiler}) {
    const auto took = time_by(timer);
    REQUIRE(took);
    CHECK(took->count() > 0);
  }
}

TEST_CASE("a call whose operands are on the CPU is listed there, unless the GPU is asked for", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor on_cpu = at::ones({8}), hidden = at::ones({8}, on_cuda());
  const auto report = pace::kernels(quickly(), "host", [](at::Tensor& x) { return at::add(x, x); }, on_cpu);
  CHECK(report.by_ranges);
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].name == "aten::add");
  auto options = quickly();
  options.on = c10::DeviceType::CUDA;
  const auto on_gpu = pace::kernels(options, "no operands", [&] { return at::add(hidden, hidden); });
  CHECK_FALSE(on_gpu.by_ranges);
  REQUIRE(on_gpu.kernels.size() == 1);
  CHECK(on_gpu.kernels[0].launch);
}
