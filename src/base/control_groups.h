// The control groups that this process is in.
//
// A container sees its own group as the root of the mount, even where the name in /proc is that of the host:
// then only the root's folder exists.
//
// Uses only the standard library, since the runtime includes it.
#ifndef ATTUNE_BASE_CONTROL_GROUPS_H_
#define ATTUNE_BASE_CONTROL_GROUPS_H_

#include <fstream>
#include <string>

namespace attune {

// Calls `visit` with the folder of this process's group and of each group around it, of version 2 and of the
// hierarchy of version 1 that has this controller ("cpu", "memory"). Folders may be missing. `root` is the
// folder that contains the system's /proc and /sys.
template <typename Visit>
void ForEachControlGroup(const std::string& root, const std::string& controller, const Visit& visit) {
  // "/a/b", or "" for the root.
  const auto visit_all = [&visit](const std::string& mount, std::string group) {
    for (;; group.resize(group.rfind('/'))) {
      visit(mount + group);
      if (group.empty()) return;
    }
  };
  const std::string mounts = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // number:controllers:/group; version 2 has no controllers.
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (!group.empty() && group.front() != '/') continue;
    if (controllers.empty()) {
      visit_all(mounts, group);
      visit_all(mounts + "/unified", group);
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      visit_all(mounts + "/" + controller, group);
      if (controllers != controller) visit_all(mounts + "/" + controllers, group);
    }
  }
}

}  // namespace attune

#endif  // ATTUNE_BASE_CONTROL_GROUPS_H_
