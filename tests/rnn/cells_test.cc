// The cells against LibTorch's own, and where it has none, against the formula worked by hand.
#include "benches/rnn/cells.hpp"

#include <cmath>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gru_cell.h>
#include <ATen/ops/lstm_cell.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/rnn_relu_cell.h>
#include <ATen/ops/rnn_tanh_cell.h>

#include "tests/rnn/one_step.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace {

using pace::benches::rnn::State;
using pace::test::difference;

constexpr std::int64_t batch = 3, input = 4, hidden = 5;

struct Operands {
  explicit Operands(std::int64_t gates) {
    const at::Generator generator = at::detail::createCPUGenerator(5);
    const auto draw = [&](at::IntArrayRef shape) { return at::randn(shape, generator, at::kFloat); };
    x = draw({batch, input}), hx = draw({batch, hidden}), cx = draw({batch, hidden});
    w_ih = draw({gates * hidden, input}), w_hh = draw({gates * hidden, hidden});
    b_ih = draw({gates * hidden}), b_hh = draw({gates * hidden});
  }
  at::Tensor x, hx, cx, w_ih, w_hh, b_ih, b_hh;
};

std::vector<at::Tensor> list(const State& state) { return {std::get<0>(state), std::get<1>(state)}; }

TEST_CASE("Every form of the LSTM cell is LibTorch's") {
  const Operands o(4);
  const auto expected = list(at::lstm_cell(o.x, {o.hx, o.cx}, o.w_ih, o.w_hh, o.b_ih, o.b_hh));
  const State state{o.hx, o.cx};
  const at::Tensor igates = at::mm(o.x, o.w_ih.t());
  const auto same = [&](const State& actual) { return difference(list(actual), expected, 1e-5); };
  REQUIRE(same(pace::benches::rnn::lstm_cell(o.x, state, o.w_ih, o.w_hh, o.b_ih, o.b_hh)) == "");
  REQUIRE(same(pace::benches::rnn::flat_lstm_cell(o.x, o.hx, o.cx, o.w_ih, o.w_hh, o.b_ih, o.b_hh)) == "");
  REQUIRE(same(pace::benches::rnn::premul_lstm_cell(igates, state, o.w_hh, o.b_ih, o.b_hh)) == "");
  REQUIRE(same(pace::benches::rnn::premul_lstm_cell_no_bias(igates + o.b_ih, state, o.w_hh, o.b_hh)) == "");
  // The same with gates in another order is another function: the comparison can fail.
  REQUIRE(same(pace::benches::rnn::lstm_cell(o.x, state, o.w_ih.flip(0), o.w_hh, o.b_ih, o.b_hh)) != "");
}

TEST_CASE("The GRU and the plain cells are LibTorch's") {
  const Operands gru(3), plain(1);
  REQUIRE(difference({pace::benches::rnn::gru_cell(gru.x, gru.hx, gru.w_ih, gru.w_hh, gru.b_ih, gru.b_hh)},
                     {at::gru_cell(gru.x, gru.hx, gru.w_ih, gru.w_hh, gru.b_ih, gru.b_hh)}, 1e-5) == "");
  REQUIRE(
      difference({pace::benches::rnn::rnn_relu_cell(plain.x, plain.hx, plain.w_ih, plain.w_hh, plain.b_ih, plain.b_hh)},
                 {at::rnn_relu_cell(plain.x, plain.hx, plain.w_ih, plain.w_hh, plain.b_ih, plain.b_hh)}, 1e-5) == "");
  REQUIRE(
      difference({pace::benches::rnn::rnn_tanh_cell(plain.x, plain.hx, plain.w_ih, plain.w_hh, plain.b_ih, plain.b_hh)},
                 {at::rnn_tanh_cell(plain.x, plain.hx, plain.w_ih, plain.w_hh, plain.b_ih, plain.b_hh)}, 1e-5) == "");
}

TEST_CASE("The multiplicative cell of one number, by hand") {
  // One input and one hidden unit; Wx = 2 w, Uz = 3 u.
  const double w[] = {0.1, 0.2, 0.3, 0.4}, u[] = {0.5, -0.1, 0.2, -0.3}, alpha[] = {1, 2, 0.5, -1},
               beta_i[] = {0.3, 0.6, 0.9, 1.2}, beta_h[] = {-0.2, 0.4, -0.6, 0.8}, bias[] = {0.01, 0.02, 0.03, 0.04};
  double gates[4];
  for (int i = 0; i < 4; ++i) {
    const double wx = 2 * w[i], uz = 3 * u[i];
    gates[i] = alpha[i] * wx * uz + beta_i[i] * wx + beta_h[i] * uz + bias[i];
  }
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double cy = sigmoid(gates[1]) * 0.7 + sigmoid(gates[0]) * std::tanh(gates[2]);
  const double hy = sigmoid(gates[3]) * std::tanh(cy);

  const auto column = [](const double* values) {
    at::Tensor tensor = at::empty({4, 1}, at::kDouble);
    for (int i = 0; i < 4; ++i) tensor.mutable_data_ptr<double>()[i] = values[i];
    return tensor;
  };
  const auto one = [](double value) { return at::full({1, 1}, value, at::kDouble); };
  const auto [actual_hy, actual_cy] =
      pace::benches::rnn::milstm_cell(one(2), {one(3), one(0.7)}, column(w), column(u), column(alpha).flatten(),
                                      column(beta_i).flatten(), column(beta_h).flatten(), column(bias).flatten());
  REQUIRE(actual_cy.item<double>() == Catch::Approx(cy).epsilon(1e-12));
  REQUIRE(actual_hy.item<double>() == Catch::Approx(hy).epsilon(1e-12));
}

TEST_CASE("The multiplicative cell with neither product nor factors is the LSTM cell") {
  const Operands o(4);
  const at::Tensor none = at::full({4 * hidden}, 0.0), all = at::full({4 * hidden}, 1.0);
  REQUIRE(difference(
              list(pace::benches::rnn::milstm_cell(o.x, {o.hx, o.cx}, o.w_ih, o.w_hh, none, all, all, o.b_ih + o.b_hh)),
              list(at::lstm_cell(o.x, {o.hx, o.cx}, o.w_ih, o.w_hh, o.b_ih, o.b_hh)), 1e-5) == "");
}

}  // namespace
