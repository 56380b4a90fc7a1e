// The loops of loops.hpp and their cells as TorchScript. Weights come last.
#pragma once

namespace pace::benches::rnn {

inline constexpr const char* loops_text = R"SCRIPT(
def next_state(gates, cx) -> Tuple[Tensor, Tensor]:
    in_gate, forget_gate, cell_gate, out_gate = gates.chunk(4, 1)
    in_gate = torch.sigmoid(in_gate)
    forget_gate = torch.sigmoid(forget_gate)
    cell_gate = torch.tanh(cell_gate)
    out_gate = torch.sigmoid(out_gate)
    cy = forget_gate * cx + in_gate * cell_gate
    hy = out_gate * torch.tanh(cy)
    return hy, cy

def flat_lstm_cell(x, hx, cx, w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tensor]:
    return next_state(torch.mm(x, w_ih.t()) + torch.mm(hx, w_hh.t()) + b_ih + b_hh, cx)

def lstm_cell(x, state: Tuple[Tensor, Tensor], w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tensor]:
    hx, cx = state
    return next_state(torch.mm(x, w_ih.t()) + torch.mm(hx, w_hh.t()) + b_ih + b_hh, cx)

def premul_lstm_cell(igates, state: Tuple[Tensor, Tensor], w_hh, b_ih, b_hh) -> Tuple[Tensor, Tensor]:
    hx, cx = state
    return next_state(igates + torch.mm(hx, w_hh.t()) + b_ih + b_hh, cx)

def premul_lstm_cell_no_bias(igates, state: Tuple[Tensor, Tensor], w_hh, b_hh) -> Tuple[Tensor, Tensor]:
    hx, cx = state
    return next_state(igates + torch.mm(hx, w_hh.t()) + b_hh, cx)

def lstm(x, hx, cx, w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
    steps = x.unbind(0)
    outputs: List[Tensor] = []
    hy = hx[0]
    cy = cx[0]
    for i in range(len(steps)):
        hy, cy = lstm_cell(steps[i], (hy, cy), w_ih, w_hh, b_ih, b_hh)
        outputs += [hy]
    return torch.stack(outputs), (hy.unsqueeze(0), cy.unsqueeze(0))

def lstm_premul(x, hx, cx, w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
    steps = torch.matmul(x, w_ih.t()).unbind(0)
    outputs: List[Tensor] = []
    hy = hx[0]
    cy = cx[0]
    for i in range(len(steps)):
        hy, cy = premul_lstm_cell(steps[i], (hy, cy), w_hh, b_ih, b_hh)
        outputs += [hy]
    return torch.stack(outputs), (hy.unsqueeze(0), cy.unsqueeze(0))

def lstm_premul_bias(x, hx, cx, w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
    igates = torch.mm(x.view(-1, x.size(2)), w_ih.t()) + b_ih
    steps = igates.view(x.size(0), x.size(1), -1).unbind(0)
    outputs: List[Tensor] = []
    hy = hx[0]
    cy = cx[0]
    for i in range(len(steps)):
        hy, cy = premul_lstm_cell_no_bias(steps[i], (hy, cy), w_hh, b_hh)
        outputs += [hy]
    return torch.stack(outputs), (hy.unsqueeze(0), cy.unsqueeze(0))

def lstm_simple(x, hx, cx, w_ih, w_hh, b_ih, b_hh):
    steps = x.unbind(0)
    hy = hx[0]
    cy = cx[0]
    for i in range(len(steps)):
        hy, cy = flat_lstm_cell(steps[i], hy, cy, w_ih, w_hh, b_ih, b_hh)
    return hy, cy

def lstm_multilayer(x, hx, cx, weights: List[Tensor]) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
    steps = x.unbind(0)
    hy = hx[0]
    cy = cx[0]
    for layer in range(len(weights) // 4):
        hy = hx[layer]
        cy = cx[layer]
        first = 4 * layer
        outputs: List[Tensor] = []
        for i in range(len(steps)):
            hy, cy = lstm_cell(steps[i], (hy, cy), weights[first], weights[first + 1],
                               weights[first + 2], weights[first + 3])
            outputs += [hy]
        steps = outputs
    return torch.stack(steps), (hy.unsqueeze(0), cy.unsqueeze(0))

def varlen_lstm(sequences: List[Tensor], hx, cx, w_ih, w_hh, b_ih,
                b_hh) -> Tuple[List[Tensor], Tuple[List[Tensor], List[Tensor]]]:
    hxs = hx.unbind(1)
    cxs = cx.unbind(1)
    outputs: List[Tensor] = []
    hys: List[Tensor] = []
    cys: List[Tensor] = []
    for b in range(len(sequences)):
        hy = hxs[b]
        cy = cxs[b]
        steps = sequences[b].unbind(0)
        output: List[Tensor] = []
        for i in range(len(steps)):
            hy, cy = lstm_cell(steps[i].unsqueeze(0), (hy, cy), w_ih, w_hh, b_ih, b_hh)
            output += [hy]
        outputs += [torch.stack(output)]
        hys += [hy.unsqueeze(0)]
        cys += [cy.unsqueeze(0)]
    return outputs, (hys, cys)
)SCRIPT";

}  // namespace pace::benches::rnn
