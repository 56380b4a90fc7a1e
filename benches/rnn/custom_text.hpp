// The LSTMs of custom_lstms.hpp that runners use, as TorchScript. Weights come last.
#pragma once

#include <cstdint>
#include <string>

namespace pace::benches::rnn {

/// `layernorm_lstm`, one layer with layer norm, for one hidden size: LibTorch's layer norm takes it as a constant.
[[nodiscard]] inline std::string layernorm_lstm_text(std::int64_t hidden, bool decompose) {
  const auto norm = [&](const std::string& name, std::int64_t width) {
    const std::string head = "def " + name + "(x, weight, bias):\n";
    const std::string shape = "[" + std::to_string(width) + "]";
    if (!decompose) return head + "    return torch.layer_norm(x, " + shape + ", weight, bias, 1e-5)\n";
    return head +
           "    mean = x.mean([-1], True)\n"
           "    deviation = x.std([-1], False, True)\n"
           "    return (x - mean) / deviation * weight + bias\n";
  };
  return norm("norm_gates", 4 * hidden) + norm("norm_state", hidden) + R"SCRIPT(
def layernorm_lstm_cell(x, state: Tuple[Tensor, Tensor], w_ih, w_hh, weight_i, bias_i, weight_h, bias_h,
                        weight_c, bias_c) -> Tuple[Tensor, Tensor]:
    hx, cx = state
    igates = norm_gates(torch.mm(x, w_ih.t()), weight_i, bias_i)
    hgates = norm_gates(torch.mm(hx, w_hh.t()), weight_h, bias_h)
    gates = igates + hgates
    in_gate, forget_gate, cell_gate, out_gate = gates.chunk(4, 1)
    in_gate = torch.sigmoid(in_gate)
    forget_gate = torch.sigmoid(forget_gate)
    cell_gate = torch.tanh(cell_gate)
    out_gate = torch.sigmoid(out_gate)
    cy = norm_state(forget_gate * cx + in_gate * cell_gate, weight_c, bias_c)
    hy = out_gate * torch.tanh(cy)
    return hy, cy

def layernorm_lstm(x, hx, cx, w_ih, w_hh, weight_i, bias_i, weight_h, bias_h,
                   weight_c, bias_c) -> Tuple[Tensor, List[Tuple[Tensor, Tensor]]]:
    steps = x.unbind(0)
    outputs: List[Tensor] = []
    state = (hx, cx)
    for i in range(len(steps)):
        state = layernorm_lstm_cell(steps[i], state, w_ih, w_hh, weight_i, bias_i, weight_h, bias_h,
                                    weight_c, bias_c)
        outputs += [state[0]]
    return torch.stack(outputs), [state]
)SCRIPT";
}

/// `dropout_lstm`; `states` are h and c per layer, `weights` four per layer.
inline constexpr const char* dropout_lstm_text = R"SCRIPT(
def lstm_cell(x, state: Tuple[Tensor, Tensor], w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tensor]:
    hx, cx = state
    gates = torch.mm(x, w_ih.t()) + b_ih + torch.mm(hx, w_hh.t()) + b_hh
    in_gate, forget_gate, cell_gate, out_gate = gates.chunk(4, 1)
    in_gate = torch.sigmoid(in_gate)
    forget_gate = torch.sigmoid(forget_gate)
    cell_gate = torch.tanh(cell_gate)
    out_gate = torch.sigmoid(out_gate)
    cy = forget_gate * cx + in_gate * cell_gate
    hy = out_gate * torch.tanh(cy)
    return hy, cy

def lstm_layer(x, state: Tuple[Tensor, Tensor], w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
    steps = x.unbind(0)
    outputs: List[Tensor] = []
    for i in range(len(steps)):
        state = lstm_cell(steps[i], state, w_ih, w_hh, b_ih, b_hh)
        outputs += [state[0]]
    return torch.stack(outputs), state

def dropout_lstm(x, states: List[Tensor], weights: List[Tensor]) -> Tuple[Tensor, List[Tuple[Tensor, Tensor]]]:
    layers = len(weights) // 4
    output = x
    new_states: List[Tuple[Tensor, Tensor]] = []
    for layer in range(layers):
        w = 4 * layer
        output, state = lstm_layer(output, (states[2 * layer], states[2 * layer + 1]),
                                   weights[w], weights[w + 1], weights[w + 2], weights[w + 3])
        if layer < layers - 1:
            output = torch.dropout(output, 0.4, True)
        new_states.append(state)
    return output, new_states
)SCRIPT";

}  // namespace pace::benches::rnn
