// The options of a tuning run. The defaults are fine for most users.
#ifndef ATTUNE_TUNE_JOB_OPTIONS_H_
#define ATTUNE_TUNE_JOB_OPTIONS_H_

#include <cstdint>
#include <string>

#include "tune/records/record.h"

namespace attune {

// A job may be split into parts that search at the same time: each its share of the tasks and of the
// candidates of large ones (tune/job/part_plan.h). When all have ended, the whole job confirms what they
// found and measures the network.
struct JobPart {
  int count = 1;  // how many parts there are; 1: the job is not split
  int index = 0;  // of this part, from 1; 0: the whole job

  bool is_part() const { return count > 1 && index > 0; }
  // Whether it only confirms what its parts have found.
  bool combines() const { return count > 1 && index == 0; }
};

struct TuningOptions {
  std::string search = "annealing";  // a name in search.h's table
  int threads = 1;                   // threads of one inference of the tuned network
  CacheMode cache = CacheMode::kNetwork;
  int64_t cold_bytes = 0;  // MeasureOptions::cold_bytes
  uint64_t seed = 0;

  // Limits; the first one reached ends the run; 0: no limit. Without limits, a run ends when no task
  // promises further gains.
  int64_t trials = 0;           // for the network
  int64_t trials_per_task = 0;  // for each task
  double seconds = 0;
  // The trials without a gain after which a task is given up.
  int64_t patience = 200;

  int batch = 32;                  // candidates that are built, and then measured, together
  int builders = 0;                // processes that build, threads that select; 0: as many as processors
  double measure_seconds = 0.8;    // the longest time for timing one candidate
  double execution_seconds = 0;    // ExecutionLimit's; 0: it rises
  double random_share = 0.1;       // the share of candidates that are proposed at random
  bool transfer_from_runs = true;  // earlier records of the same tasks count as trials
  // Candidates that were fast for similar tasks, in this run or in the records, are tried early, and the
  // cost model learns from the records of these tasks.
  bool transfer_from_tasks = true;
  // Whether the search begins with the analytic defaults. If not, they are only used to compute gains: they
  // are not trials, leave no records, and nothing is confirmed at the end. For experiments with search
  // strategies.
  bool use_defaults = true;
  bool retry_layouts = true;  // choose layouts again after the tasks are tuned
  JobPart part = {};          // limits are those of all parts together
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_OPTIONS_H_
