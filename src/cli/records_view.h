// Formats records as tables for people, and as JSON for programs.
#ifndef ATTUNE_CLI_RECORDS_VIEW_H_
#define ATTUNE_CLI_RECORDS_VIEW_H_

#include <cstdint>
#include <span>
#include <string>

#include "api/records.h"
#include "cli/common/output.h"

namespace attune {

// Tables have a part for each device; ages are relative to `now_ms`.
std::string TasksTable(std::span<const TaskEntry> tasks, int64_t now_ms);
std::string BestTable(std::span<const BestRecord> best, int64_t now_ms);
std::string MeasurementsTable(std::span<const Record> records, int64_t now_ms);
std::string RunsTable(std::span<const TuningRun> runs, int64_t now_ms);

Json ToJson(const TaskEntry& task);
Json ToJson(const BestRecord& best);
// The fields as in JSON lines, plus the task's digest; the same for a run.
Json ToJson(const Record& record);
Json ToJson(const TuningRun& run);

}  // namespace attune

#endif  // ATTUNE_CLI_RECORDS_VIEW_H_
