// Records in and out: JSON lines, and other databases. Both ways hold a few records at a time, however large
// the file, and may run beside tuners: what they add comes in short transactions.
#ifndef ATTUNE_TUNE_RECORDS_EXCHANGE_H_
#define ATTUNE_TUNE_RECORDS_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tune/records/database.h"

namespace attune {

struct ImportReport {
  int64_t records = 0;        // read
  int64_t added = 0;          // of these, new
  int64_t runs_added = 0;     // or brought up to date
  int64_t skipped = 0;        // lines, or a database's rows, that are no records
  std::string first_skipped;  // why the first of these is none
};

struct RecordImportOptions {
  // Whether a line that is no record is counted and passed over. Else it is an error that names file and
  // line; what stands before it is in the database then, and importing the repaired file adds the rest.
  bool skip_damaged = false;
};

// The database to add to, which its owner opens or makes when this is first called: as late as can be, so
// that lines of which none can be read leave no new database behind.
using DatabaseSource = std::function<absl::StatusOr<RecordDatabase*>()>;

// JSON lines as docs/guides/records.md describes them; empty lines are ignored. `name` is the file's, for
// errors.
absl::StatusOr<ImportReport> ImportRecords(const DatabaseSource& database, std::istream& lines,
                                           const std::string& name, const RecordImportOptions& options = {});
absl::StatusOr<ImportReport> ImportRecordFile(const DatabaseSource& database, const std::string& path,
                                              const RecordImportOptions& options = {});

// All of another database, `source`, which is only read.
absl::StatusOr<ImportReport> MergeRecords(RecordDatabase& database, RecordDatabase& source);

struct ExportReport {
  int64_t records = 0;
  int64_t runs = 0;
  int64_t skipped = 0;  // rows that this version cannot read
};

// Gives each line, newline included, to `write`, which must not use the database: the runs first, those alone
// that filter.run and filter.device name, then the records as they were at the start.
absl::StatusOr<ExportReport> ExportRecords(RecordDatabase& database, const RecordFilter& filter,
                                           const std::function<absl::Status(std::string_view)>& write);
// Writes a file, whole or not at all.
absl::StatusOr<ExportReport> ExportRecordFile(RecordDatabase& database, const RecordFilter& filter,
                                              const std::string& path);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_EXCHANGE_H_
