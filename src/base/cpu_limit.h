// The limit that control groups set to the processor time of this process.
//
// Problem: a container that may use the time of 2 processors runs on all 64 of its machine. A thread on each
// would use up the time of a period at once, and then all of them would stand still until the next one.
//
// Idea: the files of the process's own group and of each group around it state a quota and a period, as
// cpu.max (version 2) or as cpu.cfs_quota_us and cpu.cfs_period_us (version 1); the least ratio counts. A
// container sees its own group as the root of the mount, even where the name in /proc is that of the host;
// groups whose folder is missing set no limit.
//
// Uses only the standard library, since the runtime includes it.
#ifndef ATTUNE_BASE_CPU_LIMIT_H_
#define ATTUNE_BASE_CPU_LIMIT_H_

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace attune {

// The limit of the one group that `folder` describes.
inline std::optional<double> CpuLimitOfGroup(const std::string& folder) {
  double quota = 0, period = 0;
  const auto read = [](const std::string& path, double& number) {
    std::ifstream file(path);
    return static_cast<bool>(file >> number);
  };
  // A group without a limit has the word "max" or the quota -1.
  const bool is_known = (std::ifstream(folder + "/cpu.max") >> quota >> period) ||
                        (read(folder + "/cpu.cfs_quota_us", quota) && read(folder + "/cpu.cfs_period_us", period));
  if (!is_known || !(quota > 0) || !(period > 0)) return std::nullopt;
  return quota / period;
}

// Returns how many processors' time this process may use, such as 1.5; nullopt if there is no limit. `root` is
// the folder that contains the system's /proc and /sys.
inline std::optional<double> CpuLimit(const std::string& root = "") {
  std::optional<double> least;
  // Looks at `group` ("/a/b", or "" for the root) and all groups around it.
  const auto look = [&least](const std::string& mount, std::string group) {
    for (;; group.resize(group.rfind('/'))) {
      const std::optional<double> limit = CpuLimitOfGroup(mount + group);
      if (limit.has_value()) least = std::min(*limit, least.value_or(*limit));
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
      look(mounts, group);
      look(mounts + "/unified", group);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      look(mounts + "/cpu", group);
      if (controllers != "cpu") look(mounts + "/" + controllers, group);
    }
  }
  return least;
}

}  // namespace attune

#endif  // ATTUNE_BASE_CPU_LIMIT_H_
