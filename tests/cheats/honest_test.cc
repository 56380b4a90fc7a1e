// Honest implementations of all kinds: none of the checks that catch cheats may reject one.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/ops/_nested_tensor_from_tensor_list.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hypot.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linalg_cholesky.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_inv.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/normal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/real.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>

#include "tests/cheats/rejected.hpp"

namespace {

using Arguments = std::vector<at::Tensor>;
using Function = std::function<c10::IValue(Arguments&)>;

using Declare = std::function<void(pace::Comparison<Arguments>&)>;

struct Variant {
  std::string name;
  Arguments operands;
  Function baseline, candidate;
  Declare declare = {};
};

/// A few operands of every kind that elementwise operators take.
std::vector<std::pair<std::string, at::Tensor>> shapes() {
  return {{"vector", at::randn({64})},
          {"matrix", at::randn({8, 24})},
          {"empty", at::randn({0, 3})},
          {"scalar", at::randn({})},
          {"one element", at::randn({1, 1})},
          {"transposed", at::randn({12, 8}).t()},
          {"strided", at::randn({16, 16}).slice(1, 0, 16, 3)},
          {"offset", at::randn({40}).narrow(0, 3, 30)},
          {"expanded", at::randn({1, 12}).expand({5, 12})},
          {"channels last", at::randn({2, 3, 4, 4}).to(at::MemoryFormat::ChannelsLast)},
          {"float64", at::randn({30}, at::kDouble)},
          {"float16", at::randn({30}).to(at::kHalf)},
          {"bfloat16", at::randn({30}).to(at::kBFloat16)},
          {"leaf with gradient", at::randn({10}).set_requires_grad(true)},
          {"large values", at::randn({30}).mul(1e30)},
          {"tiny values", at::randn({30}).mul(1e-38)},
          {"with NaN", at::randn({30}).log()},
          {"zeros", at::zeros({30})}};
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  const auto add = [&](std::string name, Arguments operands, Function baseline, Function candidate,
                       Declare declare = {}) {
    all.push_back(
        {std::move(name), std::move(operands), std::move(baseline), std::move(candidate), std::move(declare)});
  };
  const auto eager = [](Arguments& a) { return a[0].mul(2).sigmoid(); };
  for (const auto& [kind, x] : shapes()) {
    add("the same, " + kind, {x}, eager, eager);
    add(
        "in another way, " + kind, {x}, [](Arguments& a) { return a[0].relu(); },
        [](Arguments& a) { return a[0].clamp_min(0); });
    // With a graph in the baseline's output, this one would lose it.
    if (x.requires_grad()) continue;
    add(
        "into a tensor kept from call to call, " + kind, {x}, eager,
        [out = at::Tensor()](Arguments& a) mutable {
          const c10::NoGradGuard no_grad;
          if (!out.defined()) out = at::empty_like(a[0]);
          at::mul_out(out, a[0], at::scalar_tensor(2, a[0].options().requires_grad(false)));
          return out.sigmoid_();
        },
        [](auto& comparison) { comparison.reuses_outputs(); });
  }
  for (const auto dtype : {at::kLong, at::kInt, at::kShort, at::kByte, at::kBool}) {
    const auto x = at::randint(0, 2, {40}, at::kLong).to(dtype);
    add(
        std::string("integers, ") + c10::toString(dtype), {x}, [](Arguments& a) { return a[0].logical_not(); },
        [](Arguments& a) { return a[0].eq(0); });
  }
  const auto x = at::randn({16, 32}), y = at::randn({16, 32}), w = at::randn({32, 24}), b = at::randn({24});
  const auto positive = at::rand({16, 32}).add(0.1);

  // In place, and outputs that are operands.
  add(
      "in place", {x}, [](Arguments& a) { return a[0].mul_(2).add_(1); },
      [](Arguments& a) {
        a[0].copy_(a[0].mul(2).add(1));
        return a[0];
      });
  add(
      "in place, returning nothing", {x, y},
      [](Arguments& a) {
        a[1].add_(a[0]);
        return c10::IValue();
      },
      [](Arguments& a) {
        a[1].copy_(a[0].add(a[1]));
        return c10::IValue();
      });
  add(
      "out variant", {x, y, at::zeros({16, 32})}, [](Arguments& a) { return at::add_out(a[2], a[0], a[1]); },
      [](Arguments& a) { return a[2].copy_(a[0].add(a[1])); });
  add(
      "an accumulator", {x, at::zeros({32})},
      [](Arguments& a) {
        a[1].add_(a[0].sum(0));
        return a[1];
      },
      [](Arguments& a) {
        for (std::int64_t i = 0; i < 16; ++i) a[1].add_(a[0][i]);
        return a[1];
      });
  add(
      "running statistics", {x, at::zeros({32}), at::ones_like(b)},
      [](Arguments& a) {
        a[1].mul_(0.9).add_(a[0].mean(0), 0.1);
        return a[0].sub(a[1]);
      },
      [](Arguments& a) {
        a[1].lerp_(a[0].mean(0), 0.1);
        return a[0].sub(a[1]);
      });

  // Views.
  add("a view by both", {x}, [](Arguments& a) { return a[0].t(); }, [](Arguments& a) { return a[0].transpose(0, 1); });
  add(
      "a copy where the baseline returns a view", {x}, [](Arguments& a) { return a[0].t(); },
      [](Arguments& a) { return a[0].t().contiguous(); });
  add(
      "a slice", {x}, [](Arguments& a) { return a[0].slice(0, 2, 9); },
      [](Arguments& a) { return a[0].narrow(0, 2, 7); });
  add(
      "expanded by both", {b}, [](Arguments& a) { return a[0].expand({5, 24}); },
      [](Arguments& a) { return a[0].unsqueeze(0).expand({5, 24}); });
  add(
      "a view of a fresh tensor", {x}, [](Arguments& a) { return a[0].neg(); },
      [](Arguments& a) { return at::cat({a[0].neg(), a[0]}).narrow(0, 0, 16); });
  add(
      "other strides", {x}, [](Arguments& a) { return a[0].t().contiguous().neg(); },
      [](Arguments& a) { return a[0].neg().t(); });
  add(
      "the operand itself by both", {x}, [](Arguments& a) { return a[0].contiguous(); },
      [](Arguments& a) { return a[0]; });

  // Linear algebra; results that depend on the order of sums; values with structure.
  add(
      "a product", {x, w}, [](Arguments& a) { return at::matmul(a[0], a[1]); },
      [](Arguments& a) { return at::mm(a[1].t(), a[0].t()).t(); });
  add(
      "a product by einsum", {x, w}, [](Arguments& a) { return at::matmul(a[0], a[1]); },
      [](Arguments& a) { return at::einsum("ij,jk->ik", {a[0], a[1]}); });
  add(
      "a product in blocks", {x, w}, [](Arguments& a) { return at::matmul(a[0], a[1]); },
      [](Arguments& a) {
        return a[0]
            .narrow(1, 0, 16)
            .matmul(a[1].narrow(0, 0, 16))
            .add(a[0].narrow(1, 16, 16).matmul(a[1].narrow(0, 16, 16)));
      });
  add(
      "linear", {x, w, b}, [](Arguments& a) { return at::linear(a[0], a[1].t(), a[2]); },
      [](Arguments& a) { return a[0].matmul(a[1]).add(a[2]); });
  const auto square = at::randn({8, 8}, at::kDouble);
  const auto definite = at::matmul(square, square.t()).add(at::randn({8, 8}, at::kDouble).mul(0).fill_diagonal_(1));
  add(
      "relying on a positive definite operand", {definite}, [](Arguments& a) { return at::linalg_inv(a[0]); },
      [](Arguments& a) { return at::linalg_cholesky(a[0]).cholesky_inverse(); });
  add(
      "relying on a symmetric operand", {definite}, [](Arguments& a) { return a[0].sum(0); },
      [](Arguments& a) { return a[0].sum(1); });
  add(
      "relying on a sorted operand", {std::get<0>(x.flatten().sort())},
      [](Arguments& a) { return std::get<0>(a[0].sort()); }, [](Arguments& a) { return a[0].clone(); });
  add(
      "relying on a sorted operand, its extremes", {std::get<0>(x.flatten().sort())},
      [](Arguments& a) { return a[0].max(); }, [](Arguments& a) { return a[0][-1].clone(); });
  add(
      "relying on a triangular operand", {w.narrow(0, 0, 24).tril()}, [](Arguments& a) { return a[0].neg(); },
      [](Arguments& a) { return a[0].tril().neg(); });
  add(
      "relying on normalised rows", {at::softmax(x, 1)}, [](Arguments& a) { return a[0].div(a[0].sum(1, true)); },
      [](Arguments& a) { return a[0].div(a[0].sum(1, true).expand({16, 32})); });
  add(
      "a sign by division, of zeros too", {x}, [](Arguments& a) { return a[0].sign(); },
      [](Arguments& a) { return a[0].div(a[0].abs()).nan_to_num(0); });
  add(
      "probabilities", {at::rand({50})}, [](Arguments& a) { return at::bernoulli(a[0]); },
      [](Arguments& a) { return at::bernoulli(a[0]); });
  add(
      "logarithms", {positive}, [](Arguments& a) { return a[0].log(); },
      [](Arguments& a) { return a[0].log2().mul(0.6931471805599453); });
  add(
      "arc cosine", {at::rand({50}).mul(2).sub(1)}, [](Arguments& a) { return a[0].acos(); },
      [](Arguments& a) { return a[0].asin().neg().add(1.5707963267948966); });

  // Normalisations: nothing changes with the scale.
  const auto softmax = [](Arguments& a) { return at::softmax(a[0], 1); };
  add("softmax", {x}, softmax, [](Arguments& a) {
    const auto e = a[0].sub(a[0].amax(1, true)).exp();
    return e.div(e.sum(1, true));
  });
  add(
      "layer norm", {x}, [](Arguments& a) { return at::layer_norm(a[0], {32}); },
      [](Arguments& a) { return a[0].sub(a[0].mean(1, true)).mul(a[0].var(1, false, true).add(1e-5).rsqrt()); });
  add(
      "layer norm without epsilon", {x}, [](Arguments& a) { return at::layer_norm(a[0], {32}, {}, {}, 0); },
      [](Arguments& a) { return a[0].sub(a[0].mean(1, true)).div(a[0].std(1, false, true)); });
  add(
      "a ratio of operands", {x, positive}, [](Arguments& a) { return a[0].div(a[1]); },
      [](Arguments& a) { return a[0].mul(a[1].reciprocal()); });
  add("signs", {x}, [](Arguments& a) { return a[0].gt(0); }, [](Arguments& a) { return a[0].le(0).logical_not(); });
  add(
      "argmax", {x}, [](Arguments& a) { return a[0].argmax(1); },
      [](Arguments& a) { return std::get<1>(a[0].max(1)); });
  add(
      "argsort", {x}, [](Arguments& a) { return a[0].argsort(std::int64_t{1}); },
      [](Arguments& a) { return std::get<1>(a[0].sort(1)); });
  add(
      "a constant, whatever the values", {x}, [](Arguments& a) { return at::ones_like(a[0]); },
      [](Arguments& a) { return at::zeros(a[0].sizes()).add(1); });
  add(
      "the size of its operand", {x}, [](Arguments& a) { return a[0].numel(); },
      [](Arguments& a) { return a[0].size(0) * a[0].size(1); });

  // Indices.
  const auto indices = at::randint(0, 16, {20}, at::kLong);
  add(
      "index_select", {x, indices}, [](Arguments& a) { return a[0].index_select(0, a[1]); },
      [](Arguments& a) { return at::embedding(a[0], a[1]); });
  add(
      "gather", {x, at::randint(0, 32, {16, 4}, at::kLong)}, [](Arguments& a) { return a[0].gather(1, a[1]); },
      [](Arguments& a) {
        return at::stack({a[0].gather(1, a[1].narrow(1, 0, 2)), a[0].gather(1, a[1].narrow(1, 2, 2))}, 1).flatten(1);
      });
  add(
      "scatter_add", {at::zeros({16}), indices, at::randn({20})},
      [](Arguments& a) { return a[0].scatter_add(0, a[1], a[2]); },
      [](Arguments& a) { return a[0].index_add(0, a[1], a[2]); });
  add(
      "a permutation", {at::randperm(30, at::kLong)}, [](Arguments& a) { return a[0].argsort(); },
      [](Arguments& a) { return std::get<1>(a[0].sort()); });
  add(
      "a mask", {x, at::rand({16, 32}).gt(0.5)}, [](Arguments& a) { return a[0].masked_fill(a[1], 0); },
      [](Arguments& a) { return at::where(a[1], at::zeros({}), a[0]); });
  add(
      "as many outputs as values ask for", {x}, [](Arguments& a) { return at::nonzero(a[0].gt(0.5)); },
      [](Arguments& a) { return at::nonzero(a[0].le(0.5).logical_not()); });

  // Values with structure, which others in their place have, too.
  const auto ids = at::randint(0, 16, {24}, at::kLong);
  add(
      "relying on whole numbers", {at::randint(0, 9, {40}, at::kLong).to(at::kDouble)},
      [](Arguments& a) { return a[0].mul(2); }, [](Arguments& a) { return a[0].round().mul(2); });
  add(
      "relying on one-hot rows", {at::eye(8).index_select(0, at::randint(0, 8, {16}, at::kLong)), w.narrow(0, 0, 8)},
      [](Arguments& a) { return a[0].matmul(a[1]); },
      [](Arguments& a) { return a[1].index_select(0, a[0].argmax(1)); });
  add(
      "relying on a banded symmetric matrix", {square.add(square.t()).tril(1).triu(-1), at::randn({8}, at::kDouble)},
      [](Arguments& a) { return a[0].mv(a[1]); },
      [](Arguments& a) {
        auto out = a[0].diagonal().mul(a[1]);
        const auto off = a[0].diagonal(1);
        out.narrow(0, 0, 7).add_(off.mul(a[1].narrow(0, 1, 7)));
        out.narrow(0, 1, 7).add_(off.mul(a[1].narrow(0, 0, 7)));
        return out;
      });
  add(
      "relying on a Toeplitz matrix", {at::arange(1.0, 9.0).sub(at::arange(1.0, 9.0).unsqueeze(1)).abs().add(0.5)},
      [](Arguments& a) { return a[0].sum(1); },
      [](Arguments& a) {
        const auto first = a[0][0];
        std::vector<at::Tensor> sums;
        for (std::int64_t i = 0; i < 8; ++i)
          sums.push_back(first.narrow(0, 0, 8 - i).sum().add(first.narrow(0, 1, i).sum()));
        return at::stack(sums);
      });
  add(
      "relying on a causal mask", {x.narrow(0, 0, 16).narrow(1, 0, 16), at::ones_like(x).narrow(1, 0, 16).tril()},
      [](Arguments& a) { return a[0].masked_fill(a[1].eq(0), 0); }, [](Arguments& a) { return a[0].tril(); });
  add(
      "relying on sorted boundaries", {std::get<0>(at::randn({32}).sort()), x},
      [](Arguments& a) { return a[0].le(a[1].unsqueeze(-1)).sum(-1); },
      [](Arguments& a) { return at::searchsorted(a[0], a[1], false, true); });
  add(
      "indices packed for their version", {x, ids}, [](Arguments& a) { return a[0].index_select(0, a[1]); },
      [packed = at::Tensor(), of = static_cast<const void*>(nullptr),
       version = std::int64_t{-1}](Arguments& a) mutable {
        if (of != a[1].const_data_ptr() || version != a[1]._version()) {
          packed = a[1].to(at::kInt);
          of = a[1].const_data_ptr();
          version = a[1]._version();
        }
        return at::embedding(a[0], packed);
      });
  add(
      "sums by offsets", {x, at::tensor({0, 3, 4, 9, 16}, at::kLong)},
      [](Arguments& a) { return a[0].cumsum(0).index_select(0, a[1].narrow(0, 1, 4).sub(1)); },
      [](Arguments& a) {
        std::vector<at::Tensor> sums;
        for (std::int64_t i = 1; i < 5; ++i) sums.push_back(a[0].narrow(0, 0, a[1][i].item<std::int64_t>()).sum(0));
        return at::stack(sums);
      });
  add(
      "relying on padding at the end of rows", {x, at::arange(32).lt(at::randint(3, 32, {16, 1}, at::kLong))},
      [](Arguments& a) { return a[0].masked_fill(a[1].logical_not(), 0).sum(1); },
      [](Arguments& a) {
        std::vector<at::Tensor> sums;
        for (std::int64_t i = 0; i < 16; ++i)
          sums.push_back(a[0][i].narrow(0, 0, a[1][i].sum().item<std::int64_t>()).sum());
        return at::stack(sums);
      });
  add(
      "edges of a graph in order", {x, at::stack({std::get<0>(ids.sort()), at::randint(0, 16, {24}, at::kLong)})},
      [](Arguments& a) { return at::zeros({16, 32}).index_add(0, a[1][0], a[0].index_select(0, a[1][1])); },
      [](Arguments& a) {
        const auto counts = a[1][0].bincount({}, 16).cumsum(0);
        // In float32, a difference of sums over all edges would have their error.
        const auto zeros = at::zeros({1, 32}, at::kDouble);
        const auto sums = at::cat({zeros, a[0].index_select(0, a[1][1]).cumsum(0, at::kDouble)});
        const auto ends = sums.index_select(0, counts);
        return ends.sub(at::cat({zeros, ends.narrow(0, 0, 15)})).to(at::kFloat);
      });

  // Operands that do not matter for the values given, alone or at all.
  add(
      "a saturated gate", {x, at::rand({32}).add(60)}, [](Arguments& a) { return a[0].mul(a[1].sigmoid()); },
      [](Arguments& a) { return a[0].div(a[1].neg().exp().add(1)); });
  add(
      "a bias times zero", {x, at::zeros({32}), at::randn({32})},
      [](Arguments& a) { return a[0].tanh().add(a[1].mul(a[2])); },
      [](Arguments& a) { return at::addcmul(a[0].tanh(), a[1], a[2]); });
  add(
      "a mask that is true everywhere", {x, at::ones({16, 32}, at::kBool)},
      [](Arguments& a) { return a[0].masked_fill(a[1].logical_not(), 0); },
      [](Arguments& a) { return at::where(a[1], a[0], at::zeros({})); });
  add(
      "a mask between equal operands", {at::rand({16, 32}).gt(0.5), x, x.clone()},
      [](Arguments& a) { return at::where(a[0], a[1], a[2]); },
      [](Arguments& a) { return a[1].masked_fill(a[0].logical_not(), 0).add(a[2].masked_fill(a[0], 0)); });
  add(
      "ranges by their first and last index", {x.flatten(), at::tensor({9, 0, 7, 2, 1}), at::tensor({12, 4, 8, 3, 2})},
      [](Arguments& a) {
        std::vector<at::Tensor> sums;
        for (std::int64_t i = 0; i < 5; ++i)
          sums.push_back(a[0].slice(0, a[1][i].item<std::int64_t>(), a[2][i].item<std::int64_t>()).sum());
        return at::stack(sums);
      },
      [](Arguments& a) {
        const auto sums = at::cat({at::zeros({1}, at::kDouble), a[0].to(at::kDouble).cumsum(0)});
        return sums.index_select(0, a[2]).sub(sums.index_select(0, a[1])).to(at::kFloat);
      });
  add(
      "an operand that is not used", {x, y}, [](Arguments& a) { return a[0].exp(); },
      [](Arguments& a) { return a[0].exp(); });

  // Special operands that pace replaces by others with the same property.
  add(
      "relying on a diagonal matrix, the identity", {at::eye(16), x}, [](Arguments& a) { return a[0].matmul(a[1]); },
      [](Arguments& a) { return a[1].mul(a[0].diagonal().unsqueeze(1)); });
  add(
      "relying on a positive definite operand, the identity", {at::eye(8, at::kDouble)},
      [](Arguments& a) { return at::linalg_inv(a[0]); },
      [](Arguments& a) { return at::linalg_cholesky(a[0]).cholesky_inverse(); });
  add(
      "relying on a permutation matrix", {at::eye(16).index_select(0, at::randperm(16, at::kLong)), x},
      [](Arguments& a) { return a[0].matmul(a[1]); },
      [](Arguments& a) { return a[1].index_select(0, a[0].argmax(1)); });
  const auto normalised = x.div(x.norm(2, {1}, true));
  add(
      "relying on rows of length 1", {normalised},
      [](Arguments& a) {
        const auto unit = a[0].div(a[0].norm(2, {1}, true));
        return unit.matmul(unit.t());
      },
      [](Arguments& a) { return a[0].matmul(a[0].t()); });
  add(
      "relying on an orthogonal matrix", {std::get<0>(at::linalg_qr(square))},
      [](Arguments& a) { return at::linalg_inv(a[0]); }, [](Arguments& a) { return a[0].t().clone(); });
  const auto mixed = at::eye(8, at::kDouble)
                         .mul(0.3)
                         .add(at::eye(8, at::kDouble).index_select(0, at::randperm(8, at::kLong)).mul(0.7));
  add(
      "relying on rows and columns of the sum 1", {mixed, at::randn({8}, at::kDouble)},
      [](Arguments& a) { return a[0].mv(a[1]).div(a[0].sum(0)); }, [](Arguments& a) { return a[0].mv(a[1]); });
  add(
      "relying on one-hot rows of bools", {at::arange(8).eq(at::randint(0, 8, {16, 1}, at::kLong)), w.narrow(0, 0, 8)},
      [](Arguments& a) { return a[0].to(at::kFloat).matmul(a[1]); },
      [](Arguments& a) { return a[1].index_select(0, a[0].to(at::kByte).argmax(1)); });
  const auto lags = at::arange(8.0).sub(at::arange(8.0).unsqueeze(1));
  add(
      "relying on a Toeplitz matrix that is not symmetric", {lags.mul(0.9).sin().add(lags.mul(0.1))},
      [](Arguments& a) { return a[0].mul(2); },
      [](Arguments& a) {
        const auto values = at::cat({a[0].select(1, 0).flip(0), a[0][0].narrow(0, 1, 7)}).mul(2);
        std::vector<at::Tensor> rows;
        for (std::int64_t i = 0; i < 8; ++i) rows.push_back(values.narrow(0, 7 - i, 8));
        return at::stack(rows);
      });
  // Products with circulant matrices are convolutions on a circle.
  const auto circle = at::arange(8).sub(at::arange(8).unsqueeze(1)).remainder(8).flatten();
  for (const bool symmetrical : {false, true}) {
    const auto first = at::randn({8}, at::kDouble), other = first.flip(0).roll(1);
    const auto row = symmetrical ? first.add(other) : first;
    add(
        std::string("relying on a circulant matrix") + (symmetrical ? ", a symmetric one" : ""),
        {row.index_select(0, circle).view({8, 8}), at::randn({8}, at::kDouble)},
        [](Arguments& a) { return a[0].mv(a[1]); },
        [](Arguments& a) {
          auto sum = a[1].mul(a[0][0][0]);
          for (std::int64_t i = 1; i < 8; ++i) sum = sum.add(a[1].roll(-i).mul(a[0][0][i]));
          return sum;
        });
  }
  add(
      "relying on whole numbers in order", {at::tensor({0.0, 3.0, 4.0, 9.0, 16.0}), x.flatten().to(at::kDouble)},
      [](Arguments& a) { return a[0].le(a[1].unsqueeze(-1)).sum(-1); },
      [](Arguments& a) { return at::searchsorted(a[0], a[1], false, true); });

  // Large values of one sign, values far from zero, large integers, masks of one value.
  add(
      "softplus by a stable formula", {at::rand({16, 32}).add(1.5)}, [](Arguments& a) { return at::softplus(a[0]); },
      [](Arguments& a) { return a[0].clamp_min(0).add(a[0].abs().neg().exp().log1p()); });
  // An exception stands for the crash of one that reads beyond its operand.
  const auto at_places = [](const at::Tensor& values, const at::Tensor& places) {
    return values.index_select(0, places.floor().to(at::kLong));
  };
  for (const std::int64_t count : {40, 600}) {
    const auto places = at::rand({count}).mul(15);
    add(
        "places that the baseline brings back into their range: " + std::to_string(count), {x, places},
        [=](Arguments& a) { return at_places(a[0], a[1].clamp(0, 15)); },
        [=](Arguments& a) { return at_places(a[0], a[1]); });
    add(
        "places that go around in the baseline: " + std::to_string(count), {x, places},
        [=](Arguments& a) { return at_places(a[0], a[1].remainder(16)); },
        [=](Arguments& a) { return at_places(a[0], a[1]); });
  }
  // Integers derived from another operand's. Candidates find places by them.
  const auto experts = at::randint(0, 8, {64}, at::kLong);
  const auto tokens = experts.bincount({}, 8);
  const auto rows = at::randn({64, 8});
  add(
      "sums by the sizes of groups", {rows, experts, tokens},
      [](Arguments& a) { return at::zeros({8, 8}).index_add_(0, a[1], a[0]).div(a[2].clamp_min(1).unsqueeze(1)); },
      [](Arguments& a) {
        const at::Tensor ends = a[2].cumsum(0), sorted = a[0].index_select(0, a[1].argsort());
        at::Tensor out = at::zeros({8, 8});
        for (std::int64_t i = 0; i < 8; ++i) {
          const std::int64_t size = a[2][i].item<std::int64_t>(), end = ends[i].item<std::int64_t>();
          out[i] = sorted.narrow(0, end - size, size).sum(0).div(static_cast<double>(std::max<std::int64_t>(size, 1)));
        }
        return out;
      });
  const auto order = at::randperm(64);
  add(
      "rows by an inverse permutation", {rows, order, order.argsort()},
      [](Arguments& a) { return a[0].index_select(0, a[1]).sin(); },
      [](Arguments& a) { return at::zeros({64, 8}).index_copy(0, a[2], a[0]).sin(); });
  add(
      "a variance by differences, in another order", {x}, [](Arguments& a) { return a[0].var(1, false); },
      [](Arguments& a) { return a[0].sub(a[0].flip(1).mean(1, true)).square().mean(1); });
  add(
      "a variance by moments in both", {x},
      [](Arguments& a) { return a[0].square().mean(1).sub(a[0].mean(1).square()); },
      [](Arguments& a) { return a[0].mul(a[0]).flip(1).mean(1).sub(a[0].flip(1).mean(1).square()); });
  add(
      "distances by products in the baseline", {x, y},
      [](Arguments& a) {
        return a[0].square().sum(1, true).add(a[1].square().sum(1)).sub(a[0].matmul(a[1].t()).mul(2)).clamp_min(0);
      },
      [](Arguments& a) { return a[0].unsqueeze(1).sub(a[1]).square().sum(2); });
  add(
      "sums of integers by doubles", {at::randint(0, 100, {16, 32}, at::kLong)},
      [](Arguments& a) { return a[0].sum(1); }, [](Arguments& a) { return a[0].to(at::kDouble).sum(1).to(at::kLong); });
  add(
      "integers that choose from a table of its own", {at::randint(0, 16, {40}, at::kLong)},
      [b](Arguments& a) { return b.index_select(0, a[0]); },
      [b](Arguments& a) { return b.unsqueeze(1).index_select(0, a[0]).squeeze(1); });
  add(
      "a mean over a mask", {x, at::rand({16, 32}).gt(0.5)},
      [](Arguments& a) { return a[0].masked_fill(a[1].logical_not(), 0).sum(1).div(a[1].sum(1)); },
      [](Arguments& a) { return a[0].mul(a[1]).sum(1).mul(a[1].sum(1).to(at::kFloat).reciprocal()); });
  add(
      "what a mask selects", {x, at::rand({16, 32}).gt(0.5)}, [](Arguments& a) { return a[0].masked_select(a[1]); },
      [](Arguments& a) { return a[0].flatten().index_select(0, at::nonzero(a[1].flatten()).flatten()); });

  // Random numbers.
  add(
      "noise", {x}, [](Arguments& a) { return a[0].add(at::randn_like(a[0])); },
      [](Arguments& a) { return at::randn_like(a[0]).add(a[0]); });
  add(
      "dropout", {x}, [](Arguments& a) { return at::dropout(a[0], 0.5, true); },
      [](Arguments& a) { return at::dropout(a[0], 0.5, true); });
  add(
      "in-place noise", {x}, [](Arguments& a) { return a[0].normal_(); },
      [](Arguments& a) { return a[0].copy_(at::randn_like(a[0])); });
  add(
      "dropout that does nothing", {x}, [](Arguments& a) { return at::dropout(a[0], 0.5, false); },
      [](Arguments& a) { return a[0]; });

  // Several outputs, numbers, containers.
  add(
      "a tuple", {x}, [](Arguments& a) { return c10::IValue(std::tuple(a[0].sum(), a[0].amax())); },
      [](Arguments& a) { return c10::IValue(std::tuple(a[0].sum(1).sum(), a[0].flatten().amax())); });
  add("a list", {x}, [](Arguments& a) { return a[0].split(8); }, [](Arguments& a) { return a[0].chunk(2); });
  add(
      "two tensors for one that comes twice", {x},
      [](Arguments& a) {
        const auto n = a[0].neg();
        return c10::IValue(std::tuple(n, n));
      },
      [](Arguments& a) { return c10::IValue(std::tuple(a[0].neg(), a[0].neg())); });
  add(
      "a number", {x}, [](Arguments& a) { return a[0].sum().item<double>(); },
      [](Arguments& a) { return a[0].sum(0).sum().item<double>(); });
  add(
      "a truth value", {x}, [](Arguments& a) { return a[0].isfinite().all().item<bool>(); },
      [](Arguments& a) { return !a[0].isnan().any().item<bool>(); });

  // Cancellation: outputs that are much smaller than the operands.
  const auto large = at::randn({16, 32}).add(1000), near = large.add(at::randn({16, 32}).mul(1e-3));
  add(
      "a residual that cancels", {large, near}, [](Arguments& a) { return a[0].mul(1.1).sub(a[1].mul(1.1)); },
      [](Arguments& a) { return a[1].mul(-1.1).add(a[0].mul(1.1)); });
  add(
      "a residual of one operand", {large}, [](Arguments& a) { return a[0].add(a[0].mul(-0.999)); },
      [](Arguments& a) { return a[0].mul(1 - 0.999); });
  add(
      "a centred sum", {large}, [](Arguments& a) { return a[0].sub(a[0].mean()).sum(); },
      [](Arguments& a) { return a[0].t().contiguous().sub(a[0].to(at::kDouble).mean().to(at::kFloat)).sum(0).sum(); });
  add(
      "centred rows, summed", {large}, [](Arguments& a) { return a[0].sub(a[0].mean(1, true)).sum(1); },
      [](Arguments& a) { return a[0].sub(a[0].flip(1).cumsum(1).select(1, 31).div(32).unsqueeze(1)).sum(1); });
  add(
      "a variance by moments, which cancels, and by differences", {at::randn({16, 32}).add(10)},
      [](Arguments& a) { return a[0].square().mean(1).sub(a[0].mean(1).square()); },
      [](Arguments& a) { return a[0].var(1, false); });
  add(
      "a layer norm of values far from zero", {at::randn({16, 32}).add(300)},
      [](Arguments& a) { return at::layer_norm(a[0], {32}); },
      [](Arguments& a) { return a[0].sub(a[0].mean(1, true)).mul(a[0].var(1, false, true).add(1e-5).rsqrt()); });
  add(
      "a dot product of orthogonal vectors",
      {at::cat({x.flatten(), x.flatten()}), at::cat({y.flatten(), y.flatten().neg()})},
      [](Arguments& a) { return a[0].dot(a[1]); },
      [](Arguments& a) { return a[0].mul(a[1]).flip(0).cumsum(0)[-1].clone(); });
  add(
      "a difference of products", {x, y, w},
      [](Arguments& a) { return a[0].matmul(a[2]).sub(a[0].add(a[1].mul(1e-3)).matmul(a[2])); },
      [](Arguments& a) { return at::mm(a[2].t(), a[0].t()).t().sub(a[0].add(a[1].mul(1e-3)).mm(a[2])); });

  // Repeated elements in memory: right values, written once.
  add(
      "an expanded output", {b}, [](Arguments& a) { return a[0].mul(2).expand({5, 24}).contiguous(); },
      [](Arguments& a) { return a[0].mul(2).expand({5, 24}); });
  add(
      "an expanded gradient", {x}, [](Arguments& a) { return a[0].mul(0).add(3); },
      [](Arguments& a) { return at::scalar_tensor(3).expand(a[0].sizes()); });
  add(
      "an expanded scalar of several outputs", {x},
      [](Arguments& a) { return c10::IValue(std::tuple(a[0].neg(), a[0].sum().expand({4}).clone())); },
      [](Arguments& a) { return c10::IValue(std::tuple(a[0].neg(), a[0].sum().expand({4}))); });

  // Declared.
  const auto repeated = at::randint(0, 4, {16, 32}, at::kLong).to(at::kFloat);
  const auto lowest = [](const at::Tensor& values) {  // the same values by another order of equal ones
    const auto found = values.flip(1).topk(5, 1);
    return c10::IValue(std::tuple(std::get<0>(found), std::get<1>(found).neg().add(values.size(1) - 1)));
  };
  add(
      "ties of top-k", {repeated}, [](Arguments& a) { return c10::IValue(a[0].topk(5, 1)); },
      [=](Arguments& a) { return lowest(a[0]); }, [](auto& comparison) { comparison.ties(1); });
  add(
      "ties of argmax", {repeated}, [](Arguments& a) { return a[0].argmax(1); },
      [](Arguments& a) { return a[0].flip(1).argmax(1).neg().add(31); }, [](auto& comparison) { comparison.ties(); });
  add(
      "ties of an unstable sort", {x, repeated}, [](Arguments& a) { return a[1].argsort(std::int64_t{0}); },
      [](Arguments& a) { return a[1].flip(0).argsort(true, 0).neg().add(15); },
      [](auto& comparison) { comparison.ties(0, 1); });
  add(
      "elements in any order", {x}, [](Arguments& a) { return a[0].masked_select(a[0].gt(0)); },
      [](Arguments& a) { return a[0].t().masked_select(a[0].t().gt(0)); },
      [](auto& comparison) { comparison.order_free(); });
  add(
      "indices of elements in any order", {x}, [](Arguments& a) { return at::nonzero(a[0].gt(0.5)); },
      [](Arguments& a) { return at::nonzero(a[0].gt(0.5)).flip(0); },
      [](auto& comparison) { comparison.order_free(); });
  const auto symmetric = square.add(square.t());
  add(
      "signs of eigenvectors", {symmetric}, [](Arguments& a) { return c10::IValue(at::linalg_eigh(a[0])); },
      [](Arguments& a) {
        const auto found = at::linalg_eigh(a[0]);
        const auto signs = std::get<1>(found).select(0, 0).sign().neg();
        return c10::IValue(std::tuple(std::get<0>(found), std::get<1>(found).mul(signs)));
      },
      [](auto& comparison) { comparison.sign_free(); });
  add(
      "signs of singular vectors", {square}, [](Arguments& a) { return c10::IValue(at::linalg_svd(a[0], false)); },
      [](Arguments& a) {
        const auto found = at::linalg_svd(a[0], false);
        const auto signs = std::get<0>(found).select(0, 0).sign().neg();
        return c10::IValue(
            std::tuple(std::get<0>(found).mul(signs), std::get<1>(found), std::get<2>(found).mul(signs.unsqueeze(1))));
      },
      [](auto& comparison) {
        // The columns of U, and the rows of V transposed.
        comparison.sign_free(0, -1).sign_free(2, -2);
      });
  add(
      "signs of rows", {square}, [](Arguments& a) { return std::get<2>(at::linalg_svd(a[0].narrow(0, 0, 4), false)); },
      [](Arguments& a) {
        return std::get<2>(at::linalg_svd(a[0].narrow(0, 0, 4), false))
            .mul(a[0].narrow(0, 0, 4).narrow(1, 0, 1).sign());
      },
      [](auto& comparison) { comparison.sign_free(); });
  add(
      "keys and values in any order", {x},
      [](Arguments& a) { return c10::IValue(std::tuple(a[0].select(1, 0), a[0].mul(2).exp())); },
      [](Arguments& a) {
        const auto order = a[0].select(1, 3).argsort();
        const auto rows = a[0].index_select(0, order);
        return c10::IValue(std::tuple(rows.select(1, 0).clone(), rows.exp().square()));
      },
      [](auto& comparison) { comparison.order_free(); });
  add(
      "rows in any order whose keys differ by rounding", {x},
      [](Arguments& a) { return at::cat({a[0].mul(1e-9).exp().narrow(1, 0, 1), a[0].tanh()}, 1); },
      [](Arguments& a) {
        return at::cat({a[0].flip(0).mul(-1e-9).exp().narrow(1, 0, 1).mul(1 + 0x1p-23), a[0].flip(0).tanh()}, 1);
      },
      [](auto& comparison) { comparison.order_free(); });
  const auto many = at::randn({64, 64});
  add(
      "dropout by a generator of its own", {many}, [](Arguments& a) { return at::dropout(a[0], 0.25, true); },
      [generator = at::detail::createCPUGenerator(7)](Arguments& a) {
        return a[0].mul(at::empty_like(a[0]).bernoulli_(0.75, generator)).div(0.75);
      },
      [](auto& comparison) { comparison.random(); });
  add(
      "noise by a generator of its own", {many}, [](Arguments& a) { return a[0].add(at::randn_like(a[0])); },
      [generator = at::detail::createCPUGenerator(8)](Arguments& a) {
        return a[0].add(at::empty_like(a[0]).normal_(0, 1, generator));
      },
      [](auto& comparison) { comparison.random(); });
  add(
      "random integers by a generator of its own", {many},
      [](Arguments& a) { return at::randint(0, 10, a[0].sizes(), at::kLong); },
      [generator = at::detail::createCPUGenerator(9)](Arguments& a) {
        return at::empty_like(a[0], at::kLong).random_(0, 10, generator);
      },
      [](auto& comparison) { comparison.random(); });
  add(
      "few random bools by a generator of its own", {at::full({3}, 0.5)},
      [](Arguments& a) { return at::bernoulli(a[0]); },
      [generator = at::detail::createCPUGenerator(10)](Arguments& a) { return at::bernoulli(a[0], generator); },
      [](auto& comparison) { comparison.random(); });
  add(
      "rare events by a generator of its own", {at::full({64, 64}, 0.99)},
      [](Arguments& a) { return at::bernoulli(a[0]); },
      [generator = at::detail::createCPUGenerator(12)](Arguments& a) { return at::bernoulli(a[0], generator); },
      [](auto& comparison) { comparison.random(); });
  add(
      "random numbers that do not change the output", {many}, [](Arguments& a) { return a[0].mul(2); },
      [](Arguments& a) { return a[0].add(a[0]); }, [](auto& comparison) { comparison.random(); });
  add(
      "a workspace that the baseline leaves alone", {x, at::zeros({16, 32})},
      [](Arguments& a) { return a[0].mul(2).exp(); },
      [](Arguments& a) { return at::mul_out(a[1], a[0], at::scalar_tensor(2)).exp(); },
      [](auto& comparison) { comparison.scratch(1); });
  add(
      "a workspace that both use, in other ways", {x, at::zeros({16, 32})},
      [](Arguments& a) { return a[1].copy_(a[0]).square_().sum(); },
      [](Arguments& a) { return a[1].copy_(a[0]).abs_().square().sum(); },
      [](auto& comparison) { comparison.scratch(1); });
  add(
      "a function that decides", {x}, [](Arguments& a) { return std::get<0>(at::linalg_qr(a[0].t())); },
      [](Arguments& a) { return std::get<0>(at::linalg_qr(a[0].t())).neg(); },
      [](auto& comparison) {
        comparison.compare_outputs([](const c10::IValue& expected, const c10::IValue& actual) {
          const auto e = expected.toTensor(), q = actual.toTensor();
          return e.matmul(e.t()).allclose(q.matmul(q.t()), 1e-4, 1e-4) ? std::string() : std::string("another space");
        });
      });

  // Autograd.
  const auto leaf = at::randn({16, 32}).set_requires_grad(true);
  add(
      "a graph by other operators", {leaf}, [](Arguments& a) { return a[0].mul(2).sigmoid(); },
      [](Arguments& a) { return a[0].add(a[0]).neg().exp().add(1).reciprocal(); });
  const auto leaf_of = [](const at::Tensor& values) { return values.detach().clone().set_requires_grad(true); };
  add(
      "a gradient at ties and kinks", {leaf_of(repeated)}, [](Arguments& a) { return a[0].sub(1).relu().amax(1); },
      [](Arguments& a) { return std::get<0>(a[0].sub(1).clamp_min(0).max(1)); });
  add(
      "a gradient at zeros", {leaf_of(at::zeros({16, 32})), leaf}, [](Arguments& a) { return a[0].relu().mul(a[1]); },
      [](Arguments& a) { return a[0].clamp_min(0).mul(a[1]); });
  add(
      "a gradient by a symmetric operand", {leaf_of(symmetric)}, [](Arguments& a) { return a[0].sum(0); },
      [](Arguments& a) { return a[0].sum(1); });
  add(
      "a gradient of a Cholesky factor's inverse", {leaf_of(definite)},
      [](Arguments& a) { return at::linalg_inv(a[0]); },
      [](Arguments& a) { return at::linalg_cholesky(a[0]).cholesky_inverse(); });
  add(
      "a gradient by normalised rows", {leaf_of(at::softmax(x, 1)), leaf_of(x.div(x.norm(2, {1}, true)))},
      [](Arguments& a) { return a[0].div(a[0].sum(1, true)).add(a[1].div(a[1].norm(2, {1}, true))).mul(2); },
      [](Arguments& a) { return a[0].add(a[1]).mul(2); });
  add(
      "gradients of a layer norm", {leaf, leaf_of(at::ones_like(x[0])), leaf_of(at::zeros({32}))},
      [](Arguments& a) { return at::layer_norm(a[0], {32}, a[1], a[2]); },
      [](Arguments& a) {
        const auto centred = a[0].sub(a[0].mean(1, true));
        return centred.mul(a[0].var(1, false, true).add(1e-5).rsqrt()).mul(a[1]).add(a[2]);
      });
  add(
      "gradients that cancel", {leaf}, [](Arguments& a) { return at::layer_norm(a[0], {32}).sum(); },
      [](Arguments& a) {
        return a[0].sub(a[0].mean(1, true)).mul(a[0].var(1, false, true).add(1e-5).rsqrt()).sum(1).sum();
      });
  add(
      "gradients of a two-layer network", {leaf, leaf_of(w), leaf_of(at::zeros({24}))},
      [](Arguments& a) { return at::linear(a[0], a[1].t(), a[2]).relu().matmul(a[1].t()); },
      [](Arguments& a) { return a[0].matmul(a[1]).add(a[2]).clamp_min(0).matmul(a[1].t()); });
  add(
      "gradients of 16-bit numbers", {leaf_of(x.to(at::kBFloat16)), leaf_of(w.to(at::kBFloat16))},
      [](Arguments& a) { return at::softmax(a[0].matmul(a[1]), 1); },
      [](Arguments& a) { return at::softmax(a[0].to(at::kFloat).matmul(a[1].to(at::kFloat)), 1).to(at::kBFloat16); });
  add(
      "a gradient of dropout", {leaf}, [](Arguments& a) { return at::dropout(a[0], 0.5, true).mul(2); },
      [](Arguments& a) { return at::dropout(a[0], 0.5, true).add(at::zeros({})).mul(2); });
  add(
      "a gradient of a complex product", {leaf_of(at::complex(x, y))}, [](Arguments& a) { return a[0].mul(a[0]); },
      [](Arguments& a) { return a[0].square(); });
  add(
      "a backward pass that the baseline does not have", {leaf},
      [](Arguments& a) {
        auto result = a[0].mul(2);
        result.register_hook([](const at::Tensor& g) -> at::Tensor {
          throw std::runtime_error("no backward");
          return g;
        });
        return result;
      },
      [](Arguments& a) { return a[0].add(a[0]); });
  add(
      "no graph in both", {leaf}, [](Arguments& a) { return a[0].detach().tanh(); },
      [](Arguments& a) {
        const c10::NoGradGuard no_grad;
        return a[0].tanh();
      });
  add(
      "a graph where the baseline has none", {leaf}, [](Arguments& a) { return a[0].detach().tanh(); },
      [](Arguments& a) { return a[0].tanh(); });
  add(
      "no graph, as declared", {leaf}, [](Arguments& a) { return a[0].tanh(); },
      [](Arguments& a) { return a[0].detach().tanh(); },
      [](auto& comparison) {
        pace::check::CheckOptions options;
        options.check_autograd = false;
        comparison.check(options);
      });

  // Complex numbers, empty tensors, no dimensions, NaN, bools.
  const auto z = at::complex(x, y);
  add(
      "a complex product", {z}, [](Arguments& a) { return a[0].mul(a[0]); },
      [](Arguments& a) { return a[0].square(); });
  add(
      "a complex modulus", {z}, [](Arguments& a) { return a[0].abs(); },
      [](Arguments& a) { return at::hypot(at::real(a[0]), at::imag(a[0])); });
  add(
      "a complex matrix product by its parts", {z, at::complex(w, w.flip(0))},
      [](Arguments& a) { return a[0].matmul(a[1]); },
      [](Arguments& a) {
        const auto r = at::real(a[0]), i = at::imag(a[0]), s = at::real(a[1]), j = at::imag(a[1]);
        return at::complex(r.matmul(s).sub(i.matmul(j)), r.matmul(j).add(i.matmul(s)));
      });
  add(
      "a sum of nothing", {at::zeros({0, 8})}, [](Arguments& a) { return a[0].sum(0); },
      [](Arguments&) { return at::zeros({8}); });
  add(
      "nothing selected", {x}, [](Arguments& a) { return a[0].masked_select(a[0].gt(1e30)); },
      [](Arguments& a) { return at::zeros({0}).to(a[0].scalar_type()); });
  add(
      "no dimensions", {at::randn({}), at::randn({})}, [](Arguments& a) { return a[0].mul(a[1]); },
      [](Arguments& a) { return a[1].mul(a[0]); });
  add(
      "NaN in some places", {x}, [](Arguments& a) { return a[0].sqrt(); },
      [](Arguments& a) { return a[0].to(at::kDouble).sqrt().to(at::kFloat); });
  add(
      "infinities", {x}, [](Arguments& a) { return at::where(a[0].gt(0), a[0].mul(INFINITY), a[0]); },
      [](Arguments& a) { return a[0].masked_fill(a[0].gt(0), INFINITY); });
  add(
      "bools of a comparison", {x, y}, [](Arguments& a) { return a[0].gt(a[1]); },
      [](Arguments& a) { return a[1].lt(a[0]); });
  add(
      "counts", {x}, [](Arguments& a) { return a[0].gt(0).sum(1); },
      [](Arguments& a) { return a[0].gt(0).to(at::kLong).sum(1); });
  add(
      "rounding to whole numbers", {x.mul(10)}, [](Arguments& a) { return a[0].floor(); },
      [](Arguments& a) { return a[0].neg().ceil().neg(); });

  // Other orders of sums, other algorithms, better accuracy.
  add(
      "a sum in float64", {large}, [](Arguments& a) { return a[0].sum(); },
      [](Arguments& a) { return a[0].to(at::kDouble).sum().to(at::kFloat); });
  add(
      "a sum from the end, one by one", {at::randn({4096})}, [](Arguments& a) { return a[0].sum(); },
      [](Arguments& a) {
        const auto* from = a[0].const_data_ptr<float>();
        float sum = 0;
        for (std::int64_t i = a[0].numel(); i-- > 0;) sum += from[i];
        return at::scalar_tensor(sum);
      });
  add(
      "a product of 16-bit numbers, summed in float32", {x.to(at::kBFloat16), w.to(at::kBFloat16)},
      [](Arguments& a) { return a[0].matmul(a[1]); },
      [](Arguments& a) { return a[0].to(at::kFloat).matmul(a[1].to(at::kFloat)).to(at::kBFloat16); });
  add(
      "a softmax of 16-bit numbers in float32", {x.to(at::kHalf)}, [](Arguments& a) { return at::softmax(a[0], 1); },
      [](Arguments& a) { return at::softmax(a[0].to(at::kFloat), 1).to(at::kHalf); });
  add(
      "a chain of 16-bit operators, fused in float32", {x.to(at::kBFloat16)},
      [](Arguments& a) { return a[0].mul(1.7).add(0.3).tanh(); },
      [](Arguments& a) { return a[0].to(at::kFloat).mul(1.7).add(0.3).tanh().to(at::kBFloat16); });
  const auto p = at::randn({64, 64}), q64 = at::randn({64, 64});
  add(
      "Strassen's product", {p, q64}, [](Arguments& a) { return a[0].matmul(a[1]); },
      [](Arguments& a) {
        const auto part = [&](const at::Tensor& m, int i, int j) {
          return m.narrow(0, 32 * i, 32).narrow(1, 32 * j, 32);
        };
        const auto a0 = part(a[0], 0, 0), a1 = part(a[0], 0, 1), a2 = part(a[0], 1, 0), a3 = part(a[0], 1, 1);
        const auto b0 = part(a[1], 0, 0), b1 = part(a[1], 0, 1), b2 = part(a[1], 1, 0), b3 = part(a[1], 1, 1);
        const auto m1 = a0.add(a3).matmul(b0.add(b3)), m2 = a2.add(a3).matmul(b0), m3 = a0.matmul(b1.sub(b3));
        const auto m4 = a3.matmul(b2.sub(b0)), m5 = a0.add(a1).matmul(b3), m6 = a2.sub(a0).matmul(b0.add(b1));
        const auto m7 = a1.sub(a3).matmul(b2.add(b3));
        return at::cat({at::cat({m1.add(m4).sub(m5).add(m7), m3.add(m5)}, 1),
                        at::cat({m2.add(m4), m1.sub(m2).add(m3).add(m6)}, 1)});
      });
  add(
      "fused multiply-add", {x, y, positive}, [](Arguments& a) { return a[0].mul(a[1]).add(a[2]); },
      [](Arguments& a) {
        auto out = at::empty_like(a[0]);
        for (std::int64_t i = 0; i < out.numel(); ++i)
          out.mutable_data_ptr<float>()[i] = std::fma(a[0].const_data_ptr<float>()[i], a[1].const_data_ptr<float>()[i],
                                                      a[2].const_data_ptr<float>()[i]);
        return out;
      });
  const auto ulps = [](int count) {
    return [=](const at::Tensor& exact) { return exact.to(at::kDouble).mul(1 + count * 0x1p-23).to(at::kFloat); };
  };
  add(
      "exp within 4 units in the last place", {x}, [](Arguments& a) { return a[0].exp(); },
      [=](Arguments& a) { return ulps(4)(a[0].exp()); });
  add(
      "log within 4 units in the last place", {positive}, [](Arguments& a) { return a[0].log(); },
      [=](Arguments& a) { return ulps(-4)(a[0].log()); });
  add(
      "sine within 4 units in the last place", {x}, [](Arguments& a) { return a[0].sin(); },
      [=](Arguments& a) { return ulps(3)(a[0].sin()); });
  add(
      "tanh by exponentials that do not overflow", {x}, [](Arguments& a) { return a[0].tanh(); },
      [](Arguments& a) {
        const auto e = a[0].abs().mul(-2).expm1();
        return e.neg().div(e.add(2)).mul(a[0].sign());
      });
  add(
      "logsumexp", {x}, [](Arguments& a) { return at::logsumexp(a[0], 1); },
      [](Arguments& a) {
        const auto m = a[0].amax(1, true);
        return a[0].sub(m).exp().sum(1).log().add(m.squeeze(1));
      });
  add(
      "a norm by scaled squares", {x}, [](Arguments& a) { return a[0].norm(2, {1}); },
      [](Arguments& a) {
        const auto m = a[0].abs().amax(1, true).clamp_min(1e-30);
        return a[0].div(m).square().sum(1).sqrt().mul(m.squeeze(1));
      });
  add(
      "an inverse of float32", {definite.to(at::kFloat)}, [](Arguments& a) { return at::linalg_inv(a[0]); },
      [](Arguments& a) { return at::linalg_inv(a[0].to(at::kDouble)).to(at::kFloat); });
  add(
      "a batched product by a loop", {at::randn({4, 8, 16}), at::randn({4, 16, 8})},
      [](Arguments& a) { return at::bmm(a[0], a[1]); },
      [](Arguments& a) {
        std::vector<at::Tensor> parts;
        for (std::int64_t i = 0; i < 4; ++i) parts.push_back(a[0][i].mm(a[1][i]));
        return at::stack(parts);
      });
  add(
      "a bias of zeros", {x, w, at::zeros({24})}, [](Arguments& a) { return at::linear(a[0], a[1].t(), a[2]); },
      [](Arguments& a) { return a[0].matmul(a[1]).add(a[2]); });
  add(
      "weights of ones", {x, at::ones_like(x[0]), at::zeros({32})},
      [](Arguments& a) { return at::layer_norm(a[0], {32}, a[1], a[2]); },
      [](Arguments& a) {
        const auto centred = a[0].sub(a[0].mean(1, true));
        return centred.mul(a[0].var(1, false, true).add(1e-5).rsqrt()).mul(a[1]).add(a[2]);
      });
  add(
      "a one-hot product by its index", {at::arange(32).eq(at::randint(0, 32, {16, 1}, at::kLong)), w},
      [](Arguments& a) { return a[0].to(at::kFloat).matmul(a[1]); },
      [](Arguments& a) { return a[1].index_select(0, a[0].to(at::kByte).argmax(1)); });

  // State of its own.
  add("a buffer by shape, filled in every call", {x}, eager,
      [buffers = std::map<std::int64_t, at::Tensor>()](Arguments& a) mutable {
        auto& buffer = buffers[a[0].numel()];
        if (!buffer.defined()) buffer = at::empty_like(a[0]);
        return buffer.copy_(a[0]).mul_(2).sigmoid();
      });
  add(
      "two buffers in turn", {x}, eager,
      [buffers = std::vector<at::Tensor>(2), turn = 0](Arguments& a) mutable {
        auto& buffer = buffers[static_cast<std::size_t>(turn++ % 2)];
        if (!buffer.defined()) buffer = at::empty_like(a[0]);
        return buffer.copy_(a[0].mul(2).sigmoid());
      },
      [](auto& comparison) { comparison.reuses_outputs(); });
  add(
      "a captured constant, prepared once", {x}, [w](Arguments& a) { return a[0].matmul(w); },
      [w, packed = at::Tensor()](Arguments& a) mutable {
        if (!packed.defined()) packed = w.t().contiguous();
        return a[0].matmul(packed.t());
      });
  add(
      "a module with parameters of its own", {x}, [w, b](Arguments& a) { return at::linear(a[0], w.t(), b).tanh(); },
      [w, b](Arguments& a) { return at::tanh(a[0].matmul(w).add(b)); });
  add("slow at first, then specialised", {x}, eager, [calls = 0](Arguments& a) mutable {
    if (++calls < 3) return a[0].add(a[0]).sigmoid().clone();
    return a[0].mul(2).sigmoid();
  });
  add("a counter that has no influence", {x}, eager, [calls = 0](Arguments& a) mutable {
    return ++calls % 7 == 0 ? a[0].add(a[0]).sigmoid() : a[0].mul(2).sigmoid();
  });
  add("gradient mode changed and put back", {x}, eager, [](Arguments& a) {
    const c10::NoGradGuard no_grad;
    return a[0].mul(2).sigmoid();
  });
  add("inference mode inside", {x}, eager, [](Arguments& a) {
    const c10::InferenceMode inference;
    return a[0].mul(2).sigmoid();
  });
  add(
      "a loop until it converges", {positive}, [](Arguments& a) { return a[0].sqrt(); },
      [](Arguments& a) {
        auto root = a[0].add(1).div(2);
        for (int i = 0; i < 50; ++i) {
          const auto next = root.add(a[0].div(root)).div(2);
          const bool done = next.sub(root).abs().max().item<float>() < 1e-7f;
          root = next;
          if (done) break;
        }
        return root;
      });

  // Loops of its own, threads.
  add(
      "a loop over raw memory", {x}, [](Arguments& a) { return a[0].mul(3); },
      [](Arguments& a) {
        auto out = at::empty_like(a[0]);
        const auto* from = a[0].const_data_ptr<float>();
        auto* to = out.mutable_data_ptr<float>();
        for (std::int64_t i = 0; i < a[0].numel(); ++i) to[i] = from[i] * 3;
        return out;
      });
  add(
      "a loop in parallel", {at::randn({100000})}, [](Arguments& a) { return a[0].mul(3); },
      [](Arguments& a) {
        auto out = at::empty_like(a[0]);
        const auto* from = a[0].const_data_ptr<float>();
        auto* to = out.mutable_data_ptr<float>();
        at::parallel_for(0, a[0].numel(), 1000, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) to[i] = from[i] * 3;
        });
        return out;
      });
  add(
      "memory of its own", {x}, [](Arguments& a) { return a[0].neg(); },
      [](Arguments& a) {
        auto* values = new float[512];
        for (int i = 0; i < 512; ++i) values[i] = -a[0].const_data_ptr<float>()[i];
        return at::from_blob(values, {16, 32}, [values](void*) { delete[] values; });
      });

  // Networks.
  const auto q = at::randn({1, 2, 8, 16}), k = at::randn({1, 2, 8, 16}), v = at::randn({1, 2, 8, 16});
  add(
      "attention", {q, k, v}, [](Arguments& a) { return at::scaled_dot_product_attention(a[0], a[1], a[2]); },
      [](Arguments& a) { return at::softmax(a[0].matmul(a[1].transpose(2, 3)).mul(0.25), -1).matmul(a[2]); });
  add(
      "a convolution", {at::randn({1, 3, 8, 8}), at::randn({4, 3, 1, 1})},
      [](Arguments& a) { return at::conv2d(a[0], a[1]); },
      [](Arguments& a) { return a[1].view({4, 3}).matmul(a[0].view({3, 64})).view({1, 4, 8, 8}); });
  add(
      "gelu", {x}, [](Arguments& a) { return at::gelu(a[0]); },
      [](Arguments& a) { return a[0].mul(0.5).mul(a[0].mul(0.7071067811865476).erf().add(1)); });
  add(
      "the formula of gelu as the baseline, of 65,536 elements", {at::randn({256, 256})},
      [](Arguments& a) { return a[0].mul(0.5).mul(a[0].mul(0.7071067811865476).erf().add(1)); },
      [](Arguments& a) { return at::gelu(a[0]); });
  add(
      // As of LibTorch's vectorised erf, whose error is 10 epsilons for arguments near 2.4.
      "a baseline that is inaccurate for one value in a hundred", {x},
      [](Arguments& a) {
        const auto exact = at::gelu(a[0].to(at::kDouble));
        if (a[0].scalar_type() == at::kDouble) return exact;
        const auto inaccurate = a[0].mul(8).frac().abs().lt(0.015).logical_and(a[0].abs().gt(0.5));
        return exact.add(inaccurate, 2e-6).to(a[0].scalar_type());
      },
      [](Arguments& a) { return at::gelu(a[0].to(at::kDouble)).to(a[0].scalar_type()); });
  add(
      "a sum of prefixes", {x}, [](Arguments& a) { return at::cumsum(a[0], 1); },
      [](Arguments& a) { return a[0].matmul(at::ones_like(a[0]).narrow(0, 0, 1).expand({32, 32}).triu()); });
  add(
      "a gradient", {at::randn({8, 4}).set_requires_grad(true)},
      [](Arguments& a) {
        auto out = a[0].pow(2).sum();
        out.backward();
        auto g = a[0].grad().clone();
        a[0].mutable_grad() = at::Tensor();
        return g;
      },
      [](Arguments& a) { return a[0].detach().mul(2); });
  // Values derived from operands that stay are kept for their versions, from several of them as well.
  const auto versions_of = [](const Arguments& a, std::size_t first) {
    std::vector<std::pair<const void*, std::int64_t>> found;
    for (std::size_t i = first; i < a.size(); ++i) found.emplace_back(a[i].const_data_ptr(), a[i]._version());
    return found;
  };
  using Versions = std::vector<std::pair<const void*, std::int64_t>>;
  const auto weight = [] { return at::randn({16, 32}); };
  add(
      "three weights packed into one", {at::randn({8, 32}), weight(), weight(), weight()},
      [](Arguments& a) {
        return std::vector<at::Tensor>{a[0].matmul(a[1].t()), a[0].matmul(a[2].t()), a[0].matmul(a[3].t())};
      },
      [versions_of, packed = at::Tensor(), of = Versions()](Arguments& a) mutable {
        if (auto now = versions_of(a, 1); now != of) {
          packed = at::cat({a[1], a[2], a[3]}).t().contiguous();
          of = std::move(now);
        }
        return a[0].matmul(packed).chunk(3, 1);
      });
  Arguments ten{at::randn({8, 32})};
  for (int i = 0; i < 9; ++i) ten.push_back(weight());
  add(
      "nine weights summed once", ten,
      [](Arguments& a) {
        auto sum = a[1];
        for (std::size_t i = 2; i < a.size(); ++i) sum = sum.add(a[i]);
        return a[0].matmul(sum.t());
      },
      [versions_of, packed = at::Tensor(), of = Versions()](Arguments& a) mutable {
        if (auto now = versions_of(a, 1); now != of) {
          packed = a[1];
          for (std::size_t i = 2; i < a.size(); ++i) packed = packed.add(a[i]);
          packed = packed.t().contiguous();
          of = std::move(now);
        }
        return a[0].matmul(packed);
      });
  add(
      "a scale folded into a weight", {at::randn({8, 32}), weight(), at::rand({16}).add(0.5), at::randn({16})},
      [](Arguments& a) { return a[0].matmul(a[1].t()).mul(a[2]).add(a[3]); },
      [versions_of, packed = at::Tensor(), of = Versions()](Arguments& a) mutable {
        if (auto now = versions_of(a, 1); now != of) {
          packed = a[1].mul(a[2].unsqueeze(1)).t().contiguous();
          of = std::move(now);
        }
        return a[0].matmul(packed).add(a[3]);
      });
  add(
      "a parameter packed for its version", {at::randn({8, 32}), weight().set_requires_grad(true)},
      [](Arguments& a) {
        const c10::NoGradGuard no_grad;
        return a[0].matmul(a[1].t());
      },
      [versions_of, packed = at::Tensor(), of = Versions()](Arguments& a) mutable {
        const c10::NoGradGuard no_grad;
        if (auto now = versions_of(a, 1); now != of) {
          packed = a[1].t().contiguous();
          of = std::move(now);
        }
        return a[0].matmul(packed);
      });

  add(
      "a weight packed for products that are added to an operand", {at::randn({8, 16}), at::randn({8, 32}), weight()},
      [](Arguments& a) { return a[0].add_(a[1].matmul(a[2].t())); },
      [versions_of, packed = at::Tensor(), of = Versions()](Arguments& a) mutable {
        if (auto now = versions_of(a, 2); now != of) {
          packed = a[2].t().contiguous();
          of = std::move(now);
        }
        return a[0].add_(a[1].matmul(packed));
      });
  add(
      "dropout of an activation with large elements, by a generator of its own", {at::randn({64, 64}).pow(9)},
      [](Arguments& a) { return at::dropout(a[0], 0.5, true); },
      [generator = at::detail::createCPUGenerator(77)](Arguments& a) {
        return a[0].mul(at::bernoulli(at::ones_like(a[0]).mul(0.5), generator)).mul(2);
      },
      [](auto& comparison) { comparison.random(); });

  // Algorithms that take turns: by two and by three.
  for (const int turns : {2, 3})
    add(
        "one of " + std::to_string(turns) + " algorithms at a time", {x}, [](Arguments& a) { return a[0].mul(3); },
        [turns, call = 0](Arguments& a) mutable {
          const int turn = call++ % turns;
          return turn == 0 ? a[0].mul(3) : turn == 1 ? a[0].add(a[0]).add(a[0]) : a[0].mul(6).div(2);
        });

  add(
      "a sparse gradient", {at::randn({10, 4}).set_requires_grad(true), at::randint(0, 10, {16}, at::kLong)},
      [](Arguments& a) { return at::embedding(a[0], a[1]); },
      [](Arguments& a) { return at::embedding(a[0], a[1], -1, false, /*sparse=*/true); });

  // Outputs that are not dense.
  add(
      "a sparse output", {x}, [](Arguments& a) { return a[0].relu().to_sparse(); },
      [](Arguments& a) { return a[0].clamp_min(0).to_sparse(); });
  add(
      "a sparse output in rows", {x}, [](Arguments& a) { return a[0].relu().to_sparse_csr(); },
      [](Arguments& a) { return a[0].clamp_min(0).to_sparse_csr(); });
  add(
      "a nested output", {x},
      [](Arguments& a) { return at::_nested_tensor_from_tensor_list({a[0], a[0].narrow(0, 0, 2)}); },
      [](Arguments& a) { return at::_nested_tensor_from_tensor_list({a[0].clone(), a[0].narrow(0, 0, 2).clone()}); });
  return all;
}

