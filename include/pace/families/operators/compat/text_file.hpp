// A text file that is written bit by bit, and complains.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "pace/core/error.hpp"

namespace pace::families::operators::compat {

class TextFile {
 public:
  enum class Mode { replace, append };

  /// Makes the folder, too. Throws InputError naming the file if it cannot be opened.
  TextFile(const std::filesystem::path& path, Mode mode) : path_(path.string()) {
    std::error_code ignored;  // opening the file says the same
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    // Opening a pipe waits for a reader that may never come.
    if (std::filesystem::is_fifo(path, ignored))
      throw InputError({path_}, "the file cannot be opened for writing: expected an ordinary file, found a pipe");
    errno = 0;
    file_.open(path_, mode == Mode::append ? std::ios::app : std::ios::trunc);
    if (!file_) throw InputError({path_}, std::string("the file cannot be opened for writing") + reason());
  }

  /// It is in the file when this returns. Throws Error naming the file if it cannot be written.
  void write(std::string_view text) {
    errno = 0;
    if (!(file_ << text << std::flush)) throw Error("cannot write '" + path_ + "'" + reason());
  }

 private:
  [[nodiscard]] static std::string reason() { return errno == 0 ? "" : std::string(": ") + std::strerror(errno); }

  std::string path_;
  std::ofstream file_;
};

}  // namespace pace::families::operators::compat
