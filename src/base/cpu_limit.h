// The limit that control groups set to the processor time of this process.
//
// Problem: a container that may use the time of 2 processors runs on all 64 of its machine. A thread on each
// would use up the time of a period at once, and then all of them would stand still until the next one.
//
// Idea: the process's own group and each group around it state a quota and a period, in cpu.max (version 2)
// or in cpu.cfs_quota_us and cpu.cfs_period_us (version 1); the least ratio counts.
//
// Uses only the standard library, since the runtime includes it.
#ifndef ATTUNE_BASE_CPU_LIMIT_H_
#define ATTUNE_BASE_CPU_LIMIT_H_

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "base/control_groups.h"

namespace attune {

// The limit of the one group that `folder` describes.
inline std::optional<double> CpuLimitOfGroup(const std::string& folder) {
  double quota = 0, period = 0;
  const auto read = [](const std::string& path, double& number) {
    std::ifstream file(path);
    return static_cast<bool>(file >> number);
  };
  // A group without a limit has the word "max" or the quota -1.
  const bool is_known =
      (std::ifstream(folder + "/cpu.max") >> quota >> period) ||
      (read(folder + "/cpu.cfs_quota_us", quota) && read(folder + "/cpu.cfs_period_us", period));
  if (!is_known || !(quota > 0) || !(period > 0)) return std::nullopt;
  return quota / period;
}

// Returns how many processors' time this process may use, such as 1.5; nullopt if there is no limit. `root`
// is the folder that contains the system's /proc and /sys.
inline std::optional<double> CpuLimit(const std::string& root = "") {
  std::optional<double> least;
  ForEachControlGroup(root, "cpu", [&least](const std::string& folder) {
    const std::optional<double> limit = CpuLimitOfGroup(folder);
    if (limit.has_value()) least = std::min(*limit, least.value_or(*limit));
  });
  return least;
}

}  // namespace attune

#endif  // ATTUNE_BASE_CPU_LIMIT_H_
