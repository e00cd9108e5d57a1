// Access to the tuner's records for the commands and for other programs: list, find the best, exchange and
// prune them.
//
// The database's own interface is fit for that, so this header gathers it instead of wrapping it, and adds
// the parts that need the rest of the program: where the records of this machine are.
#ifndef ATTUNE_API_RECORDS_H_
#define ATTUNE_API_RECORDS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "plan/chooser.h"
#include "target/target.h"
#include "tune/records/database.h"
#include "tune/records/exchange.h"
#include "tune/records/record.h"
#include "tune/records/record_chooser.h"
#include "tune/records/record_json.h"

namespace attune {

// The path of the user's own database, the default one, whether or not it exists, by this process's
// environment; or "none".
absl::StatusOr<std::string> DefaultRecordsPath();

// Opens the database at `path`, or the default one if `path` is empty. Fails if it is "none".
absl::StatusOr<std::unique_ptr<RecordDatabase>> OpenRecords(const std::string& path, DatabaseAccess access);

// Chooses kernels for compiling from the records at `path`, or from the default database if `path` is
// empty, made on devices with this fingerprint and with that many threads. Null if the default database does
// not exist, or if the environment sets it to "none".
absl::StatusOr<std::shared_ptr<const KernelChooser>> LoadRecordChooser(const std::string& path,
                                                                       const std::string& fingerprint,
                                                                       int threads);

// Copies the records that `filter` selects from one database to another, which is created if it is missing;
// `only_best`: of these, the fastest of each task, device and number of threads. Returns how many were new.
absl::StatusOr<int64_t> CopyRecords(const std::string& from, const std::string& to,
                                    const RecordFilter& filter, bool only_best);

}  // namespace attune

#endif  // ATTUNE_API_RECORDS_H_
