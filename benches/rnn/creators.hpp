// The models of the runners: inputs drawn, weights bound, forward and backward ready to be timed.
#pragma once

#include <cstdint>

#include "benches/rnn/draw.hpp"
#include "benches/rnn/model_def.hpp"

namespace pace::benches::rnn {

/// What executes a loop: C++ itself, or TorchScript's interpreter and fusers.
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

/// torch::nn::LSTM, and after it, per time step, the layer norms of a layer-norm LSTM: two over fixed numbers of
/// [batch, 4 hidden], and one over the cell state. Computes no LSTM with layer norm, but bounds from below what the
/// forward of one built on cuDNN's would take. Has no backward.
[[nodiscard]] ModelDef layernorm_pytorch_lstm(const Sizes& sizes);

// Inputs [list of `sizes.batch` sequences of random lengths, hx, cx].

/// torch::nn::LSTM over packed sequences; answers padded ones.
[[nodiscard]] ModelDef varlen_pytorch_lstm(const Sizes& sizes, bool cudnn, const Lengths& lengths = {});
/// Sequence after sequence, cell after cell; answers lists. First layer only.
[[nodiscard]] ModelDef varlen_lstm(const Sizes& sizes, Form form, const Lengths& lengths = {});

// Modules of custom_lstms.hpp: inputs [x, then h and c of each layer, [batch, hidden]]; the parameters are the
// module's, drawn normal.

/// With layer norm; always one layer.
[[nodiscard]] ModelDef lnlstm(const Sizes& sizes, Form form, bool decompose);
/// With dropout of 0.4 between layers.
[[nodiscard]] ModelDef dropoutlstm(const Sizes& sizes, Form form);

enum class Architecture { resnet18, resnet50 };

/// The benchmark has always had these, whatever --miniBatch says.
struct Images {
  std::int64_t batch = 32, side = 224;
};

/// In training mode; inputs [images]; of `sizes`, only device and seed play a part. `trace`: as a TorchScript trace.
[[nodiscard]] ModelDef imagenet_cnn(Architecture architecture, const Sizes& sizes, bool trace,
                                    const Images& images = {});

}  // namespace pace::benches::rnn
