// Work that is done in stages, driven from outside.
//
// Problem: a job at times needs all processors, at times a device for itself, and at times neither; many
// jobs share few machines. Idea: a job says what its next stage needs, and runs the stage when it is told
// to, with the resources that it was granted. No stage starts the next one by itself. So a driver can
// interleave the stages of many jobs, postpone them as long as needed, and keep everything else off a
// device while something is measured on it. A driver knows nothing about what jobs do.
#ifndef ATTUNE_BASE_JOB_H_
#define ATTUNE_BASE_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace attune {

// An amount of a resource. The key is "processors", or "device/" and a device's fingerprint.
struct ResourceNeed {
  std::string key;
  int64_t amount = 1;      // for example, the number of processors
  bool exclusive = false;  // no other stage may use any of the resource meanwhile

  bool operator==(const ResourceNeed&) const = default;
};

inline constexpr char kProcessorsKey[] = "processors";
// The resource that stages need which measure on a device with this fingerprint.
inline std::string DeviceKey(const std::string& fingerprint) { return "device/" + fingerprint; }

// The predicted duration of a stage in seconds: quantiles of 10, 50 and 90 percent.
struct SecondsPrediction {
  double low = 0, median = 0, high = 0;
};

struct JobStage {
  std::string name;  // only the job knows its meaning
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

// The resources that a stage is granted.
struct JobGrant {
  // The numbers of the processors granted; empty: any.
  std::vector<int> processors;
};

// Run() may be called by one thread at a time. Unless it says otherwise, a function is thread safe, also
// while a stage runs.
class Job {
 public:
  virtual ~Job() = default;

  virtual const std::string& id() const = 0;
  // The next stage; while one runs, the stage that is expected after it. Nothing when the job is done.
  virtual std::optional<JobStage> Next() const = 0;
  // Runs the next stage to its end. After an error the job cannot continue.
  virtual absl::Status Run(const JobGrant& grant) = 0;
  // Makes the running stage end soon, and the remaining ones few and short. Safe in a signal handler.
  virtual void Cancel() = 0;
  // The duration of all its stages together, including the one that runs. Excludes waiting for a grant.
  virtual double SpentSeconds() const = 0;

  // The following are for the thread that runs the stages, between two of them.

  // The predicted seconds of all stages to come together, the next one included; 0: not known.
  virtual double RemainingSeconds() const = 0;
  // How far it is, as one short line for people: "124 trials, 3.21 → 2.90 ms".
  virtual std::string Progress() const = 0;
  // The job's results so far, as a JSON object with few numbers; empty: there are none.
  virtual std::string Figures() const { return ""; }
  // Once the job is done: its outcome as a JSON object.
  virtual std::string Result() const = 0;
};

}  // namespace attune

#endif  // ATTUNE_BASE_JOB_H_