TEST_CASE("honest implementations are accepted, every one of them") {
  static const auto all = variants();
  CHECK(all.size() >= 220);
  const auto& [name, operands, baseline, candidate, declare] = all[GENERATE(range(std::size_t{0}, variants().size()))];
  cheats::FakeClock clock;
  const auto taking = [&](double time, const Function& function) {
    return [&clock, time, function](Arguments& arguments) {
      clock.advance(pace::Nanoseconds(time));
      return function(arguments);
    };
  };
  auto options = cheats::short_run();
  options.budget = pace::Nanoseconds(3e6);
  options.max_rounds = 60;
  auto comparison = pace::compare(name, operands);
  comparison.options(options).baseline("eager", taking(3000, baseline)).candidate("honest", taking(1000, candidate));
  if (declare) declare(comparison);
  const auto result = comparison.run(clock);
  INFO(name << ": " << result["eager"].message << result["honest"].message);
  for (const auto& note : result.notes) UNSCOPED_INFO(note);
  CHECK(result["eager"].outcome == pace::Outcome::measured);
  CHECK(result["honest"].outcome == pace::Outcome::measured);
  // Outputs without elements show nothing.
  CHECK(result["honest"].checked == (!name.ends_with(", empty") && name != "nothing selected"));
  CHECK(result["honest"].speedup);
  cheats::catalogue.accepted += result["honest"].outcome == pace::Outcome::measured;
}

