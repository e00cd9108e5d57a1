#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/control_groups.h"

namespace attune {

std::optional<int64_t> MemoryLimit(const std::string& root) {
  std::optional<int64_t> least;
  ForEachControlGroup(root, "memory", [&least](const std::string& folder) {
    for (const char* name : {"/memory.max", "/memory.limit_in_bytes"}) {
      // A group without a limit has the word "max".
      int64_t limit = 0;
      if (std::ifstream(folder + name) >> limit && limit > 0) least = std::min(limit, least.value_or(limit));
    }
  });
  return least;
}

int64_t MemoryOfMachine() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const int64_t machine = pages > 0 && page > 0 ? pages * page : INT64_MAX;
  return std::min(machine, MemoryLimit().value_or(INT64_MAX));
}

}  // namespace attune
