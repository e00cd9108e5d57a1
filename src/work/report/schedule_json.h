// A schedule as JSON: what it did, stage by stage, and the numbers that sum it up.
//
// It is for people's scripts, and it is the trace that simulations start from (work/simulation/traces.h).
#ifndef ATTUNE_WORK_REPORT_SCHEDULE_JSON_H_
#define ATTUNE_WORK_REPORT_SCHEDULE_JSON_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "work/store/stage_log.h"

namespace attune {

// Times are seconds since the schedule began.
nlohmann::ordered_json ToJson(const ScheduleRecord& record);

// Reads what ToJson has written. The summary's numbers are not read, since they follow from the stages. Safe
// for any JSON that ParseJson returns: numbers are in range and finite, no stage ends before it starts, ids
// of jobs differ, and every stage is one of theirs. The error names the field: "stages[3].end: …".
absl::StatusOr<ScheduleRecord> ScheduleOfJson(const nlohmann::json& json);

// Fails if the text is no JSON, or is nested so deeply that copying the values could exhaust the stack.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_WORK_REPORT_SCHEDULE_JSON_H_
