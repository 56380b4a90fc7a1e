// Continuation: a process that has lost its device makes way for a fresh one, which goes on with what is left.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/harness/bazel.hpp"
#include "pace/report/json.hpp"
#include "pace/report/output_file.hpp"
#include "pace/report/read_result.hpp"

namespace pace::harness {

/// Set for a process that goes on where another one ended: the file with what that one found.
inline constexpr const char* continuation_variable = "PACE_CONTINUE_FILE";

/// A CUDA context in which a kernel has done something illegal, or never ends, cannot be had back: everything later in
/// that process fails. So the program is executed anew, in the same process (for whoever waits for it, and for the
/// time-out), with the same command line. There the tests run again from the first one on, but comparisons whose results
/// are known are not measured again: they return what was found, which is published and judged as before, so that every
/// file and the exit code are those of one run. The comparison that lost the device is such a result, too; hence each
/// new process gets further, and there is an end.
class Continuation : public RunContext::Recollection {
 public:
  /// Throws InputError if the file that the variable names is not what another process leaves.
  explicit Continuation(char** arguments) : arguments_(arguments) {
    path_ = environment_variable(continuation_variable);
    if (!path_.empty()) read();
    run_context().recollection = this;
  }
  Continuation(const Continuation&) = delete;
  ~Continuation() override {
    run_context().recollection = nullptr;
    if (!path_.empty()) std::remove(path_.c_str());
  }

  bool recall(const std::string& name, Result& result) override {
    for (auto each = known_.begin(); each != known_.end(); ++each) {
      if (each->result.name != name) continue;
      result = std::move(each->result);
      known_.erase(each);
      return true;
    }
    return false;
  }

  /// Of every result, once it is written. Does not return if this one's device is lost: the fresh process begins. Where
  /// that cannot be, it says so in `out`, and later comparisons on the device are reported as unreached.
  void add(const Result& result, std::ostream& out) {
    lines_ += to_text(report::to_json(result)) + '\n';
    if (result.lost_device.empty() || result.recalled) return;
    out << "pace: " << result.name << ": the device was lost; a fresh process goes on\n" << std::flush;
    std::fflush(nullptr);
    try {
      execute();
    } catch (const Error& error) {
      out << "pace: no fresh process: " << error.what() << '\n' << std::flush;
    }
  }

 private:
  [[nodiscard]] static std::string to_text(const report::Json& json) {
    return json.dump(-1, ' ', false, report::Json::error_handler_t::replace);
  }

  void read() {
    std::ifstream file(path_);
    if (!file) throw InputError({path_}, "cannot be opened; expected what an earlier process found");
    try {
      for (std::string line; std::getline(file, line);) {
        known_.push_back({report::result_from(report::Json::parse(line)), line + '\n'});
        known_.back().result.recalled = true;
      }
    } catch (const std::exception& error) {
      throw InputError({path_}, std::string("is not what an earlier process found: ") + error.what());
    }
  }

  void execute() {
    std::array<char, 4096> self{};
    if (::readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0)
      throw Error("/proc/self/exe does not say which program this is");
    std::string parent = environment_variable("TEST_TMPDIR");
    if (parent.empty()) parent = environment_variable("TMPDIR");
    std::string path = (parent.empty() ? "/tmp" : parent) + "/pace-continue-XXXXXX";
    const int descriptor = ::mkstemp(path.data());
    if (descriptor < 0) throw Error("cannot make a file like " + path + ": " + std::strerror(errno));
    ::close(descriptor);
    {
      report::OutputFile file(path);
      file.append(lines_);
      for (const auto& each : known_) file.append(each.line);
      file.close();
    }
    if (!path_.empty()) std::remove(path_.c_str());  // all of it is in the new one
    path_ = path;
    ::setenv(continuation_variable, path.c_str(), 1);
    ::execv(self.data(), arguments_);
    const std::string why = std::strerror(errno);
    throw Error("cannot execute " + std::string(self.data()) + ": " + why);
  }

  struct Known {
    Result result;
    std::string line;
  };
  char** const arguments_;
  std::string path_;
  /// What was not asked for yet.
  std::vector<Known> known_;
  /// Everything published so far, recalled or new.
  std::string lines_;
};

}  // namespace pace::harness