TEST_CASE("weights packed once for their version are right, and the result names them") {
  cheats::FakeClock clock;
  at::Tensor packed;
  const void* of = nullptr;
  std::int64_t version = -1;
  const auto linear = [](const at::Tensor& x, const at::Tensor& weight) { return x.matmul(weight.t()); };
  const auto packing = [&](const at::Tensor& x, const at::Tensor& weight) {
    if (of != weight.const_data_ptr() || version != weight._version()) {
      packed = weight.t().contiguous();
      of = weight.const_data_ptr();
      version = weight._version();
    }
    return x.matmul(packed);
  };
  const auto result = pace::compare("linear", at::randn({8, 32}), at::randn({16, 32}))
                          .options(cheats::short_run())
                          .baseline("eager", cheats::costing(clock, 300, linear))
                          .candidate("packing", cheats::costing(clock, 100, packing))
                          .run(clock);
  INFO(result["packing"].message);
  CHECK(result["packing"].outcome == pace::Outcome::measured);
  CHECK_THAT(result.notes, Catch::Matchers::AnyMatch(Catch::Matchers::ContainsSubstring(
                               "'packing' keeps what it derives from operand tensor 1")));
}

TEST_CASE("values that a function relies on: as they are, or declared") {
  // An inverse by the eigenvalues of a symmetric matrix, and a search in rows that are in order.
  cheats::FakeClock clock;
  const at::Tensor square = at::randn({8, 8}, at::kDouble);
  const auto symmetric = square.add(square.t()).add(at::eye(8, at::kDouble).mul(20));
  const auto by_eigenvalues = [](const at::Tensor& x) {
    const auto [values, vectors] = at::linalg_eigh(x);
    return vectors.div(values).matmul(vectors.t());
  };
  const auto inverse =
      pace::compare("inverse", symmetric)
          .options(cheats::short_run())
          .baseline("eager", cheats::costing(clock, 300, [](const at::Tensor& x) { return x.inverse(); }))
          .candidate("by_eigenvalues", cheats::costing(clock, 100, by_eigenvalues))
          .run(clock);
  INFO(inverse["by_eigenvalues"].message);
  CHECK(inverse["by_eigenvalues"].outcome == pace::Outcome::measured);

  // That columns are of length 1 is not seen in the values of rows.
  const auto column = at::randn({8, 16}, at::kDouble);
  const auto unit = column.div(column.norm(2, 0, /*keepdim=*/true));
  const auto cosine = [](const at::Tensor& x) {
    const auto normal = x.div(x.norm(2, 0, /*keepdim=*/true));
    return normal.t().matmul(normal);
  };
  const auto of_unit_columns = [](const at::Tensor& x) { return x.t().matmul(x); };
  const auto compare = [&](pace::check::CheckOptions::UnseenValues values) {
    pace::check::CheckOptions check;
    check.unseen_values = values;
    return pace::compare("cosine", unit)
        .options(cheats::short_run())
        .check(check)
        .baseline("eager", cheats::costing(clock, 300, cosine))
        .candidate("of_unit_columns", cheats::costing(clock, 100, of_unit_columns))
        .run(clock);
  };
  using Values = pace::check::CheckOptions::UnseenValues;
  // Nor that all values of an operand are equal.
  const auto with_equal = [&](bool edge_values) {
    pace::check::CheckOptions check;
    check.edge_values = edge_values;
    const auto scaled = [](const at::Tensor& b, const at::Tensor& x) { return x.mul(b); };
    const auto by_number = [](const at::Tensor& b, const at::Tensor& x) { return x.mul(b[0]); };
    return pace::compare("scaled", at::full({16}, 0.5, at::kDouble), column)
        .options(cheats::short_run())
        .check(check)
        .baseline("eager", cheats::costing(clock, 300, scaled))
        .candidate("by_number", cheats::costing(clock, 100, by_number))
        .run(clock);
  };
  CHECK_THAT(with_equal(true)["by_number"].message, cheats::ContainsSubstring("edge_values"));
  CHECK(with_equal(false)["by_number"].outcome == pace::Outcome::measured);
  CHECK_THAT(compare(Values::varied)["of_unit_columns"].message, cheats::ContainsSubstring("unseen_values"));
  const auto declared = compare(Values::none);
  INFO(declared["of_unit_columns"].message);
  CHECK(declared["of_unit_columns"].outcome == pace::Outcome::measured);
}

