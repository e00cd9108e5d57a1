// The tables of jobs, in each version.
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

// Facts of a stage without a search by them are JSON in its column `detail`.
constexpr const char* kUp1[] = {
    "CREATE TABLE schedules (id TEXT NOT NULL PRIMARY KEY, key TEXT NOT NULL, host TEXT NOT NULL, "
    "is_finished INTEGER NOT NULL, begin_ms INTEGER NOT NULL) STRICT",
    "CREATE INDEX schedules_by_key ON schedules (key, is_finished)",
    "CREATE TABLE jobs (schedule TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT "
    "NULL, subject TEXT NOT NULL, owner TEXT NOT NULL, priority INTEGER NOT NULL, deadline_seconds REAL NOT "
    "NULL, settings TEXT NOT NULL, base TEXT NOT NULL, state INTEGER NOT NULL, position INTEGER NOT NULL, "
    "progress TEXT NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL, PRIMARY KEY (schedule, number)) "
    "STRICT",
    "CREATE TABLE stages (id INTEGER PRIMARY KEY AUTOINCREMENT, schedule TEXT NOT NULL, job INTEGER NOT "
    "NULL, name TEXT NOT NULL, outcome INTEGER NOT NULL, asked REAL NOT NULL, start REAL NOT NULL, \"end\" "
    "REAL NOT NULL, own_low REAL NOT NULL, own_median REAL NOT NULL, own_high REAL NOT NULL, detail TEXT NOT "
    "NULL) STRICT",
    "CREATE INDEX stages_by_schedule ON stages (schedule, id)",
};
constexpr const char* kDown1[] = {"DROP TABLE schedules", "DROP TABLE jobs", "DROP TABLE stages"};
constexpr const char* kUp2[] = {
    "ALTER TABLE jobs ADD COLUMN measures_on TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE jobs ADD COLUMN files TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE jobs ADD COLUMN submission TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE jobs ADD COLUMN submitted_ms INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE jobs ADD COLUMN ended_ms INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX stages_by_job ON stages (schedule, job, id)",
    "CREATE INDEX jobs_by_submission ON jobs (schedule, submission)",
    "CREATE INDEX jobs_by_state ON jobs (schedule, state, number)",
    "CREATE INDEX jobs_by_id ON jobs (schedule, id)",
};
constexpr const char* kDown2[] = {
    "DROP INDEX stages_by_job",
    "DROP INDEX jobs_by_submission",
    "DROP INDEX jobs_by_state",
    "DROP INDEX jobs_by_id",
    "ALTER TABLE jobs DROP COLUMN measures_on",
    "ALTER TABLE jobs DROP COLUMN files",
    "ALTER TABLE jobs DROP COLUMN submission",
    "ALTER TABLE jobs DROP COLUMN submitted_ms",
    "ALTER TABLE jobs DROP COLUMN ended_ms",
};
constexpr const char* kUp3[] = {"ALTER TABLE jobs ADD COLUMN agreement TEXT NOT NULL DEFAULT ''"};
constexpr const char* kDown3[] = {"ALTER TABLE jobs DROP COLUMN agreement"};
constexpr const char* kUp4[] = {
    "ALTER TABLE jobs ADD COLUMN parts INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE jobs ADD COLUMN part INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE jobs ADD COLUMN whole INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX jobs_by_whole ON jobs (schedule, whole, number)",
};
constexpr const char* kDown4[] = {
    "DROP INDEX jobs_by_whole",
    "ALTER TABLE jobs DROP COLUMN parts",
    "ALTER TABLE jobs DROP COLUMN part",
    "ALTER TABLE jobs DROP COLUMN whole",
};
// An index that ends in the number gives the latest rows without a look at any other.
constexpr const char* kUp5[] = {
    "DROP INDEX jobs_by_submission",
    "DROP INDEX jobs_by_id",
    "CREATE INDEX jobs_by_submission ON jobs (schedule, submission, number)",
    "CREATE INDEX jobs_by_id ON jobs (schedule, id, number)",
    "CREATE INDEX jobs_by_owner ON jobs (schedule, owner, number)",
};
constexpr const char* kDown5[] = {
    "DROP INDEX jobs_by_submission",
    "DROP INDEX jobs_by_id",
    "DROP INDEX jobs_by_owner",
    "CREATE INDEX jobs_by_submission ON jobs (schedule, submission)",
    "CREATE INDEX jobs_by_id ON jobs (schedule, id)",
};
// Each owner's jobs are numbered by themselves; an owner's next one comes after those from before.
constexpr const char* kUp6[] = {
    "ALTER TABLE jobs ADD COLUMN own_number INTEGER NOT NULL DEFAULT 0",
    "UPDATE jobs SET own_number = number",
    "CREATE INDEX jobs_by_own_number ON jobs (schedule, owner, own_number)",
};
constexpr const char* kDown6[] = {
    "DROP INDEX jobs_by_own_number",
    "ALTER TABLE jobs DROP COLUMN own_number",
};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}, {.up = kUp2, .down = kDown2},
                                        {.up = kUp3, .down = kDown3}, {.up = kUp4, .down = kDown4},
                                        {.up = kUp5, .down = kDown5}, {.up = kUp6, .down = kDown6}};

}  // namespace

const SqlSchema& JobSchema() {
  // Without a wait for the disk, which could disturb a measurement.
  static constexpr SqlSchema kSchema = {.store = "jobs",
                                        .file = "jobs/jobs.db",
                                        .application_id = 0x41744A6F,  // "AtJo"
                                        .migrations = kMigrations,
                                        .waits_for_disk = false,
                                        .words = {.what = "job database", .flag = "--state"}};
  return kSchema;
}

}  // namespace attune
