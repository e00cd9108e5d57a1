// The jobs of a schedule that have parts, and which of those have not ended.
#ifndef ATTUNE_WORK_DRIVER_SPLIT_JOBS_H_
#define ATTUNE_WORK_DRIVER_SPLIT_JOBS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "work/store/stage_log.h"

namespace attune {

// Returns why a whole job fails whose parts have ended like this; empty if all are done. If one has failed
// and others were cancelled for that reason, it is the one that has failed.
std::string FailureOfParts(const std::map<size_t, JobRecord>& parts);

// Jobs are known by their numbers. Not thread safe.
class SplitJobs {
 public:
  // The whole job waits until its parts have ended, those that are added before the next TakeReady().
  void AddWhole(size_t whole) { wholes_[whole]; }
  void AddPart(size_t whole, size_t part) { wholes_[whole].unfinished.insert(part); }
  // The part is over. If it has failed, the whole job does not need its other parts.
  void End(size_t whole, size_t part, bool has_failed);
  // The whole job is over.
  void Forget(size_t whole) { wholes_.erase(whole); }

  // Parts that have not ended; none of a job that has no parts.
  std::vector<size_t> UnfinishedOf(size_t whole) const;
  // Parts that are not needed any more; each once.
  std::vector<size_t> TakeHopeless();
  // Whole jobs all of whose parts are over; each once.
  std::vector<size_t> TakeReady();
  bool is_empty() const { return wholes_.empty(); }

 private:
  struct Whole {
    std::set<size_t> unfinished;
    bool has_failed = false;
  };
  std::map<size_t, Whole> wholes_;
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_SPLIT_JOBS_H_
