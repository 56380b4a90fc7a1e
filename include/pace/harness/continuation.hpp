// Continuation: a process that has lost its device makes way for a fresh one, which goes on with what is left.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/harness/bazel.hpp"
#include "pace/report/json.hpp"
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
    if (const std::string path = environment_variable(continuation_variable); !path.empty()) read(path);
    run_context().recollection = this;
  }
  Continuation(const Continuation&) = delete;
  ~Continuation() override {
    run_context().recollection = nullptr;
    if (descriptor_ >= 0) ::close(descriptor_);
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
    keep(report::to_json(result).dump(-1, ' ', false, report::Json::error_handler_t::replace) + '\n');
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
  void read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw InputError({path}, "cannot be opened; expected what an earlier process found");
    try {
      for (std::string line; std::getline(file, line);) {
        known_.push_back({report::result_from(report::Json::parse(line)), line + '\n'});
        known_.back().result.recalled = true;
      }
    } catch (const std::exception& error) {
      throw InputError({path}, std::string("is not what an earlier process found: ") + error.what());
    }
    // The file itself was handed over open, and this process keeps one of its own.
    constexpr std::string_view open_files = "/proc/self/fd/";
    if (path.starts_with(open_files)) ::close(std::atoi(path.c_str() + open_files.size()));
  }

  /// Adds to a file without a name, which goes with the process, however that ends: a suite's samples would fill the
  /// memory. What goes wrong matters only once a device is lost.
  void keep(const std::string& line) {
    if (!trouble_.empty()) return;
    if (descriptor_ < 0) {
      std::string parent = environment_variable("TEST_TMPDIR");
      if (parent.empty()) parent = environment_variable("TMPDIR");
      std::string path = (parent.empty() ? "/tmp" : parent) + "/pace-continue-XXXXXX";
      descriptor_ = ::mkstemp(path.data());
      if (descriptor_ < 0) {
        trouble_ = "cannot make a file like " + path + ": " + std::strerror(errno);
        return;
      }
      ::unlink(path.c_str());
    }
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t written = ::write(descriptor_, line.data() + done, line.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        trouble_ = std::string("cannot write what was found: ") + std::strerror(errno);
        return;
      }
      done += static_cast<std::size_t>(written);
    }
  }

  void execute() {
    for (const auto& each : known_) keep(each.line);
    if (!trouble_.empty()) throw Error(trouble_);
    std::array<char, 4096> self{};
    if (::readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0)
      throw Error("/proc/self/exe does not say which program this is");
    ::setenv(continuation_variable, ("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), 1);
    ::execv(self.data(), arguments_);
    throw Error("cannot execute " + std::string(self.data()) + ": " + std::strerror(errno));
  }

  struct Known {
    Result result;
    std::string line;
  };
  char** const arguments_;
  /// What was not asked for yet.
  std::vector<Known> known_;
  /// Of everything published so far, recalled or new; below 0 before the first of it.
  int descriptor_ = -1;
  /// Why it cannot be kept; empty: it can.
  std::string trouble_;
};

}  // namespace pace::harness
