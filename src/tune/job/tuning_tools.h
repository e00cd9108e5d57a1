// The objects that a tuning job works with.
#ifndef ATTUNE_TUNE_JOB_TUNING_TOOLS_H_
#define ATTUNE_TUNE_JOB_TUNING_TOOLS_H_

#include "base/clock.h"
#include "measure/service.h"
#include "tune/cost_model/cost_model.h"
#include "tune/job/events.h"
#include "tune/job/network_compiler.h"
#include "tune/job/recording.h"
#include "tune/records/database.h"
#include "tune/task/builder.h"

namespace attune {

// All must outlive the job.
struct TuningTools {
  Builder* builder = nullptr;
  MeasuringService* service = nullptr;
  RecordDatabase* records = nullptr;
  CostModel* model = nullptr;  // null: search strategies work without one
  EventLog* events = nullptr;
  Recording* recording = nullptr;  // use its times; null: use this run's own times
  NetworkCompiler* network = nullptr;
  const Clock* clock = &SystemClock();
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TUNING_TOOLS_H_
