// Folders that come and go, and folders that only this user may write to.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pace/core/error.hpp"

namespace pace::subject::detail {

/// Removes a folder with all that is in it; what cannot be removed stays. Not std::filesystem::remove_all: libtorch.so
/// exports a copy of that function which calls a null pointer (LibTorch 2.11's wheel), and a program that links it gets
/// that copy.
inline void remove_tree(const std::filesystem::path& path) {
  constexpr int open_folders = 16;
  ::nftw(
      path.c_str(), [](const char* name, const struct stat*, int, struct FTW*) { return (void)std::remove(name), 0; },
      open_folders, FTW_DEPTH | FTW_PHYS);
}

/// A new, empty folder in `parent`. Throws `Refused` when none can be made.
[[nodiscard]] inline std::filesystem::path make_folder_in(const std::filesystem::path& parent,
                                                           std::string_view prefix = "pace-") {
  std::string name = (parent / prefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw Refused("cannot write to " + parent.string());
  return name;
}

/// Whether others may write to a folder.
[[nodiscard]] inline bool is_open_to_all(const struct stat& folder) { return (folder.st_mode & S_IWOTH) != 0; }

/// What is wrong with a folder in one that is open to all, for files that only `user` may write; empty: nothing.
[[nodiscard]] inline std::string problem_in_open_folder(const struct stat& found, uid_t user) {
  if (S_ISLNK(found.st_mode)) return "is a link in a folder that every user may write to";
  if (found.st_uid != user && found.st_uid != 0)
    return "belongs to another user, in a folder that every user may write to";
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "may be written to by others, in a folder that every user may write to";
  return {};
}

/// Makes the folder, with those above it, for this user alone where it is new. Throws `Refused` where another user could
/// put files into it, or another folder in its place: where it is open to all, or lies in one that is (such as /tmp) and
/// below that is a link, another user's, or open to others. `remedy`: the end of the message.
inline void make_safe_folder(const std::filesystem::path& folder, std::string_view remedy) {
  const auto refuse = [&](const std::filesystem::path& path, const std::string& problem) {
    throw Refused(path.string() + ' ' + problem + "; " + std::string(remedy));
  };
  const auto check = [&](const std::filesystem::path& path, bool make) {
    bool open_above = false;
    std::filesystem::path place;
    for (const auto& part : path) {
      place /= part;
      if (part.empty()) continue;  // after a last slash
      if (make && ::mkdir(place.c_str(), S_IRWXU) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
        refuse(place, std::string("cannot be made: ") + std::strerror(errno));
      struct stat found {};
      if ((open_above ? ::lstat : ::stat)(place.c_str(), &found) != 0)
        refuse(place, std::string("cannot be made or read: ") + std::strerror(errno));
      if (const auto problem = problem_in_open_folder(found, ::geteuid()); open_above && !problem.empty())
        refuse(place, problem);
      if (!S_ISDIR(found.st_mode)) refuse(place, "is no folder");
      open_above = is_open_to_all(found);
    }
    if (open_above) refuse(path, "may be written to by every user");
  };
  const std::filesystem::path absolute = std::filesystem::absolute(folder);
  check(absolute, true);
  // Where links on the way lead.
  char* const real = ::realpath(absolute.c_str(), nullptr);
  if (real == nullptr) refuse(absolute, std::string("cannot be read: ") + std::strerror(errno));
  const std::filesystem::path resolved(real);
  std::free(real);
  if (resolved != absolute) check(resolved, false);
}

/// A lock on a folder, which ends with this process at the latest.
class FolderLock {
 public:
  enum class When { wait, try_once };
  explicit FolderLock(const std::filesystem::path& folder, When when = When::wait)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | (when == When::wait ? 0 : LOCK_NB)) != 0) {
      if (errno == EINTR) continue;
      ::close(descriptor_);
      descriptor_ = -1;
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() { release(); }
  void release() noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  [[nodiscard]] bool held() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

/// A new, empty folder in `parent` (which no one else uses) that goes with this object. What earlier processes left
/// there, because they were killed, goes as well. Throws `Refused` when none can be made.
class RunFolder {
 public:
  explicit RunFolder(const std::filesystem::path& parent) : parent_lock_(parent), path_(make(parent)), lock_(path_) {
    parent_lock_.release();
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder() { remove_tree(path_); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  static constexpr std::string_view prefix = "run-";

  [[nodiscard]] static std::filesystem::path make(const std::filesystem::path& parent) {
    if (DIR* const entries = ::opendir(parent.c_str()); entries != nullptr) {
      while (const dirent* const entry = ::readdir(entries)) {
        if (!std::string_view(entry->d_name).starts_with(prefix)) continue;
        const std::filesystem::path found = parent / entry->d_name;
        if (FolderLock(found, FolderLock::When::try_once).held()) remove_tree(found);
      }
      ::closedir(entries);
    }
    return make_folder_in(parent, prefix);
  }

  /// Held until the new folder is locked itself: one without a lock is taken for one that was left.
  FolderLock parent_lock_;
  std::filesystem::path path_;
  FolderLock lock_;
};

/// Writes a file such that a reader sees it whole or not at all; a link of that name is replaced, not followed. Throws
/// `Refused` when it cannot be written.
inline void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::string partial = path.string() + '.' + std::to_string(::getpid()) + ".tmp";
  std::remove(partial.c_str());
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = file != nullptr && std::fclose(file) == 0 && written;
  if (written && std::rename(partial.c_str(), path.c_str()) == 0) return;
  std::remove(partial.c_str());
  throw Refused("cannot write " + path.string());
}

}  // namespace pace::subject::detail
