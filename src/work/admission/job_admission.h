// Which of a schedule's jobs begin, and which wait until they may.
//
// Problem: a job that has begun is in memory of a host, so that only some may; and one that no host can serve
// now must not keep others from beginning. Idea: jobs that can be on the same hosts are a group, each group
// has room of its own, and a job that was refused waits outside until hosts change. Cost: the order of jobs
// holds within a group alone.
#ifndef ATTUNE_WORK_ADMISSION_JOB_ADMISSION_H_
#define ATTUNE_WORK_ADMISSION_JOB_ADMISSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace attune {

// The slots (HostResources) that the hosts of a group's jobs must have, in any order that is always the same.
using JobGroup = std::vector<std::string>;

// Jobs are known by their numbers. Not thread safe.
class JobAdmission {
 public:
  // The job waits for its turn in the order of keys. One that has begun goes before all that have not, and
  // needs no room.
  void Wait(size_t job, const JobGroup& group, double key);
  // Returns the next job that may start or resume; it counts as started from now on. `most` is how many of a
  // group may have started. Nothing if there is none.
  std::optional<size_t> Take(const std::function<int64_t(const JobGroup& group)>& most);
  // No host can serve the job now. It has not started unless it `is_in_memory`.
  void Refuse(size_t job, std::string why, bool is_in_memory);
  // The jobs that were refused, which are so no more.
  std::vector<size_t> TakeRefused();
  // The job waits no more.
  void Withdraw(size_t job);
  // The job is over.
  void Forget(size_t job);

  // The reason why no host can serve the job; empty if it was not refused.
  std::string RefusalOf(size_t job) const;
  // How many groups have jobs.
  int64_t num_groups() const { return std::ssize(groups_); }
  // Whether no job waits for its turn.
  bool is_empty() const;

 private:
  struct Group {
    std::set<std::pair<double, size_t>> waiting = {};  // by key
    std::set<size_t> begun = {};
  };

  // The group of the job; null if it has none, or if none of its group waits or has begun: it was refused.
  Group* GroupOf(size_t job);

  std::map<JobGroup, Group> groups_;
  std::map<size_t, JobGroup> group_of_;
  std::map<size_t, std::string> refused_;  // and why
};

}  // namespace attune

#endif  // ATTUNE_WORK_ADMISSION_JOB_ADMISSION_H_
