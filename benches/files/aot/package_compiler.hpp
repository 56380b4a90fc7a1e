// Compiles many cases in one Python process: TorchScript in, AOTInductor packages out.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>

#include <c10/util/hash.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "benches/files/aot/package_case.hpp"
#include "benches/files/aot/package_key.hpp"
#include "benches/files/aot/package_options.hpp"
#include "benches/files/aot/toolchain.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/os/folders.hpp"
#include "pace/os/memory.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/os/process.hpp"
#include "pace/os/terminal.hpp"
#include "pace/run/progress.hpp"

namespace pace::benches::aot {

class PackageCompiler {
 public:
  PackageCompiler(PackageOptions options, CompileScript script)
      : options_(std::move(options)), script_(std::move(script)) {}

  /// Compiles all cases into `directory`, which must exist: KEY.json for each, and KEY.pt2 where it could be compiled.
  /// Throws `Unsupported` when there is no Python with torch, or it does not get as far as compiling.
  void compile(std::span<const PackageCase> wanted, const std::filesystem::path& directory) const {
    if (options_.python.empty()) {
      throw Unsupported(
          "no Python with torch is known to compile packages with: set PACE_PYTHON to one that has torch " +
          torch_version() + ", or give directories of compiled packages");
    }
    const Workspace workspace(options_.common_parts.empty() ? options_.cache / "build" : options_.common_parts,
                              options_.progress);
    nlohmann::json cases = nlohmann::json::array(), inductor = nlohmann::json::object();
    std::unordered_set<std::string> added;
    for (const PackageCase& one : wanted) {
      if (added.insert(one.key).second) add_case(cases, one, workspace.run(), directory);
    }
    if (cases.empty()) return;
    for (const auto& [name, value] : options_.inductor) {
      try {
        inductor[name] = parse_json<nlohmann::json>(value);
      } catch (const std::exception& error) {
        throw InputError({}, "Inductor option " + name + ": not JSON: " + value + ": " + error.what());
      }
    }
    const nlohmann::json manifest = {{"torch", torch_version()},
                                     {"device", wanted.front().device.is_cpu() ? "cpu" : "cuda"},
                                     {"threads", at::get_num_threads()},
                                     {"workers", workers(cases.size())},
                                     {"timeout_s", options_.timeout_seconds},
                                     {"options", inductor},
                                     {"out", directory.string()},
                                     {"scratch", workspace.scratch().string()},
                                     {"run", workspace.run().string()},
                                     {"cases", cases}};
    pace::detail::write_file(workspace.run() / "manifest.json", manifest.dump(1));
    for (const auto& [name, text] : script_.files) pace::detail::write_file(workspace.run() / name, text);
    run_script(workspace.run());
  }

 private:
  /// A folder for sources, objects and precompiled headers. The headers, and an object that is linked to every package,
  /// serve later runs with the same compiler, so they are kept where no other user may write to.
  class Workspace {
   public:
    Workspace(std::filesystem::path scratch, std::ostream* progress) : scratch_(std::move(scratch)) {
      try {
        pace::detail::make_safe_folder(scratch_,
                                       "headers and objects are compiled anew, in a folder for this run alone");
        kept_ = ::access(scratch_.c_str(), W_OK) == 0;
      } catch (const Unsupported& problem) {
        if (progress != nullptr) *progress << "pace: " << problem.what() << std::endl;
      }
      if (!kept_) scratch_ = pace::detail::make_folder_in(std::filesystem::temp_directory_path());
      try {
        if (!kept_) pace::detail::make_safe_folder(scratch_, "name another folder for temporary files by TMPDIR");
        run_.emplace(scratch_);
        scratch_for_toolchain_ = scratch_ / c10::sha1(toolchain()).str();
        if (::mkdir(scratch_for_toolchain_.c_str(), S_IRWXU) != 0 && errno != EEXIST)
          throw Unsupported("cannot write to " + scratch_.string() + ": " + std::strerror(errno));
      } catch (...) {
        clean();
        throw;
      }
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace() { clean(); }
    [[nodiscard]] const std::filesystem::path& scratch() const noexcept { return scratch_for_toolchain_; }
    /// For this run's files.
    [[nodiscard]] const std::filesystem::path& run() const noexcept { return run_->path(); }

   private:
    void clean() {
      run_.reset();
      if (!kept_) pace::detail::remove_tree(scratch_);
    }

    std::filesystem::path scratch_, scratch_for_toolchain_;
    std::optional<pace::detail::RunFolder> run_;
    bool kept_ = false;
  };

