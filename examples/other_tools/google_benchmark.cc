#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <cstdint>

#include "gelu_by_steps.hpp"

template <at::Tensor (*function)(const at::Tensor&)>
void time_gelu(benchmark::State& state) {
  const at::Tensor x = at::randn({state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(function(x));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 8 * state.range(0));
}

BENCHMARK(time_gelu<gelu_by_steps>)->Arg(1024)->Arg(8192)->Arg(65536);
BENCHMARK(time_gelu<gelu_at_once>)->Arg(1024)->Arg(8192)->Arg(65536);

BENCHMARK_MAIN();
