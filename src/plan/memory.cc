#include "plan/memory.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"

namespace attune {

MemoryPlan PlanMemory(const std::vector<Lifetime>& buffers, int64_t alignment) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].bytes != buffers[b].bytes ? buffers[a].bytes > buffers[b].bytes : a < b;
  });

  MemoryPlan plan;
  plan.offsets.resize(buffers.size(), 0);
  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    const Lifetime& buffer = buffers[i];
    const int64_t size = RoundUp(buffer.bytes, alignment);
    int64_t offset = 0;
    for (size_t j : placed) {
      const Lifetime& other = buffers[j];
      if (other.last < buffer.first || buffer.last < other.first) continue;
      if (offset + size <= plan.offsets[j]) break;
      offset = std::max(offset, plan.offsets[j] + RoundUp(other.bytes, alignment));
    }
    plan.offsets[i] = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  i);
  }
  return plan;
}

}  // namespace attune
