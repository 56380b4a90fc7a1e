// NewFolders: folders made for files, and removed if no file is written.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ranges>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/os/unfinished.hpp"

namespace pace {

/// Makes a folder and those above it. The destructor removes those it made that are empty by then. After
/// take_back_when_ended(), so does a signal that ends the process.
class NewFolders {
 public:
  /// Makes none for an empty path. Throws InputError if the folder does not exist and cannot be made.
  explicit NewFolders(const std::filesystem::path& folder) {
    std::filesystem::path place;
    int reason = 0;
    for (const auto& part : folder) {
      place /= part;
      if (::mkdir(place.c_str(), 0777) == 0) {
        add(place);
        continue;
      }
      reason = errno;
      // For a folder that exists, mkdir() may give another error than EEXIST, as on a read-only file system. Below the
      // first one that is missing, all would fail with ENOENT.
      if (::access(place.c_str(), F_OK) != 0) break;
    }
    struct stat info{};
    const bool there = ::stat(folder.c_str(), &info) == 0;
    if (folder.empty() || (there && S_ISDIR(info.st_mode))) return;
    remove();
    throw InputError({folder.string()},
                     std::string("the folder cannot be made: ") + std::strerror(there ? ENOTDIR : reason));
  }
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  ~NewFolders() { remove(); }

 private:
  void add(const std::filesystem::path& made) {
    made_.push_back(made);
    unfinished_.emplace_back(TakeBack::remove_folder, made.string());
  }

  void remove() {
    for (const auto& folder : std::views::reverse(made_)) ::rmdir(folder.c_str());
  }

  std::vector<std::filesystem::path> made_;
  std::vector<Unfinished> unfinished_;
};

}  // namespace pace
