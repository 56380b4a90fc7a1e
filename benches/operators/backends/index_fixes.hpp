// How the indices of each index-bearing operator are made valid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/zeros.h>

#include "benches/operators/backends/indices.hpp"
#include "benches/operators/backends/named_arguments.hpp"
#include "benches/operators/backends/value_fixes.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/calls/signature.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators::detail {

/// gather, scatter and their kin: `index` counts along `dim` of `self`.
inline void fix_along_dim(const OperatorCall& call) {
  const NamedArguments arguments(call);
  const std::int64_t dim = arguments.integer("dim");
  const at::Tensor& index = arguments.tensor("index");
  if (holds_indices(index)) fill_indices_along(index, index.dim() <= 1 ? 0 : dim, arguments.size("self", dim));
}

/// index and index_put: the n-th of `indices` counts along the n-th dimension of `self`; masks take their own number.
inline void fix_index_list(const OperatorCall& call) {
  const NamedArguments arguments(call);
  std::int64_t dim = 0;
  for (const std::int32_t position : arguments.bound("indices").positions) {
    if (position == BoundArgument::hole) {
      ++dim;
      continue;
    }
    const at::Tensor& index = call.tensors()[static_cast<std::size_t>(position)];
    if (holds_indices(index)) {
      fill_indices(index, arguments.size("self", dim));
      ++dim;
    } else {
      dim += index.dim();
    }
  }
}

/// Backward of a pooling: the indices that its forward call, made with the same constants, returns. `spatial` is the
/// number of trailing dimensions that an adaptive pooling is asked for.
inline void fix_from_forward(const OperatorCall& call, const char* forward_name, std::size_t spatial) {
  const c10::OperatorHandle forward = c10::Dispatcher::singleton().findSchemaOrThrow(forward_name, "");
  const NamedArguments arguments(call);
  const at::Tensor& indices = arguments.tensor("indices");
  if (indices.sizes().size() < spatial) throw Unsupported("its indices have too few dimensions");
  torch::jit::Stack stack;
  for (const c10::Argument& parameter : forward.schema().arguments()) {
    if (parameter.name() == "self") {
      stack.emplace_back(arguments.tensor("self"));
    } else if (parameter.name() == "output_size") {  // the backward call of the adaptive kind has no such argument
      stack.emplace_back(indices.sizes().slice(indices.sizes().size() - spatial).vec());
    } else {
      stack.push_back(call.constant(parameter.name()));
    }
  }
  forward.callBoxed(stack);
  const at::Tensor& found = stack.at(1).toTensor();
  if (found.sizes() != indices.sizes()) {
    throw Unsupported("its indices have the shape " + joined(indices.sizes()) + ", but its forward call's have " +
                      joined(found.sizes()));
  }
  indices.copy_(found);
}

/// One argument. Its values count up to `bound`.
inline void fix_one(const OperatorCall& call, std::string_view index, std::int64_t bound) {
  const at::Tensor& tensor = NamedArguments(call).tensor(index);
  if (holds_indices(tensor)) fill_indices(tensor, bound);
}

/// Coordinates of a sparse tensor: row d of `indices` counts along dimension d of `size`.
inline void fix_coordinates(const OperatorCall& call) {
  const NamedArguments arguments(call);
  const at::Tensor& indices = arguments.tensor("indices");
  const std::vector<std::int64_t> size = arguments.integers("size");
  for (std::int64_t row = 0; row < indices.size(0); ++row) {
    fill_indices(indices.select(0, row), size.at(static_cast<std::size_t>(row)));
  }
}

