// The placements of a program at the sizes that were used last.
#ifndef ATTUNE_RUNTIME_PLACEMENT_CACHE_H_
#define ATTUNE_RUNTIME_PLACEMENT_CACHE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "artifact/open_program.h"

namespace attune {

// Placements stay where they are until they are evicted, the least recently used first.
class PlacementCache {
 public:
  static constexpr size_t kMaxEntries = 64;

  PlacementCache() { entries_.reserve(kMaxEntries); }

  // Returns the placement at these sizes, or nullptr. Allocates nothing.
  const ProgramPlacement* Find(std::span<const int64_t> sizes) {
    const auto found = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return std::ranges::equal(entry.placement.sizes, sizes); });
    if (found == entries_.end()) return nullptr;
    found->last_use = ++uses_;
    return &found->placement;
  }

  // A placement that is not yet in the cache, to be computed in memory that an evicted one has left.
  ProgramPlacement& spare() { return spare_; }

  // Moves the spare into the cache and returns where it is now.
  const ProgramPlacement* KeepSpare() {
    Entry& entry = entries_.size() < kMaxEntries ? entries_.emplace_back()
                                                 : *std::ranges::min_element(entries_, {}, &Entry::last_use);
    std::swap(entry.placement, spare_);
    entry.last_use = ++uses_;
    return &entry.placement;
  }

 private:
  struct Entry {
    ProgramPlacement placement;
    uint64_t last_use = 0;
  };

  std::vector<Entry> entries_;
  ProgramPlacement spare_;
  uint64_t uses_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_PLACEMENT_CACHE_H_
