// The numbers by which people judge a schedule.
#ifndef ATTUNE_WORK_REPORT_SCHEDULE_SUMMARY_H_
#define ATTUNE_WORK_REPORT_SCHEDULE_SUMMARY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "work/store/stage_log.h"

namespace attune {

// Counts the predictions of durations that came true.
struct PredictionCounts {
  int64_t predicted = 0;  // stages that are done and had a prediction
  int64_t within = 0;     // those of them that took between the low and the high value

  // Should be 0.8; 0 if nothing was predicted.
  double Share() const;
};

struct JobSummary {
  int64_t done = 0, failed = 0, lost = 0;  // runs of stages
  double seconds = 0;                      // that all of them took
  double waited = 0;                       // seconds between asking for them and their starts
  double end = 0;                          // of its last stage so far
  bool missed_deadline = false;            // it has not ended well by then, and then is past
};

// A processor of the pool, or a device.
struct ResourceUse {
  std::string name;  // "processor 3", or a device's key
  bool is_device = false;
  double busy_seconds = 0;  // in which a stage held it
  double idle_share = 0;    // of the makespan, 0 to 1; 0 if the makespan is 0
};

// The stages of one name, of all jobs of one kind.
struct StageKindSummary {
  std::string job_kind, name;
  int64_t done = 0, failed = 0, lost = 0;
  double waited = 0;  // seconds, of all these runs
  PredictionCounts predictions;
  // These count the predicted stages alone, so that they can be compared.
  double predicted_seconds = 0;  // the sum of the medians
  double real_seconds = 0;
  double seconds = 0;  // of all that are done
};

struct ScheduleSummary {
  double makespan = 0;                 // from 0 to the end of the last stage so far
  std::vector<JobSummary> jobs;        // as those of the record
  std::vector<ResourceUse> resources;  // processors first
  std::vector<StageKindSummary> kinds;
  double waiting_p50 = 0, waiting_p99 = 0;  // seconds
  PredictionCounts predictions;
  int64_t missed_deadlines = 0;

  // The mean idle share of all processors, or of all devices; 0 if there are none.
  double IdleShare(bool of_devices) const;
};

// Stages whose jobs are not in the record count only for its resources. Takes time in proportion to the
// processors that stages held.
ScheduleSummary Summarize(const ScheduleRecord& record);

// "done", "failed" or "lost".
std::string_view Name(StageOutcome outcome);

// Whether the stage held this device of the host for itself.
bool HoldsDevice(const StageRecord& stage, const HostResources& host, const DeviceResource& device);
// The processors that only this stage was granted while it ran, each once, ascending.
std::vector<int> HeldProcessors(const StageRecord& stage);

}  // namespace attune

#endif  // ATTUNE_WORK_REPORT_SCHEDULE_SUMMARY_H_
