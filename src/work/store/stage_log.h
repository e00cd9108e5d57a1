// The log of a schedule's stages, from which reports, pages and simulations are made.
#ifndef ATTUNE_WORK_STORE_STAGE_LOG_H_
#define ATTUNE_WORK_STORE_STAGE_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "work/job/job_spec.h"
#include "work/sched/resources.h"

namespace attune {

enum class StageOutcome : uint8_t {
  kDone,
  kFailed,  // the job has failed with it
  kLost,    // its process ended, or the schedule was stopped: it is run again
};

// One run of a stage. Times are seconds since the schedule began, without the time in which it was not
// running.
struct StageRecord {
  std::string job;  // its id
  JobStage stage;   // its prediction is the one that the scheduler used
  double asked = 0, start = 0, end = 0;
  std::vector<int> processors;  // that it was granted, by their numbers in the pool of HostResources
  std::vector<int> held;        // granted to this stage alone meanwhile
  StageOutcome outcome = StageOutcome::kDone;
  SecondsPrediction own = {};  // the job's own prediction
  std::string place = {};      // the host that it ran on, if there are several
  std::string reason = {};     // why it failed or was lost
  int64_t end_ms = 0;          // since 1970, UTC
};

enum class JobState : uint8_t { kUnfinished, kDone, kFailed, kCancelled };
std::string_view Name(JobState state);

struct JobRecord {
  JobSpec spec;
  JobState state = JobState::kUnfinished;
  int64_t position = 0;      // how many of its stages have ended
  std::string progress;      // Job::Progress() after the last one
  std::string result;        // if it is done: Job::Result()
  std::string error;         // if it has failed: why
  std::string figures = {};  // Job::Figures() after the last stage of this process's time; not stored
  size_t whole = 0;          // of a part: the number of the whole job in its schedule
  // On a server: what was submitted, and what its latest stage has left.
  std::vector<JobFile> files = {};
  int64_t submitted_ms = 0, ended_ms = 0;  // since 1970, UTC; 0: not known, or it has not ended
};

// A schedule, finished or not, with everything that is known of it.
struct ScheduleRecord {
  std::string id;
  std::string strategy;
  HostResources host;
  std::vector<JobRecord> jobs;
  std::vector<StageRecord> stages;  // in the order of their ends
  double elapsed = 0;               // seconds until the last stage ended
};

}  // namespace attune

#endif  // ATTUNE_WORK_STORE_STAGE_LOG_H_
