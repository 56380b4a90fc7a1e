#!/usr/bin/env bash
# Parts of LibTorch that not every distribution has: files that use them compile where their headers are missing, and
# say so when they run.
#
#   optional_headers_test.sh TORCH_FOLDER     from the root of the tree or of the runfiles
set -euo pipefail
torch=$1
root=$PWD
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/optional_headers.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Below LibTorch's include/. Each of them is there today: one that is gone must not stand here.
optional=(
  torch/csrc/api/include/torch/nativert
  torch/csrc/autograd/profiler_kineto.h
  torch/csrc/inductor/aoti_package
  torch/csrc/jit/codegen/fuser/interface.h
  torch/csrc/jit/passes/tensorexpr_fuser.h
  torch/csrc/jit/runtime/static
  torch/csrc/jit/tensorexpr
)

# hide PATH: takes it out of $work/include, a link to LibTorch's headers. Folders on its way become folders of links.
ln -s "$(realpath "$torch/include")" "$work/include"
hide() {
  local folder=$work/include rest=$1 original
  [[ -e $folder/$rest ]] || { echo "LibTorch has no $rest; expected it to be there, and to be hidden here"; exit 1; }
  while true; do
    if [[ -L $folder ]]; then
      original=$(readlink "$folder")
      rm "$folder"
      mkdir "$folder"
      ln -s "$original"/* "$folder"
    fi
    [[ $rest == */* ]] || break
    folder=$folder/${rest%%/*} rest=${rest#*/}
  done
  rm "$folder/$rest"
}
for header in "${optional[@]}"; do hide "$header"; done

# A file that includes one of them without asking is an error here.
cat >"$work/parts.cc" <<'CODE'
#include <iostream>
#include <string>

#include "benches/files/aot/exported_package.hpp"
#include "benches/files/aot/fuser.hpp"
#include "benches/files/aot/libtorch_parts.hpp"
#include "benches/files/aot/profiler_trace.hpp"
#include "benches/files/loaders/loaders.hpp"
#include "benches/operators/backends/default_backends.hpp"
#include "benches/rnn/fuser.hpp"
#include "pace/gpu/cuda/kineto.hpp"

static_assert(!PACE_HAS_AOT_INDUCTOR && !PACE_HAS_NATIVERT && !PACE_HAS_STATIC_RUNTIME);
static_assert(!PACE_HAS_PROFILER && !PACE_HAS_FUSERS && !PACE_HAS_KINETO);

/// Whether `function` says that a header is missing.
template <class Function>
bool is_missing(const char* what, Function function) {
  try {
    function();
  } catch (const pace::Unsupported& error) {
    if (std::string(error.what()).find("was installed without the headers") != std::string::npos) return true;
  }
  std::cout << what << ": expected Unsupported, which names the missing headers\n";
  return false;
}

int main() {
  using namespace pace::benches;
  bool fine = is_missing("a trace", [] { aot::ProfilerTrace trace; });
  fine = is_missing("a recording", [] { pace::cuda::kineto::start(); }) && fine;
  fine = is_missing("a fuser", [] { aot::use_fuser(aot::Fuser::nnc); }) && fine;
  fine = is_missing("an executor", [] { rnn::set_fuser("default", "legacy"); }) && fine;
  fine = is_missing("NNC's kernels", [] { rnn::set_pointwise_kernels({.block_size = 4}); }) && fine;
  // What changes nothing needs none of them.
  aot::use_fuser(aot::Fuser::standard);
  rnn::set_fuser("default");
  rnn::set_pointwise_kernels({});
  const rnn::FuserGuard guard;
  return fine ? 0 : 1;
}
CODE
compile=(g++ -std=c++20 -O0 -I"$root" -I"$root/include" -isystem "$work/include"
  -isystem "$work/include/torch/csrc/api/include")
"${compile[@]}" -fsyntax-only "$root/benches/operators/backends/static_runtime.cc" &
syntax=$!
"${compile[@]}" "$work/parts.cc" -o "$work/parts" -L"$torch/lib" -Wl,-rpath,"$torch/lib" -ltorch_cpu -lc10 -lz
wait "$syntax"
"$work/parts"
