// A text file that is written bit by bit, and complains.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "pace/core/error.hpp"
#include "pace/report/output_file.hpp"

namespace pace::families::operators::compat {

class TextFile {
 public:
  enum class Mode { replace, append };

  /// Makes the folder, too. Throws InputError naming the file if it cannot be opened, or if something else writes to it.
  TextFile(const std::filesystem::path& path, Mode mode) : file_(open(path)) {
    if (mode == Mode::append) file_.keep();
  }

  /// See OutputFile::begin_with.
  void begin_with(std::string_view head) { file_.begin_with(head); }
  /// It is in the file when this returns. Throws Error naming the file if it cannot be written.
  void write(std::string_view text) { file_.append(text); }
  void close() { file_.close(); }

 private:
  [[nodiscard]] static report::OutputFile open(const std::filesystem::path& path) {
    std::error_code ignored;  // opening the file says the same
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    try {
      return report::OutputFile(path.string());
    } catch (const Error& error) {
      throw InputError({path.string()}, error.what());
    }
  }

  report::OutputFile file_;
};

}  // namespace pace::families::operators::compat
