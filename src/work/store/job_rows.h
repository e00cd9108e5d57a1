// Jobs and their stages as rows of a database's tables.
#ifndef ATTUNE_WORK_STORE_JOB_ROWS_H_
#define ATTUNE_WORK_STORE_JOB_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sql/sql_session.h"
#include "work/job/job_spec.h"
#include "work/store/stage_log.h"

namespace attune {

inline constexpr char kJobColumns[] =
    "number, id, kind, owner, priority, deadline_seconds, settings, base, measures_on, state, position, "
    "progress, result, error, files, submitted_ms, ended_ms, agreement, parts, part, whole";
// Makes a job from a row of these columns. Values that no store has written are left out, and
// JobRecord::error says so: a damaged row blocks no other.
absl::StatusOr<JobRecord> ReadJob(const SqlRow& row);

inline constexpr char kStageColumns[] =
    "jobs.id, name, outcome, asked, start, \"end\", own_low, own_median, own_high, detail FROM stages JOIN "
    "jobs ON jobs.schedule = stages.schedule AND jobs.number = stages.job";
// Likewise, of both tables; StageRecord::reason says so.
absl::StatusOr<StageRecord> ReadStage(const SqlRow& row);

// The columns `files` of a job, and `detail` of a stage.
std::string FilesText(const std::vector<JobFile>& files);
std::string DetailOf(const StageRecord& record);

}  // namespace attune

#endif  // ATTUNE_WORK_STORE_JOB_ROWS_H_
