// The records that the parts of a tuning job leave to the whole job.
#ifndef ATTUNE_KINDS_PART_RECORDS_H_
#define ATTUNE_KINDS_PART_RECORDS_H_

#include <string>

#include "absl/status/status.h"

namespace attune {

// A part's database, in its own folder.
inline constexpr char kPartRecords[] = "records.db";

// Adds what the parts below `folder` have left to the database at `records`, and removes it there. A job that
// is opened again takes what is still there.
absl::Status TakeRecordsOfParts(const std::string& folder, int parts, const std::string& records);

}  // namespace attune

#endif  // ATTUNE_KINDS_PART_RECORDS_H_
