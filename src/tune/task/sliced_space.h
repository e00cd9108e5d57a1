// A slice of a task's candidates, which one part of a job searches.
//
// Problem: several devices search one task at the same time, without talking to each other, and must not
// measure the same candidate twice. Idea: a digest of the candidate says which slice it is in. So slices are
// disjoint, they are complete, every runner computes the same ones, and each has the same share of every
// strategy and every knob. Cost: most neighbours of a candidate are in other slices, so that a step within a
// slice takes several attempts.
#ifndef ATTUNE_TUNE_TASK_SLICED_SPACE_H_
#define ATTUNE_TUNE_TASK_SLICED_SPACE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tune/task/candidate_space.h"

namespace attune {

// One of the equal shares of a task's candidates. By default, all of them.
struct Slice {
  int index = 0;  // 0 <= index < count
  int count = 1;

  // The same in every program and on every machine.
  bool Has(const Candidate& candidate) const;
  bool operator==(const Slice&) const = default;
};

class SlicedSpace final : public CandidateSpace {
 public:
  // `space` must outlive it.
  SlicedSpace(CandidateSpace& space, Slice slice) : space_(space), slice_(slice) {}

  // Candidates of other slices are counted, and are not valid.
  int64_t size() const override { return space_.size(); }
  Candidate At(int64_t index) const override { return space_.At(index); }

  std::vector<Candidate> Defaults() const override;
  bool Contains(const Candidate& candidate) const override {
    return slice_.Has(candidate) && space_.Contains(candidate);
  }
  bool IsValid(const Candidate& candidate) override {
    return slice_.Has(candidate) && space_.IsValid(candidate);
  }
  std::optional<Candidate> Sample(Random& random) override;
  std::vector<std::optional<Candidate>> Neighbours(std::span<const Candidate> candidates,
                                                   Random& random) override;

 private:
  CandidateSpace& space_;
  const Slice slice_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_SLICED_SPACE_H_
