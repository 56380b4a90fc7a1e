// Whole comparisons on a GPU: four timing modes, gates, and candidates that cheat in ways that only a GPU offers.
#include "pace/pace.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <c10/cuda/CUDAGuard.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/gpu/cuda/cuda_graph.hpp"
#include "tests/gpu/cuda/gpu.hpp"
#include "tests/gpu/cuda/other_architecture.hpp"
#include "tests/gpu/cuda/scale.hpp"

namespace {

using Catch::Matchers::AllMatch;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::IsEmpty;
using pace::Outcome;

void needs_gpu() { static_cast<void>(pace::testing::on_gpu()); }

/// Moves 64 MB; the two passes of the other cost twice as much.
at::Tensor once(const at::Tensor& x) { return at::mul(x, 3); }
at::Tensor in_two_passes(const at::Tensor& x) { return at::add(at::mul(x, 2), x); }

/// The same after a copy to the host, so that it cannot be captured.
at::Tensor after_waiting(const at::Tensor& x) {
  const float first = x[0].item<float>();
  return first > 1e30f ? x : once(x);
}

at::Tensor operand() { return at::randn({8 << 20}, at::TensorOptions(at::kCUDA)); }

pace::Options quick() {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = std::chrono::milliseconds(400);
  options.max_interference = 1;
  return options;
}

const pace::ModeSummary& mode(const pace::ImplementationResult& row, const std::string& name) {
  for (const auto& each : row.modes)
    if (each.name == name) return each;
  FAIL("no mode " << name);
  throw 0;
}

/// A candidate beside the honest way, and its outcome.
template <class F>
pace::ImplementationResult tried(F candidate) {
  const auto result = pace::compare("cheat", operand())
                          .options(quick())
                          .baseline("honest", once)
                          .candidate("cheat", std::move(candidate))
                          .run();
  INFO(result["honest"].message);
  CHECK(result["honest"].outcome == Outcome::measured);
  UNSCOPED_INFO(pace::to_string(result["cheat"].outcome) << ": " << result["cheat"].message);
  return result["cheat"];
}

TEST_CASE("four timing modes, checked, with memory and what the driver told") {
  needs_gpu();
  const auto result = pace::compare("scale/64MB", operand())
                          .options(quick())
                          .baseline("two passes", in_two_passes)
                          .candidate("once", once)
                          .bytes(2.0 * (8 << 20) * sizeof(float))
                          .run();
  REQUIRE(result["once"].outcome == Outcome::measured);
  CHECK(result.clock == "graph");
  CHECK(result["once"].checked);
  for (const char* const name : {"cold", "hot", "graph", "host"}) {
    CAPTURE(name, mode(result["once"], name).missing);
    CHECK(mode(result["once"], name).time);
    CHECK(mode(result["once"], name).speedup);
  }
  REQUIRE(result["once"].device_memory);
  CHECK(result["once"].device_memory->peak == (8 << 20) * 4);
  CHECK(result["two passes"].device_memory->peak == 2 * (8 << 20) * 4);
  CHECK(result["once"].counts->bytes_allocated >= (8 << 20) * 4);
  CHECK(result["two passes"].counts->bytes_allocated >= 2 * (8 << 20) * 4);
  // Numbers become tensors of a few bytes on the CPU.
  const std::int64_t block = (8 << 20) * 4, numbers = 1000;
  const auto peak = [&](const char* name) { return result[name].counts->peak_bytes.value_or(0); };
  CHECK((peak("once") >= block && peak("once") < block + numbers));
  CHECK((peak("two passes") >= 2 * block && peak("two passes") < 2 * block + numbers));
  for (const char* const name : {"cold", "graph"}) {
    CAPTURE(name);
    const auto& time = mode(result["once"], name).time;
    REQUIRE(time->overhead);
    CHECK(time->overhead->added > pace::Nanoseconds(0));
    CHECK(time->shown_median() == time->median - time->overhead->added);
  }
  for (const char* const name : {"hot", "host"}) CHECK_FALSE(mode(result["once"], name).time->overhead);
  CHECK(result["once"].time->overhead);
  REQUIRE(result["once"].share_of_peak);
  CHECK(*result["once"].share_of_peak > 0);
  REQUIRE(result.conditions.gpu);
  CHECK(result.conditions.gpu->highest_clock > 0);
}

TEST_CASE("wrong on a GPU is wrong") {
  needs_gpu();
  const auto row = tried([](const at::Tensor& x) { return at::mul(x, 3.01); });
  CHECK(row.outcome == Outcome::wrong);
}

TEST_CASE("random operators draw the same numbers on the GPU") {
  needs_gpu();
  const auto result = pace::compare("dropout", operand())
                          .options(quick())
                          .baseline("one", [](const at::Tensor& x) { return at::add(x, at::randn_like(x)); })
                          .candidate("other", [](const at::Tensor& x) { return at::add(at::randn_like(x), x); })
                          .run();
  CHECK(result["one"].message == "");
  CHECK(result["other"].message == "");
  CHECK(result["other"].outcome == Outcome::measured);
}

TEST_CASE("cheat: the answer is kept by the operand's address") {
  needs_gpu();
  const auto row = tried([known = std::make_shared<std::map<const void*, at::Tensor>>()](const at::Tensor& x) {
    auto& answer = (*known)[x.const_data_ptr()];
    if (!answer.defined()) answer = once(x);
    return answer;
  });
  CHECK(row.outcome == Outcome::wrong);
}

TEST_CASE("cheat: only the first calls compute") {
  needs_gpu();
  const auto row = tried([calls = 0, last = at::Tensor()](const at::Tensor& x) mutable {
    if (++calls < 4) last = once(x);
    return last;
  });
  CHECK(row.outcome == Outcome::wrong);
}

TEST_CASE("cheat: the work goes to another stream, which is never waited for") {
  needs_gpu();
  const auto row = tried([side = c10::cuda::getStreamFromPool()](const at::Tensor& x) {
    const c10::cuda::CUDAStreamGuard guard(side);
    return once(x);
  });
  CHECK(row.outcome == Outcome::wrong);
  // By the stream, or by outputs that were read too early: whichever is seen first.
  CHECK_THAT(row.message, ContainsSubstring("stream") || ContainsSubstring("unwritten"));
}

TEST_CASE("cheat: another stream is left behind as the current one") {
  needs_gpu();
  const auto row = tried([](const at::Tensor& x) {
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
    return once(x);
  });
  CHECK(row.outcome == Outcome::wrong);
  CHECK_THAT(row.message, ContainsSubstring("stream"));
}

TEST_CASE("cheat: while it is captured it does nothing, and hands out what an earlier call computed") {
  needs_gpu();
  const auto row = tried([last = at::Tensor()](const at::Tensor& x) mutable {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(c10::cuda::getCurrentCUDAStream(), &status);
    if (status == cudaStreamCaptureStatusNone) last = once(x);
    return last;
  });
  CHECK(row.outcome == Outcome::wrong);
}

TEST_CASE("cheat: while it is captured it only takes memory") {
  needs_gpu();
  const auto row = tried([](const at::Tensor& x) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(c10::cuda::getCurrentCUDAStream(), &status);
    return status == cudaStreamCaptureStatusNone ? once(x) : at::empty_like(x);
  });
  CHECK(row.outcome == Outcome::wrong);
}

