// Honest implementations that rely on the meaning of an operand's integers: lists, lengths, keys in order, coordinates.
// None of them may be rejected for values that do not say it.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "tests/cheats/rejected.hpp"

namespace {

using Operand = const at::Tensor&;

/// Code that relies on a property requires it here; real code would read beyond its memory or never return.
void require(bool holds, const char* property) {
  if (!holds) throw std::runtime_error(std::string("expected ") + property);
}

/// Requires that the candidate is measured, in several runs, since values are drawn at random.
template <class Baseline, class Candidate, class... Operands>
void require_accepted(const std::string& name, Baseline baseline, Candidate candidate, const Operands&... operands) {
  constexpr int runs = 3;
  auto options = cheats::short_run();
  options.budget = pace::Nanoseconds(3e6);
  options.max_rounds = 60;
  for (int i = 0; i < runs; ++i) {
    cheats::FakeClock clock;
    const auto result = pace::compare(name, operands...)
                            .options(options)
                            .baseline("eager", cheats::costing(clock, 3000, baseline))
                            .candidate("honest", cheats::costing(clock, 1000, candidate))
                            .run(clock);
    INFO(name << ": 'honest' " << result["honest"].outcome << ": " << result["honest"].message);
    INFO("'eager' " << result["eager"].outcome << ": " << result["eager"].message);
    REQUIRE(result["honest"].outcome == pace::Outcome::measured);
  }
  ++cheats::catalogue.accepted;
}

const std::int64_t* integers(Operand tensor) { return tensor.const_data_ptr<std::int64_t>(); }
const float* floats(Operand tensor) { return tensor.const_data_ptr<float>(); }

/// One cycle through all places, in random order.
at::Tensor cycle(std::int64_t count) {
  const at::Tensor order = at::randperm(count, at::kLong);
  at::Tensor next = at::empty({count}, at::kLong);
  return next.index_copy_(0, order, order.roll(1));
}

/// One list through all places, in random order, whose end names `end`, or itself if that is below 0.
at::Tensor list(std::int64_t count, std::int64_t end) {
  const at::Tensor order = at::randperm(count, at::kLong);
  at::Tensor next = at::empty({count}, at::kLong);
  next.index_copy_(0, order.narrow(0, 0, count - 1), order.narrow(0, 1, count - 1));
  const at::Tensor last = order.narrow(0, count - 1, 1);
  return next.index_copy_(0, last, end < 0 ? last : at::full({1}, end, at::kLong));
}

TEST_CASE("a walk along a cycle ends where it has begun") {
  const auto baseline = [](Operand x, Operand next) {
    at::Tensor out = at::zeros_like(x);
    for (std::int64_t i = 0, at = 0; i < x.numel(); ++i, at = integers(next)[at])
      out.mutable_data_ptr<float>()[i] = floats(x)[at];
    return out;
  };
  const auto walk = [](Operand x, Operand next) {
    at::Tensor out = at::zeros_like(x);
    std::int64_t i = 0, at = 0;
    do {
      out.mutable_data_ptr<float>()[i++] = floats(x)[at];
      at = integers(next)[at];
    } while (at != 0);
    return out;
  };
  require_accepted("cycle", baseline, walk, at::randn({64}), cycle(64));
}

TEST_CASE("a walk along a list comes to its end") {
  constexpr std::int64_t count = 32;
  const auto count_steps = [](std::int64_t at, const std::int64_t* next, std::int64_t most) {
    std::int64_t steps = 0;
    for (; steps < most && at < count && next[at] != at; ++steps) at = next[at];
    return steps;
  };
  const auto baseline = [=](Operand x, Operand next) {
    at::Tensor out = at::zeros_like(x);
    for (std::int64_t i = 0; i < x.numel(); ++i)
      out.mutable_data_ptr<float>()[i] = floats(x)[i] * static_cast<float>(count_steps(i, integers(next), x.numel()));
    return out;
  };
  const auto until_the_end = [=](Operand x, Operand next) {
    for (std::int64_t i = 0; i < x.numel(); ++i)
      require(count_steps(i, integers(next), x.numel() + 1) <= x.numel(), "a list with an end");
    return baseline(x, next);
  };
  for (const std::int64_t end : {std::int64_t{-1}, count})
    require_accepted("list", baseline, until_the_end, at::randn({count}), list(count, end));
}

/// The sum of each run of rows, with the given lengths.
at::Tensor sums_of_runs(Operand x, Operand lengths) {
  at::Tensor out = at::zeros({lengths.numel()}, x.options());
  for (std::int64_t run = 0, row = 0; run < lengths.numel(); ++run)
    for (std::int64_t i = 0; i < integers(lengths)[run] && row < x.size(0); ++i, ++row)
      out.mutable_data_ptr<float>()[run] += floats(x)[row];
  return out;
}

TEST_CASE("lengths have the sum of an operand's size, or of a number") {
  const at::Tensor lengths = at::tensor({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, at::kLong);
  const at::Tensor in_order = std::get<0>(lengths.sort(0, /*descending=*/true));
  for (const at::Tensor& each : {lengths, in_order}) {
    const auto exact = [](Operand x, Operand n) {
      require(n.sum().item<std::int64_t>() == x.size(0), "lengths of all rows");
      return sums_of_runs(x, n);
    };
    require_accepted("size", sums_of_runs, exact, at::randn({52}), each);
    const auto baseline = [](Operand x, Operand n, std::int64_t) { return sums_of_runs(x, n); };
    const auto of_number = [](Operand x, Operand n, std::int64_t total) {
      require(n.sum().item<std::int64_t>() == total, "lengths of all rows");
      return sums_of_runs(x, n);
    };
    require_accepted("number", baseline, of_number, at::randn({60}), each, std::int64_t{52});
  }
}

TEST_CASE("the largest length is a capacity") {
  const auto baseline = [](Operand x, Operand n) { return x.mul(at::arange(x.size(1)).lt(n.unsqueeze(1))).sum(1); };
  const auto exact = [=](Operand x, Operand n) {
    require(n.max().item<std::int64_t>() == x.size(1), "a line without padding");
    return baseline(x, n);
  };
  const at::Tensor lengths = at::tensor({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, at::kLong);
  for (const at::Tensor& each : {lengths, std::get<0>(lengths.sort(0, /*descending=*/true)),
                                 at::full({12}, 9, at::kLong), at::tensor({3, 9, 2}, at::kLong)})
    require_accepted("capacity", baseline, exact, at::randn({each.numel(), 9}), each);
}

TEST_CASE("as many bools are true as an output has elements") {
  const auto chosen = [](Operand x, Operand mask) { return x.masked_select(mask); };
  const auto into_eleven = [=](Operand x, Operand mask) {
    at::Tensor out = at::empty({11}, x.options());
    require(mask.sum().item<std::int64_t>() == out.numel(), "eleven elements");
    return out.copy_(chosen(x, mask));
  };
  require_accepted("mask", chosen, into_eleven, at::randn({32}), at::randperm(32, at::kLong).lt(11));
}

TEST_CASE("keys are in order before their padding") {
  const at::Tensor keys = at::cat({at::arange(1, 60, 3, at::kLong), at::zeros({6}, at::kLong)});
  const at::Tensor wanted = at::randint(0, 60, {40}, at::kLong);
  const auto baseline = [](Operand x, Operand table, Operand queries) {
    return x.mul(table.unsqueeze(1).eq(queries).logical_and(queries.ne(0)).any(0));
  };
  const auto by_halves = [](Operand x, Operand table, Operand queries) {
    const auto* const begin = integers(table);
    const auto* const end = std::find(begin, begin + table.numel(), 0);
    at::Tensor out = x.clone();
    for (std::int64_t i = 0; i < queries.numel(); ++i)
      if (!std::binary_search(begin, end, integers(queries)[i])) out.mutable_data_ptr<float>()[i] = 0;
    return out;
  };
  require_accepted("keys", baseline, by_halves, at::randn({40}), keys, wanted);
}

/// Ids from 2 to 99 with padding at the end of rows, or at their beginning.
at::Tensor padded_ids(Operand lengths, std::int64_t width, std::int64_t padding, bool at_end) {
  const at::Tensor ids = at::randint(2, 100, {lengths.numel(), width}, at::kLong);
  const at::Tensor places = at::arange(width).ge(lengths.unsqueeze(1));
  return ids.masked_fill(at_end ? places : places.flip(1), padding);
}

TEST_CASE("padding is at one end of rows, as lengths and masks say") {
  const at::Tensor lengths = at::tensor({5, 12, 9, 16, 7, 3, 11, 14}, at::kLong), table = at::randn({101, 8});
  // The sum of the rows of the table that a row of ids names, but for padding.
  const auto of_lengths = [](Operand weights, Operand ids, bool at_end, const auto& length_of) {
    at::Tensor out = at::zeros({ids.size(0), weights.size(1)});
    for (std::int64_t row = 0; row < ids.size(0); ++row) {
      const std::int64_t length = length_of(row);
      out[row] = weights.index_select(0, ids[row].narrow(0, at_end ? 0 : ids.size(1) - length, length)).sum(0);
    }
    return out;
  };
  const auto masked = [](Operand weights, Operand ids, Operand mask) {
    return weights.index_select(0, ids.flatten()).view({ids.size(0), ids.size(1), -1}).mul(mask.unsqueeze(2)).sum(1);
  };
  for (const std::int64_t padding : {0, 1, 100})
    for (const bool at_end : {true, false}) {
      const at::Tensor ids = padded_ids(lengths, 16, padding, at_end), mask = ids.ne(padding);
      const auto unpadded = [=](Operand weights, Operand rows) { return masked(weights, rows, rows.ne(padding)); };
      const auto trimmed = [=](Operand weights, Operand rows) {
        const at::Tensor counts = rows.ne(padding).sum(1);
        return of_lengths(weights, rows, at_end, [&](std::int64_t row) { return integers(counts)[row]; });
      };
      require_accepted("padding", unpadded, trimmed, table, ids);
      require_accepted(
          "padding and lengths", [=](Operand w, Operand rows, Operand) { return unpadded(w, rows); },
          [=](Operand w, Operand rows, Operand n) {
            return of_lengths(w, rows, at_end, [&](std::int64_t row) { return integers(n)[row]; });
          },
          table, ids, lengths);
      for (const at::Tensor& given : {mask, mask.to(at::kFloat), mask.to(at::kLong)})
        require_accepted(
            "padding and a mask", masked, [=](Operand w, Operand rows, Operand) { return trimmed(w, rows); }, table,
            ids, given);
    }
}

TEST_CASE("columns are in order within the rows of a sparse matrix") {
  const at::Tensor columns = at::tensor({1, 5, 7, 9, 0, 3, 4, 8, 2, 11, 12, 30, 1, 2, 6}, at::kLong);
  const at::Tensor offsets = at::tensor({0, 4, 8, 12, 15}, at::kLong), lengths = offsets.diff();
  const at::Tensor rows = at::tensor({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3}, at::kLong);
  const auto sum = [](Operand x, Operand column, Operand) {
    const at::Tensor weights = at::arange(column.numel(), x.options());
    return x.index_select(0, column).mul(weights);
  };
  const auto in_order = [&](auto segment_of) {
    return [=](Operand x, Operand column, Operand by) {
      for (std::int64_t i = 1; i < column.numel(); ++i)
        require(segment_of(by, i) != segment_of(by, i - 1) || integers(column)[i - 1] < integers(column)[i],
                "columns in order");
      return sum(x, column, by);
    };
  };
  const at::Tensor x = at::randn({32});
  require_accepted("offsets", sum, in_order([](Operand by, std::int64_t i) {
                     return std::upper_bound(integers(by), integers(by) + by.numel(), i) - integers(by);
                   }),
                   x, columns, offsets);
  require_accepted("rows", sum, in_order([](Operand by, std::int64_t i) { return integers(by)[i]; }), x, columns, rows);
  const auto of_lengths = in_order([](Operand by, std::int64_t i) {
    std::int64_t segment = 0;
    for (std::int64_t end = integers(by)[0]; end <= i && segment + 1 < by.numel(); end += integers(by)[++segment]) {
    }
    return segment;
  });
  require_accepted("lengths", sum, of_lengths, x, columns, lengths);
}

TEST_CASE("a router may take any of the places where a softmax is zero") {
  const at::Tensor logits = at::randn({512, 64});
  for (const at::ScalarType type : {at::kLong, at::kInt}) {
    INFO(type);
    require_accepted(
        "top 2",
        [=](Operand x) {
          const auto [values, indices] = at::topk(at::softmax(x, -1), 2);
          return std::tuple(values / values.sum(-1, true), indices.to(type));
        },
        [=](Operand x) {
          const auto [values, indices] = at::topk(x, 2);
          return std::tuple(at::softmax(values, -1), indices.to(type));
        },
        logits);
  }
  require_accepted(
      "order of all", [](Operand x) { return std::get<1>(at::softmax(x, -1).sort(-1, true)); },
      [](Operand x) { return std::get<1>(x.sort(-1, true)); }, at::randn({16, 32}));
}

TEST_CASE("each coordinate of a few points or boxes stays what it is") {
  for (const std::int64_t boxes : {2, 3, 9})
    for (const auto type : {at::kLong, at::kFloat}) {
      const at::Tensor corners = at::randint(0, 20, {boxes, 2}, at::kLong);
      const at::Tensor all = at::cat({corners, corners.add(at::randint(1, 20, {boxes, 2}, at::kLong))}, 1).to(type);
      const auto areas = [](Operand box, Operand scale) {
        return box.select(1, 2).sub(box.select(1, 0)).mul(box.select(1, 3).sub(box.select(1, 1))).abs().mul(scale);
      };
      const auto of_valid = [=](Operand box, Operand scale) {
        require(box.narrow(1, 0, 2).le(box.narrow(1, 2, 2)).all().item<bool>(), "corners in order");
        return areas(box, scale);
      };
      require_accepted("boxes", areas, of_valid, all, at::randn({boxes}));
    }
}

}  // namespace
