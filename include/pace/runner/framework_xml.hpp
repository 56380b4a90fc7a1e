// FrameworkXml: keeps Catch2 from writing Bazel's XML file, and hands over what it would have written.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "pace/core/bazel.hpp"
#include "pace/core/error.hpp"

namespace pace::runner {

/// Under Bazel, Catch2 opens XML_OUTPUT_FILE at the start and writes it at the end: a test that is killed leaves an
/// empty file, and the file knows no figures. So Catch2 gets another file, pace writes Bazel's as results come, and
/// adds Catch2's test cases in the end. Does nothing outside of Bazel.
class FrameworkXml {
 public:
  /// To be made before Catch2 reads the environment.
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

  /// Puts the environment back, for programs that tests start. To be called once Catch2 has read it.
  void give_back() {
    if (!bazel_file_.empty()) ::setenv("XML_OUTPUT_FILE", bazel_file_.c_str(), 1);
    if (!std::exchange(unsharded_, false)) return;
    for (const auto* name : {"TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE"}) ::unsetenv(name);
  }

  /// Where Bazel expects the results; empty outside of Bazel.
  [[nodiscard]] const std::string& bazel_file() const { return bazel_file_; }

  /// What Catch2 has written.
  [[nodiscard]] std::string content() const {
    std::ifstream file(own_file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string bazel_file_, own_file_;
  bool unsharded_ = false;
};

}  // namespace pace::runner
