#!/usr/bin/env bash
# pace without Bazel: a copy of include/, one command line of g++, and a test that runs.
#
#   header_only_test.sh TORCH_FOLDER     from the root of the tree or of the runfiles
set -euo pipefail
torch=$1
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/header_only.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/mine"
cp -rL include "$work/mine/include"
cd "$work/mine"
cat >relu_test.cc <<'CODE'
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <catch2/catch_test_macros.hpp>
#include <pace/catch2.hpp>
#include <pace/pace.hpp>

at::Tensor relu(const at::Tensor& x) { return at::relu(x); }

TEST_CASE("relu is relu") {
  const auto result = pace::compare("relu", at::randn({64, 64}))
                          .baseline("one", relu)
                          .candidate("other", relu)
                          // A busy machine gives no verdict. This test does not need one.
                          .expect(pace::NoSlowerThan(10).when_undecided(pace::WhenUndecided::let_through))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}
CODE
# Without NaN no check would find one.
for flag in -ffast-math -Ofast -ffinite-math-only; do
  if message=$(g++ -std=c++20 "$flag" -fsyntax-only -Iinclude include/pace/base/error.hpp 2>&1) ||
    [[ $message != *"add -fno-finite-math-only behind them"* ]]; then
    echo "$flag: expected an error that names -fno-finite-math-only: $message"
    exit 1
  fi
done
g++ -std=c++20 -ffast-math -fno-finite-math-only -fsyntax-only -Iinclude -x c++ - <<<'#include "pace/base/error.hpp"'

# A second file of the same program: headers must define nothing twice.
printf '#include <pace/pace.hpp>\n#include <pace/catch2.hpp>\n' >other.cc

# Without the audit, no file of it is read, and a level that needs it is refused.
cat >no_audit_test.cc <<'CODE'
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <pace/pace.hpp>

TEST_CASE("without the audit") {
  const auto relu = [](const at::Tensor& x) { return at::relu(x); };
  auto comparison = pace::compare("relu", at::randn({64, 64}));
  comparison.baseline("one", relu).candidate("other", relu);
  comparison.candidate("wrong", [](const at::Tensor& x) { return x.clone(); });
  const auto result = comparison.run();
  CHECK(result.audit == "off");
  CHECK(result["other"].outcome == pace::Outcome::measured);
  CHECK(result["wrong"].outcome == pace::Outcome::wrong);
  pace::Options options;
  options.audit = pace::Audit::strict;
  comparison.options(options);
  CHECK_THROWS_WITH(comparison.run(), Catch::Matchers::ContainsSubstring("PACE_NO_AUDIT; expected --audit off"));
}
CODE

# The command line that docs/ show but for -O1, in two parts: each file is compiled, and both are linked.
compile=(g++ -std=c++20 -O1 -Iinclude -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include")
"${compile[@]}" -c relu_test.cc &
"${compile[@]}" -O0 -Wall -Wextra -Werror -c other.cc
wait $!
g++ relu_test.o other.o -o relu_test -L"$torch/lib" -Wl,-rpath,"$torch/lib" -ltorch_cpu -lc10 -lCatch2Main -lCatch2
./relu_test
"${compile[@]}" -DPACE_NO_AUDIT -MD -c no_audit_test.cc
if grep -oE 'pace/(audit|settings|unseen|values)/.*' no_audit_test.d; then
  echo "expected no file of the audit with PACE_NO_AUDIT"
  exit 1
fi
g++ no_audit_test.o -o no_audit_test -L"$torch/lib" -Wl,-rpath,"$torch/lib" -ltorch_cpu -lc10 -lCatch2Main -lCatch2
./no_audit_test
