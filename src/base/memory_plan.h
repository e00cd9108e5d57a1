// Memory planning: where each buffer of a network lies in one arena. The compiler plans networks of constant
// shapes, the runtime those with open sizes, so this depends on the standard library only.
#ifndef ATTUNE_BASE_MEMORY_PLAN_H_
#define ATTUNE_BASE_MEMORY_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace attune {

// A buffer is in use from step `first` to step `last`, both included.
struct Lifetime {
  int64_t bytes = 0;  // so few that those of all buffers can be added
  int64_t first = 0;
  int64_t last = 0;
};

// Problem: buffers whose lifetimes overlap must not overlap in memory, and the arena should be small.
// (Optimal is NP-hard: dynamic storage allocation.) Idea: place the largest first, each at the lowest
// offset at which it fits between those placed that are alive at the same time. O(n²). After Pisarchyk and
// Lee, Efficient memory management for deep neural net inference, 2020 ("greedy by size").
//
// A planner keeps its own memory, so that to plan again allocates nothing.
class MemoryPlanner {
 public:
  // Sets offsets[i], a multiple of the alignment, for each buffer, and returns the size of the arena in
  // bytes.
  int64_t Plan(std::span<const Lifetime> buffers, int64_t alignment, std::span<int64_t> offsets) {
    order_.resize(buffers.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::ranges::sort(order_, [&](size_t a, size_t b) {
      return buffers[a].bytes != buffers[b].bytes ? buffers[a].bytes > buffers[b].bytes : a < b;
    });
    int64_t arena_bytes = 0;
    placed_.clear();
    for (const size_t i : order_) {
      const Lifetime& buffer = buffers[i];
      const int64_t size = (buffer.bytes + alignment - 1) / alignment * alignment;
      int64_t offset = 0;
      for (const auto& [begin, end] : PlacedMeanwhile(buffer)) {
        if (offset + size <= begin) break;
        offset = std::max(offset, end);
      }
      offsets[i] = offset;
      arena_bytes = std::max(arena_bytes, offset + size);
      placed_.insert(std::ranges::upper_bound(placed_, offset, {}, &Placed::begin),
                     {offset, offset + size, buffer.first, buffer.last});
    }
    return arena_bytes;
  }

 private:
  struct Range {
    int64_t begin, end;
  };
  struct Placed {
    int64_t begin, end;
    int64_t first, last;
  };

  // The ranges of the buffers that are placed and in use at the same time as this one, by `begin`. Without
  // branches: this is where the time goes.
  std::span<const Range> PlacedMeanwhile(const Lifetime& buffer) {
    meanwhile_.resize(placed_.size() + 1);
    size_t count = 0;
    for (const Placed& other : placed_) {
      meanwhile_[count] = {other.begin, other.end};
      const bool ends_after = other.last >= buffer.first, starts_before = other.first <= buffer.last;
      count += static_cast<size_t>(ends_after) & static_cast<size_t>(starts_before);
    }
    return {meanwhile_.data(), count};
  }

  std::vector<size_t> order_;     // of the buffers, the largest first
  std::vector<Placed> placed_;    // by `begin`
  std::vector<Range> meanwhile_;  // see PlacedMeanwhile()
};

}  // namespace attune

#endif  // ATTUNE_BASE_MEMORY_PLAN_H_
