// Stores schedules, their jobs and their stages, so that a killed schedule can resume.
#ifndef ATTUNE_WORK_STORE_JOB_STORE_H_
#define ATTUNE_WORK_STORE_JOB_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "work/store/stage_log.h"

namespace attune {

// A stage that has ended some time, and the facts by which predictions tell stages apart.
struct PastStage {
  std::string kind, subject, host;  // of its job; the host's fingerprint
  std::string name;
  SecondsPrediction own;  // the job's own prediction
  double seconds = 0;
};

// Results may be large, and few readers need them.
enum class ResultsWanted { kAll, kOfAgreements, kNone };

struct JobQuery {
  // Only these jobs; empty: any. With an owner, ids are as the owner knows them (work/job/job_id.h).
  std::string id = {}, owner = {};
  std::optional<JobState> state = {};  // in this one alone
  std::string before = {};             // that came before the job with this id; empty: no matter
  // Parts are left out unless they are asked for: by their id, those of this whole job alone, or with all.
  std::optional<size_t> parts_of = {};
  bool with_parts = false;
  int64_t most = INT64_MAX;
  // Columns that the reader leaves out come back empty.
  bool with_files = true;
  ResultsWanted results = ResultsWanted::kAll;
};

// Jobs that come together, under a key that differs from those of all others.
struct JobSubmission {
  std::string key = {};
  std::vector<JobRecord> jobs = {};
};

// A call has taken effect when it returns: the end of the process does not undo it. Not thread safe, but for
// Jobs() and Stages().
class JobStore {
 public:
  virtual ~JobStore() = default;

  // The folder for the files of jobs, which the store does not hold.
  virtual std::string folder() const = 0;

  // The unfinished schedule with this key, unless another process runs it, which is an error; else a new one
  // of these jobs. `host` is the fingerprint of where it runs. From now on the schedule is this object's: it
  // is given up when the object is destroyed, or when the process ends in whichever way.
  virtual absl::StatusOr<ScheduleRecord> ResumeOrBegin(const std::string& key, std::span<const JobSpec> jobs,
                                                       const std::string& host) = 0;
  // The stage of the job with this index has ended. In one step with that, the job's state, position,
  // progress, result and error are set.
  virtual absl::Status EndStage(const std::string& schedule, size_t index, const JobRecord& job,
                                const StageRecord& stage) = 0;
  // The job's state alone.
  virtual absl::Status SetJob(const std::string& schedule, size_t index, const JobRecord& job) = 0;
  // Nothing of the schedule is left to do.
  virtual absl::Status Finish(const std::string& schedule) = 0;

  // The same as ResumeOrBegin() for a schedule to which jobs come as long as it lasts. The result has neither
  // jobs nor stages.
  virtual absl::StatusOr<ScheduleRecord> ResumeOrBeginEndless(const std::string& key) = 0;
  // Adds the jobs of all submissions to an endless schedule, or none, and returns each submission's by
  // number. Their ids are made of the given ones, which thus need not differ, and of their numbers; one that
  // is done has its result and its files already. Parts follow the whole job that they belong to, and get
  // their ids from it. The jobs of a submission that is known are returned as they are now.
  virtual absl::StatusOr<std::vector<std::map<size_t, JobRecord>>> AddJobs(
      const std::string& schedule, const std::vector<JobSubmission>& submissions) = 0;
  // Jobs by number, the latest ones if there are more than the query wants.
  virtual absl::StatusOr<std::map<size_t, JobRecord>> Jobs(const std::string& schedule,
                                                           const JobQuery& query) = 0;
  // Returns the job's stages in the order of their ends; at most `most`, the latest.
  virtual absl::StatusOr<std::vector<StageRecord>> Stages(const std::string& schedule, size_t job,
                                                          int64_t most) = 0;

  // Forgets these jobs, which must be over, and their stages.
  virtual absl::Status RemoveJobs(const std::string& schedule, const std::vector<size_t>& jobs) = 0;

  // Returns the latest stages of all schedules that are done, at most `most`, the oldest first.
  virtual absl::StatusOr<std::vector<PastStage>> PastStages(int64_t most) = 0;
};

}  // namespace attune

#endif  // ATTUNE_WORK_STORE_JOB_STORE_H_
