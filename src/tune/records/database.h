// The database of records: what was measured for which task on which device, kept for good.
//
// One SQLite file, in write-ahead mode: any number of processes read and write it at once, and one that is
// killed at any moment loses at most the record that it was about to add. (A power failure may take the last
// few, never the database.) A record is keyed by task, strategy, its version and config, device fingerprint
// and threads; everything else says how it came about. Failed measurements are records too.
//
// Records outlive the program that wrote them. Features are not stored, versions of strategies are compared
// by whoever asks, and a row that this version cannot read is passed over, so that an old record never breaks
// a run.
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
#include "tune/records/known_times.h"
#include "tune/records/record.h"
#include "tune/records/sqlite.h"

namespace attune {

// Which records; what is empty or 0 is not asked for.
struct RecordFilter {
  std::string task = {};  // the beginning of a task's digest, or all of it
  std::string device = {};
  int threads = 0;
  std::string run = {};
  std::optional<CacheMode> cache = {};
};

// The versions in use, by strategy. A record of another version, or of a strategy that is not here, is a
// prior: a hint of what is fast, whose config is to be built, verified and measured again before it counts.
using StrategyVersions = std::map<std::string, int>;

struct BestOptions {
  std::optional<StrategyVersions> versions = {};  // none: every record counts
  // Whether a prior is given where there is no record that counts.
  bool priors = false;
};

// Whoever builds a best record's config compares the code: an equal digest keeps the time, with another one
// the record is a prior as well.
struct BestRecord {
  Record record;
  bool prior = false;
};

// A task on a device with so many threads, and what is known of it.
struct TaskEntry {
  std::string digest;
  std::string text;
  double flops = 0;  // 0: unknown
  std::string device;
  int threads = 0;
  int64_t records = 0;
  int64_t failed = 0;       // of these
  double best_seconds = 0;  // 0: all failed
  int64_t last_ms = 0;      // when the newest was measured
};

// The records that `which` and, where it is set, `older_than_ms` name, but for those that are spared.
struct PruneOptions {
  RecordFilter which = {};
  int64_t older_than_ms = 0;
  int keep_best = 0;  // spares the best so many of each task, device, threads and caches, as Best() ranks
  bool keep_failed = false;  // spares failures, which keep a config from being tried again
  bool dry_run = false;      // only counts
};

struct PruneReport {
  int64_t records = 0;
  int64_t tasks = 0;  // of which no record is left
  int64_t runs = 0;   // likewise, that do not run any more
};

// $ATTUNE_RECORDS, else attune/records.db in $XDG_DATA_HOME, else in ~/.local/share. `environment` is getenv,
// or a stand-in. Fails where HOME is missing too.
absl::StatusOr<std::string> DefaultRecordsPath(const std::function<const char*(const char*)>& environment);

// Any number of threads may use one, one at a time; a process that forks opens another. Errors name the file.
class RecordDatabase {
 public:
  // To create, makes the file's folders too where they are missing. Fails with one sentence where the file is
  // damaged, another program's, or written by a newer Attune.
  static absl::StatusOr<std::unique_ptr<RecordDatabase>> Open(const std::string& path,
                                                              const SqliteOptions& options = {});

  const std::string& path() const { return connection_->path(); }

  // Adds records, all or none, and says how many were new: one that is here already, by RecordDigest, changes
  // nothing, so that adding again after an error is safe. Fails for a record that Normalize() refuses.
  absl::StatusOr<int64_t> Add(std::span<const Record> records);
  absl::StatusOr<int64_t> Add(const Record& record) { return Add(std::span(&record, 1)); }

  // A run enters once, under an id of its own, and is replaced by what is known at its end.
  absl::Status BeginRun(const TuningRun& run);
  absl::Status FinishRun(const TuningRun& run);
  // Adds a run from elsewhere and says whether that changed anything. One that goes on there is taken for an
  // interrupted one, since nobody can go on with it here. What is here stays, unless it was interrupted and
  // the other is finished.
  absl::StatusOr<bool> MergeRun(const TuningRun& run);
  // The newest first.
  absl::StatusOr<std::vector<TuningRun>> Runs();

  // Calls `visit` for each record in the order of adding, as they were at the start, until it fails. It must
  // not use this object. `unreadable` counts rows that were passed over, see above.
  absl::Status ForEachRecord(const RecordFilter& filter,
                             const std::function<absl::Status(const Record&)>& visit,
                             int64_t* unreadable = nullptr);
  absl::StatusOr<std::vector<Record>> Records(const RecordFilter& filter);

  // The record of each task, device and threads that RankTimes() puts first, in the order of the tasks'
  // arrival. Nothing that has crashed or given a wrong result since is among them, whoever found that.
  absl::StatusOr<std::vector<BestRecord>> Best(const RecordFilter& filter, const BestOptions& options = {});

  // Failures whose config has not succeeded since, there being no point in trying it again.
  absl::StatusOr<std::vector<Record>> Failures(const RecordFilter& filter);

  // What there is to transfer from, or to show; the oldest task first.
  absl::StatusOr<std::vector<TaskEntry>> Tasks(const RecordFilter& filter);

  absl::StatusOr<PruneReport> Prune(const PruneOptions& options);

 private:
  explicit RecordDatabase(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  // These are for whoever holds the mutex.
  absl::Status Prepare(DatabaseAccess access);
  absl::Status MakeSchema();
  // What is known of one task on a device with so many threads, and the rows that it is from.
  struct KeyTimes {
    struct Part {
      std::vector<KnownTime> times;
      std::vector<int64_t> ids;
    };
    Part current, priors;
  };
  // In the order of the tasks' arrival. Without versions nothing is a prior.
  absl::Status ForEachKey(const RecordFilter& filter, const std::optional<StrategyVersions>& versions,
                          const std::function<absl::Status(const KeyTimes&)>& visit);
  // The table `spared` of the ids of what every key has best, so many with each kind of caches.
  absl::Status SelectSpared(int count);
  absl::StatusOr<std::optional<Record>> RecordById(int64_t id);

  std::mutex mutex_;
  std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_DATABASE_H_
