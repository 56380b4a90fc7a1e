// The collectives as operators: their inputs, what comes out by a closed form, and the ways to compute them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sum.h>

#include "benches/collectives/bandwidth.hpp"
#include "benches/collectives/communicator.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::collectives {

/// A way to compute a collective: from a rank's input to its output, which each call writes anew into the same memory.
struct Way {
  std::string name;
  std::function<at::Tensor(const at::Tensor&)> function;
};

/// Elements of a tensor of `bytes`, in parts of equal size for all ranks; at least one element in each.
[[nodiscard]] inline std::int64_t elements_of(std::int64_t bytes, int ranks) {
  const std::int64_t part = bytes / static_cast<std::int64_t>(sizeof(float)) / ranks;
  return std::max<std::int64_t>(part, 1) * ranks;
}

/// Bytes of that tensor: the ones that a collective moves where `bytes` were asked for.
[[nodiscard]] inline std::int64_t bytes_of(std::int64_t bytes, int ranks) {
  return elements_of(bytes, ranks) * static_cast<std::int64_t>(sizeof(float));
}

/// One collective of one rank.
class Operator {
 public:
  /// `elements`: those of the larger buffer; a multiple of the number of ranks. `with` must outlive it.
  Operator(Kind kind, Communicator& with, std::int64_t elements, at::Device device)
      : kind_(kind), with_(with), elements_(elements), part_(elements / with.ranks()), device_(device) {}

  /// The number of bytes for a bandwidth.
  [[nodiscard]] double bytes() const { return static_cast<double>(elements_) * sizeof(float); }

  /// This rank's input: element i is i modulo 61, plus the number of the rank. Sums over 200,000 ranks are exact.
  [[nodiscard]] at::Tensor input() const {
    return numbers(0, kind_ == Kind::all_gather ? part_ : elements_).add(with_.rank());
  }

  /// What comes out on this rank, computed without any other rank.
  [[nodiscard]] at::Tensor expected() const {
    const int ranks = with_.ranks(), rank = with_.rank();
    const double sum_of_ranks = 0.5 * ranks * (ranks - 1);
    switch (kind_) {
      case Kind::all_reduce:
        return numbers(0, elements_).mul(ranks).add(sum_of_ranks);
      case Kind::reduce_scatter:
        return numbers(rank * part_, part_).mul(ranks).add(sum_of_ranks);
      case Kind::all_gather:
      case Kind::all_to_all: {
        std::vector<at::Tensor> parts;
        const std::int64_t first = kind_ == Kind::all_gather ? 0 : rank * part_;
        for (int from = 0; from < ranks; ++from) parts.push_back(numbers(first, part_).add(from));
        return at::cat(parts);
      }
      case Kind::send_receive:
        return numbers(0, elements_).add(before());
    }
    throw Error("no such collective");
  }

  /// The library's own call.
  [[nodiscard]] Way baseline(std::string name) const {
    return {std::move(name), [this, out = output()](const at::Tensor& in) {
              switch (kind_) {
                case Kind::all_reduce:
                  with_.all_reduce(in, out);
                  break;
                case Kind::all_gather:
                  with_.all_gather(in, out);
                  break;
                case Kind::reduce_scatter:
                  with_.reduce_scatter(in, out);
                  break;
                case Kind::all_to_all:
                  swap_parts(in, out);
                  break;
                case Kind::send_receive:
                  with_.exchange({{.to = after(), .from = before(), .sent = in, .received = out}});
                  break;
              }
              return out;
            }};
  }

  /// Other ways to compute the same, made of other collectives.
  [[nodiscard]] std::vector<Way> candidates() const {
    switch (kind_) {
      case Kind::all_reduce:
        // In two steps as a ring does it, and in one step, which sends more and waits less.
        return {{"reduce-scatter, all-gather",
                 [this, out = output()](const at::Tensor& in) {
                   const at::Tensor own = out.narrow(0, with_.rank() * part_, part_);
                   with_.reduce_scatter(in, own);
                   with_.all_gather(own, out);
                   return out;
                 }},
                {"all-gather, sum",
                 [this, all = floats(with_.ranks() * elements_), out = output()](const at::Tensor& in) mutable {
                   with_.all_gather(in, all);
                   return at::sum_out(out, all.view({with_.ranks(), elements_}), 0);
                 }}};
      case Kind::all_gather:
        return {{"sends", [this, out = output()](const at::Tensor& in) {
                   std::vector<Exchange> all;
                   for (int peer = 0; peer < with_.ranks(); ++peer)
                     all.push_back({peer, peer, in, out.narrow(0, peer * part_, part_)});
                   with_.exchange(all);
                   return out;
                 }}};
      case Kind::reduce_scatter:
        return {{"all-to-all, sum", [this, all = floats(elements_), out = output()](const at::Tensor& in) mutable {
                   swap_parts(in, all);
                   return at::sum_out(out, all.view({with_.ranks(), part_}), 0);
                 }}};
      case Kind::all_to_all:
      case Kind::send_receive:
        return {};
    }
    return {};
  }

 private:
  [[nodiscard]] at::Tensor numbers(std::int64_t first, std::int64_t count) const {
    constexpr std::int64_t period = 61;
    return at::arange(first, first + count, at::TensorOptions(at::kLong).device(device_))
        .remainder_(period)
        .to(at::kFloat);
  }
  [[nodiscard]] at::Tensor floats(std::int64_t count) const {
    return at::empty({count}, at::TensorOptions(at::kFloat).device(device_));
  }
  [[nodiscard]] at::Tensor output() const { return floats(kind_ == Kind::reduce_scatter ? part_ : elements_); }
  [[nodiscard]] int after() const { return (with_.rank() + 1) % with_.ranks(); }
  [[nodiscard]] int before() const { return (with_.rank() + with_.ranks() - 1) % with_.ranks(); }
  void swap_parts(const at::Tensor& in, const at::Tensor& out) const {
    std::vector<Exchange> all;
    for (int peer = 0; peer < with_.ranks(); ++peer)
      all.push_back({peer, peer, in.narrow(0, peer * part_, part_), out.narrow(0, peer * part_, part_)});
    with_.exchange(all);
  }

  Kind kind_;
  Communicator& with_;
  std::int64_t elements_, part_;
  at::Device device_;
};

}  // namespace pace::benches::collectives
