// A text file that is written bit by bit, and complains.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "pace/base/error.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/os/output_file.hpp"

namespace pace::benches::operators::compat {

class TextFile {
 public:
  enum class Mode { replace, append };

  /// Makes the folder, too. Throws InputError naming the file if it cannot be opened, or if something else writes to
  /// it.
  TextFile(const std::filesystem::path& path, Mode mode) : folders_(path.parent_path()), file_(open(path)) {
    if (mode == Mode::append) file_.keep();
  }

  /// See OutputFile::begin_with.
  void begin_with(std::string_view head) { file_.begin_with(head); }
  /// It is in the file when this returns. Throws Error naming the file if it cannot be written.
  void write(std::string_view text) { file_.append(text); }
  void close() { file_.close(); }

 private:
  [[nodiscard]] static OutputFile open(const std::filesystem::path& path) {
    try {
      return OutputFile(path.string());
    } catch (const Error& error) {
      throw InputError({path.string()}, error.what());
    }
  }

  NewFolders folders_;
  OutputFile file_;
};

}  // namespace pace::benches::operators::compat
