// Temporary folders, and folders that only this user may write to.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pace/base/error.hpp"

namespace pace::detail {

/// Removes a folder with its contents, as far as possible. Not std::filesystem::remove_all: libtorch.so (LibTorch
/// 2.11's wheel) exports a copy of it that calls a null pointer, and programs that link LibTorch get that copy.
inline void remove_tree(const std::filesystem::path& path) {
  constexpr int open_folders = 16;
  ::nftw(
      path.c_str(), [](const char* name, const struct stat*, int, struct FTW*) { return (void)std::remove(name), 0; },
      open_folders, FTW_DEPTH | FTW_PHYS);
}

/// Makes an empty folder in `parent` and returns its path. Throws `Unsupported` if that fails.
[[nodiscard]] inline std::filesystem::path make_folder_in(const std::filesystem::path& parent,
                                                          std::string_view prefix = "pace-") {
  std::string name = (parent / prefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw Unsupported("cannot write to " + parent.string());
  return name;
}

/// Users and groups whose folders are safe for this process.
struct FolderTrust {
  uid_t user = ::geteuid();
  /// User that may write anywhere.
  uid_t root = 0;
  /// False in a user namespace without root, as in a sandbox. There the overflow user seems to own root's folders.
  bool root_is_mapped = true;
  /// Group with this user as its only member, if there is one. Many systems let it write to a user's folders.
  std::optional<gid_t> private_group = {};
};

[[nodiscard]] inline bool is_root_mapped() {
  std::ifstream ranges("/proc/self/uid_map");
  unsigned long inside = 0, outside = 0, count = 0;
  bool any = false;
  while (ranges >> inside >> outside >> count) {
    if (inside == 0) return true;
    any = true;
  }
  return !any;
}

[[nodiscard]] inline std::optional<gid_t> private_group_of(uid_t user) {
  const passwd* const found = ::getpwuid(user);
  if (found == nullptr) return std::nullopt;
  const std::string name = found->pw_name;
  const gid_t number = found->pw_gid;
  const group* const own = ::getgrgid(number);
  if (own == nullptr || own->gr_name != name) return std::nullopt;
  for (char** member = own->gr_mem; *member != nullptr; ++member)
    if (*member != name) return std::nullopt;
  return number;
}

[[nodiscard]] inline FolderTrust folder_trust() {
  return {.root_is_mapped = is_root_mapped(), .private_group = private_group_of(::geteuid())};
}

/// Returns whether users other than the owner may write to a folder.
[[nodiscard]] inline bool is_shared(const struct stat& folder) { return (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

/// Returns why other users may write to a folder; empty: they may not. If the folder is `on_the_way` to one, returns
/// why they may replace that one. Its owner and root always may.
[[nodiscard]] inline std::string problem_of_folder(const struct stat& found, bool on_the_way,
                                                   const FolderTrust& trust) {
  constexpr uid_t overflow_user = 65534;
  std::ostringstream facts;
  facts.imbue(std::locale::classic());
  facts << " (owner " << found.st_uid << ", mode " << std::oct << std::setfill('0') << std::setw(4)
        << (found.st_mode & 07777) << ')';
  const bool may_be_root = on_the_way && !trust.root_is_mapped && found.st_uid == overflow_user;
  if (found.st_uid != trust.user && found.st_uid != trust.root && !may_be_root)
    return "belongs to another user than " + std::to_string(trust.user) + ", which this program runs as" + facts.str();
  // In a sticky folder users can replace only files of their own.
  if (!is_shared(found) || (on_the_way && (found.st_mode & S_ISVTX) != 0)) return {};
  if ((found.st_mode & S_IWOTH) != 0) return "may be written to by every user" + facts.str();
  if (on_the_way && trust.private_group == found.st_gid) return {};
  return "may be written to by its group" + facts.str();
}

/// Makes the folder and its parents, accessible to this user alone. Throws `Unsupported` if another user could write to
/// the folder or replace it: if one other than root owns it or a parent, or others may write to one. A parent may be a
/// sticky folder such as /tmp, but not a link in one. `remedy` ends the message.
inline void make_safe_folder(const std::filesystem::path& folder, std::string_view remedy,
                             const FolderTrust& trust = folder_trust()) {
  const auto refuse = [&](const std::filesystem::path& path, const std::string& problem) {
    throw Unsupported(path.string() + ' ' + problem + "; " + std::string(remedy));
  };
  const auto check = [&](const std::filesystem::path& path, bool make) {
    bool shared_above = false;
    std::filesystem::path place;
    for (const auto& part : path) {
      place /= part;
      if (make && ::mkdir(place.c_str(), S_IRWXU) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
        refuse(place, std::string("cannot be made: ") + std::strerror(errno));
      struct stat found{};
      if ((shared_above ? ::lstat : ::stat)(place.c_str(), &found) != 0)
        refuse(place, std::string("cannot be made or read: ") + std::strerror(errno));
      if (S_ISLNK(found.st_mode)) refuse(place, "is a link in a folder that other users may write to");
      if (!S_ISDIR(found.st_mode)) refuse(place, "is no folder");
      const bool on_the_way = place != path;
      if (const auto problem = problem_of_folder(found, on_the_way, trust); !problem.empty()) refuse(place, problem);
      shared_above = is_shared(found);
    }
  };
  std::filesystem::path absolute = std::filesystem::absolute(folder);
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // a last slash
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
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] bool held() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

/// An empty folder in `parent`, removed with this object. Also removes this user's folders of that prefix that killed
/// processes left there: those that nobody has locked. Nothing else may have a name of that prefix and six letters in
/// `parent`. Throws `Unsupported` if none can be made.
class RunFolder {
 public:
  /// Function with the parameters and results of make_folder_in().
  using Make = std::filesystem::path (*)(const std::filesystem::path&, std::string_view);

  explicit RunFolder(const std::filesystem::path& parent, std::string_view prefix = "run-",
                     Make make = &make_folder_in) {
    remove_left(parent, prefix);
    // Until it is locked, another process may take the folder for one that was left.
    do {
      path_ = make(parent, prefix);
      lock_.emplace(path_);
    } while (::access(path_.c_str(), F_OK) != 0);
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder() { remove_tree(path_); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  static void remove_left(const std::filesystem::path& parent, std::string_view prefix) {
    DIR* const entries = ::opendir(parent.c_str());
    if (entries == nullptr) return;
    while (const dirent* const entry = ::readdir(entries)) {
      const std::string_view name = entry->d_name;
      // As mkdtemp() names them.
      if (!name.starts_with(prefix) || name.size() != prefix.size() + std::strlen("XXXXXX")) continue;
      const std::filesystem::path found = parent / name;
      // In /tmp other users have theirs.
      struct stat info{};
      if (::lstat(found.c_str(), &info) != 0 || info.st_uid != ::geteuid()) continue;
      if (FolderLock(found, FolderLock::When::try_once).held()) remove_tree(found);
    }
    ::closedir(entries);
  }

  std::filesystem::path path_;
  std::optional<FolderLock> lock_;
};

/// Writes a file so that a reader sees all of it or nothing. Replaces a link of that name, and does not follow it.
/// Throws `Unsupported` if it cannot be written.
inline void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::string partial = path.string() + '.' + std::to_string(::getpid()) + ".tmp";
  std::remove(partial.c_str());
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = file != nullptr && std::fclose(file) == 0 && written;
  if (written && std::rename(partial.c_str(), path.c_str()) == 0) return;
  std::remove(partial.c_str());
  throw Unsupported("cannot write " + path.string());
}

}  // namespace pace::detail
