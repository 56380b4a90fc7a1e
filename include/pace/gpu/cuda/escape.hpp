// find_escape: whether work of a call escapes the stream that is timed.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "pace/base/format.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::cuda {

/// Shortest time that the device must be busy after the stream has ended to count as an escape. Waiting for an idle
/// device takes up to 56 us after calls of 45 ms on a busy host, so that least_escaped_share applies, too.
inline constexpr Nanoseconds least_escape = std::chrono::microseconds(50);
/// Smallest share of the time of the calls that counts as an escape; a smaller share changes no verdict.
inline constexpr double least_escaped_share = 0.01;

/// Returns a description of work of `call` on other streams, for which the current stream does not wait, or of a
/// changed current stream; nothing if there is neither. Restores the current stream.
///
/// Makes `calls` calls in the current stream, then waits for that stream, and then for the whole device: the second
/// wait is the time of work that the clocks of this stream miss. Escaped work adds up over the calls; the second wait
/// after a single call (some microseconds, and tens after a graph of several branches) is subtracted. The least of
/// `tries` tries counts.
template <class F>
[[nodiscard]] std::optional<std::string> find_escape(CudaDevice& device, F&& call, int calls = 100, int tries = 3) {
  const auto stream = device.current_stream();
  const gpu::OnStream<CudaDevice> restore(device, stream);
  bool left_stream = false;
  Nanoseconds in_stream{};
  const auto least_rest = [&](int count) {
    Nanoseconds least = Nanoseconds::max();
    for (int attempt = 0; attempt < tries && !left_stream; ++attempt) {
      device.synchronise();
      const Nanoseconds start = device.now();
      for (int i = 0; i < count; ++i) {
        call();
        left_stream = left_stream || device.current_stream() != stream;
      }
      device.synchronise(stream);
      const Nanoseconds stream_ended = device.now();
      in_stream = stream_ended - start;
      device.synchronise();
      least = std::min(least, device.now() - stream_ended);
    }
    return least;
  };
  const Nanoseconds after_one = calls > 1 ? least_rest(1) : Nanoseconds{};
  const Nanoseconds escaped = least_rest(calls) - after_one;
  if (left_stream)
    return "it left another stream behind as the current one, so that later work is not where it is timed; "
           "expected it to restore the stream";
  if (escaped < std::max(least_escape, least_escaped_share * in_stream)) return std::nullopt;
  return "it works on another stream: " + format_time(escaped / std::max(1, calls - 1)) +
         " of a call went on after the current stream had ended; expected the current stream to wait for all of it";
}

}  // namespace pace::cuda