TEST_CASE("cheat: the answer comes later, from a thread with a stream of its own") {
  needs_gpu();
  // Each call computes the answer of the call before.
  const auto row = tried(
      [side = c10::cuda::getStreamFromPool(), last = std::pair<at::Tensor, at::Tensor>()](const at::Tensor& x) mutable {
        if (last.first.defined())
          std::thread([side, last] {
            const c10::cuda::CUDAStreamGuard guard(side);
            auto y = last.second;
            at::mul_out(y, last.first, at::scalar_tensor(3, y.options()));
          }).join();
        last = {x, at::empty_like(x)};
        return last.second;
      });
  CHECK(row.outcome == Outcome::wrong);
}

TEST_CASE("cheat: its operand is kept in the L2, whatever flushes that") {
  needs_gpu();
  const auto& gpu = pace::testing::on_gpu().properties();
  const auto most = static_cast<std::size_t>(std::min(gpu.persistingL2CacheMaxSize, gpu.accessPolicyMaxWindowSize));
  const std::size_t bytes = std::min(most, std::size_t{32} << 20);
  std::size_t before = 0, left = 0;
  cudaDeviceGetLimit(&before, cudaLimitPersistingL2CacheSize);
  // Not on every GPU: where only a part of one is lent, its driver may refuse.
  bool held = false;
  const auto row = tried([bytes, &held](const at::Tensor& x) {
    cudaStreamAttrValue window{};
    window.accessPolicyWindow.base_ptr = const_cast<void*>(x.const_data_ptr());
    window.accessPolicyWindow.num_bytes = std::min<std::size_t>(x.nbytes(), bytes);
    window.accessPolicyWindow.hitRatio = 1;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    held = bytes > 0 && cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes) == cudaSuccess &&
           cudaStreamSetAttribute(c10::cuda::getCurrentCUDAStream(), cudaStreamAttributeAccessPolicyWindow, &window) ==
               cudaSuccess;
    // The next launch would stumble over it.
    if (!held) static_cast<void>(cudaGetLastError());
    return once(x);
  });
  cudaDeviceGetLimit(&left, cudaLimitPersistingL2CacheSize);
  CAPTURE(bytes, held);
  if (held) {
    CHECK(row.outcome == Outcome::wrong);
    CHECK_THAT(row.message, ContainsSubstring("to stay in the L2"));
  } else {
    CHECK(row.outcome == Outcome::measured);
  }
  CHECK(left == before);
}

