// Memory planning: where each buffer of a network lies in one arena.
#ifndef ATTUNE_PLAN_MEMORY_H_
#define ATTUNE_PLAN_MEMORY_H_

#include <cstdint>
#include <vector>

namespace attune {

// A buffer is in use from step `first` to step `last`, both included.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one a buffer, multiples of the alignment
  int64_t arena_bytes = 0;
};

// Problem: buffers whose lifetimes overlap must not overlap in memory, and the arena should be small.
// (Optimal is NP-hard: dynamic storage allocation.) Idea: place the largest first, each at the lowest
// offset at which it fits between those placed that are alive at the same time. O(n²). After Pisarchyk and
// Lee, Efficient memory management for deep neural net inference, 2020 ("greedy by size").
MemoryPlan PlanMemory(const std::vector<Lifetime>& buffers, int64_t alignment);

}  // namespace attune

#endif  // ATTUNE_PLAN_MEMORY_H_
