// HandOver: what the processes of one run leave for each other, in a file without a name.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>

#include "pace/core/bazel.hpp"
#include "pace/core/error.hpp"
#include "pace/core/run_context.hpp"
#include "pace/report/json.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/report/schema.hpp"

namespace pace::runner {

/// How an implementation ended the process that measured the comparison.
struct Ended {
  std::string comparison = {};
  RunContext::PriorFailure fate = {};
};

}  // namespace pace::runner

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
template <>
struct pace::report::Schema<pace::runner::Ended> {
  static constexpr std::string_view name = "ended";
  static constexpr auto fields = std::tuple{
      required_field("fate_of", &runner::Ended::comparison, "name of the comparison"),
      required_field("fate", &runner::Ended::fate, "how the process ended"),
  };
};

namespace pace::runner {

/// Where files go that are for this run alone: Bazel's folder for them, or TMPDIR, or /tmp.
[[nodiscard]] inline std::string temporary_folder() {
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR"})
    if (const std::string folder = environment_variable(variable); !folder.empty()) return folder;
  return "/tmp";
}

/// An open file that its name was taken from, so that it goes with the processes that hold it, however these end.
/// Below 0 if there is none; then `trouble` says why.
[[nodiscard]] inline int open_unnamed_file(std::string& trouble) {
  std::string path = temporary_folder() + "/pace-continue-XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0)
    trouble = "cannot make a file like " + path + ": " + std::strerror(errno);
  else
    ::unlink(path.c_str());
  return descriptor;
}

/// Adds to a file. Whatever keeps it from that is the return value; empty: nothing does.
[[nodiscard]] inline std::string append_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::string("cannot write what was found: ") + std::strerror(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// All of a file, from its beginning; where it is read to is where it is written on.
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

/// One line of the file: a result, as in result files.
[[nodiscard]] inline std::string line_of(const Result& result) {
  return report::text_of(report::to_json(result)) + '\n';
}

/// ... or how the process ended that wrote the lines before.
[[nodiscard]] inline std::string line_of(const Ended& ended) {
  return report::text_of(report::detail::write_value(ended)) + '\n';
}

}  // namespace pace::runner
