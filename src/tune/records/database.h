// The database of records: the measurements of all tasks on all devices, kept permanently.
//
// It is one SQLite file in write-ahead mode: any number of processes read and write it at once, and a
// process that is killed at any moment loses at most the record that it was about to add. (A power failure
// may lose the last few records, never the database.) A record is keyed by task, strategy, its version and
// config, device fingerprint and threads; the other fields say how it was measured. Failed measurements are
// records too.
//
// Records outlive the program that wrote them. Features are not stored, callers compare the versions of
// strategies, and rows that this version cannot read are skipped, so that an old record never breaks a run.
#ifndef ATTUNE_TUNE_RECORDS_DATABASE_H_
#define ATTUNE_TUNE_RECORDS_DATABASE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sqlite/sqlite.h"
#include "tune/records/known_times.h"
#include "tune/records/record.h"

namespace attune {

// Selects records; empty or 0 fields select all.
struct RecordFilter {
  std::string task = {};  // a task's digest or a prefix of it
  std::string device = {};
  int threads = 0;
  std::string run = {};
  std::optional<CacheMode> cache = {};
};

// The current version of each strategy. A record of another version, or of a strategy that is not listed,
// is a prior: a hint of a fast config, which must be built, verified and measured again before it counts.
using StrategyVersions = std::map<std::string, int>;

struct BestOptions {
  std::optional<StrategyVersions> versions = {};  // none: every record counts
  // Whether to return a prior if there is no record that counts.
  bool priors = false;
};

// A caller that builds the config of a best record compares the code: if the digest is equal, the time is
// valid; otherwise the record is only a prior.
struct BestRecord {
  Record record;
  bool prior = false;
};

// A task on a device with a number of threads, and a summary of its records.
struct TaskEntry {
  std::string digest;
  std::string text;
  double flops = 0;  // 0: unknown
  std::string device;
  int threads = 0;
  int64_t records = 0;
  int64_t failed = 0;       // number of failed ones among them
  double best_seconds = 0;  // 0: all failed
  int64_t last_ms = 0;      // when the newest was measured
};

// Selects records by `which` and, if set, `older_than_ms`, except those that are spared.
struct PruneOptions {
  RecordFilter which = {};
  int64_t older_than_ms = 0;
  int keep_best = 0;         // spares this many per task, device, threads and caches, ranked as by Best()
  bool keep_failed = false;  // spares failures, which prevent a config from being tried again
  bool dry_run = false;      // only counts
};

struct PruneReport {
  int64_t records = 0;
  int64_t tasks = 0;  // without any records left
  int64_t runs = 0;   // ended runs without any records left
};

// $ATTUNE_RECORDS, else attune/records.db in $XDG_DATA_HOME, else in ~/.local/share. `environment` is
// getenv or a replacement for it. Fails if HOME is missing too.
absl::StatusOr<std::string> DefaultRecordsPath(const std::function<const char*(const char*)>& environment);

// Thread safe, one thread at a time; a process that forks must open another one. Errors name the file.
class RecordDatabase {
 public:
  // With kCreate, also creates the missing folders of the path. Fails with one sentence if the file is
  // damaged, belongs to another program, or was written by a newer Attune.
  static absl::StatusOr<std::unique_ptr<RecordDatabase>> Open(const std::string& path,
                                                              const SqliteOptions& options = {});

  const std::string& path() const { return connection_->path(); }

  // Adds all records or none, and returns how many were new. A record that is there already, by
  // RecordDigest, changes nothing, so it is safe to add again after an error. Fails for a record that
  // Normalize() refuses.
  absl::StatusOr<int64_t> Add(std::span<const Record> records);
  absl::StatusOr<int64_t> Add(const Record& record) { return Add(std::span(&record, 1)); }

  // A run is added once, under its own id, and replaced by its final state at the end.
  absl::Status BeginRun(const TuningRun& run);
  absl::Status FinishRun(const TuningRun& run);
  // Adds a run from another database, and returns whether that changed anything. A run that is still running
  // there is stored as interrupted, since it cannot be resumed here. An existing run is kept, unless it was
  // interrupted and the other is finished.
  absl::StatusOr<bool> MergeRun(const TuningRun& run);
  // Newest first.
  absl::StatusOr<std::vector<TuningRun>> Runs();

  // Calls `visit` for each record in the order of adding, as of the start of the call, until it fails.
  // `visit` must not use this object. `unreadable` counts the skipped rows, see above.
  absl::Status ForEachRecord(const RecordFilter& filter,
                             const std::function<absl::Status(const Record&)>& visit,
                             int64_t* unreadable = nullptr);
  absl::StatusOr<std::vector<Record>> Records(const RecordFilter& filter);

  // For each task, device and number of threads, the record that RankTimes() puts first, in the order in
  // which the tasks were added. A config that has crashed or given a wrong result since is excluded, in any
  // run.
  absl::StatusOr<std::vector<BestRecord>> Best(const RecordFilter& filter, const BestOptions& options = {});

  // The tasks to transfer from, or to show; the oldest task first.
  absl::StatusOr<std::vector<TaskEntry>> Tasks(const RecordFilter& filter);

  absl::StatusOr<PruneReport> Prune(const PruneOptions& options);

  // Brings what SQLite has written beside the file into it, so that a copy of the file alone has all records.
  // Waits for other processes that read or write, and leaves some of it beside the file if they continue.
  absl::Status Checkpoint();

 private:
  explicit RecordDatabase(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  // These require that the caller holds the mutex.
  // The known times of a task on a device with a number of threads, and the rows that they come from.
  struct KeyTimes {
    struct Part {
      std::vector<KnownTime> times;
      std::vector<int64_t> ids;
    };
    Part current, priors;
  };
  // In the order in which the tasks were added. Without versions, nothing is a prior.
  absl::Status ForEachKey(const RecordFilter& filter, const std::optional<StrategyVersions>& versions,
                          const std::function<absl::Status(const KeyTimes&)>& visit);
  // Creates the table `spared` with the ids of the best `count` records of every key, for each cache mode.
  absl::Status SelectSpared(int count);
  absl::StatusOr<std::optional<Record>> RecordById(int64_t id);

  std::mutex mutex_;
  std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_DATABASE_H_