/// Bags of an embedding: `indices` are rows of `weight`. `offsets` say where each bag begins. They ascend from 0, and
/// end with the number of indices where the call says so. `offset2bag` holds each index' bag.
inline void fix_embedding_bag(const OperatorCall& call) {
  const NamedArguments arguments(call);
  const at::Tensor& indices = arguments.tensor("indices");
  const at::Tensor& offsets = arguments.tensor("offsets");
  fill_indices(indices, arguments.size("weight", 0));
  const BoundArgument* last = arguments.find("include_last_offset");
  const bool has_end = last != nullptr && last->value.toBool();
  const std::int64_t bags = offsets.numel() - has_end, count = indices.numel();
  if (bags <= 0 && count > 0) throw Unsupported("it has indices and no bags");
  if (bags <= 0) return;
  const at::Tensor numbers = at::arange(offsets.numel(), at::TensorOptions().dtype(at::kLong));
  offsets.copy_(numbers.mul(count).floor_divide(bags).view(offsets.sizes()));
  if (!arguments.has_tensor("offset2bag")) return;
  const at::Tensor& bag_of = arguments.tensor("offset2bag");
  if (bag_of.numel() != count)
    throw Unsupported("offset2bag has " + std::to_string(bag_of.numel()) + " elements for " + std::to_string(count) +
                      " indices");
  // The last bag that begins at or before an index.
  at::Tensor bags_of = at::zeros({count}, at::TensorOptions().dtype(at::kLong));
  const at::Tensor starts = offsets.cpu().to(at::kLong).view({-1});
  for (std::int64_t bag = 0; bag < bags; ++bag) {
    const std::int64_t begin = starts[bag].item<std::int64_t>();
    const std::int64_t end = bag + 1 < bags ? starts[bag + 1].item<std::int64_t>() : count;
    if (end > begin) bags_of.narrow(0, begin, end - begin).fill_(bag);
  }
  bag_of.copy_(bags_of.view(bag_of.sizes()));
}

/// Backward of embedding bags, which gets no offsets. Each bag has as many indices as any other, but for the last ones.
/// A bag's largest elements each come from a row of the table.
inline void fix_embedding_bag_backward(const OperatorCall& call) {
  const NamedArguments arguments(call);
  const at::Tensor& bag_of = arguments.tensor("offset2bag");
  const at::Tensor& bag_size = arguments.tensor("bag_size");
  const std::int64_t rows = arguments.integer("num_weights"), bags = arguments.size("grad", 0), count = bag_of.numel();
  fill_indices(arguments.tensor("indices"), rows);
  fill_indices(arguments.tensor("maximum_indices"), rows);
  if (bags <= 0 && count > 0) throw Unsupported("it has indices and no bags");
  if (bags <= 0) return;
  const at::Tensor numbers = at::arange(count, at::TensorOptions().dtype(at::kLong));
  const at::Tensor bags_of = numbers.mul(bags).floor_divide(std::max<std::int64_t>(count, 1));
  bag_of.copy_(bags_of.view(bag_of.sizes()));
  if (bag_size.numel() == bags) bag_size.copy_(at::bincount(bags_of, {}, bags).view(bag_size.sizes()));
}

/// Connectionist temporal classification: `targets` are classes but the blank one, as long as there are; sequences are
/// as long as they can be.
inline void fix_ctc(const OperatorCall& call) {
  const NamedArguments arguments(call);
  const at::Tensor& targets = arguments.tensor("targets");
  const at::Tensor& scores = arguments.tensor("log_probs");
  const std::int64_t number = arguments.size("log_probs", -1), blank = arguments.integer("blank");
  if (number < 2) throw Unsupported("it has no class but the blank one");
  fill_indices(targets, number - 1);
  targets.add_(targets.ge(blank));
  if (!arguments.has_tensor("target_lengths")) return;
  const at::Tensor& lengths = arguments.tensor("target_lengths");
  lengths.fill_(targets.dim() == 2 ? targets.size(1) : targets.numel() / std::max<std::int64_t>(lengths.numel(), 1));
  arguments.tensor("input_lengths").fill_(scores.size(0));
}

/// Where sequences that lie behind one another begin and end: `boundaries` becomes 0, ..., `total`, ascending, in steps
/// as equal as can be. Refuses sequences that would be longer than `longest`, if that is known.
inline void fill_boundaries(const at::Tensor& boundaries, std::int64_t total, std::optional<std::int64_t> longest) {
  const std::int64_t sequences = boundaries.numel() - 1;
  if (sequences < 1)
    throw Unsupported("its boundaries of sequences have " + std::to_string(sequences + 1) + " elements");
  if (longest && (total + sequences - 1) / sequences > *longest)
    throw Unsupported(std::to_string(sequences) + " sequences of at most " + std::to_string(*longest) +
                      " do not hold " + std::to_string(total) + " elements");
  const at::Tensor numbers = at::arange(sequences + 1, at::TensorOptions().dtype(at::kLong));
  boundaries.copy_(numbers.mul(total).floor_divide(sequences).view(boundaries.sizes()));
}

