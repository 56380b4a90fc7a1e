// How many bytes a kernel moves, as Inductor counts them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace pace::benches::kernels::compat {

/// `arguments`: the bytes of each that is a tensor, none for others. The first `in_out_arguments` of all arguments,
/// tensors or not, count twice, since they are read and written; Inductor goes by position, not by name.
[[nodiscard]] inline double count_bytes(std::span<const std::optional<double>> arguments,
                                        std::size_t in_out_arguments) {
  double bytes = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) bytes += arguments[i].value_or(0) * (i < in_out_arguments ? 2 : 1);
  return bytes;
}

}  // namespace pace::benches::kernels::compat
