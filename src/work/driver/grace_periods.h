// The time that cancelled stages get to end by themselves.
#ifndef ATTUNE_WORK_DRIVER_GRACE_PERIODS_H_
#define ATTUNE_WORK_DRIVER_GRACE_PERIODS_H_

#include <cstddef>
#include <map>
#include <vector>

namespace attune {

// Jobs are known by their numbers. Times are seconds since the schedule began. Not thread safe.
class GracePeriods {
 public:
  // The job's stage is to end before `end`. One that has a grace period already gets this one instead.
  void Begin(size_t job, double end) { ends_[job] = end; }
  // The job's stage has ended, or none was cancelled.
  void End(size_t job) { ends_.erase(job); }
  // Returns the jobs whose grace period is over.
  std::vector<size_t> Expired(double now) const {
    std::vector<size_t> jobs;
    for (const auto& [job, end] : ends_)
      if (end <= now) jobs.push_back(job);
    return jobs;
  }

 private:
  std::map<size_t, double> ends_;
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_GRACE_PERIODS_H_