  [[nodiscard]] unsigned workers(std::size_t cases) const {
    if (options_.workers != 0) return options_.workers;
    std::int64_t most = std::max(1U, std::thread::hardware_concurrency());
    if (const auto available = available_memory()) most = std::min(most, *available / script_.worker_bytes);
    return static_cast<unsigned>(std::clamp<std::int64_t>(most, 1, static_cast<std::int64_t>(cases)));
  }

  /// Saves the case as TorchScript and describes it. One that cannot be expressed gets its record at once.
  static void add_case(nlohmann::json& cases, const PackageCase& one, const std::filesystem::path& run,
                       const std::filesystem::path& directory) {
    const auto failed = [&](const std::exception& error, bool transient) {
      const nlohmann::json record = {{"status", "failed"},     {"reason", error.what()},
                                     {"transient", transient}, {"time", static_cast<std::int64_t>(std::time(nullptr))},
                                     {"name", one.name},       {"signature", one.signature}};
      pace::detail::write_file(directory / (one.key + ".json"), record.dump(1) + '\n');
    };
    try {
      const std::filesystem::path script = run / (one.key + ".pt");
      nlohmann::json described = one.write(script);
      described.update(
          {{"key", one.key}, {"name", one.name}, {"signature", one.signature}, {"script", script.string()}});
      cases.push_back(std::move(described));
    } catch (const Unsupported& error) {
      failed(error, false);
    } catch (const std::exception& error) {  // such as a full disk
      failed(error, true);
    }
  }

  /// Reports `pace: compiled 2 of 7, ...` as a step. Returns whether there is a display and `line` is such a line.
  static bool show_share(std::string_view line, std::chrono::duration<double> elapsed) {
    unsigned done = 0, all = 0;
    if (progress() == nullptr || std::sscanf(std::string(line).c_str(), "pace: compiled %u of %u", &done, &all) != 2 ||
        done == 0 || done > all)
      return false;
    report_step({.what = "compiling packages",
                 .share = static_cast<double>(done) / all,
                 .left = elapsed * (static_cast<double>(all - done) / done)});
    return true;
  }

  void run_script(const std::filesystem::path& run) const {
    constexpr std::string_view mark = "pace: ";  // of messages of progress; all other lines are kept for an error
    constexpr std::size_t most_lines = 20, longest_line = 1000;
    // It prints a line after each case, and ends one that takes too long.
    const auto longest_silence = std::chrono::seconds(options_.timeout_seconds) + options_.time_to_say_so;
    const auto deadline = options_.deadline();
    const auto time_is_over = [&] { return deadline && Nanoseconds(options_.now()) >= deadline->time; };
    const auto ended = [&] { return Unsupported("compiling packages was ended: " + deadline->reason); };
    if (time_is_over()) throw ended();
    auto wait = longest_silence;
    if (deadline)
      wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(deadline->time - Nanoseconds(options_.now())));
    const auto hung = [&](const std::string& how) {
      return Unsupported("compiling packages with " + options_.python + " hung: it " + how +
                         "; PACE_COMPILE_TIMEOUT=SECONDS allows one case longer");
    };
    std::deque<std::string> tail;
    auto last_progress = options_.now();
    const auto start = options_.now();
    report_step({.what = "compiling packages"});
    const auto status = pace::detail::run_process(
        {options_.python, (run / script_.files.back().first).string(), (run / "manifest.json").string()},
        [&](std::string_view line) {
          if (time_is_over()) throw ended();
          if (line.starts_with(mark)) {
            last_progress = options_.now();
            // On a terminal, how far it is stands in the line that is rewritten.
            if (!(show_share(line, last_progress - start) && may_rewrite_lines(STDERR_FILENO)) &&
                options_.progress != nullptr)
              *options_.progress << line << std::endl;
            return;
          }
          tail.emplace_back(line.substr(0, longest_line));
          if (tail.size() > most_lines) tail.pop_front();
          if (options_.now() - last_progress > longest_silence)
            throw hung("printed, but told of no progress for " + format_time(Nanoseconds(longest_silence)) +
                       ", and so was ended");
        },
        wait);
    if (status.ok()) return;
    if (status.silent_for && wait < longest_silence) throw ended();
    if (status.silent_for) throw hung(status.to_string());
    // The last line usually is the error; all of them follow, behind that line.
    std::string message = "compiling packages with " + options_.python + " failed: it " + status.to_string();
    if (!tail.empty()) message += ": " + tail.back();
    for (const std::string& line : tail) message += "\n  " + line;
    throw Unsupported(message);
  }

  PackageOptions options_;
  CompileScript script_;
};

}  // namespace pace::benches::aot
