#include "base/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace attune {

int64_t RaiseOpenFiles() {
  constexpr rlim_t kEnough = 1 << 20;  // where there is no limit at all
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised = {.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnough)),
                         .rlim_max = limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return static_cast<int64_t>(std::min(limit.rlim_cur, kEnough));
}

}  // namespace attune
