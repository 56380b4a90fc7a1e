// Variables of the environment, and a file, that change how long calls take, and that are easily left set.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "pace/base/config.hpp"

namespace pace::report {

/// Returns whether the variable `name` belongs to a library or a tool whose variables change times: CUDA, its libraries
/// and MPS, LibTorch, Triton, NCCL, OpenMP, BLAS libraries, allocators, the dynamic linker. Variables that name places,
/// versions or devices do not count: `gpu` and `libtorch` have these facts.
[[nodiscard]] bool changes_times(std::string_view name);

/// Returns the variables of `environment` that change times, by their names. `environment` is a list like `environ`,
/// and may be null. Also has what `/etc/ld.so.preload` loads into every program, under that name, if anything. That
/// file is read under `root`, which is empty except in tests. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::map<std::string, std::string> read_variables(const char* const* environment,
                                                                const std::string& root = "");

/// Returns how `now` differs from `then`, such as `OMP_NUM_THREADS was unset and is "2"`; empty if it does not.
[[nodiscard]] std::string changed_variables(const std::map<std::string, std::string>& then,
                                            const std::map<std::string, std::string>& now);

/// Returns the variables as words that a shell takes, such as `OMP_NUM_THREADS=2 KMP_BLOCKTIME=0`.
[[nodiscard]] std::string variables_text(const std::map<std::string, std::string>& variables);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/variables-inl.hpp"
#endif
