#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace attune {

int64_t MemoryOfMachine() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const int64_t machine = pages > 0 && page > 0 ? pages * page : INT64_MAX;
  // In a container its own group is the root of what it sees. "max", which is no number, is no limit.
  int64_t container = 0;
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  return limit >> container && container > 0 ? std::min(machine, container) : machine;
}

}  // namespace attune
