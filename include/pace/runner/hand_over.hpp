// Results that the processes of one run leave for each other, in a file without a name.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/json.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/report/schema.hpp"
#include "pace/run/run_context.hpp"

namespace pace::runner {

/// How an implementation ended the process that measured the comparison.
struct Ended {
  std::string comparison = {};         ///< name of the comparison
  RunContext::PriorFailure fate = {};  ///< the implementation, its outcome and the message
};

}  // namespace pace::runner

/// @cond

/// Keys of a RunContext::PriorFailure.
template <>
struct pace::report::Schema<pace::RunContext::PriorFailure> {
  using Fate = RunContext::PriorFailure;
  static constexpr std::string_view name = "fate";
  static constexpr auto fields = std::tuple{
      required_field("implementation", &Fate::implementation,
                     "its index; below 0: none, while the comparison was made"),
      required_field("outcome", &Fate::outcome, "what became of it"),
      required_field("message", &Fate::message, "why"),
  };
};
/// Keys of a line for an Ended.
template <>
struct pace::report::Schema<pace::runner::Ended> {
  static constexpr std::string_view name = "ended";
  static constexpr auto fields = std::tuple{
      required_field("fate_of", &runner::Ended::comparison, "name of the comparison"),
      required_field("fate", &runner::Ended::fate, "how the process ended"),
  };
};
/// @endcond

namespace pace::runner {

/// Returns the folder for files of this run alone: TEST_TMPDIR of Bazel, or TMPDIR, or /tmp.
[[nodiscard]] inline std::string temporary_folder() {
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR"})
    if (const std::string folder = environment_variable(variable); !folder.empty()) return folder;
  return "/tmp";
}

/// Returns the descriptor of a new file without a name. The file is gone once all processes that have it open have
/// ended. If there can be no file, the descriptor is below 0, and `trouble` gets the reason.
[[nodiscard]] inline int open_unnamed_file(std::string& trouble) {
  const std::string folder = temporary_folder();
  // It never has a name that a killed process could leave.
  if (const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL, 0600); unnamed >= 0) return unnamed;
  // Some file systems cannot do that.
  std::string path = folder + "/pace-XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0)
    trouble = "cannot make a file like " + path + ": " + std::strerror(errno);
  else
    ::unlink(path.c_str());
  return descriptor;
}

/// Writes `text` at the position of a file. Returns why that failed; empty if it did not.
[[nodiscard]] inline std::string append_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::string("cannot write what was found: ") + std::strerror(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Returns all of a file, and leaves its position at the end. Throws Error if the file cannot be read.
[[nodiscard]] inline std::string read_all(int descriptor) {
  std::string text;
  struct stat info{};
  if (::fstat(descriptor, &info) != 0 || ::lseek(descriptor, 0, SEEK_SET) != 0)
    throw Error(std::string("cannot be read: ") + std::strerror(errno));
  text.resize(static_cast<std::size_t>(info.st_size));
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::read(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Error(std::string("cannot be read: ") + std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  return text;
}

/// Returns the line of a result, as in results files, with its line end.
[[nodiscard]] inline std::string line_of(const Result& result) {
  return report::text_of(report::to_json(result)) + '\n';
}

/// Returns the line, with its line end, for the end of the process that wrote the lines before.
[[nodiscard]] inline std::string line_of(const Ended& ended) {
  return report::text_of(report::detail::write_value(ended)) + '\n';
}

}  // namespace pace::runner
