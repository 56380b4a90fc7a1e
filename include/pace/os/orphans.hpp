// Orphans: processes that a child started and left running, in any process group or session.
#pragma once

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace pace {

/// During its lifetime, processes whose parent ends become children of this process, not of init. end_all() kills them.
class Orphans {
 public:
  Orphans() : before_(children()) {
    ::prctl(PR_GET_CHILD_SUBREAPER, &was_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;
  ~Orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, was_); }

  /// Kills every child that this process did not have at first, and the orphans that this leaves in turn.
  void end_all() const {
    // Each round ends one generation. Gives up on a process that starts others as fast as they are killed.
    for (int round = 0; round < 100; ++round) {
      bool any = false;
      for (const pid_t child : children()) {
        if (before_.contains(child)) continue;
        any = true;
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
      }
      if (!any) return;
    }
  }

 private:
  [[nodiscard]] static std::set<pid_t> children() {
    std::set<pid_t> found;
    DIR* const folder = ::opendir("/proc");
    if (folder == nullptr) return found;
    while (const dirent* const entry = ::readdir(folder)) {
      const std::string name = entry->d_name;
      pid_t process = 0, parent = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), process).ptr != name.data() + name.size()) continue;
      std::ifstream file("/proc/" + name + "/stat");
      std::string line;
      std::getline(file, line);
      // `pid (name) state parent ...`, where the name may hold anything.
      std::istringstream rest(line.substr(std::min(line.rfind(')') + 1, line.size())));
      char state = 0;
      if (rest >> state >> parent && parent == ::getpid()) found.insert(process);
    }
    ::closedir(folder);
    return found;
  }

  std::set<pid_t> before_;
  int was_ = 0;
};

}  // namespace pace
