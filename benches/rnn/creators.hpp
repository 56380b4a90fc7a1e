// The models of the runners: inputs drawn, weights bound, forward and backward ready to be timed.
#pragma once

#include <cstdint>

#include "benches/rnn/draw.hpp"
#include "benches/rnn/model_def.hpp"

namespace pace::rnn {

/// Who executes a loop: C++ itself, or TorchScript's interpreter and fusers.
enum class Form { plain, scripted };

struct PytorchLstm {
  double dropout = 0;       ///< between layers
  bool cudnn = true;        ///< whether cuDNN may be used
  bool last_state = false;  ///< answers (hy, cy) of the last step alone, [batch, hidden], and goes back from hy: what
                            ///< lstm_simple is compared with
};

// All take inputs [x, hx, cx] and have all weights as parameters. Those that read the first layer's weights only leave
// the others without a gradient: see Runner::max_layers.

/// torch::nn::LSTM.
[[nodiscard]] ModelDef pytorch_lstm(const Sizes& sizes, const PytorchLstm& options = {});

/// Cell after cell. First layer only.
[[nodiscard]] ModelDef lstm(const Sizes& sizes, Form form);
/// The inputs of all steps are multiplied by w_ih at once; any input and hidden size will do. First layer only.
[[nodiscard]] ModelDef lstm_premul(const Sizes& sizes, Form form);
/// ... and b_ih is added at once, too. First layer only.
[[nodiscard]] ModelDef lstm_premul_bias(const Sizes& sizes, Form form);
/// Answers the last (hy, cy), [batch, hidden], keeping no list; goes back from hy. First layer only.
[[nodiscard]] ModelDef lstm_simple(const Sizes& sizes, Form form);
/// Layer after layer; answers the output and the states of the last.
[[nodiscard]] ModelDef lstm_multilayer(const Sizes& sizes, Form form);

}  // namespace pace::rnn