/// Returns a copy, by so many steps.
at::Tensor flipped(const at::Tensor& x, int steps = 1000) {
  at::Tensor y = at::empty_like(x);
  pace::testing::flip(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), steps, x.numel(),
                      c10::cuda::getCurrentCUDAStream());
  return y;
}

/// A claim or a guard about a candidate that knows the values given, and computes all others in `steps` steps.
template <class F>
void require_slower_on_unseen_values(F candidate, pace::ClockChoice clock, const pace::Expectation& expectation) {
  const at::Tensor x = at::randn({1 << 16}, at::TensorOptions(at::kCUDA));
  auto options = quick();
  options.clock = clock;
  const auto result = pace::compare("known values", x)
                          .options(options)
                          .baseline("honest", [](const at::Tensor& a) { return flipped(a); })
                          .candidate("cheat", candidate(x))
                          .expect(expectation)
                          .run();
  const auto& row = result["cheat"];
  INFO(row.message);
  REQUIRE(row.outcome == Outcome::measured);
  REQUIRE(row.on_unseen_values);
  CAPTURE(row.speedup->median, row.on_unseen_values->median, row.context.excess_in_rounds);
  INFO(row.judgements.at(0).message);
  CHECK_FALSE(row.judgements.at(0).acceptable);
  CHECK_THAT(row.judgements.at(0).message, ContainsSubstring("on unseen values"));
}

TEST_CASE("cheat: the answer is kept for the values given alone, by each element on the GPU") {
  needs_gpu();
  const auto computing_others_in = [](int steps) {
    return [steps](const at::Tensor& given) {
      return [steps, known = given.clone(), answer = flipped(given)](const at::Tensor& x) {
        at::Tensor y = at::empty_like(x);
        pace::testing::flip_unknown(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), steps,
                                    known.const_data_ptr<float>(), answer.const_data_ptr<float>(), x.numel(),
                                    c10::cuda::getCurrentCUDAStream());
        return y;
      };
    };
  };
  for (const auto clock : {pace::ClockChoice::automatic, pace::ClockChoice::hot, pace::ClockChoice::cold}) {
    CAPTURE(to_string(clock));
    require_slower_on_unseen_values(computing_others_in(1000), clock, pace::SpeedupAtLeast(1.2).on_device());
    require_slower_on_unseen_values(computing_others_in(2000), clock, pace::NoSlowerThan(1.2).on_device());
  }
}

