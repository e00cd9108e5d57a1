#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace attune {

int64_t MemoryOfMachine() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const int64_t machine = pages > 0 && page > 0 ? pages * page : INT64_MAX;
  // A container sees its own control group as the root. "max", which does not parse as a number, means no
  // limit.
  int64_t container = 0;
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  return limit >> container && container > 0 ? std::min(machine, container) : machine;
}

}  // namespace attune
