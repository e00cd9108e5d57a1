// Imports and exports records as JSON lines, and merges other databases. Both keep only a few records in
// memory, however large the file, and may run beside tuners: they add records in short transactions.
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
  int64_t added = 0;          // new ones among them
  int64_t runs_added = 0;     // added or updated
  int64_t skipped = 0;        // lines, or rows of a database, that are not valid records
  std::string first_skipped;  // reason for the first of these
};

struct RecordImportOptions {
  // Whether to count and skip lines that are not records. Otherwise such a line is an error that names file
  // and line; the records before it are in the database then, and importing the repaired file adds the
  // rest.
  bool skip_damaged = false;
};

// Returns the database to add to. Its owner opens or creates it at the first call, which comes as late as
// possible, so that a file without any readable line does not leave a new database behind.
using DatabaseSource = std::function<absl::StatusOr<RecordDatabase*>()>;

// Imports JSON lines in the format of docs/guides/records.md; empty lines are ignored. `name` is the file's
// name, for errors.
absl::StatusOr<ImportReport> ImportRecords(const DatabaseSource& database, std::istream& lines,
                                           const std::string& name, const RecordImportOptions& options = {});
absl::StatusOr<ImportReport> ImportRecordFile(const DatabaseSource& database, const std::string& path,
                                              const RecordImportOptions& options = {});

// Adds what `which` selects of another database, `source`, which is only read: its runs by filter.run and
// filter.device.
absl::StatusOr<ImportReport> MergeRecords(RecordDatabase& database, RecordDatabase& source,
                                          const RecordFilter& which = {});

struct ExportReport {
  int64_t records = 0;
  int64_t runs = 0;
  int64_t skipped = 0;  // rows that this version cannot read
};

// Passes each line, including its newline, to `write`, which must not use the database: first the runs that
// filter.run and filter.device select, then the records as of the start of the call.
absl::StatusOr<ExportReport> ExportRecords(RecordDatabase& database, const RecordFilter& filter,
                                           const std::function<absl::Status(std::string_view)>& write);
// Writes a file, either completely or not at all.
absl::StatusOr<ExportReport> ExportRecordFile(RecordDatabase& database, const RecordFilter& filter,
                                              const std::string& path);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_EXCHANGE_H_
