// FrameworkXml: Catch2 writes its test results to a file of its own in place of Bazel's XML file.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"

namespace pace::runner {

/// Under Bazel, Catch2 opens XML_OUTPUT_FILE at the start and writes it at the end: a test that is killed leaves an
/// empty file, and the file has no figures. So Catch2 gets another file, pace writes Bazel's as results come, and
/// adds Catch2's test cases in the end. Does nothing outside of Bazel.
class FrameworkXml {
 public:
  /// Sets the environment for Catch2, so it must be made before Catch2 reads that. Throws Error if there can be no
  /// temporary file.
  FrameworkXml() : bazel_file_(under_bazel() ? environment_variable("XML_OUTPUT_FILE") : "") {
    if (bazel_file_.empty()) return;
    const std::string folder = environment_variable("TEST_TMPDIR");
    own_file_ = (folder.empty() ? "/tmp" : folder) + "/pace-catch2-XXXXXX";
    const int descriptor = ::mkstemp(own_file_.data());
    if (descriptor < 0) throw Error("cannot make a temporary file in '" + folder + "', for Catch2's test results");
    ::close(descriptor);
    ::setenv("XML_OUTPUT_FILE", own_file_.c_str(), 1);
    // Catch2 warns three times of a test without shards.
    if (!environment_variable("TEST_TOTAL_SHARDS").empty()) return;
    unsharded_ = true;
    ::setenv("TEST_TOTAL_SHARDS", "1", 1);
    ::setenv("TEST_SHARD_INDEX", "0", 1);
    ::setenv("TEST_SHARD_STATUS_FILE", "/dev/null", 1);
  }
  FrameworkXml(const FrameworkXml&) = delete;
  FrameworkXml& operator=(const FrameworkXml&) = delete;
  ~FrameworkXml() {
    give_back();
    if (!own_file_.empty()) ::unlink(own_file_.c_str());
  }

  /// Restores the environment for programs that tests start; to be called once Catch2 has read it.
  void give_back() {
    if (!bazel_file_.empty()) ::setenv("XML_OUTPUT_FILE", bazel_file_.c_str(), 1);
    if (!std::exchange(unsharded_, false)) return;
    for (const auto* name : {"TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE"}) ::unsetenv(name);
  }

  /// Path of the file that Bazel expects; empty outside of Bazel.
  [[nodiscard]] const std::string& bazel_file() const { return bazel_file_; }

  /// Returns the document that Catch2 has written.
  [[nodiscard]] std::string content() const {
    std::ifstream file(own_file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string bazel_file_, own_file_;
  bool unsharded_ = false;
};

}  // namespace pace::runner
