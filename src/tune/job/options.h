// The options of a tuning run. The defaults are fine for most users.
#ifndef ATTUNE_TUNE_JOB_OPTIONS_H_
#define ATTUNE_TUNE_JOB_OPTIONS_H_

#include <cstdint>

#include "options/settings.h"

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

struct TuningOptions : TuneSettings {
  int64_t cold_bytes = 0;  // MeasureOptions::cold_bytes
  JobPart part;            // limits are those of all parts together
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_OPTIONS_H_