TEST_CASE("cheat: the answer is kept for as long as version and address stay, and nothing can be captured") {
  needs_gpu();
  struct Kept {
    const void* address = nullptr;
    std::uint32_t version = 0;
    at::Tensor answer;
  };
  const auto keeping = [](const at::Tensor& given) {
    // It adopts a version where the values are those given.
    return [known = given.clone(), kept = Kept()](const at::Tensor& x) mutable {
      if (kept.address == x.const_data_ptr() && kept.version == x._version()) return kept.answer.clone();
      const at::Tensor y = flipped(x);
      if (at::equal(x, known)) kept = {x.const_data_ptr(), static_cast<std::uint32_t>(x._version()), y.clone()};
      return y;
    };
  };
  require_slower_on_unseen_values(keeping, pace::ClockChoice::hot, pace::SpeedupAtLeast(1.2).on_device());
}

/// A CUDA graph of the baseline's call.
pace::Comparison<at::Tensor> beside_its_graph(pace::cuda::CudaDevice& device) {
  auto comparison = pace::compare("graphed", operand());
  comparison.options(quick())
      .baseline("eager", in_two_passes)
      .candidate("cuda_graph", pace::cuda::cuda_graph(device, in_two_passes));
  return comparison;
}

TEST_CASE("a CUDA graph whose outputs are not declared to be overwritten") {
  needs_gpu();
  pace::cuda::CudaDevice device;
  const auto result = beside_its_graph(device).run();
  const auto& row = result["cuda_graph"];
  CHECK(row.outcome == Outcome::wrong);
  CHECK_THAT(row.message, ContainsSubstring("a later call overwrites output tensor 0"));
}

TEST_CASE("a CUDA graph beside what it was captured from: the same times, less of the host") {
  needs_gpu();
  pace::cuda::CudaDevice device;
  const auto result = beside_its_graph(device).reuses_outputs("cuda_graph").run();
  const auto& row = result["cuda_graph"];
  INFO(row.message);
  REQUIRE(row.outcome == Outcome::measured);
  CHECK(result.clock == "graph");
  // Capturing new copies of operands may take longer than the budget has for that question.
  CHECK_THAT(result.notes, AllMatch(ContainsSubstring("was not checked whether it keeps answers") ||
                                    ContainsSubstring("as declared (reuses_outputs)")));
  CHECK_THAT(result.conditions.disturbances, IsEmpty());
  for (const char* name : {"cold", "hot", "graph", "host"}) CHECK(mode(row, name).missing == "");
}

TEST_CASE("not a cheat: work on another stream that the current one waits for; a weight handed out") {
  needs_gpu();
  const auto joined = tried([side = c10::cuda::getStreamFromPool()](const at::Tensor& x) {
    const auto here = c10::cuda::getCurrentCUDAStream();
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, here);
    cudaStreamWaitEvent(side, event);
    at::Tensor y;
    {
      const c10::cuda::CUDAStreamGuard guard(side);
      y = once(x);
    }
    cudaEventRecord(event, side);
    cudaStreamWaitEvent(here, event);
    cudaEventDestroy(event);
    return y;
  });
  CHECK(joined.outcome == Outcome::measured);

  const at::Tensor weight = at::randn({1024}, at::TensorOptions(at::kCUDA)), before = weight.clone();
  const auto with_weight = [weight](const at::Tensor& x) { return std::tuple(once(x), weight); };
  const auto result =
      pace::compare("weight", operand()).options(quick()).baseline("a", with_weight).candidate("b", with_weight).run();
  CHECK(result["b"].message == "");
  CHECK(result["b"].outcome == Outcome::measured);
  CHECK(at::equal(weight, before));
}

TEST_CASE("what cannot be captured is timed by events, beside the others") {
  needs_gpu();
  const auto result = pace::compare("item", operand())
                          .options(quick())
                          .baseline("captured", once)
                          .candidate("waits", after_waiting)
                          .run();
  CHECK(result["waits"].outcome == Outcome::measured);
  CHECK(result.clock == "hot");
  CHECK_FALSE(mode(result["waits"], "graph").missing.empty());
  CHECK(mode(result["captured"], "graph").time);
}

TEST_CASE("what cannot be captured is refused where others are gated by the graph") {
  needs_gpu();
  const auto result = pace::compare("item", operand())
                          .options(quick())
                          .baseline("captured", once)
                          .candidate("waits", after_waiting)
                          .candidate("too", once)
                          .expect(pace::NoSlowerThan(1.5))
                          .run();
  CHECK(result.clock == "graph");
  CHECK(result["waits"].outcome == Outcome::refused);
  CHECK_THAT(result["waits"].message, ContainsSubstring("--clock hot"));
  INFO(result["too"].judgements.at(0).message);
  CHECK(result["too"].judgements.at(0).verdict == pace::Verdict::passed);
}

