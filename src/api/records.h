// The tuner's records, for the commands and for other programs: list, find the best, exchange and prune them.
//
// The database's own interface is fit for that as it stands, so this header gathers it rather than wrap it,
// and adds what takes the rest of the program to know: where the records of this machine are.
#ifndef ATTUNE_API_RECORDS_H_
#define ATTUNE_API_RECORDS_H_

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

// The database at `path`, or where that is empty the default one. Fails where that is "none".
absl::StatusOr<std::unique_ptr<RecordDatabase>> OpenRecords(const std::string& path, DatabaseAccess access);

// What compile takes kernels from: the records at `path`, or where that is empty the default ones, of this
// machine, by that many threads (0: as many as processors). Null where the default ones do not exist, or are
// said by the environment to be "none".
absl::StatusOr<std::shared_ptr<const KernelChooser>> LoadRecordChooser(const std::string& path, int threads);

}  // namespace attune

#endif  // ATTUNE_API_RECORDS_H_
