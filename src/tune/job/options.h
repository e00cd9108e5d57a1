// What a user may say about a tuning run. The defaults need no thought.
#ifndef ATTUNE_TUNE_JOB_OPTIONS_H_
#define ATTUNE_TUNE_JOB_OPTIONS_H_

#include <cstdint>
#include <string>

#include "tune/records/record.h"

namespace attune {

struct TuningOptions {
  std::string search = "annealing";  // a name in search.h's table
  int threads = 1;                   // that the tuned network will run on
  CacheMode cache = CacheMode::kNetwork;
  int64_t cold_bytes = 0;  // MeasureOptions::cold_bytes
  uint64_t seed = 0;

  // When to stop: whichever comes first; 0: no such bound. Without any, a run ends when no task promises
  // more.
  int64_t trials = 0;           // for the network
  int64_t trials_per_task = 0;  // for each
  double seconds = 0;
  // A task is left alone after so many trials without a gain.
  int64_t patience = 200;

  int batch = 32;                  // candidates that are built, and then measured, together
  int builders = 0;                // processes that build, threads that select; 0: as many as processors
  double measure_seconds = 0.8;    // the longest that timing one candidate may take
  double random_share = 0.1;       // of candidates that are proposed at random
  bool transfer_from_runs = true;  // earlier records of the same tasks count as trials
  // What was fast for similar tasks, of this run or in the records, is tried early, and the cost model learns
  // from their records.
  bool transfer_from_tasks = true;
  // The search begins with the analytic defaults. If not, they only tell what it gained, are no trials and
  // leave no records, and nothing is confirmed in the end: for experiments with search strategies.
  bool use_defaults = true;
  bool retry_layouts = true;  // choose blocks again when the tasks are tuned
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_OPTIONS_H_
