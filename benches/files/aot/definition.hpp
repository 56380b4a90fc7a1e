// Definition: a model written once, as a function of its parameters and inputs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pace::benches::aot {

/// The source of a whole model's back ends.
struct Definition {
  std::string name;
  /// The tensors to differentiate by; none for code that has no backward.
  std::vector<at::Tensor> parameters;
  /// Everything else that it reads, buffers among it. Those that `forward` writes to (the running statistics of a batch
  /// norm) are written to by compiled forwards, too.
  std::vector<at::Tensor> inputs;
  /// Must compute with these operands or with tensors made on the way. Others become constants; one that requires a
  /// gradient is refused. (Operands may also be reached without the arguments: a module's own parameters, listed
  /// above.)
  std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& parameters,
                                        const std::vector<at::Tensor>& inputs)>
      forward;
  /// The outputs that gradients come for.
  std::vector<std::size_t> differentiated = {0};
};

}  // namespace pace::benches::aot