/// Attention over sequences that lie behind one another. `cum_seq_q` and `cum_seq_k` (or `cu_seqlens_q` and
/// `cu_seqlens_k`) are their boundaries in `query` and `key`; `seqused_k` (or `seqlen_k`) is how much of each is used.
inline void fix_attention(const OperatorCall& call) {
  const NamedArguments arguments(call);
  const auto integers = [&](std::string_view name) {
    return arguments.has_tensor(name) && holds_indices(arguments.tensor(name));
  };
  bool packed = false;
  for (const char* side : {"q", "k"}) {
    for (const char* prefix : {"cum_seq_", "cu_seqlens_"}) {
      const std::string name = std::string(prefix) + side;
      if (!integers(name)) continue;
      const at::Tensor& operand = arguments.tensor(*side == 'q' ? "query" : "key");
      if (operand.dim() < 3 || (operand.dim() == 4 && operand.size(0) != 1))
        throw Unsupported("its sequences lie behind one another, but its operands have the shape " +
                          joined(operand.sizes()));
      std::optional<std::int64_t> longest;
      for (const char* limit : {"max_", "max_seqlen_"}) {
        const BoundArgument* const found = arguments.find(std::string(limit) + side);
        if (found != nullptr && found->value.isInt()) longest = found->value.toInt();
      }
      fill_boundaries(arguments.tensor(name), operand.size(operand.dim() == 4 ? 1 : 0), longest);
      packed = true;
    }
  }
  for (const char* name : {"seqused_k", "seqlen_k"}) {
    if (!integers(name)) continue;
    const at::Tensor& used = arguments.tensor(name);
    const at::Tensor& key = arguments.tensor("key");
    const std::int64_t length = key.size(key.dim() == 4 ? 1 : 0);
    used.fill_(packed ? length / std::max<std::int64_t>(used.numel(), 1) : length);
  }
}

/// Products of groups: `offs` says where each group ends, along the rows of `self`, the columns of `mat2`, or the
/// dimension that is summed over. Ends are multiples of 16 where that is possible, which kernels on a GPU ask for.
inline void fix_group_ends(const OperatorCall& call) {
  const NamedArguments arguments(call);
  if (!arguments.has_tensor("offs")) return;
  const at::Tensor& ends = arguments.tensor("offs");
  const at::Tensor &a = arguments.tensor("self"), &b = arguments.tensor("mat2");
  if (a.dim() == 3 && b.dim() == 3) throw Unsupported("its operands hold its groups, and yet it has 'offs'");
  const std::int64_t total = a.dim() == 3 ? b.size(-1) : b.dim() == 3 ? a.size(0) : a.size(-1);
  const std::int64_t groups = ends.numel();
  if (groups == 0) throw Unsupported("it has no groups");
  const std::int64_t step = total / groups >= 16 ? total / groups / 16 * 16 : total / groups;
  ends.copy_(at::arange(1, groups + 1, at::TensorOptions().dtype(at::kLong)).mul(step).view(ends.sizes()));
  ends.view({-1})[groups - 1].fill_(total);
}

/// Rows of coordinates that are to be compressed: ascending, and within `size`.
inline void fix_ascending_rows(const OperatorCall& call) {
  const NamedArguments arguments(call);
  const at::Tensor& rows = arguments.tensor("self");
  const std::int64_t size = arguments.integer("size"), count = rows.numel();
  require_bound(size, rows);
  if (count == 0) return;
  rows.copy_(at::arange(count, at::TensorOptions().dtype(at::kLong)).mul(size).floor_divide(count).view(rows.sizes()));
}

/// Number of classes: dimension 1 of a batch of scores, dimension 0 of a single one.
[[nodiscard]] inline std::int64_t classes(const OperatorCall& call) {
  const NamedArguments arguments(call);
  return arguments.size("self", arguments.tensor("self").dim() == 1 ? 0 : 1);
}

