// This program's own file, run with other words in a process of its own.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/beside_program.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/process.hpp"
#include "pace/os/unfinished.hpp"
#include "pace/runner/this_program.hpp"

namespace pace::runner::detail {

/// A file without a name, which is gone once the last process that has it open has ended. It is in memory: on a full
/// disk, a process would print in vain why it failed.
class UnnamedFile {
 public:
  /// Throws Error if the file cannot be made.
  UnnamedFile() : descriptor_(::memfd_create("pace-output", 0)) {
    if (!descriptor_) throw Error(std::string("no file for what another process prints: ") + std::strerror(errno));
  }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// Path that opens the file in this process, and in those that it starts.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor()); }

 private:
  FileDescriptor descriptor_;
};

/// Returns the variables of this process, without `others` and without those that tell Bazel how a test went.
[[nodiscard]] inline std::vector<std::string> environment_beside_test(std::initializer_list<std::string_view> others) {
  static constexpr std::array<std::string_view, 6> of_test{
      "XML_OUTPUT_FILE",           "TEST_UNDECLARED_OUTPUTS_ANNOTATIONS_DIR", "TEST_PREMATURE_EXIT_FILE",
      "TEST_WARNINGS_OUTPUT_FILE", "TEST_INFRASTRUCTURE_FAILURE_FILE",        "TEST_TIMEOUT"};
  std::vector<std::string> kept;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const auto name = entry.substr(0, entry.find('='));
    const auto has = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
    if (!has(of_test) && !has(others)) kept.emplace_back(entry);
  }
  // This program may have been started by a link, beside which its runfiles are.
  if (environment_variable(started_by_variable).empty())
    if (const auto path = pace::detail::path_started_by(); !path.empty())
      kept.push_back(std::string(started_by_variable) + '=' + path.string());
  return kept;
}

/// Runs this program's file with `words` after its name; everything that it prints goes to `output`. It ends with this
/// process at the latest. Returns the exit code, or 128 and the signal. Throws Error if it cannot be started.
[[nodiscard]] inline int run_self(std::vector<std::string> words, std::vector<std::string> environment,
                                  const UnnamedFile& output) {
  words.insert(words.begin(), this_program());
  const pid_t child = pace::detail::spawn(
      {.arguments = std::move(words), .environment = std::move(environment), .output = output.descriptor()});
  pace::detail::process_that_ends_first = child;
  const auto status = pace::detail::wait_for(child);
  pace::detail::process_that_ends_first = 0;
  return status.signal != 0 ? 128 + status.signal : status.code;
}

}  // namespace pace::runner::detail