/// A pool of one thread that spins for a while after its last task, as OpenMP's do.
class SpinningPool {
 public:
  ~SpinningPool() { join(); }
  void work() {
    join();
    thread_ = std::thread([] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
      while (std::chrono::steady_clock::now() < end) {
      }
    });
    ++tasks_;
  }
  [[nodiscard]] int tasks() const { return tasks_; }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::thread thread_;
  int tasks_ = 0;
};

TEST_CASE("a thread pool that spins for a while after a call is no background work") {
  SpinningPool pool;
  cheats::FakeClock clock;
  auto options = cheats::short_run();
  options.budget = pace::Nanoseconds(1e4);
  options.max_rounds = 2;
  const auto eager = [](const at::Tensor& x) { return x.sigmoid(); };
  const auto result = pace::compare("pool", at::randn({8, 8}))
                          .options(options)
                          .baseline("eager", cheats::costing(clock, 300, eager))
                          .candidate("honest", cheats::costing(clock, 100,
                                                               [&](const at::Tensor& x) {
                                                                 if (pool.tasks() < 4) pool.work();
                                                                 return x.sigmoid();
                                                               }))
                          .run(clock);
  INFO(result["honest"].message);
  CHECK(pool.tasks() == 4);
  CHECK(result["honest"].outcome == pace::Outcome::measured);
}

TEST_CASE("code that is slower after another implementation's calls, as it has left the caches, keeps no answers") {
  cheats::FakeClock clock;
  auto options = cheats::short_run();
  options.budget = pace::Nanoseconds(1e9);
  options.hard_limit = options.budget;
  options.min_sample = pace::Nanoseconds(1e6);
  int cold_calls = 0;
  const auto result = pace::compare("cold", at::randn({8, 8}))
                          .options(options)
                          .baseline("eager",
                                    [&](const at::Tensor& x) {
                                      cold_calls = 4;
                                      clock.advance(pace::Nanoseconds(30'000));
                                      return x.sigmoid();
                                    })
                          .candidate("honest",
                                     [&](const at::Tensor& x) {
                                       clock.advance(pace::Nanoseconds(cold_calls > 0 ? 100'000 : 10'000));
                                       cold_calls = std::max(cold_calls - 1, 0);
                                       return x.sigmoid();
                                     })
                          .run(clock);
  INFO(result["honest"].message);
  CHECK(result["honest"].outcome == pace::Outcome::measured);
}

}  // namespace