TEST_CASE("time of the host that a graph does not show closes a guard") {
  needs_gpu();
  const auto hesitating = [](const at::Tensor& x) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    while (std::chrono::steady_clock::now() < end) {
    }
    return once(x);
  };
  const auto result = pace::compare("hesitating", operand())
                          .options(quick())
                          .baseline("once", once)
                          .candidate("again", once)
                          .candidate("hesitating", hesitating)
                          .expect(pace::NoSlowerThan(1.5))
                          .run();
  const auto& host = result.in_phase(pace::host_phase);
  for (const char* const name : {"again", "hesitating"}) {
    INFO(result[name].judgements.at(0).message);
    CHECK(result[name].judgements.at(0).verdict == pace::Verdict::passed);
    INFO(host[name].judgements.at(0).message);
    CHECK(host[name].judgements.at(0).verdict ==
          (name == std::string("again") ? pace::Verdict::passed : pace::Verdict::failed));
    CHECK(mode(result[name], "host").speedup);
  }
  CHECK(result["again"].modes.size() == 4);
}

TEST_CASE("identical dense products have the same clock in the rounds") {
  needs_gpu();
  const at::Tensor x = at::randn({4096, 4096}, at::TensorOptions(at::kCUDA).dtype(at::kBFloat16));
  const auto product = [](const at::Tensor& a) { return at::mm(a, a); };
  auto options = quick();
  options.max_interference = 0.2;
  options.stop = pace::StopPolicy::budget;
  const auto result = pace::compare("product", x)
                          .options(options)
                          .baseline("one", product)
                          .candidate("other", product)
                          .expect(pace::NoSlowerThan(1.05).on_device())
                          .run();
  INFO(result["other"].judgements.at(0).message);
  REQUIRE(result.conditions.gpu);
  CAPTURE(result.conditions.gpu->suspect_cycles, result.conditions.gpu->power_limited);
  // They lower the clock for each other alike, so that enough cycles count.
  CHECK(result.conditions.gpu->dropped_cycles < result.rounds / 2);
  CHECK(result["other"].judgements.at(0).verdict == pace::Verdict::passed);
}

TEST_CASE("faster than the memory allows is invalid") {
  needs_gpu();
  const auto result = pace::compare("twenty times too many bytes", operand())
                          .options(quick())
                          .baseline("honest", once)
                          .candidate("boastful", once)
                          .bytes(20.0 * 2 * (8 << 20) * sizeof(float))
                          .expect(pace::NoSlowerThan(1.5))
                          .run();
  CHECK_THAT(result["boastful"].context.describe(pace::Severity::impossible),
             ContainsSubstring("of what this GPU was measured to move"));
  CHECK(result["boastful"].judgements.at(0).verdict == pace::Verdict::invalid);
}

TEST_CASE("kernels, launches, graph nodes and synchronisations are counted exactly") {
  needs_gpu();
  const auto result = pace::compare("counts", operand())
                          .options(quick())
                          .baseline("two passes", in_two_passes)
                          .candidate("once", once)
                          .candidate("waits",
                                     [](const at::Tensor& x) {
                                       at::Tensor y = in_two_passes(x);
                                       cudaStreamSynchronize(c10::cuda::getCurrentCUDAStream());
                                       return y;
                                     })
                          .expect("once", pace::Exactly(pace::Count::kernels, 1))
                          .expect("once", pace::Exactly(pace::Count::launches, 1))
                          .expect("once", pace::Exactly(pace::Count::graph_nodes, 1))
                          .expect("once", pace::Exactly(pace::Count::synchronisations, 0))
                          .expect("waits", pace::AtMost(pace::Count::kernels, 1))
                          .expect("waits", pace::Exactly(pace::Count::synchronisations, 1))
                          .expect("waits", pace::AtMost(pace::Count::graph_nodes, 9))
                          .run();
  for (const auto& judgement : result["once"].judgements) {
    INFO(judgement.message);
    CHECK(judgement.verdict == pace::Verdict::passed);
  }
  REQUIRE(result["waits"].device_counts);
  CHECK(result["waits"].judgements.at(0).verdict == pace::Verdict::failed);
  CHECK_THAT(result["waits"].judgements.at(0).message, ContainsSubstring("runs 2 kernels in one call, 1 more"));
  CHECK(result["waits"].judgements.at(1).verdict == pace::Verdict::passed);
  // It cannot be captured, so there are no nodes to count.
  CHECK(result["waits"].judgements.at(2).verdict == pace::Verdict::invalid);
  CHECK(result["two passes"].device_counts->graph_nodes == 2);
}

