// Facts that the system tells of this machine and of the limits of this process, for people who look for the
// cause of a problem.
#ifndef ATTUNE_DEVICE_MACHINE_FACTS_H_
#define ATTUNE_DEVICE_MACHINE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace attune {

// A fact that the system does not tell is empty, 0 or nullopt.
struct MachineFacts {
  std::string processor;  // "AMD EPYC 9B14 96-Core Processor"
  std::string kernel;     // "6.1.0-27-amd64"
  int64_t memory_bytes = 0, available_bytes = 0;
  std::optional<int64_t> memory_limit;  // as MemoryLimit() returns it, if it is less than the memory
  std::optional<double> cpu_limit;      // as CpuLimit() returns it
  std::string governor;                 // of the first processor's frequency: "performance", "powersave"
  std::optional<double> load;           // programs that compute or wait for a disk, mean of a minute
};

// `root` is the folder that contains the system's /proc and /sys.
MachineFacts ReadMachineFacts(const std::string& root = "");

}  // namespace attune

#endif  // ATTUNE_DEVICE_MACHINE_FACTS_H_