[[nodiscard]] inline std::int64_t product(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

/// Makes the indices of an operator valid.
struct IndexFix {
  void (*apply)(const OperatorCall&);
  /// The arguments that it gives values, if they are integers.
  std::vector<std::string_view> sets;
};

/// By an operator's base name (`gather_` goes by `gather`). Long, since it is a table.
[[nodiscard]] inline const std::map<std::string_view, IndexFix>& index_fixes() {
  static const IndexFix along_dim{fix_along_dim, {"index"}}, index_list{fix_index_list, {"indices"}};
  static const IndexFix classes_of{[](const OperatorCall& call) { fix_one(call, "target", classes(call)); },
                                   {"target"}};
  static const IndexFix elements_of{
      [](const OperatorCall& call) { fix_one(call, "index", NamedArguments(call).tensor("self").numel()); }, {"index"}};
  static const IndexFix unpooling{
      [](const OperatorCall& call) { fix_one(call, "indices", product(NamedArguments(call).integers("output_size"))); },
      {"indices"}};
  static const IndexFix bags{fix_embedding_bag, {"indices", "offsets", "offset2bag"}};
  static const IndexFix ctc{fix_ctc, {"targets", "target_lengths", "input_lengths"}};
  static const IndexFix attention{fix_attention,
                                  {"cum_seq_q", "cum_seq_k", "cu_seqlens_q", "cu_seqlens_k", "seqused_k", "seqlen_k"}};
  static const IndexFix groups{fix_group_ends, {"offs"}};
  static const IndexFix samples{[](const OperatorCall& call) { make_probabilities(call, "random_samples"); }, {}};
  static const std::map<std::string_view, IndexFix> fixes = {
      {"gather", along_dim},
      {"scatter", along_dim},
      {"scatter_add", along_dim},
      {"scatter_reduce", along_dim},
      {"index_select", along_dim},
      {"index_add", along_dim},
      {"index_copy", along_dim},
      {"index_fill", along_dim},
      {"index_reduce", along_dim},
      {"index", index_list},
      {"_unsafe_index", index_list},
      {"index_put", index_list},
      {"_unsafe_index_put", index_list},
      {"_index_put_impl", index_list},
      {"take", elements_of},
      {"put", elements_of},
      {"nll_loss", classes_of},
      {"nll_loss_forward", classes_of},
      {"nll_loss_backward", classes_of},
      {"nll_loss2d", classes_of},
      {"nll_loss2d_forward", classes_of},
      {"nll_loss2d_backward", classes_of},
      {"multi_margin_loss", classes_of},
      {"multi_margin_loss_backward", classes_of},
      {"_embedding_bag", bags},
      {"_embedding_bag_forward_only", bags},
      {"_embedding_bag_per_sample_weights_backward", bags},
      {"_embedding_bag_dense_backward",
       {fix_embedding_bag_backward, {"indices", "offset2bag", "bag_size", "maximum_indices"}}},
      {"embedding",
       {[](const OperatorCall& call) { fix_one(call, "indices", NamedArguments(call).size("weight", 0)); },
        {"indices"}}},
      {"embedding_dense_backward",
       {[](const OperatorCall& call) { fix_one(call, "indices", NamedArguments(call).integer("num_weights")); },
        {"indices"}}},
      {"embedding_renorm",
       {[](const OperatorCall& call) { fix_one(call, "indices", NamedArguments(call).size("self", 0)); }, {"indices"}}},
      {"max_pool2d_with_indices_backward",
       {[](const OperatorCall& call) { fix_from_forward(call, "aten::max_pool2d_with_indices", 2); }, {"indices"}}},
      {"max_pool3d_with_indices_backward",
       {[](const OperatorCall& call) { fix_from_forward(call, "aten::max_pool3d_with_indices", 3); }, {"indices"}}},
      {"adaptive_max_pool2d_backward",
       {[](const OperatorCall& call) { fix_from_forward(call, "aten::adaptive_max_pool2d", 2); }, {"indices"}}},
      {"adaptive_max_pool3d_backward",
       {[](const OperatorCall& call) { fix_from_forward(call, "aten::adaptive_max_pool3d", 3); }, {"indices"}}},
      {"max_unpool2d", unpooling},
      {"max_unpool3d", unpooling},
      // Where the windows of a pooling begin.
      {"fractional_max_pool2d", samples},
      {"fractional_max_pool3d", samples},
      {"_ctc_loss", ctc},
      {"_ctc_loss_backward", ctc},
      {"_sparse_coo_tensor_with_dims_and_tensors", {fix_coordinates, {"indices"}}},
      {"_convert_indices_from_coo_to_csr", {fix_ascending_rows, {"self"}}},
      {"_flash_attention_forward", attention},
      {"_flash_attention_backward", attention},
      {"_efficient_attention_forward", attention},
      {"_efficient_attention_backward", attention},
      {"_cudnn_attention_forward", attention},
      {"_cudnn_attention_backward", attention},
      {"_scaled_dot_product_flash_attention_backward", attention},
      {"_scaled_dot_product_cudnn_attention_backward", attention},
      {"_grouped_mm", groups},
      {"_scaled_grouped_mm", groups},
      {"_scaled_grouped_mm_v2", groups},
  };
  return fixes;
}

}  // namespace pace::benches::operators::detail