TEST_CASE("a kernel of one's own, in place, and out of memory") {
  needs_gpu();
  const auto own = [](const at::Tensor& x) {
    at::Tensor y = at::empty_like(x);
    pace::testing::scale(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), 3, x.numel(),
                         c10::cuda::getCurrentCUDAStream());
    return y;
  };
  CHECK(tried(own).outcome == Outcome::measured);
  const auto in_place = [](at::Tensor& x) -> at::Tensor& { return x.mul_(0.5); };
  const auto result = pace::compare("in place", operand())
                          .options(quick())
                          .baseline("a", in_place)
                          .candidate("b", [](at::Tensor& x) -> at::Tensor& { return x.div_(2); })
                          .run();
  CHECK(result["b"].outcome == Outcome::measured);
  const auto greedy =
      tried([](const at::Tensor& x) { return at::randn({std::int64_t(1) << 40}, x.options()).slice(0, 0, x.numel()); });
  CHECK(greedy.outcome == Outcome::out_of_memory);
  CHECK_THAT(greedy.message, ContainsSubstring("out of memory"));
}

TEST_CASE("a kernel that was built for another architecture is named, and the others go on") {
  needs_gpu();
  const auto foreign = [](const at::Tensor& x) {
    pace::cuda::check(pace::testing::launch_for_another_architecture(c10::cuda::getCurrentCUDAStream()), "my kernel");
    return once(x);
  };
  const auto result = pace::compare("foreign", operand())
                          .options(quick())
                          .baseline("honest", once)
                          .candidate("foreign", foreign)
                          .candidate("other", once)
                          .run();
  CHECK(result["foreign"].outcome != Outcome::measured);
  CHECK_THAT(result["foreign"].message, ContainsSubstring("my kernel"));
  CHECK_THAT(result["foreign"].message, ContainsSubstring("built for another architecture"));
  CHECK(result["other"].outcome == Outcome::measured);
  CHECK(result.lost_device == "");
}

TEST_CASE("what leaves most of its operand unread is faster than the memory, whatever its own check says", "[gpu]") {
  needs_gpu();
  // 256 MB; the floor counts half of it.
  const at::Tensor x = at::randn({64, 1 << 20}, at::TensorOptions(at::kCUDA));
  auto options = quick();
  // The search for the bytes that a call must read takes a twentieth of it.
  options.budget = std::chrono::seconds(4);
  const auto sum = [](const at::Tensor& of) { return of.sum(); };
  const auto result = pace::compare("sum", x)
                          .options(options)
                          .compare_outputs([](const c10::IValue&, const c10::IValue&) { return std::string(); })
                          .baseline("sum", sum)
                          .candidate("sum of rows", [](const at::Tensor& of) { return of.sum(1).sum(); })
                          .candidate("sum of some", [](const at::Tensor& of) { return of.narrow(0, 0, 4).sum(); })
                          .expect("sum of some", pace::SpeedupAtLeast(1.5))
                          .run();
  for (const char* const name : {"sum", "sum of rows"}) {
    INFO(name << ": " << result[name].message);
    CHECK(result[name].outcome == Outcome::measured);
    CHECK(result[name].context.describe(pace::Severity::impossible) == "");
  }
  const auto& some = result["sum of some"];
  INFO(some.message);
  CHECK_THAT(some.context.describe(pace::Severity::impossible),
             ContainsSubstring("from an empty L2") && ContainsSubstring("134 MB of operands"));
  REQUIRE(some.judgements.size() == 1);
  CHECK(some.judgements[0].verdict == pace::Verdict::invalid);
}

}  // namespace
