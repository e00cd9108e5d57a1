// The result of a tuning run as JSON, for programs.
#ifndef ATTUNE_TUNE_JOB_SUMMARY_JSON_H_
#define ATTUNE_TUNE_JOB_SUMMARY_JSON_H_

#include "nlohmann/json.hpp"
#include "tune/job/report.h"

namespace attune {

nlohmann::ordered_json ToJson(const TuningSummary& summary);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_SUMMARY_JSON_H_
