// Work that is done in stages, which somebody else drives.
//
// Problem: a job needs now all processors, now a device for itself, and then neither; many jobs share few
// machines. Idea: a job says what its next stage needs before it runs, and runs it when it is told to, with
// what it was granted. No stage starts the next by itself. So whoever drives can interleave the stages of
// many jobs, postpone them as long as needed, and keep everything else away from a device while something is
// measured on it. A driver knows nothing of what jobs do.
#ifndef ATTUNE_JOB_JOB_H_
#define ATTUNE_JOB_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace attune {

// Some of a resource, which its key names: "processors", or "device/" and a device's fingerprint.
struct ResourceNeed {
  std::string key;
  int64_t amount = 1;      // processors, say
  bool exclusive = false;  // nobody else may use any of the resource meanwhile

  bool operator==(const ResourceNeed&) const = default;
};

inline constexpr char kProcessorsKey[] = "processors";

// What a stage is predicted to take, in seconds: quantiles of 10, 50 and 90 percent.
struct SecondsPrediction {
  double low = 0, median = 0, high = 0;
};

struct JobStage {
  std::string name;  // means something to the job alone
  std::vector<ResourceNeed> needs;
  int64_t memory_bytes = 0;  // at most
  SecondsPrediction seconds;

  bool NeedsExclusively(const std::string& key) const {
    for (const ResourceNeed& need : needs) {
      if (need.exclusive && need.key == key) return true;
    }
    return false;
  }
};

// What a stage was given to run with.
struct JobGrant {
  // The processors that are meant by its needs, by their numbers; empty: any.
  std::vector<int> processors;
};

// Run() is for one thread at a time; all else is safe from any thread, also while a stage runs.
class Job {
 public:
  virtual ~Job() = default;

  virtual const std::string& id() const = 0;
  // The stage that comes next; while one runs, the one that is expected after it. Nothing when the job is
  // done.
  virtual std::optional<JobStage> Next() const = 0;
  // Runs the stage that comes next, to its end. After an error the job cannot go on.
  virtual absl::Status Run(const JobGrant& grant) = 0;
  // Makes the stage that runs end soon, and those that are left be few and short. Safe in a signal handler.
  virtual void Cancel() = 0;
  // What its stages took, all together, that one included that runs. Waiting for a grant is no part of it.
  virtual double SpentSeconds() const = 0;
};

}  // namespace attune

#endif  // ATTUNE_JOB_JOB_H_
