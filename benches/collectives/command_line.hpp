// The command line of the collectives' program.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benches/collectives/bandwidth.hpp"
#include "pace/args/command_line.hpp"
#include "pace/args/value.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::collectives {

/// Most bytes of a buffer: 64 GB.
inline constexpr std::int64_t most_bytes = std::int64_t{64} << 30;

/// Where the ranks compute.
enum class Place { gpu, cpu };

struct CommandLine {
  int ranks = 0;  ///< 0: as many as there are GPUs, or two on the CPU
  Place place = Place::gpu;
  std::vector<Kind> kinds = {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter, Kind::all_to_all,
                             Kind::send_receive};
  std::int64_t least = 1 << 10, most = 1 << 30, factor = 4;
  bool twins = false;
  int repeat = 1;
  std::optional<double> no_slower_than = {};
};

/// Reads a number of bytes, such as 4096, 16K, 1M or 1G, in powers of 1024.
[[nodiscard]] inline std::optional<std::int64_t> read_bytes(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    const auto unit =
        std::string_view("KMG").find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<int>(unit + 1);
      text.remove_suffix(1);
    }
  }
  std::int64_t number = 0;
  if (!args::read_between<std::int64_t>(text, number, 1, most_bytes >> shift)) return std::nullopt;
  return number << shift;
}

/// The same number as text: the largest unit that divides it.
[[nodiscard]] inline std::string text_of_bytes(std::int64_t bytes) {
  constexpr std::string_view units = "KMG";
  std::string unit;
  for (const char next : units) {
    if (bytes < 1024 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return std::to_string(bytes) + unit;
}

/// A value in bytes.
[[nodiscard]] inline args::Value bytes_value(std::int64_t& to) {
  return {"BYTES", "a number of bytes from 1 to 64G, such as 16M",
          [&to](const std::string& given) {
            const auto read = read_bytes(given);
            to = read.value_or(to);
            return read.has_value();
          },
          text_of_bytes(to)};
}

/// Names of collectives with commas between them.
[[nodiscard]] inline args::Value kinds_value(std::vector<Kind>& to) {
  return {"NAMES", "all-reduce, all-gather, reduce-scatter, all-to-all or send-receive, with commas between them",
          [&to](const std::string& given) {
            const auto names = args::read_names(given);
            if (!names) return false;
            std::vector<Kind> kinds;
            for (const auto& name : *names) {
              const auto all = CommandLine().kinds;
              const auto found = std::ranges::find_if(all, [&](Kind each) { return name == name_of(each); });
              if (found == all.end()) return false;
              kinds.push_back(*found);
            }
            to = std::move(kinds);
            return true;
          },
          "all"};
}

/// The options of the program, which store their values in `line`.
[[nodiscard]] inline args::Groups collectives_options(CommandLine& line) {
  using args::Option;
  return {
      {"Collectives",
       {Option("--ranks", "processes that measure together, one for each GPU", args::whole(line.ranks, 1, 4096))
            .by_default("all GPUs; with --device cpu 2"),
        {"--device", "where the ranks compute: on a GPU each, by NCCL, or on the CPU, through memory that all share",
         args::choice(line.place, {{"cuda", Place::gpu}, {"cpu", Place::cpu}})},
        {"--collectives", "which of them run", kinds_value(line.kinds)},
        {"--least", "bytes of the smallest buffer", bytes_value(line.least)},
        {"--most", "bytes of the largest buffer", bytes_value(line.most)},
        {"--factor", "from each size to the next", args::whole(line.factor, 2, 1 << 20)},
        {"--no-slower-than", "gate: no candidate takes more than this many times the baseline's time",
         args::factor(line.no_slower_than)},
        Option("--twins", "the only candidate is the baseline once more, to count false alarms",
               args::flag(line.twins)),
        {"--repeat", "measure everything this often", args::whole(line.repeat, 1, 100'000)}}}};
}

/// Throws InputError for a gate if no collective has a candidate that it could judge.
inline void refuse_gate_without_candidates(const CommandLine& line) {
  const auto has_candidates = [](Kind kind) { return kind != Kind::all_to_all && kind != Kind::send_receive; };
  if (line.no_slower_than && !line.twins && std::ranges::none_of(line.kinds, has_candidates))
    throw InputError({},
                     "--no-slower-than has nothing to judge: all-to-all and send-receive have no candidates; "
                     "expected another collective, or --twins");
}

/// The sizes of the buffers, in bytes. Throws InputError if the smallest is larger than the largest.
[[nodiscard]] inline std::vector<std::int64_t> sizes_of(const CommandLine& line) {
  if (line.least > line.most)
    throw InputError({}, "--least " + text_of_bytes(line.least) + " is more than --most " + text_of_bytes(line.most));
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = line.least; size <= line.most; size *= line.factor) sizes.push_back(size);
  return sizes;
}

}  // namespace pace::benches::collectives
