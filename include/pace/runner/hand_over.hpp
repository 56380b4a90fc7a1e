// HandOver: what the processes of one run leave for each other, in a file without a name.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "pace/core/bazel.hpp"
#include "pace/core/error.hpp"
#include "pace/core/run_context.hpp"
#include "pace/report/json.hpp"
#include "pace/report/read_result.hpp"

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
  struct stat info {};
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
  return report::to_json(result).dump(-1, ' ', false, report::Json::error_handler_t::replace) + '\n';
}

/// ... or how an implementation ended the process that wrote the lines before.
[[nodiscard]] inline std::string line_of(const std::string& comparison, const RunContext::PriorFailure& fate) {
  const report::Json json = {{"fate_of", comparison},
                             {"implementation", fate.implementation},
                             {"outcome", to_string(fate.outcome)},
                             {"message", fate.message}};
  return json.dump(-1, ' ', false, report::Json::error_handler_t::replace) + '\n';
}

[[nodiscard]] inline RunContext::PriorFailure fate_from(const report::Json& json) {
  RunContext::PriorFailure fate;
  fate.implementation = json.at("implementation").get<std::int64_t>();
  fate.message = json.at("message").get<std::string>();
  fate.outcome = report::detail::named(json, "outcome", {Outcome::crashed, Outcome::timed_out, Outcome::out_of_memory});
  return fate;
}

}  // namespace pace::runner
